"""For how long it is believed who somebody is, in whichever process, and who else may vouch for it.

PostgreSQL says who holds a session or a token. What it said is believed for a second from the moment it was asked,
wherever it is remembered. Whoever ends a session waits so long before saying that it is done: then nobody believes it
any more, whichever messages were lost and whatever became of the servers between.
"""

import asyncio
from typing import Protocol

REMEMBERED_S = 1.0
ALONE_S = 10.0
"""After so long a process asks PostgreSQL itself, whoever vouches."""


Heard = tuple[float, int | None]
"""For how many seconds what PostgreSQL told another process holds, if we were told the same; and which moment it is, by
the clock of whoever vouches: to be told along with what PostgreSQL says next."""


class SessionCache(Protocol):
    async def hear(self, name: bytes, known: bytes) -> Heard:
        """Whether another process was told the same lately as `known` says."""

    async def tell(self, name: bytes, known: bytes, moment: int) -> None:
        """What PostgreSQL said, when asked after that moment."""


class NullCache:
    """Every process asks for itself."""

    async def hear(self, _name: bytes, _known: bytes) -> Heard:
        return 0.0, None

    async def tell(self, _name: bytes, _known: bytes, _moment: int) -> None:
        return


async def wait_for_expiry() -> None:
    """After a commit that ended sessions or tokens, or changed a role: until it holds in every process."""
    await asyncio.sleep(REMEMBERED_S)
