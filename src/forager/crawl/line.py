"""The line for one page: admit, get, read, select, keep. One target in, exactly one outcome out, whatever happens.

Claim comes before it; learn and record come after it, in `worker.py` and `writer.py`. The domain's turn is waited
for in `traffic.py`.
"""

import asyncio
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from forager import clock
from forager.archive import ContentPolicy, keep
from forager.crawl.judge import outcome_of
from forager.errors import (
    BadResponseError,
    BrokenError,
    RefusedError,
    RobotsDeniedError,
    StatusError,
    TooManyRedirectsError,
    VisitError,
)
from forager.fetch import Client, parse_retry_after
from forager.ingest import Selector
from forager.politeness.robots import Rules
from forager.records import Fetched, Outcome, OutcomeKind, Reading, Selection, Target


@dataclass(frozen=True, slots=True)
class Tools:
    """What a visit needs, handed in by the floor above."""

    client: Client
    read: Callable[[Fetched], Reading]
    selector: Selector
    max_redirects: int
    database_now: Callable[[], datetime]
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Pages are understood one at a time: between two of them the event loop serves the database and the sockets.
    Without it 200 answers that arrive together keep a transaction waiting for 200 readings at each of its steps."""


def admit(target: Target, rules: Rules | RefusedError) -> Outcome | None:
    """Nothing, when the guard and robots.txt allow the visit; else how it ended before it began."""
    if isinstance(rules, RefusedError):
        return Outcome(target, outcome_of(rules), error=rules)
    verdict = rules.verdict(target.url)
    if verdict.allowed:
        return None
    error = RobotsDeniedError(f"robots.txt line {verdict.line} says {verdict.rule!r}")
    return Outcome(target, outcome_of(error), error=error)


async def visit(target: Target, tools: Tools, policy: str = ContentPolicy.SIGNALS) -> Outcome:
    requested_at = None
    status_code = None
    try:
        requested_at = tools.database_now()
        fetched = await tools.client.get(target.url)
        status_code = fetched.status_code
        async with tools.turn:
            reading, selection = understand(target, fetched, tools)
            keep(ContentPolicy(policy), fetched)
            await asyncio.sleep(0)
    except VisitError as error:
        return Outcome(target, outcome_of(error), status_code, error, requested_at=requested_at)
    except Exception as bug:
        broken = BrokenError(f"{type(bug).__name__}: {bug}")
        stack = traceback.format_exc()
        return Outcome(target, OutcomeKind.FAILED, status_code, broken, stack=stack, requested_at=requested_at)
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
        selection=selection,
        requested_at=requested_at,
    )


def understand(target: Target, fetched: Fetched, tools: Tools) -> tuple[Reading | None, Selection]:
    """What an answer holds: a page with its links, or a redirect with its one. Anything else is an error."""
    status = fetched.status_code
    if 300 <= status < 400 and status != 304:
        return None, follow(target, fetched, tools)
    if status < 200 or 300 <= status < 400 or status >= 600:
        raise BadResponseError(f"the server answered {status}, which is no answer to our request")
    if status >= 400:
        raise StatusError(status, parse_retry_after(fetched.headers.get("retry-after", ""), clock.now()))
    if not fetched.body:
        return None, Selection()
    reading = tools.read(fetched)
    return reading, tools.selector.select(reading, target)


def follow(target: Target, fetched: Fetched, tools: Tools) -> Selection:
    """A redirect is a link like others, so its target meets every gate a page meets; only chains are counted."""
    location = fetched.headers.get("location")
    if not location:
        raise BadResponseError(f"the server answered {fetched.status_code} without saying where to go")
    if target.redirects >= tools.max_redirects:
        raise TooManyRedirectsError(f"more than {tools.max_redirects} redirects in a row")
    return tools.selector.redirect(target, location)
