"""Exports: every row, the right columns, one snapshot, and the whole of a crawl."""

import dataclasses
import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.builders import ITEMS, a_detailed_reading, a_target

from forager.errors import NotFoundError, UsageError
from forager.export.commands.writers import write_file
from forager.export.rows import COLUMNS, Filters, Kind, column_types, estimate, statement_of, stream, stream_crawl
from forager.frontier.details import record_details
from forager.frontier.models import Outcome, OutcomeKind
from forager.records.models import FoundRecord
from forager.records.store import RecordVisit
from forager.records.store import store as store_records
from forager.runs.models import RunSpec, Scope

AT = datetime(2026, 1, 1, tzinfo=UTC)
SPEC = RunSpec(("http://shop.example/",))
FILL = """
INSERT INTO pages (domain_id, url, url_hash, depth, priority)
SELECT (SELECT min(id) FROM domains), 'http://shop.example/n' || n,
       substring(sha256(n::text::bytea) FROM 1 FOR 16), 1, 5
FROM generate_series(1, 20000) n;
INSERT INTO page_link_lists (from_page_id, domain_id, to_page_ids, anchors)
SELECT id, domain_id, ARRAY[id - 1, id - 2], '' FROM pages WHERE url LIKE '%/n%';
INSERT INTO crawl_tasks (page_id, domain_id) SELECT id, domain_id FROM pages WHERE url LIKE '%/n%';
ANALYZE;
"""
KINDS: tuple[Kind, ...] = (
    "pages",
    "structured-data",
    "links",
    "products",
    "prices",
    "images",
    "tasks",
    "records",
    "items",
)


async def rows_of(conn: Any, kind: Kind, **filters: Any) -> list[dict[str, Any]]:
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        return [row async for row in stream(conn, kind, Filters(**filters))]


async def crawl_of(conn: Any, **changes: Any) -> list[str]:
    async with conn.transaction(isolation="repeatable_read", readonly=True):
        return [row["url"] async for row in stream_crawl(conn, dataclasses.replace(SPEC, **changes))]


async def sell(world: Any) -> None:
    """One product on the seed, whose price changed once."""
    product = await world.insert(
        "products",
        domain_id=world.domains["shop.example"],
        page_id=world.pages[SPEC.seeds[0]],
        crawl_task_id=await world.conn.fetchval("SELECT min(id) FROM crawl_tasks"),
        url=SPEC.seeds[0],
        url_hash=bytes(16),
        product_name="=Kettle",
        price=Decimal("12.34"),
        currency="EUR",
        rating=Decimal("4.5"),
        image_urls=["http://shop.example/k.png"],
        variants='[{"sku": "k-2"}]',
        evidence='{"price": [["12.34", "jsonld", 0.95]]}',
        content_hash=bytes(16),
        parser_name="generic",
        parser_version=1,
        confidence=0.95,
        is_valid=True,
        created_at=AT,
        updated_at=AT,
        last_seen_at=AT,
    )
    for is_first, price in ((True, "15"), (False, "12.34")):
        await world.insert(
            "product_prices",
            domain_id=world.domains["shop.example"],
            product_id=product,
            seen_at=AT,
            price=Decimal(price),
            currency="EUR",
            is_first=is_first,
            old_price=None if is_first else Decimal(15),
        )


async def show(world: Any) -> None:
    """An image that two pages show, one of them no more, and one that none does. It is to be fetched too."""
    shop = world.domains["shop.example"]
    url = f"{SPEC.seeds[0]}k.png"
    await world.add_page(url, is_image=True)
    image = await world.insert("images", url=url, url_hash=bytes(16), domain_id=shop, perceptual_hash=-1)
    await world.insert("images", url=f"{url}?2", url_hash=bytes(15) + b"1", domain_id=shop)
    for page, last in ((SPEC.seeds[0], None), (f"{SPEC.seeds[0]}about", AT)):
        await world.conn.execute(
            "INSERT INTO page_images (domain_id, page_id, image_id, position, discovery_type, image_type, alt_text,"
            " last_seen_at) VALUES ($1, $2, $3, 0, 'img', 'primary', 'A kettle', $4)",
            shop,
            world.pages[page],
            image,
            last,
        )


