"""A replay that a worker runs: requested through the parse queue, followed in the database.

The database has the config and the progress. If no worker listens, the broker is unavailable, or the worker that took
it is gone, the requesting process resumes it from where it stopped: no process waits for a message.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from forager import clock
from forager.dispatch.errors import BrokerUnavailableError
from forager.dispatch.factory import open_queue
from forager.dispatch.message import ReplayHint
from forager.engine.stop import StopRequest
from forager.engine.transaction_retry import in_transaction
from forager.logs import log
from forager.replay import service as control
from forager.replay.diff import ReplayProgress
from forager.replay.service import ReplayOrder

if TYPE_CHECKING:
    from forager.instance import Forager

LOOK_EVERY_S = 0.2
ALONE_S = 15.0
"""How long a replay may have no process: a worker has to start one for it."""


class Followed(NamedTuple):
    id: int
    is_finished: bool
    tally: ReplayProgress


async def by_a_worker(
    forager: "Forager", order: ReplayOrder, *, by: str, stop: StopRequest, on_progress: Callable[[ReplayProgress], None]
) -> Followed | None:
    """Returns the result; None if no worker runs it."""
    if not await _has_consumers(forager):
        return None
    number = await in_transaction(forager.database, partial(control.order_one, order=order, by=by))
    if not await _tell(forager, number):
        return None
    seen_at = clock.monotonic()
    while clock.monotonic() - seen_at < ALONE_S:
        state = await in_transaction(forager.database, partial(control.read_one, replay=number))
        on_progress(state.tally)
        if state.is_finished or stop.asked:
            return Followed(number, state.is_finished, state.tally)
        if state.is_held:
            seen_at = clock.monotonic()
        await asyncio.sleep(LOOK_EVERY_S)
    log().warning("no worker is at the replay, it is done here", action="replay.here", replay=number)
    return None


async def _has_consumers(forager: "Forager") -> bool:
    try:
        async with open_queue(forager.settings) as broker:
            if broker is None:
                return False
            depths = await broker.look([broker.names.parse])
            return depths[broker.names.parse].consumers > 0
    except BrokerUnavailableError as error:
        log().warning(str(error), action="queue.away")
        return False


async def _tell(forager: "Forager", number: int) -> bool:
    try:
        async with open_queue(forager.settings) as broker:
            if broker is not None:
                await broker.tell([(broker.names.parse, ReplayHint(number))])
            return broker is not None
    except BrokerUnavailableError as error:
        log().warning(str(error), action="queue.away")
        return False
