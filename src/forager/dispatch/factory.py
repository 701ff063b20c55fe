"""Builds the queue from Settings: the sender of hints, their receiver, and the Celery application that an operator can
inspect.

    celery -A forager.dispatch.factory inspect active_queues

With `queue = inline` none of it is created, and none of its libraries is loaded. Only the setting has to change to
switch, also in the middle of a run: what is due is in the database, and workers of both kinds claim it by the same
leases.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from forager.config.loader import load, to_environment
from forager.config.settings import Settings
from forager.dispatch.errors import BrokerUnavailableError
from forager.dispatch.inbox import HOLD_S, MessageInbox, MessageReply
from forager.dispatch.message import ReplayHint
from forager.dispatch.names import Names
from forager.interpreter import python_module
from forager.logs import log
from forager.runs.models import RunSpec

if TYPE_CHECKING:
    from forager.dispatch.broker import Broker


@contextlib.asynccontextmanager
async def open_queue(settings: Settings) -> AsyncIterator["Broker | None"]:
    """Yields the broker for a sender; None: there are no consumers. Connects when it is first used."""
    if settings.dispatch.mode == "inline":
        yield None
        return
    from forager.dispatch.broker import open_broker

    async with open_broker(settings.dispatch.broker_url, settings.dispatch.queue_prefix or "") as broker:
        yield broker


@contextlib.asynccontextmanager
async def open_hints(settings: Settings, run: int, spec: RunSpec) -> AsyncIterator[MessageInbox | None]:
    """Yields the inbox for a worker; None: the worker polls the database for its domains."""
    if settings.dispatch.mode == "inline":
        yield None
        return
    from forager.dispatch.listener import open_listener

    number = None if spec.is_standing else run
    desk = ReplayRunner(settings)
    names = Names(settings.dispatch.queue_prefix or "")
    async with open_listener(settings.dispatch.broker_url, names, run=number, on_replay=desk.take) as consumption:
        desk.give = consumption.give
        try:
            yield consumption.inbox
        finally:
            await desk.close()


class ReplayRunner:
    """Runs replays of stored bodies that a message requested: one at a time, in a separate process, so that the
    crawl continues. The message is acknowledged when the process has started, since RabbitMQ closes a channel whose
    message stays unacknowledged for half an hour; the progress is in the database. A replay that a stop interrupts
    is sent again."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._doing: asyncio.Task[None] | None = None
        self._is_closed = False
        self.give: Callable[[str, MessageReply], None] = lambda _key, _outcome: None

    def take(self, key: str, replay: int) -> None:
        if self._is_closed:  # it is requeued with the connection, which is about to be closed
            return
        if self._doing is not None and not self._doing.done():
            self._put_off(key)
            return
        self._doing = asyncio.create_task(self._do(key, replay))

    def _put_off(self, key: str) -> None:
        """Requeues the message after a delay, since it might be delivered to this worker again at once."""
        asyncio.get_running_loop().call_later(HOLD_S, self.give, key, MessageReply.LATER)

    async def _do(self, key: str, replay: int) -> None:
        environ = os.environ | to_environment(self._settings) | {"FORAGER_DISPATCH_MODE": "inline"}
        command = python_module("forager", "replay", "--id", str(replay), "--json")
        try:
            process = await asyncio.create_subprocess_exec(
                *command, env=environ, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL
            )
        except OSError as error:  # too many processes, no memory: another worker may have capacity
            log().error("replay not started", action="replay.failed", replay=replay, error=repr(error))
            return self._put_off(key)
        self.give(key, MessageReply.DONE)
        try:
            code = await process.wait()
        except asyncio.CancelledError:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            if await process.wait():
                await self._forward(replay)
            raise
        if code:  # it logs the reason itself; the requester sees that it is unfinished and resumes it
            log().warning("replay ended", action="replay.ended", replay=replay, code=code)
        return None

    async def _forward(self, replay: int) -> None:
        """Sends the replay to another worker. Where the broker is unavailable, its requester resumes it, if still
        waiting."""
        try:
            async with open_queue(self._settings) as broker:
                if broker is not None:
                    await broker.tell([(broker.names.parse, ReplayHint(replay))])
        except BrokerUnavailableError as error:
            remedy = f"forager replay --id {replay}"
            log().warning("replay left", action="replay.left_over", replay=replay, go_on_with=remedy, error=str(error))

    async def close(self) -> None:
        self._is_closed = True
        if self._doing is not None:
            self._doing.cancel()
            await asyncio.gather(self._doing, return_exceptions=True)


def __getattr__(name: str) -> Any:
    """Provides `app`, which the `celery` command looks for."""
    if name != "app":
        raise AttributeError(name)
    from forager.dispatch.celery_app import make_app

    settings = load()
    return make_app(settings.dispatch.broker_url, Names(settings.dispatch.queue_prefix or ""))
