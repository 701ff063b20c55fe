"""The pipeline for one page: admit, fetch, parse, select, store. One target in, exactly one outcome out.

Claiming comes before it; enqueueing and recording come after it, in `worker.py` and `writer.py`. `dispatcher.py` waits
for the domain's delay.
"""

import asyncio
import traceback
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from forager import clock
from forager.engine.link_selection import select
from forager.engine.page_parser import PageParser
from forager.engine.rendering import FAILED, RENDERED, Renderer, RenderOptions
from forager.engine.request_timing import RequestTiming
from forager.engine.retry_policy import find_problem, outcome_of
from forager.errors import (
    BrokenError,
    RobotsDeniedError,
    SkippedError,
    VisitError,
)
from forager.fetch.client import ACCEPT_IMAGES, Client, accepts_any_type
from forager.fetch.decode import decompress
from forager.fetch.models import Fetched
from forager.frontier.models import Outcome, OutcomeKind, Past, Target
from forager.images.models import ImageFile, ImagePolicy
from forager.links.select import Selector
from forager.logs import log
from forager.parsing.models import Reading
from forager.robots.rules import Rules
from forager.storage.body_store import BodyStore
from forager.storage.models import StoredBody
from forager.storage.policy import ContentPolicy


@dataclass(frozen=True, slots=True)
class VisitOptions:
    """Options of one visit, from the settings of its domain."""

    content_policy: str = ContentPolicy.SIGNALS
    images: str = ImagePolicy.FOUND
    rendering: RenderOptions | None = None
    """Set if a browser may be used."""


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


def admit(target: Target, rules: Rules | SkippedError) -> Outcome | None:
    """Returns None when the address guard and robots.txt allow the visit, otherwise the outcome of the skipped
    visit."""
    if isinstance(rules, SkippedError):
        return Outcome(target, outcome_of(rules), error=rules)
    verdict = rules.verdict(target.url)
    if verdict.allowed:
        return None
    error = RobotsDeniedError(f"robots.txt line {verdict.line} says {verdict.rule!r}")
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
            selection, trouble = select(
                *(target, page.fetched, page.reading, self.selector),
                images=options.images,
                max_redirects=self.max_redirects,
            )
            image, stored = await self._store(target, page, request, options)
        except VisitError as error:
            request.ended()
            trouble = find_problem(error, is_image=target.is_image)
            return Outcome(target, outcome_of(error), status_code, error, trouble=trouble, **_describe(request))
        except Exception as bug:
            broken, stack = BrokenError(f"{type(bug).__name__}: {bug}"), traceback.format_exc()
            return Outcome(target, OutcomeKind.FAILED, status_code, broken, stack=stack, **_describe(request))
        content_hash = page.reading.content_hash if page.reading else image.key if image else None
        return Outcome(
            target,
            OutcomeKind.SUCCESS,
            status_code,
            reading=page.reading,
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
        if target.is_image and self.image_files is not None:
            how |= {"read_body": accepts_any_type, "most_bytes": self.image_files.max_bytes, "accept": ACCEPT_IMAGES}
        elif self._is_only_parsed(target, options):
            how["decompresses"] = False
        past, is_rendered = target.past, options.rendering is not None and not target.is_image
        if past is not None and not is_rendered:  # a plain page says nothing about what scripts write into it
            how |= {"etag": past.etag, "last_modified": past.last_modified}
        fetched = await self.client.get(target.url, on_sent=request.sent, via=request.via, **how)
        request.ended()
        request.check_wanted()
        return fetched

    def _is_only_parsed(self, target: Target, options: VisitOptions) -> bool:
        """Returns whether only the parser needs the plain body."""
        is_kept = options.content_policy != ContentPolicy.SIGNALS or options.rendering is not None
        return self.parser.decompresses and not is_kept and not target.is_image

    async def _parse(self, target: Target, fetched: Fetched, request: RequestTiming, options: VisitOptions) -> Parsed:
        if not is_to_parse(target, fetched):
            fetched = decompress(fetched)
            page = Parsed(fetched, fetched)
        else:
            began_at = clock.monotonic()
            reading = await self.parser.parse(target, fetched)
            read_s = clock.monotonic() - began_at if reading is not None else None
            page = Parsed(fetched, fetched, reading, read_s)
            if options.rendering is not None and reading is not None:
                page = await self._render(target, page, reading, request, options.rendering)
        request.check_wanted()
        return page

    async def _render(
        self, target: Target, page: Parsed, reading: Reading, request: RequestTiming, options: RenderOptions
    ) -> Parsed:
        """Returns the rendered page if it has to be rendered; the plain page, marked, if rendering failed."""
        if self.renderer is None or not self.renderer.wants(page.fetched, reading, options.mode):
            return page
        rendered = await self.renderer.draw(page.fetched, options, request.via)
        if rendered is not None:
            try:
                again = await self.parser.parse(target, rendered)
                if again is not None:
                    return page._replace(fetched=rendered, reading=replace(again, flags=(*again.flags, RENDERED)))
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
        return None, await asyncio.to_thread(self.body_store.pack, policy, kept, target.past, request.requested_at)


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
