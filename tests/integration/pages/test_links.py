"""Who links to whom: of one page, of all; through the index, in words and as JSON; and links that are not stored."""

import json
from typing import Any

import pytest

from forager.config.cipher import PasswordCipher
from forager.domains.service import configure
from forager.errors import NotFoundError
from forager.explain.check import check
from forager.pages.links import SQL, links_of, most_linked

SEED = "http://shop.example/"
FILL = """
INSERT INTO pages (domain_id, url, url_hash, depth, priority, status, links_count)
SELECT d.id, 'http://shop.example/n' || n,
       substring(sha256(('http://shop.example/n' || n)::bytea) FROM 1 FOR 16), 1, 5, 'fetched', 3
FROM domains d, generate_series(1, 20000) n WHERE d.name = 'shop.example';
INSERT INTO page_link_lists (from_page_id, domain_id, to_page_ids, anchors)
SELECT id, domain_id, ARRAY[id - 1, id - 2, id - 3], '' FROM pages WHERE url LIKE '%/n%';
ANALYZE;
"""


async def test_a_page_with_its_links_both_ways(world: Any) -> None:
    await world.link(f"{SEED}about", SEED, f"{SEED}gone")
    found = await links_of(world.conn, "HTTP://shop.example")
    assert (found["out"]["stored"], found["out"]["counted"], found["in"]["pages"], found["in"]["domains"]) == (
        4,
        4,
        1,
        1,
    )
    assert [link["url"] for link in found["out"]["links"]] == [
        f"{SEED}{name}" for name in ("about", "gone", "later", "new")
    ]
    gone = found["out"]["links"][1]
    assert (gone["anchor"], gone["rel"], gone["status"], gone["status_code"]) == (f"to {SEED}gone", "a", "gone", 404)
    back = (await links_of(world.conn, f"{SEED}gone", outgoing=False))["in"]
    assert {(link["url"], link["anchor"], link["position"]) for link in back["links"]} == {
        (SEED, f"to {SEED}gone", 1),
        (f"{SEED}about", f"to {SEED}gone", 1),
    }
    assert len((await links_of(world.conn, SEED, limit=2))["out"]["links"]) == 2
    with pytest.raises(NotFoundError):
        await links_of(world.conn, f"{SEED}unheard-of")


async def test_the_kind_of_a_link_is_told_from_both_ends(world: Any) -> None:
    await world.conn.execute("UPDATE page_link_lists SET rels = 'a,a nofollow,canonical,next'")
    rels = [link["rel"] for link in (await links_of(world.conn, SEED))["out"]["links"]]
    assert rels == ["a", "a nofollow", "canonical", "next"]
    assert (await links_of(world.conn, f"{SEED}later"))["in"]["links"][0]["rel"] == "canonical"


async def test_what_most_link_to(world: Any) -> None:
    await world.link(f"{SEED}about", f"{SEED}gone")
    first = (await most_linked(world.conn, limit=1))[0]
    assert (first["url"], first["links"], first["status"]) == (f"{SEED}gone", 2, "gone")
    assert await most_linked(world.conn, domain="shop.example") == await most_linked(world.conn)
    assert await most_linked(world.conn, domain="idle.example") == []


async def test_who_links_here_is_found_through_the_index(world: Any) -> None:
    await world.conn.execute(FILL)
    page = await world.conn.fetchval("SELECT max(id) - 9 FROM pages")
    for name, arguments in (("links_to", (page, None, 20)), ("links_from", (page, None, 20))):
        plan = await world.conn.fetchval("EXPLAIN (FORMAT JSON) " + SQL[name], *arguments)
        index = "page_link_lists_pkey" if name == "links_from" else "page_link_lists_to"
        assert index in plan, name
        assert seq_scans(json.loads(plan)[0]["Plan"]) & {"page_link_lists", "pages"} == set(), name
    plan = await world.conn.fetchval("EXPLAIN (FORMAT JSON) " + SQL["top_linked_of"], "idle.example", 20)
    assert "page_link_lists_to" in plan
    found = await links_of(world.conn, f"{SEED}n19000")
    assert [link["url"] for link in found["in"]["links"]] == [f"{SEED}n{n}" for n in (19001, 19002, 19003)]
    last = found["in"]["links"][-1]["page_id"]
    behind = (await links_of(world.conn, f"{SEED}n19000", outgoing=False, after=(None, last)))["in"]
    assert behind == {"pages": 3, "domains": 1, "links": []}


def seq_scans(plan: dict[str, Any]) -> set[str]:
    here = {plan["Relation Name"]} if plan["Node Type"] == "Seq Scan" else set()
    return here.union(*(seq_scans(inner) for inner in plan.get("Plans", ())))


async def test_the_command(forager: Any, world: Any) -> None:
    await world.conn.execute("UPDATE page_link_lists SET anchors = E'\x1b[31mred\x1f\x1f\x1f'")
    said = await forager("links", SEED)
    assert said.code == 0
    assert "leads to 4 pages" in said.out
    assert "0 pages link to it" in said.out
    assert "\x1b" not in said.out
    document = json.loads((await forager("links", SEED, "--out", "--json", "--limit", "1")).out)
    assert len(document["out"]["links"]) == 1
    assert "in" not in document
    top = json.loads((await forager("links", "--top", "--json")).out)
    assert {row["links"] for row in top} == {1}
    assert (await forager("links", f"{SEED}unheard-of")).code == 3


async def test_links_that_are_not_stored_are_no_broken_promise(forager: Any, world: Any) -> None:
    async def broken() -> int:
        return sum(verdict.broken for verdict in await check(world.conn))

    assert (await forager("domain", "shop.example", "set", "--no-links")).code == 0
    await world.conn.execute("DELETE FROM page_link_lists")
    assert await broken() == 0
    said = await forager("links", SEED)
    assert "learned and not stored" in " ".join(said.out.split())
    assert "not stored" in (await forager("domain", "shop.example")).out
    cipher = PasswordCipher([])
    await configure(world.conn, "shop.example", {"store_links": True}, by="test", cipher=cipher, refresh_every_s=None)
    assert await broken() == 0
    await world.damage("UPDATE domains SET links_since = now() - interval '1 day' WHERE name = 'shop.example'")
    assert await broken() == 1
