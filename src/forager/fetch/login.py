"""Logs in to a site through its form: fetches the page of the form, fills it, sends it, and checks the result.

Makes its requests through a `LoginClient`, which keeps the domain's pace; decides nothing about the domain. No result
holds a value of a field.
"""

import asyncio
import fnmatch
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from forager.errors import (
    DecodeError,
    ErrorSource,
    NetworkError,
    RobotsDeniedError,
    SkippedError,
    StatusError,
    VisitError,
)
from forager.fetch.models import Fetched
from forager.parsing.charset import to_utf8
from forager.parsing.login_form import LoginForm, Submission, describe_forms, fill_form, find_form, read_forms
from forager.urls.domain import domain_of
from forager.urls.resolve import resolve_links

MOST_REDIRECTS = 8
MOST_BYTES = 1024 * 1024
"""Of a page with a form; what comes after is not read."""


@dataclass(frozen=True, slots=True)
class LoginConfig:
    """How a login is made. `repr` shows the names of fields only."""

    url: str
    fields: Mapping[str, str] = field(repr=False)
    success: str | None = None

    @property
    def key(self) -> str:
        """Returns a value that changes with the login: a session of another one is not used. Kept encrypted."""
        text = json.dumps([self.url, sorted(self.fields.items()), self.success])
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class LoginStep:
    """One request of a login, without the values it carried."""

    method: str
    url: str
    status_code: int | None = None
    location: str | None = None


@dataclass(slots=True)
class LoginResult:
    steps: list[LoginStep] = field(default_factory=list)
    problem: str | None = None
    """Why it failed; None: it succeeded."""
    is_temporary: bool = False
    """The site or the network failed, not the login: the same login may succeed later."""
    was_logged_in: bool = False
    """The session was still valid: nothing was sent."""
    found: str = ""
    """How the result was recognised."""

    @property
    def is_ok(self) -> bool:
        return self.problem is None


class LoginClient(Protocol):
    """Makes the requests, each under the domain's pace. May raise RobotsDeniedError before one is sent."""

    async def get(self, url: str, *, has_secrets: bool = False) -> Fetched: ...

    async def submit(self, url: str, body: bytes, *, content_type: str, referer: str) -> Fetched: ...


class _LoginFailedError(Exception):
    def __init__(self, problem: str, *, is_temporary: bool = False) -> None:
        super().__init__(problem)
        self.is_temporary = is_temporary


async def log_in(
    client: LoginClient, config: LoginConfig, domain: str, *, cookie_names: Callable[[], set[str]]
) -> LoginResult:
    """Logs in to `domain`; whatever the site does is in the result. Raises only our own faults: LeaseLostError,
    NetworkDownError and the like."""
    result = LoginResult()
    attempt = _Attempt(client, config, domain, cookie_names, result)
    try:
        await attempt.run()
    except _LoginFailedError as failure:
        result.problem, result.is_temporary = str(failure), failure.is_temporary
    except RobotsDeniedError as denied:
        result.problem = f"robots.txt forbids a page of the login: {denied}"
    except DecodeError as error:
        result.problem = f"the page of the form cannot be read: {error}"
    except VisitError as error:
        if error.blame is ErrorSource.US or isinstance(error, SkippedError):
            raise
        result.problem, result.is_temporary = f"no usable response: {error}", isinstance(error, NetworkError)
    return result


