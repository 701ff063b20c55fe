"""Traps, from pages that bring nothing new to rows: found, shut, heeded, handed over, and names that never end."""

import random
from dataclasses import replace
from typing import Any

import pytest
from tests.builders import a_lease, a_reading, a_success, an_order
from tests.ground import Ground
from tests.writers import open_writer

from forager.db.database import Database
from forager.domains import traps as domain_traps
from forager.engine.claims import Claims
from forager.engine.config import RunConfig
from forager.engine.trap_detector import CLOCKS_AGREE, TrapDetector
from forager.explain.check import check
from forager.frontier.models import Lease, Past, Target
from forager.links.scope import CrawlScope
from forager.links.select import Selector
from forager.links.templates import compiled, pattern_of, templates_of
from forager.runs.models import RunSpec, Scope

A = "http://a.example"
SAME = f"{A}/same/{{n}}"
MOST = 12
SAME_READING = a_reading(simhash=7, headings="Nothing here")


class Desk:
    """A worker with one leased domain, its selector, watch and writer."""

    def __init__(self, ground: Ground, database: Database, run: int, worker: int) -> None:
        self.ground, self.database, self.run, self.worker = ground, database, run, worker
        self.selector = Selector(CrawlScope.of(RunSpec((f"{A}/",), scope=Scope.ANY)), max_links_per_page=100)
        self.watch = TrapDetector(self.selector, most_same=MOST, most_calendar=MOST)
        self.writer = open_writer(database, run, worker, traps=self.watch, max_subdomains=3)
        self.lease: Lease | None = None

    async def claim(self) -> Lease:
        """As a worker does: lease, what is known of traps, what others learned of them."""
        claims = Claims(self.database, RunConfig(self.run, RunSpec((f"{A}/",))), an_order().lease)
        claimed = await claims.domains(self.worker, 10)
        (self.lease,) = claimed.leases
        self.watch.take(claimed.leases, claimed.traps)
        return self.lease

    async def targets(self, want: int = 100) -> list[Target]:
        assert self.lease is not None
        return await self.ground.targets(self.lease, self.worker, self.run, want)

    async def visit(self, *targets: Target, links: tuple[str, ...] = (), **more: Any) -> None:
        """All of them say the same."""
        outcomes = [a_success(target, *links, **{"reading": SAME_READING} | more) for target in targets]
        await self.writer.write(outcomes)

    async def traps(self) -> dict[tuple[str, str], Any]:
        rows = await self.ground.conn.fetch("SELECT * FROM domain_traps ORDER BY id")
        return {(row["rule"], row["template"]): row for row in rows}

    async def broken(self) -> dict[str, tuple[str, ...]]:
        async with self.ground.conn.transaction(isolation="repeatable_read", readonly=True):
            found = [finding for verdict in await check(self.ground.conn) for finding in verdict.findings]
        return {finding.name: finding.examples for finding in found if finding.broken}


@pytest.fixture
async def desk(ground: Ground, database: Database) -> Desk:
    run = await ground.a_run()
    made = Desk(ground, database, run, await ground.a_worker(run))
    domain = await ground.a_domain(run=run)
    for number in range(40):
        await ground.a_page(f"{A}/same/{number}", domain)
    await ground.a_page(f"{A}/other", domain)
    return made


# Found and shut -----------------------------------------------------------------------------------------------------


async def test_pages_that_bring_nothing_new_make_a_trap_and_the_rest_of_them_is_left_out(desk: Desk) -> None:
    await desk.claim()
    await desk.visit(*await desk.targets(MOST + 1))
    trap = (await desk.traps())["nothing_new", SAME]
    assert (trap["pages"], trap["found_at"] is not None, trap["released_at"]) == (MOST, True, None)
    assert trap["example"].startswith(f"{A}/same/")
    left_out = await desk.ground.urls(f"status = 'blocked' AND trap_id = {trap['id']}")
    assert len(left_out) == 40 - (MOST + 1)
    assert await desk.ground.urls("status = 'discovered'") == {f"{A}/other"}
    domain = await desk.ground.domain(trap["domain_id"])
    assert (domain["frontier_size"], domain["pages_discovered"]) == (1, 41)
    assert await desk.broken() == {}


