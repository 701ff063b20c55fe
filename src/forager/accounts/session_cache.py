"""Defines how long a process trusts a cached identity, and the interface to share it between processes.

PostgreSQL decides who holds a session or a token. Its result is valid for a second from the start of the query,
wherever it is cached. A request that ends a session responds only after that second: then no process accepts the
session any more, whichever messages were lost and whatever happened to the servers between.
"""

import asyncio
from typing import Protocol

REMEMBERED_S = 1.0
ALONE_S = 10.0
"""After this time a process queries PostgreSQL itself, whatever the shared cache says."""


Heard = tuple[float, int | None]
"""The number of seconds for which another process's result from PostgreSQL stays valid, if it equals ours; and the
current time by the clock of the shared cache, to be passed to `tell` with the next result."""


class SessionCache(Protocol):
    async def hear(self, name: bytes, known: bytes) -> Heard:
        """Returns whether another process has recently read the same row from PostgreSQL as the digest `known`."""

    async def tell(self, name: bytes, known: bytes, moment: int) -> None:
        """Stores the digest of a row that PostgreSQL returned to a query started after `moment`."""


class NullCache:
    """Shares nothing: every process queries PostgreSQL itself."""

    async def hear(self, _name: bytes, _known: bytes) -> Heard:
        return 0.0, None

    async def tell(self, _name: bytes, _known: bytes, _moment: int) -> None:
        return


async def wait_for_expiry() -> None:
    """Waits until a commit that ended sessions or tokens, or changed a role, is in effect in every process."""
    await asyncio.sleep(REMEMBERED_S)
