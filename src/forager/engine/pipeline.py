"""The line for one page: admit, get, read, select, keep. One target in, exactly one outcome out, whatever happens.

Claim comes before it; learn and record come after it, in `worker.py` and `writer.py`. The domain's turn is waited
for in `dispatcher.py`.
"""

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from forager import clock
from forager.config.cipher import PasswordCipher
from forager.engine.crash_marker import CrashMarker
from forager.engine.image_storage import ImageStorage
from forager.engine.parser_pool import ParserPool
from forager.engine.pauses import Pauses
from forager.engine.rendering import FAILED, RENDERED, Renderer, RenderOptions
from forager.engine.request_timing import RequestTiming
from forager.engine.retry_policy import detect_login, find_problem, outcome_of
from forager.errors import (
    BadResponseError,
    BrokenError,
    RobotsDeniedError,
    SkippedError,
    StatusError,
    TooManyRedirectsError,
    VisitError,
)
from forager.fetch.client import ACCEPT_IMAGES, Client, accepts_any_type
from forager.fetch.decode import decompress
from forager.fetch.models import Fetched
from forager.fetch.retry_after import parse_retry_after
from forager.frontier.models import Outcome, OutcomeKind, Past, Target, Trouble
from forager.frontier.url_cache import UNSHARED, SharedPages
from forager.images.models import ImagePolicy
from forager.links.images import get_redirect_image
from forager.links.models import Selection
from forager.links.select import Selector
from forager.observe import log
from forager.parsing.login import redirects_to_login
from forager.parsing.models import Reading
from forager.politeness.guard import AddressGuard
from forager.politeness.pace import Throttle
from forager.proxies.models import Proxy
from forager.robots.rules import Rules
from forager.storage.body_store import BodyStore
from forager.storage.policy import ContentPolicy
from forager.urls.resolve import resolve_links


@dataclass(frozen=True, slots=True)
class Tools:
    """What a visit needs, handed in by the floor above."""

    client: Client
    read: Callable[..., Reading]
    """Of a `Fetched`, and the `parser_name` of its domain where that has one."""
    selector: Selector
    max_redirects: int
    database_time: Callable[[float], datetime]
    """What a moment of the monotonic clock is on the database's."""
    guard: AddressGuard | None = None
    """Decides about addresses; the rule of the client for domains that have none of their own."""
    parsers: ParserPool | None = None
    """Read beside the worker; without them, the worker reads by itself."""
    read_isolated: Callable[..., Awaitable[Reading | None]] | None = None
    """For pages that killed a worker before, where there is no pool."""
    box: CrashMarker | None = None
    body_store: BodyStore | None = None
    """Keeps bodies, where a policy asks for it."""
    images: ImageStorage | None = None
    """Looks at images and stores them."""
    shared: SharedPages = UNSHARED
    """Pages that other workers know."""
    renderer: Renderer | None = None
    """Has a browser draw pages, where a domain asks for it."""
    vault: PasswordCipher = PasswordCipher(())  # noqa: RUF009 (never changed)
    """Opens the passwords of proxies."""
    pauses: Pauses = field(default_factory=Pauses)
    """Faults of our own, for which requests wait."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Without a pool pages are read one at a time: between two of them the loop serves the database and the sockets.
    Without it 200 answers that arrive together keep a transaction waiting for 200 readings at each of its steps."""


def admit(target: Target, rules: Rules | SkippedError) -> Outcome | None:
    """Nothing, when the guard and robots.txt allow the visit; else how it ended before it began."""
    if isinstance(rules, SkippedError):
        return Outcome(target, outcome_of(rules), error=rules)
    verdict = rules.verdict(target.url)
    if verdict.allowed:
        return None
    error = RobotsDeniedError(f"robots.txt line {verdict.line} says {verdict.rule!r}")
    return Outcome(target, outcome_of(error), error=error)