@dataclass(slots=True)
class _Attempt:
    client: LoginClient
    config: LoginConfig
    domain: str
    cookie_names: Callable[[], set[str]]
    result: LoginResult

    async def run(self) -> None:
        page = await self._follow(await self._get(self.config.url))
        self._check_status(page, "the page of the form")
        forms = await asyncio.to_thread(read_forms, page)
        form = find_form(forms, frozenset(self.config.fields))
        if form is None:
            await self._check_logged_in(page, forms)
            return
        submission = fill_form(form, self.config.fields)
        if submission is None:
            raise _LoginFailedError("the form is sent to no page of the web")
        self._check_target(submission, page.url)
        answer = await self._send(submission, page.url)
        await self._check_success(await self._follow(answer, submission))

    async def _get(self, url: str, *, has_secrets: bool = False) -> Fetched:
        fetched = await self.client.get(url, has_secrets=has_secrets)
        self._note("GET", url, fetched)
        return fetched

    async def _send(self, submission: Submission, page_url: str) -> Fetched:
        if not submission.is_post:
            return await self._get(submission.url, has_secrets=True)
        kind = submission.content_type
        fetched = await self.client.submit(submission.url, submission.body, content_type=kind, referer=page_url)
        self._note("POST", submission.url, fetched)
        return fetched

    def _note(self, method: str, url: str, fetched: Fetched) -> None:
        location = fetched.headers.get("location") if 300 <= fetched.status_code < 400 else None
        led_to = resolve_links(url, [location])[0] if location else None
        self.result.steps.append(
            LoginStep(method, _shown(url), fetched.status_code, _shown(led_to) if led_to else None)
        )

    async def _follow(self, fetched: Fetched, sent: Submission | None = None) -> Fetched:
        """Follows redirects within the domain. One that keeps the method sends the form again."""
        for _ in range(MOST_REDIRECTS):
            location = fetched.headers.get("location")
            if not (300 <= fetched.status_code < 400 and fetched.status_code != 304 and location):
                return fetched
            url = resolve_links(fetched.url, [location])[0]
            if url is None:
                raise _LoginFailedError("it redirects to no page of the web")
            if domain_of(url) != self.domain:
                raise _LoginFailedError(
                    f"it redirects to another site, {domain_of(url)}: a login through another site is not supported"
                )
            if sent is not None and sent.is_post and fetched.status_code in {307, 308}:
                sent = Submission(url, True, sent.content_type, sent.body)
                self._check_target(sent, fetched.url)
                fetched = await self._send(sent, fetched.url)
            else:
                sent = None
                fetched = await self._get(url)
        raise _LoginFailedError(f"more than {MOST_REDIRECTS} redirects in a row")

    def _check_target(self, submission: Submission, page_url: str) -> None:
        if domain_of(submission.url) != self.domain:
            raise _LoginFailedError(f"the form is sent to another site, {domain_of(submission.url)}; it was not sent")
        if page_url.startswith("https://") and submission.url.startswith("http://"):
            raise _LoginFailedError("the form would be sent without encryption; it was not sent")

    def _check_status(self, page: Fetched, what: str) -> None:
        status = page.status_code
        if status < 400:
            return
        is_temporary = status >= 500 or StatusError(status).should_back_off
        raise _LoginFailedError(f"{what} answered {status}", is_temporary=is_temporary)

    async def _check_logged_in(self, page: Fetched, forms: list[LoginForm]) -> None:
        """A page without the form means that the session is still valid, or that the settings name other fields."""
        has_moved = page.url.partition("?")[0] != self.config.url.partition("?")[0]
        found = await self._find_success(page) if self.config.success else None
        if found or (has_moved and not self.config.success and not any(form.has_password for form in forms)):
            self.result.was_logged_in, self.result.found = True, found or "the login page leads to another page"
            return
        named = ", ".join(sorted(self.config.fields))
        raise _LoginFailedError(f"no form of the page has the fields {named}; its forms have: {describe_forms(forms)}")

    async def _check_success(self, page: Fetched) -> None:
        self._check_status(page, "the form")
        if self.config.success:
            found = await self._find_success(page)
            if found is None:
                raise _LoginFailedError(f"{self.config.success!r} was not found after the form was sent")
            self.result.found = found
            return
        forms = await asyncio.to_thread(read_forms, page)
        if find_form(forms, frozenset(self.config.fields)) is not None:
            raise _LoginFailedError("the site shows the form again: user name or password are wrong")
        self.result.found = "the form is gone"

    async def _find_success(self, page: Fetched) -> str | None:
        """Returns how the login was recognised; None: it was not."""
        kind, _, wanted = (self.config.success or "").partition(":")
        wanted = wanted.strip()
        match kind.strip().lower():
            case "url":
                path = page.url[page.url.find("/", 8) :] if page.url.find("/", 8) > 0 else "/"
                glob = wanted.replace("[", "[[]")
                is_met = fnmatch.fnmatchcase(page.url, glob) or fnmatch.fnmatchcase(path, glob)
                return f"the page is {page.url.partition('?')[0]}" if is_met else None
            case "cookie":
                return f"the site set the cookie {wanted}" if wanted in self.cookie_names() else None
            case "text":
                text = await asyncio.to_thread(_text_of, page)
                is_met = " ".join(wanted.split()).lower() in " ".join(text.split()).lower()
                return f"the page says {wanted!r}" if is_met else None
            case _:
                raise _LoginFailedError(f"login_success {self.config.success!r} is none of url:, text: and cookie:")


def _shown(url: str) -> str:
    """Returns a URL as it may be shown: queries may carry tokens."""
    place, query, _ = url.partition("?")
    return f"{place}?…" if query else place


def _text_of(page: Fetched) -> str:
    from forager.parsing.tree import parse

    utf8, _ = to_utf8(page.body, page.content_type)
    tree = parse(utf8)
    return tree.text(0) if len(tree) else ""
