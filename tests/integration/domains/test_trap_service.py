"""What an operator sees of traps, and lets through: the promises stay kept, and `why` names the rule."""

import json
from typing import Any

import asyncpg
import pytest
from tests.integration.explain.fetch_policies import MANNERS
from tests.integration.world import World

from forager.domains import trap_service as traps
from forager.errors import NotFoundError
from forager.explain.check import check
from forager.explain.conditions import Gate
from forager.explain.rebuild import merge
from forager.explain.why import explain
from forager.frontier.admin import requeue_domain

SHOP = "shop.example"
TEMPLATE = "http://shop.example/same/{n}"


@pytest.fixture
async def world(world: World) -> Any:
    """With a trap that leaves out three pages, a rule that met a link, and a suspect."""
    domain = world.domains[SHOP]
    columns: dict[str, Any] = {"domain_id": domain, "example": "http://shop.example/same/4"}
    found_at = await world.conn.fetchval("SELECT now()")
    trap = await world.insert(
        "domain_traps", rule="nothing_new", template=TEMPLATE, pages=50, links=7, found_at=found_at, **columns
    )
    await world.insert("domain_traps", rule="repeating_path", template="", links=2, found_at=found_at, **columns)
    await world.insert("domain_traps", rule="nothing_new", template="http://shop.example/x/{n}", pages=20, **columns)
    for number in range(3):
        await world.add_page(f"http://shop.example/same/{number}", status="blocked", trap_id=trap)
    await world.conn.execute("UPDATE domains SET pages_discovered = pages_discovered + 3 WHERE id = $1", domain)
    yield world
    async with world.conn.transaction(isolation="repeatable_read", readonly=True):
        findings = [finding for verdict in await check(world.conn) for finding in verdict.findings]
    assert [(finding.name, finding.examples) for finding in findings if finding.broken] == []


async def trap_of(world: Any, rule: str = "nothing_new") -> int:
    number: int = await world.conn.fetchval("SELECT min(id) FROM domain_traps WHERE rule = $1", rule)
    return number


async def release(world: Any, trap: int, name: str = SHOP) -> traps.Released:
    async with world.conn.transaction():
        return await traps.release(world.conn, name, trap, by="cli:ann")


async def gates(world: Any, url: str) -> dict[str, Gate]:
    async with world.conn.transaction(isolation="repeatable_read", readonly=True):
        answer = await explain(world.conn, url, MANNERS)
    return {gate.name: gate for gate in answer.page_checks}


async def test_traps_are_listed_with_what_they_leave_out(world: Any) -> None:
    rows = await traps.list_traps(world.conn, "https://www.shop.example/x")
    assert [(row["rule"], row["pages_left_out"], row["links"], row["found_at"] is not None) for row in rows] == [
        ("nothing_new", 3, 7, True),
        ("repeating_path", 0, 2, True),
        ("nothing_new", 0, 0, False),
    ]


async def test_a_release_lets_its_pages_wait_again(world: Any) -> None:
    trap = await trap_of(world)
    before = await world.conn.fetchval("SELECT frontier_size FROM domains WHERE name = $1", SHOP)
    assert await release(world, trap) == traps.Released(SHOP, trap, "nothing_new", TEMPLATE, 3)
    assert await world.conn.fetchval("SELECT frontier_size FROM domains WHERE name = $1", SHOP) == before + 3
    assert await world.conn.fetchval("SELECT count(*) FROM pages WHERE trap_id IS NOT NULL") == 0
    row = await world.conn.fetchrow("SELECT released_by, released_at FROM domain_traps WHERE id = $1", trap)
    assert (row["released_by"], row["released_at"] is not None) == ("cli:ann", True)
    said = await world.conn.fetchrow("SELECT reason, moved_by FROM domain_history")
    assert tuple(said) == (f"trap {trap} released: pages that bring nothing new", "cli:ann")


async def test_a_release_wakes_a_domain_that_was_done(world: Any) -> None:
    await world.conn.execute("DELETE FROM crawl_tasks WHERE outcome IS NULL")
    await world.conn.execute(
        "UPDATE pages SET status = 'blocked', trap_id = $1 WHERE status IN ('queued', 'discovered')",
        await trap_of(world),
    )
    await world.conn.execute(
        "UPDATE domains SET frontier_size = 0, status = 'exhausted', ready_at = NULL,"
        " next_crawl_after = now() + interval '14 days' WHERE name = $1",
        SHOP,
    )
    assert (await release(world, await trap_of(world))).pages == 5
    row = await world.conn.fetchrow("SELECT status::text, is_due FROM domains WHERE name = $1", SHOP)
    assert tuple(row) == ("active", True)
    moves = await world.conn.fetch("SELECT to_status::text, moved_by FROM domain_history ORDER BY id")
    assert [tuple(move) for move in moves][-1] == ("active", "cli:ann")


async def test_a_rule_without_a_template_is_released_for_the_domain(world: Any) -> None:
    trap = await trap_of(world, "repeating_path")
    url = "http://shop.example/a/a/a/a"
    assert (await gates(world, url))["link"].is_closed
    assert (await release(world, trap)).pages == 0
    assert (await gates(world, url))["link"].is_open


async def test_what_is_no_trap_of_the_domain_cannot_be_released(world: Any) -> None:
    trap = await trap_of(world)
    suspect = await world.conn.fetchval("SELECT id FROM domain_traps WHERE found_at IS NULL")
    await release(world, trap)
    for number, name in ((trap, SHOP), (suspect, SHOP), (4711, SHOP), (trap, "idle.example")):
        with pytest.raises(NotFoundError, match=f"has no trap {number} that is shut"):
            await release(world, number, name)


