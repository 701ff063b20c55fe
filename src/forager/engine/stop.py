"""Stop requests: the first one lets open requests finish, the second one stops immediately."""

import asyncio


class StopRequest:
    """Set by signal handlers, watched by all components. `ask` lets open requests finish, `stop_now` does not."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self._insisted = asyncio.Event()

    @property
    def asked(self) -> bool:
        return self._asked.is_set()

    @property
    def is_immediate(self) -> bool:
        return self._insisted.is_set()

    def ask(self) -> None:
        self._asked.set()

    def stop_now(self) -> None:
        self._asked.set()
        self._insisted.set()

    async def wait_requested(self) -> None:
        await self._asked.wait()

    async def wait_immediate(self) -> None:
        await self._insisted.wait()


async def settled(tasks: set[asyncio.Task[None]]) -> None:
    """Waits until all tasks have ended."""
    await asyncio.wait(set(tasks))


async def cancel(tasks: set[asyncio.Task[None]]) -> None:
    """Cancels tasks and waits until they have ended."""
    doomed = set(tasks)
    for task in doomed:
        task.cancel()
    await asyncio.gather(*doomed, return_exceptions=True)
