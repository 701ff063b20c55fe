"""The worker's side of decoding: one process, started with the first image, replaced when an image kills it.

Files are decoded one at a time: one core is fast enough, and it bounds memory.
"""

import asyncio
import json
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from forager.images.decode.child import HEAD
from forager.images.decode.result import Look
from forager.interpreter import python_module
from forager.logs import log

MOST_DEATHS = 2
LONGEST_S = 60.0
"""Wall-clock limit, including the start of the process and a busy machine; the child's own limit is processor time."""


class Decoder:
    def __init__(self, *, max_pixels: int) -> None:
        self._max_pixels = max_pixels
        self._turn = asyncio.Lock()
        self._process: Process | None = None

    @classmethod
    @asynccontextmanager
    async def open(cls, *, max_pixels: int) -> AsyncIterator["Decoder"]:
        decoder = cls(max_pixels=max_pixels)
        try:
            yield decoder
        finally:
            await decoder._end()

    async def look(self, body: bytes) -> tuple[Look, bytes]:
        """Returns what the file is, and its thumbnail. A file that exceeds the time limit of its decoder, or kills it
        and then a new one, is broken; a single death may have had another cause."""
        async with self._turn:
            how = ""
            for _ in range(MOST_DEATHS):
                try:
                    async with asyncio.timeout(LONGEST_S):
                        return await self._decode(body)
                except (asyncio.IncompleteReadError, BrokenPipeError, ConnectionResetError):
                    how = await self._end()
                    log().warning("an image killed its decoder", action="image.crash", how=how)
                except TimeoutError:
                    await self._end()
                    return Look("broken", f"it kept its decoder for more than {LONGEST_S:.0f} s"), b""
                except asyncio.CancelledError:
                    await self._end()  # a partial response is left in the pipe
                    raise
            return Look("broken", f"it killed its decoder ({how})"), b""

    async def _decode(self, body: bytes) -> tuple[Look, bytes]:
        process = self._process or await self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(HEAD.pack(len(body), self._max_pixels))
        process.stdin.write(body)
        await process.stdin.drain()
        length, thumbnail_length = HEAD.unpack(await process.stdout.readexactly(HEAD.size))
        answer = json.loads(await process.stdout.readexactly(length))
        return Look(**answer), await process.stdout.readexactly(thumbnail_length)

    async def _start(self) -> Process:
        command = python_module("forager.images.decode.child")
        self._process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
        return self._process

    async def _end(self) -> str:
        process, self._process = self._process, None
        if process is None:
            return "not running"
        with suppress(ProcessLookupError):
            process.kill()
        code = await process.wait()
        transport = getattr(process, "_transport", None)
        if transport is not None:
            transport.close()
        return f"signal {-code}" if code < 0 else f"exit code {code}"