async def test_links_that_were_selected_before_the_trap_was_found_are_not_learned_after_it(desk: Desk) -> None:
    await desk.claim()
    targets = await desk.targets(MOST + 2)
    await desk.visit(*targets[:-1])
    asked_at = (await desk.traps())["nothing_new", SAME]["found_at"]
    links = (f"{A}/same/9999", f"{A}/new")
    await desk.visit(targets[-1], links=links, requested_at=asked_at)
    assert await desk.ground.urls(f"url = ANY ('{{{','.join(links)}}}')") == {f"{A}/new"}
    assert (await desk.ground.page(targets[-1].page_id))["links_count"] == 1
    dropped = await desk.ground.conn.fetchval("SELECT links FROM run_drops WHERE reason = 'trap:nothing_new'")
    assert dropped == 1
    assert await desk.broken() == {}


async def test_links_selected_later_are_not_looked_at_twice(desk: Desk) -> None:
    """The selector knows of the trap by then."""
    await desk.claim()
    targets = await desk.targets(MOST + 2)
    await desk.visit(*targets[:-1])
    found_at = (await desk.traps())["nothing_new", SAME]["found_at"]
    outcome = a_success(targets[-1], f"{A}/same/9999", requested_at=found_at + 2 * CLOCKS_AGREE)
    assert desk.watch.filter_links([outcome])[0] is outcome
    assert desk.selector.select(a_reading("/same/9999"), targets[-1]).dropped == {"trap:nothing_new": 1}


async def test_of_a_template_no_more_pages_are_taken_than_the_domain_allows(desk: Desk) -> None:
    await desk.ground.choose(max_pages_per_template=5)
    lease = await desk.claim()
    assert lease.settings.max_pages_per_template == 5
    for number, target in enumerate(await desk.targets(6)):
        new = a_reading(simhash=number * 0x0F0F0F0F, headings=f"All about {number}", title=f"Number {number}")
        await desk.visit(target, reading=new)
    trap = (await desk.traps())["template_budget", SAME]
    assert (trap["pages"], trap["found_at"] is not None) == (5, True)
    assert await desk.ground.urls("status = 'discovered'") == {f"{A}/other"}
    assert await desk.broken() == {}


async def test_a_new_budget_holds_from_the_next_lease_on(desk: Desk) -> None:
    await desk.ground.choose(max_pages_per_template=5)
    lease = await desk.claim()
    targets = await desk.targets(8)
    read = [a_reading(simhash=n * 0x0F0F0F0F, headings=f"All about {n}", title=f"Number {n}") for n in range(8)]
    for target, reading in zip(targets[:3], read[:3], strict=True):
        await desk.visit(target, reading=reading)
    desk.watch.take([a_lease(lease.domain_id, lease.version + 2, domain=lease.domain, max_pages_per_template=7)], [])
    for target, reading in zip(targets[3:], read[3:], strict=True):
        await desk.visit(target, reading=reading)
    assert (await desk.traps())["template_budget", SAME]["pages"] == 7


async def test_a_seed_is_never_left_out(desk: Desk) -> None:
    await desk.ground.conn.execute("UPDATE pages SET is_seed = true WHERE url LIKE '%/same/39'")
    await desk.claim()
    targets = [target for target in await desk.targets(MOST + 2) if not target.url.endswith("/39")]
    await desk.ground.conn.execute("UPDATE pages SET status = 'discovered' WHERE url LIKE '%/same/39'")
    await desk.ground.conn.execute("DELETE FROM crawl_tasks t USING pages p WHERE p.id = t.page_id AND p.is_seed")
    await desk.visit(*targets)
    assert f"{A}/same/39" in await desk.ground.urls("status = 'discovered'")