async def test_a_reset_does_not_open_what_a_trap_leaves_out(world: Any) -> None:
    async with world.conn.transaction():
        assert await requeue_domain(world.conn, world.domains[SHOP], also_gone=False, by="test") == (0, 0)
    assert await world.conn.fetchval("SELECT count(*) FROM pages WHERE trap_id IS NOT NULL") == 3


async def test_traps_of_domains_that_become_one_come_together(world: Any, pool: asyncpg.Pool) -> None:
    """What the other's trap left out waits, until the next claim looks at it there."""
    other = await world.add_domain("www.shop.example", status="active", pages_discovered=1)
    columns: dict[str, Any] = {
        "domain_id": other,
        "example": "x",
        "found_at": await world.conn.fetchval("SELECT now()"),
    }
    twin = await world.insert("domain_traps", rule="nothing_new", template=TEMPLATE, pages=50, **columns)
    await world.insert("domain_traps", rule="calendar", template="", **columns)
    await world.add_page("http://www.shop.example/same/9", status="blocked", trap_id=twin)
    rest: dict[str, Any] = {"dead_after_s": 60.0, "refresh_every_s": 86_400.0, "refused_rest_s": 3600.0}
    await world.conn.execute("UPDATE workers SET status = 'stopped'")
    await merge(pool, by="cli:ann", is_trial=False, **rest)
    rules = [row["rule"] for row in await traps.list_traps(world.conn, SHOP)]
    assert sorted(rules) == ["calendar", "nothing_new", "nothing_new", "repeating_path"]
    states = await world.conn.fetch(
        "SELECT status::text, count(*) FROM pages WHERE url ~ '/same/' GROUP BY 1 ORDER BY 1"
    )
    assert [tuple(row) for row in states] == [("blocked", 3), ("discovered", 1)]


# Why ----------------------------------------------------------------------------------------------------------------


async def test_why_names_the_trap_of_a_page_it_leaves_out(world: Any) -> None:
    trap = await trap_of(world)
    gate = (await gates(world, "http://shop.example/same/1"))["status"]
    assert gate.is_closed
    assert gate.sentence == (
        f"blocked: left out by trap {trap}, rule nothing_new: pages that bring nothing new at {TEMPLATE}"
    )
    assert gate.remedy == f"forager domain {SHOP} release {trap}"


async def test_why_names_the_trap_of_a_link_that_was_never_learned(world: Any) -> None:
    trap = await trap_of(world)
    gate = (await gates(world, "http://shop.example/same/999"))["link"]
    assert gate.is_closed
    assert gate.sentence.startswith(f"a link to it is left out by trap {trap}, rule nothing_new")
    await release(world, trap)
    assert (await gates(world, "http://shop.example/same/999"))["link"].is_open


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("a/a/a/a", "a link to it is left out by the rule repeating_path: the same folder again and again"),
        ("calendar/2999/1", "a link to it is left out by the rule calendar: a calendar without end"),
        ("x?sid=4f2a91c07b", "a link to it is taken without its session id, as http://shop.example/x"),
        ("a.zip", "a link to it is left out: it ends like a file we do not read"),
        ("harmless", "a link to it would be taken"),
    ],
)
async def test_why_names_the_rule_of_a_link(world: Any, path: str, sentence: str) -> None:
    assert (await gates(world, f"http://shop.example/{path}"))["link"].sentence == sentence


async def test_why_names_the_rule_that_keeps_a_sub_domain_unknown(world: Any) -> None:
    domain = world.domains["idle.example"]
    trap = await world.insert(
        "domain_traps",
        domain_id=domain,
        rule="subdomains",
        template="*.idle.example",
        example="http://n9.idle.example/",
        found_at=await world.conn.fetchval("SELECT now()"),
    )
    gate = (await gates(world, "http://n9.idle.example/"))["link"]
    assert gate.sentence == (
        f"a link to it is left out by trap {trap}, rule subdomains: too many sub-domains at *.idle.example"
    )
    assert gate.remedy == f"forager domain idle.example release {trap}"


# The command line ---------------------------------------------------------------------------------------------------


async def test_the_command_lists_traps(forager: Any, world: Any) -> None:
    said = await forager("domain", SHOP, "traps")
    assert said.code == 0
    for words in ("nothing_new", TEMPLATE, "left out", "suspected, 20 pages", "repeating_path"):
        assert words in said.out
    rows = json.loads((await forager("domain", SHOP, "traps", "--json")).out)
    assert [row["rule"] for row in rows] == ["nothing_new", "repeating_path", "nothing_new"]
    assert "None of its links looks like a trap" in (await forager("domain", "idle.example", "traps")).err


async def test_the_command_releases_a_trap(forager: Any, world: Any) -> None:
    trap = str(await trap_of(world))
    said = await forager("domain", SHOP, "release", trap)
    assert (said.code, said.out) == (0, "")
    assert f"Trap {trap} of {SHOP} is released: its links are taken again. 3 pages wait now." in said.err
    again = await forager("domain", SHOP, "release", trap)
    assert (again.code, again.out) == (3, "")
    assert f"has no trap {trap} that is shut" in again.err
    assert "released by cli" in (await forager("domain", SHOP, "traps")).out


async def test_the_command_answers_in_json(forager: Any, world: Any) -> None:
    trap = await trap_of(world)
    said = await forager("domain", SHOP, "release", str(trap), "--json")
    assert json.loads(said.out)["pages"] == 3
