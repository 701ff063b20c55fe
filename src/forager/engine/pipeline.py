"""The pipeline for one page: admit, fetch, parse, select, store. One target in, exactly one outcome out.

Claiming comes before it; enqueueing and recording come after it, in `worker.py` and `writer.py`. `dispatcher.py` waits
for the domain's delay.
"""

import asyncio
import traceback
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from forager import clock
from forager.engine.link_selection import Selected, select, select_listed
from forager.engine.login_state import LOGOUT_LINK, LoginState, filter_links
from forager.engine.page_parser import PageParser
from forager.engine.rendering import FAILED, RENDERED, Renderer, RenderOptions
from forager.engine.request_timing import RequestTiming
from forager.engine.retry_policy import find_problem, outcome_of
from forager.errors import (
    BrokenError,
    NoHttpsError,
    RobotsDeniedError,
    RobotsUnreachableError,
    SessionUrlError,
    SkippedError,
    VisitError,
)
from forager.fetch.client import (
    ACCEPT_IMAGES,
    ACCEPT_SITEMAPS,
    Client,
    accepts_any_type,
    is_page_or_document,
)
from forager.fetch.decode import decompress
from forager.fetch.documents import PDF_SNIFF
from forager.fetch.models import Fetched
from forager.frontier.models import LOGIN_WALL, DomainFailure, Outcome, OutcomeKind, Past, Target
from forager.images.models import ImageFile, ImagePolicy
from forager.links.select import Selector, adopt_seed
from forager.logs import log
from forager.parsing.challenge import may_be_challenge
from forager.parsing.models import DEFAULT_OPTIONS, ParseOptions, Reading
from forager.robots.rules import Rules
from forager.storage.body_store import BodyStore
from forager.storage.models import StoredBody
from forager.storage.policy import ContentPolicy
from forager.urls.normalize import normalize
from forager.urls.sitemap import MOST_BYTES


@dataclass(frozen=True, slots=True)
class VisitOptions:
    """Options of one visit, from the settings of its domain."""

    content_policy: str = ContentPolicy.SIGNALS
    images: str = ImagePolicy.FOUND
    rendering: RenderOptions | None = None
    """Set if a browser may be used."""
    documents: bool = True
    """Whether PDF files are read."""
    keeps_external: bool = False
    """Whether links out of scope are stored."""
    login: LoginState | None = None
    """Set if the domain has a login: links that log in or out are not followed."""
    sitemaps: bool = False
    """Whether sitemaps that an index lists are followed."""
    feeds: bool = False
    """Whether feeds that a page announces are followed."""
    parse: ParseOptions = DEFAULT_OPTIONS


class ImageFiles(Protocol):
    """Checks and stores the files of images."""

    max_bytes: int

    async def look(self, fetched: Fetched) -> ImageFile: ...


class Parsed(NamedTuple):
    """A page after parsing."""

    fetched: Fetched
    """The rendered page, if it was rendered."""
    plain: Fetched
    """The page as the server sent it."""
    reading: Reading | None = None
    read_s: float | None = None
    screenshot: bytes | None = None


def admit(target: Target, rules: Rules | SkippedError, *, obeys_robots: bool = True) -> Outcome | None:
    """Returns None when the address guard and robots.txt allow the visit, otherwise the outcome of the skipped visit.
    On a site of the operator's own, robots.txt may be overridden; the guard never is."""
    if isinstance(rules, NoHttpsError) and target.is_seed:
        http = normalize(f"http://{target.url.removeprefix('https://')}")
        return Outcome(target, outcome_of(rules), error=rules, selection=adopt_seed(target, http))
    if not obeys_robots and isinstance(rules, Rules | RobotsUnreachableError):
        return None
    if isinstance(rules, SkippedError):
        return Outcome(target, outcome_of(rules), error=rules)
    verdict = rules.verdict(target.url)
    if verdict.allowed:
        return None
    error = RobotsDeniedError(f"robots.txt line {verdict.line} says {verdict.rule!r}")
    return Outcome(target, outcome_of(error), error=error)


