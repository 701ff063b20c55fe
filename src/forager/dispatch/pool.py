"""Celery's pool of a Forager worker: a message takes a place in it until the worker has decided on its hint.

    Celery's thread                      the worker's event loop
    on_apply ── peek at the hint ──────> inbox
    settle  <── verdict, and a byte ──── the claim is committed, or there is nothing to claim
       └─ the task runs: acknowledged, back into the queue, or a dead letter

Nothing blocks and no thread waits: a thousand hints in hand cost as much as a list of a thousand.
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
"""Key, hint, and the queue it came by."""


class HintPool(BasePool):  # type: ignore[misc]
    """`put` is called in Celery's thread; `give` may be called in any."""

    put: Put
    body_can_be_buffer = True
    task_join_will_block = False
    _numbers = count()
    """Of all pools: when Celery is started again, a late word on an old message must not settle a new one."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._waiting: dict[str, tuple[Any, ...]] = {}
        self._decided: deque[tuple[str, MessageReply]] = deque()
        self._errands: deque[Callable[[], None]] = deque()
        self.verdict = MessageReply.LATER
        """On the message whose task runs now."""
        self._bell, self._ringer = socket.socketpair()
        self._bell.setblocking(False)
        self._ringer.setblocking(False)

    def register_with_event_loop(self, hub: Any) -> None:
        hub.add_reader(self._bell.fileno(), self._process_pending)

    def on_apply(self, target: Any, args: Any = None, kwargs: Any = None, **more: Any) -> None:
        call = target, args, kwargs, more.get("callback"), more.get("accept_callback")
        hint = _peek(args[3])
        if hint is None:  # the task itself says what is wrong with it
            return self._run(call, MessageReply.LATER)
        key = str(next(self._numbers))  # not the task's own id: the same message may be here twice
        self._waiting[key] = call
        return self.put(key, hint, _route(args[2]))

    def give(self, key: str, verdict: MessageReply) -> None:
        """The worker's word on a message."""
        self._decided.append((key, verdict))
        self.wake_thread()

    def send(self, errand: Callable[[], None]) -> None:
        """Have Celery's thread do something, before the verdicts that follow."""
        self._errands.append(errand)
        self.wake_thread()

    def wake_thread(self) -> None:
        """Have Celery's thread look up."""
        with contextlib.suppress(OSError):  # it rings already, or is over
            self._ringer.send(b".")

    def _process_pending(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._bell.recv(65536)
        while self._errands:
            self._errands.popleft()()
        while self._decided:
            key, verdict = self._decided.popleft()
            call = self._waiting.pop(key, None)
            if call is not None:  # else its connection was lost, and the broker delivers it again
                self._run(call, verdict)

    def _run(self, call: tuple[Any, ...], verdict: MessageReply) -> None:
        target, args, kwargs, callback, accept_callback = call
        self.verdict = verdict
        apply_target(target, args, kwargs, callback, accept_callback, pid=os.getpid())

    def forget(self) -> None:
        """The connection is lost: whatever waits comes again over the next one."""
        self._waiting.clear()

    def terminate_job(self, pid: int, signal: Any = None) -> None:
        """Asked for when the connection is lost; nothing runs that could be ended."""

    def close_sockets(self) -> None:
        self._bell.close()
        self._ringer.close()


def _route(request: Any) -> str:
    """The queue that brought a message."""
    route = request.get("delivery_info", {}).get("routing_key")
    return route if isinstance(route, str) else ""


def _peek(body: Any) -> Hint | None:
    """The hint in the body of a task's message; None where there is none to be read."""
    try:
        document = json.loads(bytes(body)) if isinstance(body, bytes | bytearray | memoryview) else body
        document = json.loads(document) if isinstance(document, str) else document
        return read_hint(document[0][0])
    except (InvalidMessageError, ValueError, LookupError, TypeError, RecursionError):
        return None
