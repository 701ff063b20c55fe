"""The parser interface of the pipeline, and the parser of a worker without parser processes."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Protocol

from forager.engine.crash_marker import CrashMarker
from forager.fetch.models import Fetched
from forager.frontier.models import Target
from forager.parsing.models import ParseOptions, Reading


class PageParser(Protocol):
    decompresses: bool
    """Whether it accepts compressed bodies as they were received."""

    async def parse(self, target: Target, fetched: Fetched, options: ParseOptions) -> Reading | None:
        """Returns the parsed page; None if the body is empty."""


class InlineParser:
    """Parses in the worker's own process, one page at a time, and yields to the event loop between two pages so that it
    serves the database and the sockets. Otherwise 200 responses that arrive together would make a transaction wait for
    200 parses at each of its steps."""

    decompresses = False

    def __init__(
        self,
        read: Callable[[Fetched, ParseOptions], Reading],
        read_isolated: Callable[[Fetched, ParseOptions], Awaitable[Reading | None]] | None = None,
        crash_marker: CrashMarker | None = None,
    ) -> None:
        """`read_isolated` is used for pages that killed a worker before."""
        self._read = read
        self._read_isolated = read_isolated
        self._crash_marker = crash_marker
        self._turn = asyncio.Lock()

    async def parse(self, target: Target, fetched: Fetched, options: ParseOptions) -> Reading | None:
        if target.crashes and self._read_isolated is not None:
            return await self._read_isolated(fetched, options)
        async with self._turn:
            with self._crash_marker.reading(target.page_id) if self._crash_marker else nullcontext():
                reading = self._read(fetched, options)
            await asyncio.sleep(0)
        return reading
