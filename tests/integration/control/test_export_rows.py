"""Exports: every row, the right columns, one snapshot, and the whole of a crawl."""

import dataclasses
from typing import Any

import pytest

from forager.control.export import COLUMNS, Kind, stream, stream_crawl
from forager.errors import NotFoundError, UsageError
from forager.records import RunSpec, Scope

SPEC = RunSpec(("http://shop.example/",))
KINDS: tuple[Kind, ...] = ("pages", "links", "tasks")


async def rows_of(conn: Any, kind: Kind, **filters: Any) -> list[dict[str, Any]]:
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        return [row async for row in stream(conn, kind, **filters)]


async def crawl_of(conn: Any, **changes: Any) -> list[str]:
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        return [row["url"] async for row in stream_crawl(conn, dataclasses.replace(SPEC, **changes))]


@pytest.mark.parametrize("kind", KINDS)
async def test_columns_are_those_of_the_statement(world: Any, kind: Kind) -> None:
    rows = await rows_of(world.conn, kind)
    assert rows
    for row in rows:
        assert tuple(row) == COLUMNS[kind]


async def test_a_page_has_what_scripts_rely_on(world: Any) -> None:
    first = (await rows_of(world.conn, "pages"))[0]
    assert first["url"] == "http://shop.example/"
    assert first["status"] == "fetched"
    assert first["status_code"] == 200
    assert first["outcome"] == "success"
    assert first["depth"] == 0
    assert first["content_hash"] == "00" * 16
    assert first["links_count"] == 4
    assert {"title", "description", "language"} <= set(first)


@pytest.mark.parametrize(
    ("kind", "filters", "found"),
    [
        ("pages", {}, 5),
        ("pages", {"domain": "shop.example", "status": "fetched"}, 2),
        ("pages", {"domain": "idle.example"}, 0),
        ("tasks", {"status": "pending"}, 1),
        ("tasks", {"domain": "shop.example"}, 4),
        ("links", {}, 4),
        ("links", {"domain": "idle.example"}, 0),
    ],
)
async def test_filters(world: Any, kind: Kind, filters: dict[str, Any], found: int) -> None:
    assert len(await rows_of(world.conn, kind, **filters)) == found


async def test_pages_of_a_run_are_those_it_visited(world: Any) -> None:
    assert len(await rows_of(world.conn, "pages", run=world.run)) == 3
    with pytest.raises(NotFoundError):
        await rows_of(world.conn, "pages", run=4711)


async def test_links_have_no_status(world: Any) -> None:
    with pytest.raises(UsageError):
        await rows_of(world.conn, "links", status="fetched")


async def test_a_crawl_is_every_visited_page_it_reaches(world: Any) -> None:
    visited = ["http://shop.example/", "http://shop.example/about", "http://shop.example/gone"]
    assert await crawl_of(world.conn) == visited
    assert await crawl_of(world.conn, scope=Scope.DOMAIN) == visited
    assert await crawl_of(world.conn, scope=Scope.ANY) == visited
    assert await crawl_of(world.conn, scope=Scope.PAGE) == visited[:1]
    assert await crawl_of(world.conn, max_depth=0) == visited[:1]
    assert await crawl_of(world.conn, exclude=("*/gone",)) == visited[:2]
    assert await crawl_of(world.conn, seeds=("http://idle.example/",)) == []


async def test_the_export_does_not_see_what_comes_after_it_began(world: Any, pool: Any) -> None:
    async with world.conn.transaction(isolation="repeatable_read", readonly=True):
        reader = stream(world.conn, "pages")
        first = await anext(reader)
        async with pool.acquire() as other:
            await other.execute("UPDATE pages SET title = 'changed'")
        rest = [row["title"] async for row in reader]
    assert first["title"].startswith("=Shop")
    assert "changed" not in rest