async def visit(
    target: Target,
    tools: Tools,
    policy: str = ContentPolicy.SIGNALS,
    trip: RequestTiming | None = None,
    images: str = ImagePolicy.FOUND,
    *,
    drawing: RenderOptions | None = None,
) -> Outcome:
    """`trip` is told when the request leaves; without one, nobody keeps a pace. `drawing` is given where a browser may
    be asked."""
    trip = trip or RequestTiming(Throttle(delay_s=0.0, max_in_flight=1, now=0.0), tools.database_time)
    status_code = None
    past, stored, file = target.past, None, None
    get = partial(tools.client.get, keeps_raw=True) if policy == ContentPolicy.ARCHIVE else tools.client.get
    if target.is_image and tools.images is not None:
        get = partial(get, read_body=accepts_any_type, most_bytes=tools.images.max_bytes, accept=ACCEPT_IMAGES)
    elif tools.parsers and policy == ContentPolicy.SIGNALS and drawing is None and not target.is_image:
        get = partial(get, decompresses=False)  # only the parser needs the plain body
    try:
        if past is None or (drawing is not None and not target.is_image):  # a shell says nothing of what is drawn in it
            fetched = await get(target.url, on_sent=trip.sent, via=trip.via)
        else:
            fetched = await get(
                target.url, etag=past.etag, last_modified=past.last_modified, on_sent=trip.sent, via=trip.via
            )
        trip.ended()
        trip.go_on()
        status_code = fetched.status_code
        began_at = clock.monotonic()
        if not is_to_read(target, fetched):
            fetched = decompress(fetched)
        reading, plain = await _read(target, fetched, tools) if is_to_read(target, fetched) else None, fetched
        read_s = clock.monotonic() - began_at if reading is not None else None
        if drawing is not None and reading is not None:
            fetched, reading = await _draw(target, fetched, reading, tools, drawing=drawing, via=trip.via)
        trip.go_on()
        selection, trouble = select(target, fetched, reading, tools, images)
        if target.is_image and tools.images is not None and status_code < 300:
            file = await tools.images.look(fetched)
        elif policy != ContentPolicy.SIGNALS and tools.body_store is not None:
            kept = plain if policy == ContentPolicy.ARCHIVE else fetched  # an archive holds what the server sent
            stored = await asyncio.to_thread(tools.body_store.pack, policy, kept, past, trip.requested_at)
    except VisitError as error:
        trip.ended()
        trouble = find_problem(error, is_image=target.is_image)
        return Outcome(target, outcome_of(error), status_code, error, trouble=trouble, **_build_details(trip))
    except Exception as bug:
        broken = BrokenError(f"{type(bug).__name__}: {bug}")
        stack = traceback.format_exc()
        return Outcome(target, OutcomeKind.FAILED, status_code, broken, stack=stack, **_build_details(trip))
    return Outcome(
        target,
        OutcomeKind.SUCCESS,
        status_code,
        response_time_ms=fetched.response_time_ms,
        wire_bytes=fetched.wire_bytes,
        content_type=fetched.content_type[:200] or None,
        etag=fetched.headers.get("etag", "")[:500] or None,
        last_modified=fetched.headers.get("last-modified", "")[:100] or None,
        reading=reading,
        read_s=read_s,
        selection=selection,
        trouble=trouble,
        is_changed=is_changed(past, status_code, reading.content_hash if reading else file.key if file else None),
        image=file,
        stored=stored,
        **_build_details(trip),
    )


def _build_details(trip: RequestTiming) -> dict[str, Any]:
    return {
        "requested_at": trip.requested_at,
        "pace_ms": trip.pace_ms,
        "waited_s": trip.waited_s,
        "proxy_id": trip.via.id if trip.via else None,
    }


def is_to_read(target: Target, fetched: Fetched) -> bool:
    return (
        200 <= fetched.status_code < 300 and fetched.status_code != 206 and bool(fetched.body) and not target.is_image
    )