async def test_a_page_read_again_is_no_sign_of_a_trap(desk: Desk) -> None:
    await desk.claim()
    past = Past(None, None, None, 0, 0, 0.0)
    targets = [replace(target, past=past) for target in await desk.targets(MOST + 5)]
    assert desk.watch.look([a_success(target, reading=SAME_READING) for target in targets]) == []


async def test_pages_that_differ_are_all_visited(desk: Desk) -> None:
    await desk.claim()
    draw = random.Random(1)
    targets = await desk.targets()
    await desk.writer.write(
        [a_success(t, reading=a_reading(simhash=draw.getrandbits(62), headings="x")) for t in targets]
    )
    assert await desk.traps() == {}
    assert await desk.ground.urls("status = 'fetched'") == {target.url for target in targets}


async def test_a_simhash_is_kept_with_its_page(desk: Desk) -> None:
    await desk.claim()
    target, other = await desk.targets(2)
    await desk.visit(target, reading=a_reading(simhash=-(2**63)))
    await desk.visit(other, reading=a_reading(simhash=None))
    assert (await desk.ground.page(target.page_id))["simhash"] == -(2**63)
    assert (await desk.ground.page(other.page_id))["simhash"] is None


# Handed over --------------------------------------------------------------------------------------------------------


async def release(desk: Desk) -> None:
    await desk.ground.conn.execute(
        "UPDATE domains SET claimed_by = NULL, claim_expires_at = NULL, version = version + 1, ready_at = now()"
    )


async def test_a_successor_goes_on_from_what_was_counted(desk: Desk) -> None:
    await desk.claim()
    await desk.visit(*await desk.targets(11))
    assert (await desk.traps())["nothing_new", SAME]["found_at"] is None
    await release(desk)
    successor = Desk(desk.ground, desk.database, desk.run, await desk.ground.a_worker(desk.run))
    await successor.claim()
    await successor.visit(*await successor.targets(3))
    trap = (await desk.traps())["nothing_new", SAME]
    assert (trap["pages"], trap["found_at"] is not None) == (MOST, True)
    assert await desk.broken() == {}


async def test_a_suspect_that_proves_harmless_is_forgotten(desk: Desk) -> None:
    await desk.claim()
    *same, last = await desk.targets(12)
    await desk.visit(*same)
    assert ("nothing_new", SAME) in await desk.traps()
    await desk.visit(last, reading=a_reading(simhash=2**40, title="Something new", headings="new"))
    assert await desk.traps() == {}


async def test_a_claim_leaves_out_what_others_learned_of_a_trap(desk: Desk) -> None:
    lease = await desk.claim()
    await desk.visit(*await desk.targets(MOST + 1))
    await desk.ground.a_page(f"{A}/same/7777", lease.domain_id)
    await release(desk)
    await desk.claim()
    assert f"{A}/same/7777" in await desk.ground.urls("status = 'blocked'")
    assert await desk.broken() == {}


async def test_what_was_written_under_a_lost_lease_is_no_trap(desk: Desk) -> None:
    await desk.claim()
    targets = await desk.targets(MOST + 1)
    await release(desk)
    await desk.visit(*targets)
    assert await desk.traps() == {}


async def test_a_released_trap_is_not_found_again(desk: Desk) -> None:
    lease = await desk.claim()
    await desk.visit(*await desk.targets(MOST + 1))
    trap = (await desk.traps())["nothing_new", SAME]
    await domain_traps.release_trap(desk.ground.conn, trap["id"], lease.domain_id, by="ann")
    await desk.ground.conn.execute("UPDATE pages SET status = 'discovered', trap_id = NULL WHERE trap_id IS NOT NULL")
    await release(desk)
    await desk.claim()
    targets = await desk.targets()
    await desk.visit(*targets)
    assert await desk.ground.urls("status = 'blocked'") == set()
    assert len(desk.selector.select(a_reading("/same/1"), targets[0]).links) == 1


