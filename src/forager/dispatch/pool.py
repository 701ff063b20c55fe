"""Celery pool of a Forager worker: a message stays in it until the worker has decided on its hint.

    Celery's thread                      the worker's event loop
    on_apply ── peek at the hint ──────> inbox
    settle  <── verdict, and a byte ──── the claim is committed, or there is nothing to claim
       └─ the task runs: acknowledged, back into the queue, or a dead letter

Nothing blocks and no thread waits: a thousand pending hints cost as much as a list of a thousand.
"""

import contextlib
import json
import os
import socket
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Any

from celery.concurrency.base import BasePool, apply_target

from forager.dispatch.inbox import MessageReply
from forager.dispatch.message import Hint, InvalidMessageError, read_hint

Put = Callable[[str, Hint, str], None]
"""Takes the key, the hint, and the queue that delivered it."""


class HintPool(BasePool):  # type: ignore[misc]
    """Pool of pending messages. `put` is called in Celery's thread; `give` may be called in any."""

    put: Put
    body_can_be_buffer = True
    task_join_will_block = False
    _numbers = count()
    """Shared by all pools: when Celery is restarted, a late reply to an old message must not settle a new one."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._waiting: dict[str, tuple[Any, ...]] = {}
        self._decided: deque[tuple[str, MessageReply]] = deque()
        self._errands: deque[Callable[[], None]] = deque()
        self.verdict = MessageReply.LATER
        """Reply to the message whose task runs now."""
        self._bell, self._ringer = socket.socketpair()
        self._bell.setblocking(False)
        self._ringer.setblocking(False)

    def register_with_event_loop(self, hub: Any) -> None:
        hub.add_reader(self._bell.fileno(), self._process_pending)

    def on_apply(self, target: Any, args: Any = None, kwargs: Any = None, **more: Any) -> None:
        call = target, args, kwargs, more.get("callback"), more.get("accept_callback")
        hint = _peek(args[3])
        if hint is None:  # the task itself reports the error
            return self._run(call, MessageReply.LATER)
        key = str(next(self._numbers))  # not the task's id: the same message may be here twice
        self._waiting[key] = call
        return self.put(key, hint, _route(args[2]))

    def give(self, key: str, verdict: MessageReply) -> None:
        """Records the worker's reply to a message."""
        self._decided.append((key, verdict))
        self.wake_thread()

    def send(self, errand: Callable[[], None]) -> None:
        """Runs a function in Celery's thread, before the replies that follow."""
        self._errands.append(errand)
        self.wake_thread()

    def wake_thread(self) -> None:
        """Wakes Celery's thread."""
        with contextlib.suppress(OSError):  # it is already signalled, or closed
            self._ringer.send(b".")

    def _process_pending(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._bell.recv(65536)
        while self._errands:
            self._errands.popleft()()
        while self._decided:
            key, verdict = self._decided.popleft()
            call = self._waiting.pop(key, None)
            if call is not None:  # otherwise its connection was lost, and the broker delivers it again
                self._run(call, verdict)

    def _run(self, call: tuple[Any, ...], verdict: MessageReply) -> None:
        target, args, kwargs, callback, accept_callback = call
        self.verdict = verdict
        apply_target(target, args, kwargs, callback, accept_callback, pid=os.getpid())

    def forget(self) -> None:
        """Drops pending messages: the connection is lost, and they are delivered again over the next one."""
        self._waiting.clear()

    def terminate_job(self, pid: int, signal: Any = None) -> None:
        """Does nothing. Celery calls it when the connection is lost; no job runs that could be terminated."""

    def close_sockets(self) -> None:
        self._bell.close()
        self._ringer.close()


def _route(request: Any) -> str:
    """Returns the queue that delivered a message."""
    route = request.get("delivery_info", {}).get("routing_key")
    return route if isinstance(route, str) else ""


def _peek(body: Any) -> Hint | None:
    """Returns the hint in the body of a task's message; None where it contains no valid one."""
    try:
        document = json.loads(bytes(body)) if isinstance(body, bytes | bytearray | memoryview) else body
        document = json.loads(document) if isinstance(document, str) else document
        return read_hint(document[0][0])
    except (InvalidMessageError, ValueError, LookupError, TypeError, RecursionError):
        return None