async def _read(target: Target, fetched: Fetched, tools: Tools) -> Reading | None:
    """By another process, which might die of it; or here, one page at a time. None where the body has nothing in it."""
    if tools.parsers:
        return await tools.parsers.read(fetched, is_suspect=target.crashes > 0, **_parser(target))
    if target.crashes and tools.read_isolated:
        return await tools.read_isolated(fetched, **_parser(target))
    async with tools.turn:
        with tools.box.reading(target.page_id) if tools.box else nullcontext():
            reading = tools.read(fetched, **_parser(target))
        await asyncio.sleep(0)
    return reading


async def _draw(
    target: Target, fetched: Fetched, reading: Reading, tools: Tools, *, drawing: RenderOptions, via: Proxy | None
) -> tuple[Fetched, Reading]:
    """The page as its scripts leave it, where it has to be drawn; the plain one, marked, where that went wrong."""
    if tools.renderer is None or not tools.renderer.wants(fetched, reading, drawing.mode):
        return fetched, reading
    drawn = await tools.renderer.draw(fetched, drawing, via)
    if drawn is not None:
        try:
            again = await _read(target, drawn, tools)
            if again is not None:
                return drawn, replace(again, flags=(*again.flags, RENDERED))
        except VisitError as error:
            log().warning("drawn page not read", action="render.unreadable", url=target.url, reason=str(error))
    return fetched, replace(reading, flags=(*reading.flags, FAILED))


def is_changed(past: Past | None, status_code: int, content_hash: bytes | None) -> bool | None:
    """Whether a revisit found something new; None where there is nothing to compare."""
    if past is None:
        return None
    if status_code == 304:
        return False
    if content_hash is None or past.content_hash is None:
        return None
    return content_hash != past.content_hash


Selected = tuple[Selection, Trouble | None]


def select(
    target: Target, fetched: Fetched, reading: Reading | None, tools: Tools, images: str = ImagePolicy.FOUND
) -> Selected:
    """What an answer leads to: the links of a page, or a redirect's one. Anything else is an error."""
    status = fetched.status_code
    if status == 304 and target.past is not None and (target.past.etag or target.past.last_modified):
        return Selection(), None
    if 300 <= status < 400 and status != 304:
        return follow(target, fetched, tools)
    if status < 200 or status == 206 or 300 <= status < 400 or status >= 600:  # we ask for no parts
        raise BadResponseError(f"the server answered {status}, which is no answer to our request")
    if status >= 400:
        raise StatusError(status, parse_retry_after(fetched.headers.get("retry-after", ""), clock.now()))
    if reading is None:
        return Selection(), None
    selection = tools.selector.select(reading, target)
    if images != ImagePolicy.NONE and (reading.images or target.past is not None):
        shown, wants_files = tools.selector.see(reading, target), images == ImagePolicy.DOWNLOAD
        selection = replace(selection, images=shown, wants_files=wants_files)
    return selection, detect_login(target, status, reading)


def _parser(target: Target) -> dict[str, str]:
    """How its product is read, where its domain says so."""
    return {} if target.parser_name == "auto" else {"parser_name": target.parser_name}


def follow(target: Target, fetched: Fetched, tools: Tools) -> Selected:
    """A redirect is a link like others, so its target meets every gate a page meets; only chains are counted."""
    location = fetched.headers.get("location")
    if not location:
        raise BadResponseError(f"the server answered {fetched.status_code} without saying where to go")
    if target.redirects >= tools.max_redirects:
        raise TooManyRedirectsError(f"more than {tools.max_redirects} redirects in a row")
    place = resolve_links(target.url, [location])[0]
    if place is None:
        raise BadResponseError(f"the server answered {fetched.status_code} and leads to no page of the web")
    if place == target.url:
        raise TooManyRedirectsError("it redirects to itself", has_new_cookie=fetched.has_new_cookie)
    if target.is_image:
        return Selection(images=get_redirect_image(place), wants_files=True), None
    is_wall = redirects_to_login(target.url, place)
    return tools.selector.redirect(target, location), Trouble.LOGIN_REQUIRED if is_wall else None