def admit_session(target: Target, login: LoginState | None) -> Outcome | None:
    """Returns the outcome of a skipped visit if the page would log in or out."""
    reason = login.refuses(target.url) if login is not None else None
    if reason is None:
        return None
    error = SessionUrlError("it would end the session" if reason == LOGOUT_LINK else "it is the page of the login")
    return Outcome(target, outcome_of(error), error=error)


@dataclass(frozen=True, slots=True)
class Pipeline:
    client: Client
    parser: PageParser
    selector: Selector
    max_redirects: int
    body_store: BodyStore | None = None
    image_files: ImageFiles | None = None
    renderer: Renderer | None = None

    async def visit(self, target: Target, request: RequestTiming, options: VisitOptions) -> Outcome:
        """Fetches, parses, selects and stores one admitted target; every error becomes its outcome."""
        status_code = None
        try:
            fetched = await self._fetch(target, request, options)
            status_code = fetched.status_code
            page = await self._parse(target, fetched, request, options)
            selection, trouble = await self._select(target, page, options)
            if options.login is not None:
                selection, is_wall = filter_links(options.login, selection)
                trouble = DomainFailure.LOGIN_REQUIRED if is_wall else trouble
            if page.reading is not None and trouble is DomainFailure.LOGIN_REQUIRED:
                page = page._replace(reading=replace(page.reading, flags=(*page.reading.flags, LOGIN_WALL)))
            image, stored = await self._store(target, page, request, options)
        except VisitError as error:
            request.ended()
            trouble = find_problem(error, is_file=not target.is_page)
            return Outcome(target, outcome_of(error), status_code, error, trouble=trouble, **_describe(request))
        except Exception as bug:
            broken, stack = BrokenError(f"{type(bug).__name__}: {bug}"), traceback.format_exc()
            return Outcome(target, OutcomeKind.FAILED, status_code, broken, stack=stack, **_describe(request))
        content_hash = page.reading.content_hash if page.reading else image.key if image else None
        return Outcome(
            target,
            OutcomeKind.SUCCESS,
            status_code,
            reading=_without_links(target, page.reading),
            read_s=page.read_s,
            selection=selection,
            trouble=trouble,
            is_changed=is_changed(target.past, status_code, content_hash),
            image=image,
            stored=stored,
            **_describe_answer(page.fetched),
            **_describe(request),
        )

    async def _fetch(self, target: Target, request: RequestTiming, options: VisitOptions) -> Fetched:
        how: dict[str, Any] = {}
        if options.content_policy == ContentPolicy.ARCHIVE:
            how["keeps_raw"] = True
        if target.is_sitemap:
            how |= {"read_body": accepts_any_type, "most_bytes": MOST_BYTES, "accept": ACCEPT_SITEMAPS}
        if target.is_image and self.image_files is not None:
            how |= {"read_body": accepts_any_type, "most_bytes": self.image_files.max_bytes, "accept": ACCEPT_IMAGES}
        elif self._is_only_parsed(target, options):
            how["decompresses"] = False
        if not target.is_image:
            how["read_error"] = may_be_challenge
        if options.documents and target.is_page:
            how |= {"read_body": is_page_or_document, "sniff": PDF_SNIFF}
        past, is_rendered = target.past, options.rendering is not None and not target.is_image
        if past is not None and not is_rendered:  # a plain page says nothing about what scripts write into it
            how |= {"etag": past.etag, "last_modified": past.last_modified}
        fetched = await self.client.get(target.url, on_sent=request.sent, via=request.via, **how)
        request.ended()
        request.check_wanted()
        return fetched

    def _is_only_parsed(self, target: Target, options: VisitOptions) -> bool:
        """Returns whether only the parser needs the plain body."""
        is_kept = (
            options.content_policy not in {ContentPolicy.SIGNALS, ContentPolicy.TEXT} or options.rendering is not None
        )
        return self.parser.decompresses and not is_kept and not target.is_image

    async def _select(self, target: Target, page: Parsed, options: VisitOptions) -> Selected:
        if page.reading is not None and page.reading.listing is not None and 200 <= page.fetched.status_code < 300:
            images, sitemaps = options.images, options.sitemaps
            return await select_listed(target, page.reading, self.selector, images=images, sitemaps=sitemaps), None
        return select(
            *(target, page.fetched, page.reading, self.selector),
            images=options.images,
            max_redirects=self.max_redirects,
            keeps_external=options.keeps_external,
            feeds=options.feeds,
        )

    async def _parse(self, target: Target, fetched: Fetched, request: RequestTiming, options: VisitOptions) -> Parsed:
        if not is_to_parse(target, fetched):
            fetched = decompress(fetched)
            page = Parsed(fetched, fetched)
        else:
            began_at = clock.monotonic()
            reading = await self.parser.parse(target, fetched, options.parse)
            read_s = clock.monotonic() - began_at if reading is not None else None
            page = Parsed(fetched, fetched, reading, read_s)
            if reading is not None:
                page = await self._render(target, page, reading, request, options)
        request.check_wanted()
        return page

    async def _render(
        self, target: Target, page: Parsed, reading: Reading, request: RequestTiming, options: VisitOptions
    ) -> Parsed:
        """Returns the rendered page if it has to be rendered; the plain page, marked, if rendering failed."""
        how = options.rendering
        if self.renderer is None or how is None or not self.renderer.wants(page.fetched, reading, how.mode):
            return page
        rendered = await self.renderer.draw(page.fetched, how, request.via)
        if rendered is not None:
            try:
                again = await self.parser.parse(target, rendered.page, options.parse)
                if again is not None:
                    page = page._replace(screenshot=rendered.screenshot)
                    return page._replace(fetched=rendered.page, reading=replace(again, flags=(*again.flags, RENDERED)))
            except VisitError as error:
                log().warning("drawn page not read", action="render.unreadable", url=target.url, reason=str(error))
        return page._replace(reading=replace(reading, flags=(*reading.flags, FAILED)))

    async def _store(
        self, target: Target, page: Parsed, request: RequestTiming, options: VisitOptions
    ) -> tuple[ImageFile | None, StoredBody | None]:
        policy = options.content_policy
        if target.is_image and self.image_files is not None and page.fetched.status_code < 300:
            return await self.image_files.look(page.fetched), None
        if policy == ContentPolicy.SIGNALS or self.body_store is None:
            return None, None
        kept = page.plain if policy == ContentPolicy.ARCHIVE else page.fetched  # an archive holds what the server sent
        markdown = page.reading.markdown if page.reading is not None and target.is_page else ""
        return None, await asyncio.to_thread(
            self.body_store.pack,
            *(policy, kept, target.past, request.requested_at),
            screenshot=page.screenshot,
            markdown=markdown,
        )


