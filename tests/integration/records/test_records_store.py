"""What is written of records: their history by field, once each, whatever is recorded again."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest
from tests.ground import Ground

from forager.records.models import FoundRecord
from forager.records.store import RecordVisit, store, unpack_evidence

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def a_recipe(key: str | None = "cake", **fields: Any) -> FoundRecord:
    problems = tuple(f"missing:{name}" for name, value in fields.items() if value is None)
    return FoundRecord("recipes", "recipe", key, fields, {"title": "css h1: Cake"}, problems)


class Kitchen:
    """One domain with a page, and what visits to it saw."""

    def __init__(self, conn: Any, domain: int, page: int) -> None:
        self.conn, self.domain, self.page = conn, domain, page
        self.visits = 0

    def visit(self, *records: FoundRecord, task: int | None = None, **more: Any) -> RecordVisit:
        self.visits += 1
        seen_at = more.pop("at", NOON + timedelta(hours=self.visits))
        return RecordVisit(
            self.domain, self.page, task or self.visits, records, ("recipes",), seen_at=seen_at, is_revisit=True, **more
        )

    async def sees(self, *records: FoundRecord, **more: Any) -> None:
        await store(self.conn, [self.visit(*records, **more)])

    async def history(self) -> list[tuple[Any, ...]]:
        rows = await self.conn.fetch(
            "SELECT event, field, old_value #>> '{}' AS old, new_value #>> '{}' AS new "
            "FROM record_changes ORDER BY id, field"
        )
        return [tuple(row) for row in rows]

    async def rows(self) -> list[Any]:
        found: list[Any] = await self.conn.fetch("SELECT *, xmin::text AS written FROM records ORDER BY id")
        return found

    async def day(self, field: str) -> tuple[int, ...]:
        row = await self.conn.fetchrow(
            "SELECT sum(found)::int, sum(valid)::int, sum(missing)::int, sum(failed)::int "
            "FROM extractor_days WHERE field = $1",
            field,
        )
        return tuple(row)


@pytest.fixture
async def kitchen(ground: Ground) -> Kitchen:
    domain = await ground.a_domain("food.example", pages=1)
    page = await ground.conn.fetchval("SELECT id FROM pages WHERE domain_id = $1", domain)
    return Kitchen(ground.conn, domain, page)


async def test_a_field_that_goes_from_a_to_b_to_a_has_two_changes(kitchen: Kitchen) -> None:
    for minutes in (30, 40, 30):
        await kitchen.sees(a_recipe(title="Cake", minutes=minutes))
    assert await kitchen.history() == [
        ("first", None, None, None),
        ("changed", "minutes", "30", "40"),
        ("changed", "minutes", "40", "30"),
    ]
    [row] = await kitchen.rows()
    assert (row["extractor"], row["kind"], row["key"], row["task_id"]) == ("recipes", "recipe", "cake", 3)
    assert unpack_evidence(row["evidence"]) == {"title": "css h1: Cake"}
    assert await kitchen.day("minutes") == (3, 3, 0, 0)


async def test_a_record_that_is_as_it_was_moves_only_when_it_was_seen(kitchen: Kitchen) -> None:
    await kitchen.sees(a_recipe(title="Cake"))
    await kitchen.sees(a_recipe(title="Cake"))
    [row] = await kitchen.rows()
    assert row["last_seen_at"] > row["changed_at"] == row["first_seen_at"]
    assert len(await kitchen.history()) == 1
    await store(kitchen.conn, [RecordVisit(kitchen.domain, kitchen.page, 9, is_unchanged=True)])
    [again] = await kitchen.rows()
    assert (again["task_id"], again["gone_at"]) == (9, None)


async def test_a_record_that_is_gone_comes_back_with_its_history(kitchen: Kitchen) -> None:
    await kitchen.sees(a_recipe(title="Cake"), a_recipe("pie", title="Pie"))
    await kitchen.sees(a_recipe("pie", title="Pie"))
    assert [row["gone_at"] is None for row in await kitchen.rows()] == [False, True]
    await kitchen.sees()
    await kitchen.sees(a_recipe(title="Cake"), a_recipe("pie", title="Apple pie"))
    assert [row["gone_at"] for row in await kitchen.rows()] == [None, None]
    events = [event for event, *_ in await kitchen.history()]
    assert sorted(events) == ["back", "back", "changed", "first", "first", "gone", "gone"]
    # A page that had records and has none now counts as one that misses them; one that has fewer does not.
    assert await kitchen.day("") == (5, 5, 1, 0)


async def test_records_of_an_extractor_that_did_not_run_stay(kitchen: Kitchen) -> None:
    await kitchen.sees(a_recipe(title="Cake"))
    visit = RecordVisit(kitchen.domain, kitchen.page, 7, (), ("other",), ("recipes: too_slow",), is_revisit=True)
    await store(kitchen.conn, [visit])
    [row] = await kitchen.rows()
    assert row["gone_at"] is None
    assert await kitchen.day("") == (1, 1, 0, 1)
    assert await kitchen.conn.fetchval("SELECT last_error FROM extractor_days WHERE failed > 0") == "too_slow"


async def test_missing_and_unreadable_fields_are_counted_apart(kitchen: Kitchen) -> None:
    unread = FoundRecord("recipes", "recipe", None, {"title": "Cake", "minutes": None}, {}, ("invalid:minutes",))
    await kitchen.sees(unread)
    await kitchen.sees(a_recipe(None, title="Cake", minutes=None))
    assert await kitchen.day("minutes") == (1, 0, 1, 0)
    assert await kitchen.day("") == (2, 0, 0, 0)


async def test_an_older_visit_and_the_same_one_again_change_nothing(kitchen: Kitchen) -> None:
    await kitchen.sees(a_recipe(title="Cake"), at=NOON + timedelta(days=2), task=5)
    await kitchen.sees(a_recipe(title="Old"), at=NOON, task=4)
    await kitchen.sees(at=NOON, task=4)
    [row] = await kitchen.rows()
    assert (row["gone_at"], row["task_id"]) == (None, 5)
    await kitchen.sees(a_recipe(title="Tart"), at=NOON + timedelta(days=2), task=5)
    flags = await kitchen.conn.fetch("SELECT event, is_correction FROM record_changes ORDER BY id")
    assert [tuple(row) for row in flags] == [("first", False), ("changed", True)]


async def test_hostile_values_are_stored_or_left_out_and_never_fail_a_batch(kitchen: Kitchen) -> None:
    await kitchen.sees(
        a_recipe("nul\0key", title="nul\0 here", odd={"a": [1, {"b": None}]}),
        a_recipe("huge", title="x" * 300_000),
        a_recipe("\ud800", title="lone \ud800 surrogate"),
        a_recipe("twin", title="one"),
        a_recipe("twin", title="two"),
    )
    titles = [row["fields"] for row in await kitchen.rows()]
    assert len(titles) == 2
    assert "one" in titles[1]


async def test_a_batch_that_was_killed_before_its_commit_is_recorded_once(kitchen: Kitchen, database_url: str) -> None:
    visit = kitchen.visit(a_recipe(title="Cake"))
    doomed = await asyncpg.connect(database_url)
    transaction = doomed.transaction()
    await transaction.start()
    await store(doomed, [visit])
    doomed.terminate()
    for _ in range(2):  # the batch is tried again, and once more though it was committed
        await store(kitchen.conn, [visit])
    assert [event for event, *_ in await kitchen.history()] == ["first"]
    assert len(await kitchen.rows()) == 1


async def test_two_writers_of_one_page_leave_one_record(kitchen: Kitchen, database_url: str) -> None:
    others = [await asyncpg.connect(database_url) for _ in range(2)]
    try:
        visits = [kitchen.visit(a_recipe(title=f"Cake {n}")) for n in range(2)]
        await asyncio.gather(*(store(conn, [visit]) for conn, visit in zip(others, visits, strict=True)))
    finally:
        for conn in others:
            await conn.close()
    assert len(await kitchen.rows()) == 1


async def test_history_goes_with_its_page(kitchen: Kitchen) -> None:
    await kitchen.sees(a_recipe(title="Cake"))
    await kitchen.conn.execute("DELETE FROM pages WHERE id = $1", kitchen.page)
    assert await kitchen.conn.fetchval("SELECT count(*) FROM record_changes") == 0
