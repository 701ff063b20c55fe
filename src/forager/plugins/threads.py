"""Runs what plug-ins register beside an event loop, with a time limit. A thread that hangs cannot be ended: it is left
behind, and does not keep the process alive."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


async def run_in_thread(work: Callable[[], T], *, timeout_s: float | None) -> T:
    """Returns the result of a function that may block; raises TimeoutError after the limit, if there is one."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(set_it: Callable[[Any], None], value: Any) -> None:
        if not done.done():
            set_it(value)

    def run() -> None:
        try:
            result = work()
        except BaseException as error:
            failed = error if isinstance(error, Exception) else RuntimeError(repr(error))
            _tell(loop, settle, done.set_exception, failed)
        else:
            _tell(loop, settle, done.set_result, result)

    threading.Thread(target=run, name="forager plug-in", daemon=True).start()
    try:
        async with asyncio.timeout(timeout_s):
            return await done
    except TimeoutError:
        if timeout_s is None or (done.done() and not done.cancelled()):
            raise
        raise TimeoutError(f"it took longer than {timeout_s:g} s") from None


def _tell(
    loop: asyncio.AbstractEventLoop, settle: Callable[..., None], set_it: Callable[[Any], None], value: Any
) -> None:
    try:
        loop.call_soon_threadsafe(settle, set_it, value)
    except RuntimeError:
        return  # the loop has ended meanwhile