def _describe(request: RequestTiming) -> dict[str, Any]:
    return {
        "requested_at": request.requested_at,
        "pace_ms": request.pace_ms,
        "waited_s": request.waited_s,
        "proxy_id": request.via.id if request.via else None,
    }


def _describe_answer(fetched: Fetched) -> dict[str, Any]:
    return {
        "response_time_ms": fetched.response_time_ms,
        "wire_bytes": fetched.wire_bytes,
        "content_type": fetched.content_type[:200] or None,
        "etag": fetched.headers.get("etag", "")[:500] or None,
        "last_modified": fetched.headers.get("last-modified", "")[:100] or None,
    }


def _without_links(target: Target, reading: Reading | None) -> Reading | None:
    """Returns the reading of a sitemap or feed without its links, which were selected: an outcome waits in memory until
    it is written. That of a file has nothing that could be found by a search."""
    if reading is None or not (target.is_sitemap or reading.listing is not None):
        return reading
    reading = replace(reading, links=())
    if not target.is_sitemap:
        return reading
    return replace(reading, text="", headings="", description=None, is_noindex=True, product=None, listed=())


def is_to_parse(target: Target, fetched: Fetched) -> bool:
    return (
        200 <= fetched.status_code < 300 and fetched.status_code != 206 and bool(fetched.body) and not target.is_image
    )


def is_changed(past: Past | None, status_code: int, content_hash: bytes | None) -> bool | None:
    """Returns whether a revisit found changed content; None if there is nothing to compare."""
    if past is None:
        return None
    if status_code == 304:
        return False
    if content_hash is None or past.content_hash is None:
        return None
    return content_hash != past.content_hash
