"""Celery's consumer with one change: messages it cannot use are kept as dead letters.

Celery itself acknowledges some of them, which loses them, and exits on others; an operator should see them, and the
next message should be processed.
"""

import time
from collections.abc import Callable
from typing import Any

from celery import bootsteps
from celery.worker import state
from celery.worker.consumer import Consumer as CelerysOwn

from forager.logs import log

AGAIN_S = 2.0
DIAL_EVERY_S = 2.0
"""Interval between attempts to reach an unavailable broker. Celery would increase it, up to 30 s."""


class Consumer(CelerysOwn):  # type: ignore[misc]
    tell: Callable[[bool], None]

    def ensure_connected(self, conn: Any) -> Any:
        conn.ensure_connection(interval_start=1.0, interval_max=DIAL_EVERY_S, callback=state.maybe_shutdown)
        self.first_connection_attempt = False
        return conn

    def create_task_handler(self, *given: Any, **more: Any) -> Callable[[Any], None]:
        """Wraps the handler: headers and bodies come from any sender and may contain anything."""
        handle = super().create_task_handler(*given, **more)

        def guarded(message: Any) -> None:
            try:
                handle(message)
            except (*self.connection_errors, *self.channel_errors):
                raise
            except Exception as error:
                self._reject(message, error)

        return guarded

    def on_decode_error(self, message: Any, exc: Any) -> None:
        self._reject(message, exc)

    def on_invalid_task(self, _body: Any, message: Any, exc: Any) -> None:
        self._reject(message, exc)

    def on_unknown_task(self, _body: Any, message: Any, exc: Any) -> None:
        self._reject(message, f"there is no task {exc}")

    def on_unknown_message(self, _body: Any, message: Any) -> None:
        self._reject(message, "it names no task")

    def on_connection_error_after_connected(self, exc: Any) -> None:
        """Reports the loss at once: Celery takes many seconds to disconnect from a broker that stopped responding.
        What closed one channel most likely closes the next one too, so the error is logged and then delayed, not
        logged five times a second."""
        self.tell(False)
        if isinstance(exc, self.channel_errors):
            log().error("the broker closed a channel", action="queue.broken", error=str(exc)[:300])
            time.sleep(AGAIN_S)
        super().on_connection_error_after_connected(exc)

    def on_close(self) -> None:
        """Drops the pending messages: the connection is lost, and they can no longer be acknowledged."""
        super().on_close()
        self.pool.forget()

    def _reject(self, message: Any, why: Any) -> None:
        log().warning("a message nobody can use is a dead letter", action="queue.poison", error=str(why)[:200])
        if not message.acknowledged:
            message.reject()


class ListenerStep(bootsteps.StartStopStep):  # type: ignore[misc]
    """Reports whether messages can arrive: from when the queues are consumed until that ends."""

    requires = ("celery.worker.consumer.tasks:Tasks",)
    dead: Any
    """The queue for unusable messages. Without it the broker would drop them."""
    tell: Callable[[bool], None]

    def start(self, c: Any) -> None:
        self.dead(c.connection.default_channel).declare()
        self.tell(True)

    def stop(self, _c: Any) -> None:
        self.tell(False)
