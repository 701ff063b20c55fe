"""What pages say beyond their signals: written when it changes, removed with what it is about."""

import zlib
from datetime import date
from decimal import Decimal
from typing import Any

import asyncpg
import orjson
import pytest
from tests.builders import ITEMS, a_detailed_reading, a_reading, a_target
from tests.ground import Ground

from forager.explain.deep_check import STATEMENTS
from forager.frontier.details import MOST_BYTES, MOST_CUT_BYTES, get_structured_data, record_details
from forager.frontier.models import Outcome, OutcomeKind, Past
from forager.frontier.store import flags_of
from forager.links.models import Selection
from forager.parsing.models import Reading

PAST = Past(None, None, bytes(16), 0, 0, 0.0)


@pytest.fixture
async def page(ground: Ground) -> int:
    return await ground.a_page("http://a.example/1", await ground.a_domain())


async def record(ground: Ground, page: int, *readings: Reading, past: Past | None = None) -> asyncpg.Record | None:
    outcomes = [
        Outcome(a_target("http://a.example/1", page=page + number, past=past), OutcomeKind.SUCCESS, 200, reading=read)
        for number, read in enumerate(readings)
    ]
    await record_details(ground.conn, outcomes)
    return await row_of(ground, page)


async def row_of(ground: Ground, page: int) -> asyncpg.Record | None:
    row: asyncpg.Record | None = await ground.conn.fetchrow(
        "SELECT *, xmin::text AS written FROM page_details WHERE page_id = $1", page
    )
    return row


async def test_all_of_it_is_kept(ground: Ground, page: int) -> None:
    row = await record(ground, page, a_detailed_reading())
    assert row is not None
    assert (row["headline"], row["site_name"], row["section"]) == ("A lamp", "Lumen", "Lights")
    assert row["tags"] == ["lamp", "brass, polished"]
    assert (row["rating"], row["rating_count"]) == (Decimal("4.50"), 12)
    assert (row["published_on"], row["modified_on"]) == (date(2026, 1, 2), date(2026, 1, 3))
    assert await get_structured_data(ground.conn, page) == orjson.loads(ITEMS)


async def test_a_page_that_says_nothing_more_has_no_row(ground: Ground, page: int) -> None:
    assert await record(ground, page, a_reading()) is None
    assert await get_structured_data(ground.conn, page) == []


async def test_a_row_is_written_only_when_it_changed(ground: Ground, page: int) -> None:
    first = await record(ground, page, a_detailed_reading())
    again = await record(ground, page, a_detailed_reading(), past=PAST)
    assert first is not None
    assert again is not None
    assert again["written"] == first["written"]
    other = await record(ground, page, a_detailed_reading(structured_data=b"[]"), past=PAST)
    assert other is not None
    assert other["written"] != first["written"]
    assert await get_structured_data(ground.conn, page) == []


@pytest.mark.parametrize(
    "change",
    [{"headline": None}, {"tags": ("lamp",)}, {"rating": Decimal(1)}, {"published_on": None}, {"site_name": "lumen"}],
)
async def test_each_field_is_a_change(ground: Ground, page: int, change: dict[str, Any]) -> None:
    first = await record(ground, page, a_detailed_reading())
    other = await record(ground, page, a_detailed_reading(**change), past=PAST)
    assert first is not None
    assert other is not None
    assert other["written"] != first["written"]


async def test_what_a_page_no_longer_says_is_removed(ground: Ground, page: int) -> None:
    await record(ground, page, a_detailed_reading())
    assert await record(ground, page, a_reading(), past=PAST) is None


async def test_a_batch_is_one_statement(ground: Ground, page: int) -> None:
    domain = await ground.conn.fetchval("SELECT domain_id FROM pages WHERE id = $1", page)
    for number in range(2, 6):
        await ground.a_page(f"http://a.example/{number}", domain)
    await record(ground, page, *[a_detailed_reading(headline=str(number)) for number in range(5)])
    rows = await ground.conn.fetch("SELECT headline FROM page_details ORDER BY page_id")
    assert [row["headline"] for row in rows] == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize(
    "odd",
    [
        {"rating": Decimal(9)},
        {"rating": Decimal("NaN")},
        {"rating": Decimal("3.3333333")},
        {"rating_count": 2**40},
        {"rating_count": -1},
        {"tags": ("", "a\x1fb") + ("t",) * 1000},
        {"headline": "long " * 10_000},
        {"published_on": date(1, 1, 1), "modified_on": date(9999, 12, 31)},
        {"rating": Decimal(0), "tags": (), "section": ""},
    ],
)
async def test_no_page_fails_a_batch(ground: Ground, page: int, odd: dict[str, Any]) -> None:
    row = await record(ground, page, a_detailed_reading(**odd))
    assert row is not None
    assert await ground.conn.fetch(STATEMENTS["details_of_pages"].sql) == []


async def test_a_page_is_not_all_items(ground: Ground, page: int) -> None:
    """Of very many items those that fit are kept, and the page is flagged."""
    item = {"syntax": "microdata", "types": ["Thing"], "properties": {"text": "x" * 10_000}}
    huge = {"syntax": "json-ld", "types": ["Thing"], "properties": {"text": "y" * MOST_BYTES}}
    reading = a_detailed_reading(structured_data=orjson.dumps([huge, *[item] * 10]))
    row = await record(ground, page, reading)
    assert row is not None
    assert len(zlib.decompress(row["structured_data"])) <= MOST_BYTES
    assert await get_structured_data(ground.conn, page) == [item] * 6
    assert flags_of(reading, Selection()) == ("items_cut",)
    assert flags_of(a_detailed_reading(), Selection()) == ()


async def test_what_is_far_too_much_is_not_taken_apart(ground: Ground, page: int) -> None:
    reading = a_detailed_reading(structured_data=b"[" + b" " * MOST_CUT_BYTES + b"{}]")
    await record(ground, page, reading)
    assert await get_structured_data(ground.conn, page) == []
    assert flags_of(reading, Selection()) == ("items_cut",)


async def test_items_go_with_their_page(ground: Ground, page: int) -> None:
    await record(ground, page, a_detailed_reading())
    await ground.conn.execute("DELETE FROM pages WHERE id = $1", page)
    assert await row_of(ground, page) is None