async def test_links_that_a_rule_met_are_counted_with_their_domain(desk: Desk) -> None:
    await desk.claim()
    target, other = await desk.targets(2)
    desk.selector.select(a_reading("/a/a/a/a", "/b/b/b/b", "http://unknown.example/a/a/a/a"), target)
    await desk.visit(target)
    desk.selector.select(a_reading("/c/c/c/c"), target)
    await desk.visit(other)
    (row,) = (await desk.traps()).values()
    assert (row["rule"], row["template"], row["links"], row["example"]) == ("repeating_path", "", 3, f"{A}/c/c/c/c")


# Names that never end -----------------------------------------------------------------------------------------------


async def test_only_so_many_sub_domains_are_found_by_links(desk: Desk) -> None:
    await desk.claim()
    target, other = await desk.targets(2)
    links = tuple(f"http://n{number}.b.example/" for number in range(5))
    await desk.visit(target, links=(*links, "http://b.example/", "http://c.example/"))
    known = {row["name"] for row in await desk.ground.conn.fetch("SELECT name FROM domains")}
    assert known == {"a.example", "b.example", "c.example", "n0.b.example", "n1.b.example"}
    assert (await desk.ground.page(target.page_id))["links_count"] == 4
    await desk.visit(other, links=("http://n9.b.example/x", "http://n0.b.example/x"))
    (row,) = (await desk.traps()).values()
    assert (row["rule"], row["template"], row["links"]) == ("subdomains", "*.b.example", 4)
    eldest = await desk.ground.conn.fetchval("SELECT min(id) FROM domains WHERE parent_domain = 'b.example'")
    assert row["domain_id"] == eldest
    assert await desk.broken() == {}


async def test_seeds_are_not_counted_and_a_release_lets_further_names_through(desk: Desk) -> None:
    await desk.claim()
    first, second = await desk.targets(2)
    for number in range(5):
        await desk.ground.a_domain(f"s{number}.b.example", parent_domain="b.example", source="seed")
    await desk.visit(first, links=tuple(f"http://n{number}.b.example/" for number in range(5)))
    assert await desk.ground.conn.fetchval("SELECT count(*) FROM domains WHERE name LIKE 'n%'") == 3
    (row,) = (await desk.traps()).values()
    await domain_traps.release_trap(desk.ground.conn, row["id"], row["domain_id"], by="ann")
    await desk.visit(second, links=("http://n8.b.example/",))
    assert await desk.ground.conn.fetchval("SELECT count(*) FROM domains WHERE name LIKE 'n%'") == 4


# Patterns -----------------------------------------------------------------------------------------------------------


@pytest.mark.both_servers
async def test_postgresql_understands_patterns_as_python_does(ground: Ground) -> None:
    draw = random.Random(7)
    pieces = ["", "a", "left", "17", "p17", "a-b", "a.b", "%C3%BC", "x" * 21, "x" * 20, "A", "a+b", "1-2", "~", "a;b=1"]
    names = ["a", "b[]", "c.d", "x*y", "a|b", "(z)", "p{2}", "$v", "%41", "1"]

    def a_url() -> str:
        path = "/".join(draw.choice(pieces) for _ in range(draw.randint(1, 4)))
        query = "&".join(f"{draw.choice(names)}={draw.choice(pieces)}" for _ in range(draw.randint(0, 3)))
        return f"{A}/{path}" + (f"?{query}" if query else "")

    urls = [a_url() for _ in range(150)]
    templates = sorted({template for url in urls[:60] for template in templates_of(url)})
    rows = await ground.conn.fetch(
        "SELECT t.n AS template, u.url, u.url ~ t.pattern AS matches"
        " FROM unnest($1::text[], $2::text[]) AS t (n, pattern) CROSS JOIN unnest($3::text[]) AS u (url)",
        templates,
        [pattern_of(template) for template in templates],
        urls,
    )
    differ = [tuple(row) for row in rows if (compiled(row["template"]).match(row["url"]) is not None) != row["matches"]]
    assert differ == []
    assert sum(row["matches"] for row in rows) > len(urls)
