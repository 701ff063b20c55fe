"""A process that opens the database of its settings, says whether there is one schema, and closes it when told to."""

import asyncio
import sys

from forager.config.loader import load
from forager.db.database import open_database


async def main() -> None:
    async with open_database(load(), size=2, application="racer") as database:
        print(await database.pool.fetchval("SELECT count(*) FROM schema_revisions"), flush=True)  # noqa: T201
        await asyncio.to_thread(sys.stdin.readline)


asyncio.run(main())
