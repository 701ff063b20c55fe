"""Database work that is tried until it is committed: deadlocks and lost connections are no errors, others are."""

import asyncio
from typing import Any

import asyncpg
import pytest
from tests.ground import Ground

from forager.config.loader import load
from forager.db.database import Database, open_database
from forager.engine.transaction_retry import in_transaction
from forager.errors import DatabaseUnreachableError

pytestmark = pytest.mark.both_servers


async def test_the_loser_of_a_deadlock_tries_again(database: Database, ground: Ground) -> None:
    one, two = await ground.a_domain("a.example"), await ground.a_domain("b.example")
    both_hold_one = asyncio.Barrier(2)
    tries = 0

    async def count(conn: Any, first: int, second: int) -> None:
        nonlocal tries
        tries += 1
        await conn.execute("UPDATE domains SET run_pages = run_pages + 1 WHERE id = $1", first)
        if tries <= 2:
            await both_hold_one.wait()
        await conn.execute("UPDATE domains SET run_pages = run_pages + 1 WHERE id = $1", second)

    await asyncio.gather(
        in_transaction(database, lambda conn: count(conn, one, two)),
        in_transaction(database, lambda conn: count(conn, two, one)),
    )
    assert tries == 3
    assert [row["run_pages"] for row in await ground.conn.fetch("SELECT run_pages FROM domains")] == [2, 2]


async def test_work_whose_connection_was_cut_is_done_once(database: Database, ground: Ground) -> None:
    domain = await ground.a_domain()
    tries = 0

    async def count(conn: Any) -> int:
        nonlocal tries
        tries += 1
        await conn.execute("UPDATE domains SET run_pages = run_pages + 1 WHERE id = $1", domain)
        if tries == 1:
            await ground.conn.execute("SELECT pg_terminate_backend($1)", conn.get_server_pid())
        return int(await conn.fetchval("SELECT run_pages FROM domains WHERE id = $1", domain))

    assert await in_transaction(database, count) == 1
    assert tries == 2
    assert (await ground.domain(domain))["run_pages"] == 1


async def test_who_is_cancelled_does_not_try_again(database: Database) -> None:
    """The rollback fails with the connection, and its error comes out in place of the cancel."""
    begun = asyncio.Event()

    async def hang(conn: Any) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            conn.terminate()

    working = asyncio.create_task(in_transaction(database, hang))
    await begun.wait()
    working.cancel()
    _, still = await asyncio.wait({working}, timeout=20)
    assert not still
    assert working.cancelled()


async def test_a_frozen_process_does_not_keep_its_locks(database_url: str, ground: Ground) -> None:
    domain = await ground.a_domain()
    tries = 0
    settings = load({"database.url": database_url})

    async def freeze_once(conn: Any) -> None:
        nonlocal tries
        tries += 1
        await conn.execute("UPDATE domains SET run_pages = run_pages + 1 WHERE id = $1", domain)
        if tries == 1:
            # nobody goes on with it, until the lock is somebody else's
            await ground.conn.execute("UPDATE domains SET run_pages = 10 WHERE id = $1", domain)
            await conn.execute("SELECT 1")

    async with open_database(settings, size=1, application="test", idle_limit_s=0.05) as database:
        await in_transaction(database, freeze_once)
    assert tries == 2
    assert (await ground.domain(domain))["run_pages"] == 11


async def test_a_mistake_is_not_repeated(database: Database, ground: Ground) -> None:
    await ground.a_domain()
    tries = 0

    async def add_again(conn: Any) -> None:
        nonlocal tries
        tries += 1
        await Ground(conn).a_domain()

    with pytest.raises(asyncpg.UniqueViolationError):
        await in_transaction(database, add_again)
    assert tries == 1


async def test_patience_ends_where_the_caller_says_so(database: Database) -> None:
    async def fail(_conn: Any) -> None:
        raise ConnectionResetError("gone")

    with pytest.raises(DatabaseUnreachableError, match="did not come back: gone"):
        await in_transaction(database, fail, give_up_after_s=0.0)
