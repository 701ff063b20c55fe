"""Runs a Celery worker in a thread beside the worker's event loop: it passes hints to the inbox and replies to the
broker.

Celery's own loop needs a thread, since it blocks; the crawl keeps the main one. Only the pool is used by both. A clean
stop closes the connection, and the broker delivers unacknowledged messages to another worker, as it does after a kill.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any

from forager import clock
from forager.dispatch.celery_app import add_tasks, dead_queue, make_app
from forager.dispatch.inbox import MessageInbox, MessageReply
from forager.dispatch.message import CrawlHint, Hint, ReplayHint
from forager.dispatch.names import PRIORITY, Names
from forager.logs import log

IN_HAND = 32
"""Maximum number of unacknowledged messages per worker. Enough to claim many domains with one statement; few enough
that other workers find messages in the queue."""
AGAIN_S = 5.0
STOP_S = 5.0
"""Maximum wait for a broker that does not respond; the thread ends with the process."""


class QueueListener:
    def __init__(
        self, app: Any, names: Names, loop: asyncio.AbstractEventLoop, on_replay: Callable[[str, int], None]
    ) -> None:
        self._app = app
        self._names = names
        self._loop = loop
        self._on_replay = on_replay
        self._is_over = threading.Event()
        self._worker: Any = None
        self.inbox = MessageInbox(self.give, self._stop_listening)
        add_tasks(app, lambda: self._worker.pool.verdict)
        self._thread = threading.Thread(target=self._live, name="celery", daemon=True)

    def start(self) -> None:
        _mute_loggers()
        self._thread.start()

    def stop(self) -> None:
        """Stops the thread. Blocks briefly."""
        from celery.worker import state

        self._is_over.set()
        state.should_terminate = 0
        if self._worker is not None:
            self._worker.pool.wake_thread()
        self._thread.join(STOP_S)
        if not self._thread.is_alive():
            state.should_terminate = None

    def give(self, key: str, verdict: MessageReply) -> None:
        if self._worker is not None:
            self._worker.pool.give(key, verdict)

    def _stop_listening(self) -> None:
        """Stops consuming, future connections first; otherwise requeued messages would be delivered to this worker
        again at once."""
        names = list(self._app.amqp.queues.consume_from)
        self._app.amqp.queues.deselect(names)
        if self._worker is not None:
            self._worker.pool.send(partial(self._cancel, names))

    # in Celery's thread --------------------------------------------------------------------------------------------

    def _live(self) -> None:
        """Runs Celery. Celery reconnects to a lost broker by itself; the loop here handles unexpected errors."""
        self._app.set_current()  # for this thread only: tasks are looked up there
        while not self._is_over.is_set():
            began_at = clock.monotonic()
            try:
                self._worker = self._make_worker()
                self._worker.start()
            except Exception as error:
                log().error("Celery ended", action="queue.broken", error=repr(error))
            self._call(self.inbox.go)
            if self._worker is not None:
                self._worker.pool.close_sockets()
            if not self._is_over.is_set():
                log().warning("Celery is started again", action="queue.again", lived_s=clock.monotonic() - began_at)
                self._is_over.wait(AGAIN_S)

    def _make_worker(self) -> Any:
        from celery.worker import WorkController

        from forager.dispatch.consumer import Consumer, ListenerStep
        from forager.dispatch.pool import HintPool

        pool = type("Pool", (HintPool,), {"put": staticmethod(self._put)})
        presence = type(
            "Presence", (ListenerStep,), {"tell": staticmethod(self._tell), "dead": dead_queue(self._names)}
        )
        self._app.steps["consumer"] = {presence}
        return WorkController(
            app=self._app,
            hostname=f"forager.{os.getpid()}.{secrets.token_hex(3)}@{os.uname().nodename}",  # equal in containers
            pool=pool,
            consumer_cls=type("Consumer", (Consumer,), {"tell": staticmethod(self._tell)}),
            concurrency=IN_HAND,
            without_mingle=True,
            without_gossip=True,
            without_heartbeat=True,
        )

    def _cancel(self, names: Sequence[str]) -> None:
        for name in names:
            self._worker.consumer.cancel_task_queue(name)

    def _put(self, key: str, hint: Hint, queue: str) -> None:
        match hint:
            case CrawlHint():
                self._call(self.inbox.put, key, hint, self._names.kind(queue) == PRIORITY)
            case ReplayHint():
                self._call(self._on_replay, key, hint.replay)

    def _tell(self, is_near: bool) -> None:
        self._call(self.inbox.come if is_near else self.inbox.go)

    def _call(self, function: Callable[..., None], *given: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: there is no receiver
            self._loop.call_soon_threadsafe(function, *given)


def _mute_loggers() -> None:
    """Silences Celery's log of every reconnection attempt, with a traceback each; the inbox logs it in one line."""
    for name in ("celery", "kombu", "amqp"):
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False


@contextlib.asynccontextmanager
async def open_listener(
    url: str, names: Names, *, run: int | None, on_replay: Callable[[str, int], None]
) -> AsyncIterator[QueueListener]:
    """Yields a listener for a worker of this run; None: of the continuous run."""
    consumption = QueueListener(make_app(url, names, run=run), names, asyncio.get_running_loop(), on_replay)
    consumption.start()
    try:
        yield consumption
    finally:
        await asyncio.to_thread(consumption.stop)
