"""What changed since the last export: a transaction that commits late is in the next one, and in no other."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from forager.errors import UsageError
from forager.export import increments
from forager.export.folders import LocalFolder
from forager.export.increments import begin, hold_target, load_last, save_last
from forager.export.rows import Filters, stream

SETTLED = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
ADD = """
INSERT INTO product_prices (domain_id, product_id, seen_at, price, currency)
SELECT domain_id, id, now(), $1, 'EUR' FROM products RETURNING id
"""


@pytest.fixture
async def other(database_url: str) -> AsyncIterator[Any]:
    conn = await asyncpg.connect(database_url)
    yield conn
    await conn.close()


async def sell(world: Any) -> None:
    await world.insert(
        "products",
        domain_id=world.domains["shop.example"],
        page_id=world.pages["http://shop.example/"],
        url="http://shop.example/",
        url_hash=bytes(16),
        product_name="Kettle",
        content_hash=bytes(16),
        parser_name="generic",
        parser_version=1,
        confidence=0.9,
        is_valid=True,
        **dict.fromkeys(("created_at", "updated_at", "last_seen_at"), datetime(2026, 1, 1, tzinfo=UTC)),
    )


async def settle(conn: Any, until: int | None = None) -> None:
    """Waits for transactions of other tests on this server; `until` is one of our own that stays open."""
    until = until or await conn.fetchval("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
    async with asyncio.timeout(60):
        while await conn.fetchval(SETTLED) < until:  # noqa: ASYNC110 (the server sends no event)
            await asyncio.sleep(0.05)


async def export(conn: Any, folder: LocalFolder, **filters: Any) -> list[int]:
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        found = await begin(conn, "prices", Filters(**filters), load_last(folder, "prices"))
        rows = [int(row["price"]) async for row in stream(conn, "prices", found.filters)]
    save_last(folder, "prices", "prices", found, len(rows))
    return rows


async def test_what_commits_late_is_in_the_next_export_and_in_no_other(world: Any, other: Any, tmp_path: Path) -> None:
    await sell(world)
    folder = LocalFolder(tmp_path)
    await world.conn.execute(ADD, 1)
    late = other.transaction()
    await late.start()
    async with other.transaction():  # a savepoint, whose id is higher than its parent's
        await other.execute(ADD, 2)
    began = await other.fetchval("SELECT pg_current_xact_id()::text::bigint")
    await world.conn.execute(ADD, 3)
    await settle(world.conn, began)
    assert await export(world.conn, folder) == [1]
    await world.conn.execute(ADD, 4)
    assert await export(world.conn, folder) == []
    await late.commit()
    await world.conn.execute(ADD, 5)
    await settle(world.conn)
    assert await export(world.conn, folder) == [2, 3, 4, 5]
    assert await export(world.conn, folder) == []
    await world.conn.execute("UPDATE product_prices SET domain_id = domain_id WHERE price = 1")
    await settle(world.conn)
    assert await export(world.conn, folder) == [1]
    await world.conn.execute("VACUUM (FREEZE) product_prices")
    assert await export(world.conn, folder) == []


async def test_an_export_that_was_killed_before_its_end_is_repeated(world: Any, tmp_path: Path) -> None:
    await sell(world)
    folder = LocalFolder(tmp_path)
    await export(world.conn, folder)
    await world.conn.execute(ADD, 1)
    async with world.conn.transaction(isolation="repeatable_read", readonly=True):
        killed = await begin(world.conn, "prices", Filters(), load_last(folder, "prices"))
    assert killed.number == 1
    await world.conn.execute(ADD, 2)
    await settle(world.conn)
    assert await export(world.conn, folder) == [1, 2]
    last = load_last(folder, "prices")
    assert last is not None
    assert (last.number, last.rows) == (1, 2)


async def test_another_export_has_no_place_there(world: Any, other: Any, tmp_path: Path) -> None:
    await hold_target(world.conn, "x")
    with pytest.raises(UsageError, match="under way"):
        await hold_target(other, "x")
    await hold_target(other, "y")
    folder = LocalFolder(tmp_path)
    await export(world.conn, folder)
    with pytest.raises(UsageError, match="other filters"):
        await export(world.conn, folder, domain="shop.example")
    path = tmp_path / ("prices" + increments.SUFFIX)
    path.write_text(path.read_text().replace('"database": "', '"database": "9'))
    with pytest.raises(UsageError, match="another database"):
        await export(world.conn, folder)
    path.write_text("{")
    with pytest.raises(UsageError, match="delete it"):
        await export(world.conn, folder)
