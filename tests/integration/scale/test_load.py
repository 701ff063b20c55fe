"""What a worker asks of the database, counted: `docs/explanation/postgres-at-scale.md` has the numbers."""

from collections import defaultdict
from collections.abc import AsyncIterator
from statistics import median
from typing import Any

import pytest
from tests.integration.engine.stage import Stage, WatchedSite, serve

from forager.db.database import Database
from forager.db.pool import close_pool, open_pool
from forager.db.statements import all_statements
from forager.engine import signals

PLAIN = {statement.sql: statement.name for statement in all_statements()}
Talk = list[list[str]]
"""Transactions with the names of their statements; handing a connection back is one more."""
RESET = "reset"
BATCH_STATEMENTS = 25
"""To enqueue and record a batch of pages, however many they are: BEGIN, COMMIT and the reset of a connection that is
handed back among them."""
ROUND_STATEMENTS = 9
"""To look for domains and to refill queues, after each batch."""
TURN_STATEMENTS = 6
"""To release a domain, when it comes alone; many at once cost no more."""
SECOND_STATEMENTS = 6
"""In any second: whether an operator wants something of the worker."""


@pytest.fixture
async def overheard(database_url: str) -> AsyncIterator[tuple[Database, Talk]]:
    talk: Talk = []

    async def listen(connection: Any) -> None:
        said: list[str] = []

        def note(record: Any) -> None:
            sql = record.query.strip()
            if "typeinfo_tree" in sql or "'jit'" in sql:
                return  # asyncpg asks once in a connection's life what a type is
            if sql.startswith("BEGIN"):
                said.clear()
            said.append(RESET if "UNLISTEN" in sql else PLAIN.get(sql, sql.rstrip(";")[:40]))
            if said[-1] == RESET and "BEGIN" in said[0]:
                talk.append(list(said))

        connection.add_query_logger(note)

    pool = await open_pool(database_url, application="a test", size=4, greet=listen)
    yield Database(pool, "a test's database", is_embedded=False, dsn=database_url), talk
    await close_pool(pool)


async def test_a_batch_asks_as_much_as_we_reckon(
    overheard: tuple[Database, Talk], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals, "EVERY_S", 0.05)  # it may all be over within a second
    database, talk = overheard
    async with serve(*(WatchedSite(40, number=number) for number in range(1, 5))) as web:
        stage = await Stage.open(database, web)
        talk.clear()
        await stage.work()
    length = defaultdict[str, list[int]](list)
    for said in talk:
        for mark in ("close_tasks", "find_pages", "claim_domains", "claim_tasks", "poll_signals", "release"):
            if mark in said:
                length[mark].append(len(said))
    assert median(length["close_tasks"]) + median(length["find_pages"]) == BATCH_STATEMENTS
    assert median(length["claim_domains"]) + median(length["claim_tasks"]) == ROUND_STATEMENTS
    assert median(length["poll_signals"]) == SECOND_STATEMENTS
    assert median(length["release"]) <= TURN_STATEMENTS
    assert len(length["claim_tasks"]) <= 2 * len(length["close_tasks"]) + 4