async def detail(world: Any) -> None:
    """The seed has a headline, structured data and a record."""
    target = a_target(page=world.pages[SPEC.seeds[0]])
    lamp = FoundRecord("lamps", "lamp", None, {"title": "A lamp", "price": None}, {}, ("missing:price",))
    visit = RecordVisit(world.domains["shop.example"], world.pages[SPEC.seeds[0]], 1, [lamp], ("lamps",), seen_at=AT)
    await store_records(world.conn, [visit])
    await record_details(world.conn, [Outcome(target, OutcomeKind.SUCCESS, 200, reading=a_detailed_reading())])


@pytest.mark.parametrize("kind", KINDS)
async def test_columns_are_those_of_the_statement(world: Any, kind: Kind) -> None:
    await sell(world)
    await show(world)
    await detail(world)
    rows = await rows_of(world.conn, kind)
    assert rows
    for row in rows:
        assert tuple(row) == COLUMNS[kind]
    assert tuple(await column_types(world.conn, kind)) == COLUMNS[kind]


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
        ("products", {}, 1),
        ("products", {"domain": "idle.example"}, 0),
        ("products", {"since": datetime(2026, 1, 2, tzinfo=UTC)}, 0),
        ("prices", {"since": AT}, 2),
        ("prices", {"since": datetime(2026, 1, 2, tzinfo=UTC)}, 0),
        ("structured-data", {}, 1),
        ("structured-data", {"domain": "idle.example"}, 0),
        ("structured-data", {"since": datetime(2999, 1, 1, tzinfo=UTC)}, 0),
        ("items", {}, 1),
        ("items", {"domain": "idle.example"}, 0),
        ("records", {}, 1),
        ("records", {"since": datetime(2999, 1, 1, tzinfo=UTC)}, 0),
        ("images", {}, 3),
        ("images", {"status": "stored"}, 0),
        ("images", {"domain": "idle.example"}, 0),
    ],
)
async def test_filters(world: Any, kind: Kind, filters: dict[str, Any], found: int) -> None:
    await sell(world)
    await show(world)
    await detail(world)
    assert len(await rows_of(world.conn, kind, **filters)) == found


async def test_details_of_pages_are_exported(world: Any) -> None:
    await detail(world)
    page = (await rows_of(world.conn, "pages"))[0]
    assert (page["headline"], page["site_name"], page["tags"]) == ("A lamp", "Lumen", ["lamp", "brass, polished"])
    assert (page["rating"], page["published_on"]) == (Decimal("4.50"), date(2026, 1, 2))
    [row] = await rows_of(world.conn, "structured-data")
    assert row["structured_data"] == json.loads(ITEMS)
    assert (await column_types(world.conn, "structured-data"))["structured_data"] == "jsonb"


async def test_details_fit_every_format(world: Any, tmp_path: Path) -> None:
    from pyarrow import parquet

    await detail(world)
    for kind in ("pages", "structured-data", "items", "records"):
        for ending in ("jsonl", "csv", "parquet"):
            async with world.conn.transaction(isolation="repeatable_read", readonly=True):
                types = await column_types(world.conn, kind)
                await write_file(str(tmp_path / f"{kind}.{ending}"), stream(world.conn, kind), types)
    line = json.loads((tmp_path / "pages.jsonl").read_text().splitlines()[0])
    assert (line["published_on"], line["rating"]) == ("2026-01-02", 4.5)
    assert ",2026-01-02,2026-01-03" in (tmp_path / "pages.csv").read_text()
    assert parquet.read_table(tmp_path / "pages.parquet")["published_on"][0].as_py() == date(2026, 1, 2)
    items = parquet.read_table(tmp_path / "structured-data.parquet")["structured_data"][0].as_py()
    assert json.loads(items) == json.loads(ITEMS)
    [item] = parquet.read_table(tmp_path / "items.parquet").to_pylist()
    assert (item["position"], item["syntax"], item["types"]) == (0, "json-ld", ["Product"])
    assert json.loads(item["properties"]) == json.loads(ITEMS)[0]["properties"]
    [record] = parquet.read_table(tmp_path / "records.parquet").to_pylist()
    assert (json.loads(record["fields"]), record["is_complete"]) == ({"title": "A lamp", "price": None}, False)
    assert "missing:price" in (tmp_path / "records.csv").read_text()


