"""Renders pages that scripts build in a browser before they are parsed: never, always, or if the plain page is empty.

If the browser fails, the plain page is used and marked: no visit fails because of it, and no site is blamed for it.
"""

import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from forager.engine.login_state import LoginState
from forager.errors import ForagerError, RenderError, RobotsDeniedError, SessionUrlError
from forager.fetch.browser import NO_STEPS, Browser, Get, Limits, find_chromium, find_missing_dependency, open_browser
from forager.fetch.client import Client, accepts_any_type
from forager.fetch.models import Fetched, Rendering, RenderSteps, ScriptRequest
from forager.logs import log
from forager.parsing.models import Reading
from forager.parsing.shell import is_html, waits_for_scripts
from forager.proxies.models import Proxy
from forager.robots.rules import Rules
from forager.urls.domain import domain_of, origin_of

ACCEPT_REQUISITES = "*/*"
RENDERED, FAILED = "rendered", "render_failed"


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """How one page may be rendered."""

    mode: str
    rules: Rules | None = None
    """The robots.txt rules of its own origin."""
    steps: RenderSteps = NO_STEPS
    """What is done with the page before it is read."""
    on_sent: Callable[[], None] = lambda: None
    """Called when a request to its own domain is sent; an exception prevents the request."""
    login: LoginState | None = None
    """Set if the domain has a login: no script may log out."""


class Rendered(NamedTuple):
    page: Fetched
    screenshot: bytes | None = None


class Renderer:
    def __init__(self, client: Client, browser: Browser | None, why_not: str | None = None) -> None:
        self._client = client
        self._browser = browser
        self._why_not = why_not
        self._has_said = False

    def wants(self, fetched: Fetched, reading: Reading, mode: str) -> bool:
        """Returns whether to render the page. Without a browser `auto` means `never`, and the worker logs that once."""
        if mode == Rendering.ALWAYS:
            return is_html(fetched)
        is_wanted = mode == Rendering.AUTO and waits_for_scripts(fetched, reading)
        if is_wanted and self._browser is None:
            self._warn_once()
        return is_wanted and self._browser is not None

    async def draw(self, fetched: Fetched, drawing: RenderOptions, via: Proxy | None = None) -> Rendered | None:
        """Returns the rendered page; None if the browser failed for any reason."""
        if self._browser is None:
            self._warn_once()
            return None
        try:
            site = domain_of(fetched.url)
            get = self._getter(fetched.url, site, drawing, via)
            drawn = await self._browser.draw(fetched, get, site=site, steps=drawing.steps)
        except RenderError as error:
            log().info("page not rendered", action="render.failed", url=fetched.url, reason=str(error))
            return None
        except Exception as bug:
            stack = traceback.format_exc()
            log().error("page not rendered", action="render.broken", url=fetched.url, error=repr(bug), stack=stack)
            return None
        page = replace(
            fetched,
            headers={**fetched.headers, "content-type": "text/html; charset=utf-8"},
            body=drawn.html.encode("utf-8", "replace"),
            wire_bytes=fetched.wire_bytes + drawn.wire_bytes,
            raw=None,
        )
        return Rendered(page, drawn.screenshot)

    def _getter(self, page_url: str, site: str, drawing: RenderOptions, via: Proxy | None) -> Get:
        origin = origin_of(page_url)

        async def get(url: str, script: ScriptRequest | None = None, /) -> Fetched:
            is_ours = _domain_of(url) == site
            if drawing.rules is not None and origin_of(url) == origin and not drawing.rules.verdict(url).allowed:
                raise RobotsDeniedError("robots.txt forbids what the page asks for")
            if is_ours and drawing.login is not None and drawing.login.refuses(url):
                raise SessionUrlError("it would end the session")
            return await self._client.get(
                url,
                read_body=accepts_any_type,
                accept=ACCEPT_REQUISITES,
                via=via,
                on_sent=drawing.on_sent if is_ours else _no_wait,
                sends_cookies=is_ours,
                script=script,
            )

        return get

    def _warn_once(self) -> None:
        if not self._has_said:
            self._has_said = True
            log().warning("pages are not rendered", action="render.unavailable", reason=self._why_not)


def _no_wait() -> None:
    """Does nothing: another domain has its own delay and its own lease holder."""


def _domain_of(url: str) -> str:
    try:
        return domain_of(url)
    except ForagerError:
        return ""


@asynccontextmanager
async def open_renderer(
    client: Client, *, chromium: Path | None, user_agent: str, limits: Limits
) -> AsyncIterator[Renderer]:
    """Yields a renderer. The browser starts when the first page needs it; without a browser nothing is rendered."""
    why_not, program = find_missing_dependency(chromium), find_chromium(chromium)
    if why_not or program is None:
        yield Renderer(client, None, why_not)
        return
    async with open_browser(program, user_agent=user_agent, limits=limits) as browser:
        yield Renderer(client, browser)