async def test_pages_of_a_run_are_those_it_visited(world: Any) -> None:
    assert len(await rows_of(world.conn, "pages", run=world.run)) == 3
    with pytest.raises(NotFoundError):
        await rows_of(world.conn, "pages", run=4711)


async def test_the_same_holds_for_what_hangs_on_pages(world: Any) -> None:
    await sell(world)
    await show(world)
    other = await world.insert("runs", spec="{}", max_depth=1)
    expected: dict[Kind, int] = {"links": 4, "products": 1, "images": 2, "prices": 0}
    for kind, found in expected.items():
        assert len(await rows_of(world.conn, kind, run=world.run)) == found
        assert await rows_of(world.conn, kind, run=other) == []


async def test_since_is_when_a_page_was_read(world: Any) -> None:
    await world.damage("UPDATE pages SET fetched_at = now() - interval '2 days' WHERE status = 'fetched'")
    now = await world.conn.fetchval("SELECT now()")
    assert len(await rows_of(world.conn, "pages", since=now - timedelta(days=3))) == 2
    assert await rows_of(world.conn, "pages", since=now - timedelta(days=1)) == []
    assert len(await rows_of(world.conn, "links", since=now - timedelta(days=3))) == 4
    assert await rows_of(world.conn, "links", since=now - timedelta(days=1)) == []


@pytest.mark.parametrize("kind", ["links", "products", "prices"])
async def test_some_things_have_no_status(world: Any, kind: Kind) -> None:
    with pytest.raises(UsageError):
        await rows_of(world.conn, kind, status="fetched")


async def test_images_are_no_pages(world: Any) -> None:
    before = await rows_of(world.conn, "pages")
    await show(world)
    assert await rows_of(world.conn, "pages") == before
    assert not any(row["is_image"] for row in await rows_of(world.conn, "tasks"))


async def test_a_product_comes_with_its_evidence(world: Any) -> None:
    await sell(world)
    product = (await rows_of(world.conn, "products"))[0]
    assert product["evidence"] == {"price": [["12.34", "jsonld", 0.95]]}
    assert product["variants"] == [{"sku": "k-2"}]
    assert (product["price"], product["confidence"], product["rating"]) == (Decimal("12.34"), 0.95, 4.5)
    history = await rows_of(world.conn, "prices")
    assert [(row["old_price"], row["price"]) for row in history] == [(None, 15), (15, Decimal("12.34"))]


async def test_an_image_comes_with_every_page_that_shows_it(world: Any) -> None:
    await show(world)
    first, second, third = await rows_of(world.conn, "images")
    assert (first["page_url"], first["is_shown"]) == (SPEC.seeds[0], True)
    assert (second["page_url"], second["is_shown"], second["last_seen_at"]) == (f"{SPEC.seeds[0]}about", False, AT)
    assert (third["page_url"], third["is_shown"], third["domain"]) == (None, False, "shop.example")
    assert first["perceptual_hash"] == "f" * 16


async def test_links_come_in_the_order_of_the_page(world: Any) -> None:
    found = [(row["position"], row["to_url"], row["to_status"]) for row in await rows_of(world.conn, "links")]
    shown = [("about", "fetched"), ("gone", "gone"), ("later", "queued"), ("new", "discovered")]
    assert found == [(at, f"{SPEC.seeds[0]}{name}", status) for at, (name, status) in enumerate(shown)]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_whole_table_is_streamed_and_not_sorted(world: Any, kind: Kind) -> None:
    await world.conn.execute(FILL)
    async with world.conn.transaction(isolation="repeatable_read", readonly=True):
        assert await estimate(world.conn, kind) > 0
        await anext(stream(world.conn, kind), None)
        nothing: dict[Kind, tuple[Any, ...]] = {
            "pages": (None, [], None, None, False, None, None, None),
            "tasks": (None,) * 6,
            "images": (None,) * 6,
        }
        plan = await world.conn.fetchval("EXPLAIN (FORMAT JSON) " + statement_of(kind), *nothing.get(kind, (None,) * 5))
    assert set(nodes(json.loads(plan)[0]["Plan"])) & {"Sort", "Hash", "Hash Join", "Merge Join", "Materialize"} == set()


def nodes(plan: dict[str, Any]) -> list[str]:
    return [plan["Node Type"], *(node for inner in plan.get("Plans", ()) for node in nodes(inner))]


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
