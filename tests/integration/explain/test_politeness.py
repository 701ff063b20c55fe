"""Planted impoliteness is found, polite histories pass, and what has no evidence is not called proved."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.integration.world import World

from forager import clock
from forager.errors import NotFoundError
from forager.explain.politeness import CLOCK_TOLERANCE_MS, MOST_SHOWN, Audit, audit_delays, audit_politeness

ROBOTS = "User-agent: *\nDisallow: /gone\nAllow: /\n"
BEGAN = clock.now() - timedelta(hours=1)


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


class History:
    """Requests to `shop.example`, at seconds after the beginning."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.conn = world.conn

    async def visit(self, seconds: float, pace_ms: int | None = 1000, path: str = "about", **more: Any) -> int:
        url = f"http://shop.example/{path}"
        columns = {"requested_at": at(seconds), "pace_ms": pace_ms} | more
        return await self.world.close(url, "success", 200, **columns)

    async def ask_robots(self, seconds: float, pace_ms: int = 1000, domain: str = "shop.example") -> None:
        await self.conn.execute(
            "INSERT INTO robots_requests VALUES ($1, $2, $3, $4)",
            self.world.domains[domain],
            f"http://{domain}",
            at(seconds),
            pace_ms,
        )

    async def robots(self, text: str | None, fetched: float, expires: float, **more: Any) -> None:
        await self.conn.execute(
            "INSERT INTO origins VALUES ($1, $2, $3, $4, $5, $6, $7)",
            self.world.domains["shop.example"],
            more.get("origin", "http://shop.example"),
            text,
            None if more.get("error") else 200,
            more.get("error"),
            at(fetched),
            at(expires),
        )

    async def audit(self, **options: Any) -> Audit:
        async with self.conn.transaction(isolation="repeatable_read", readonly=True):
            return await audit_politeness(self.conn, **{"agent": "Forager"} | options)


@pytest.fixture
def history(world: World) -> History:
    return History(world)


@pytest.mark.both_servers
async def test_a_polite_history_passes(history: History) -> None:
    await history.ask_robots(0)
    for second in range(1, 9):
        await history.visit(second)
    await history.visit(12, 1000, earlier_requests=[at(9), at(10.5)])
    await history.robots(ROBOTS, 0.5, 3600)
    audit = await history.audit()
    assert audit.is_clean
    assert (audit.pace.domains, audit.pace.requests) == (1, 12)
    (only,) = audit.pace.classes
    assert (only.pace_ms, only.requests, only.gaps, only.smallest_gap_ms) == (1000, 12, 11, 1000.0)
    assert (audit.robots.origins, audit.robots.visits) == (1, 9)


async def test_an_empty_history_is_clean(history: History) -> None:
    audit = await history.audit()
    assert audit.is_clean
    assert (audit.pace.domains, audit.pace.requests, audit.robots.visits) == (0, 0, 0)


async def test_two_visits_too_close(history: History) -> None:
    first = await history.visit(10)
    second = await history.visit(10.4)
    audit = await history.audit()
    assert not audit.is_clean
    assert audit.pace.too_early == 1
    (early,) = audit.pace.examples
    assert (early.domain, early.task_before, early.task_id, early.pace_ms) == ("shop.example", first, second, 1000)
    assert early.gap_ms == pytest.approx(400)
    assert early.requested_at == at(10.4)


@pytest.mark.parametrize(
    ("gap_ms", "is_polite"), [(1000, True), (1000 - CLOCK_TOLERANCE_MS, True), (999 - CLOCK_TOLERANCE_MS, False)]
)
async def test_clocks_may_differ_a_little(history: History, gap_ms: float, is_polite: bool) -> None:
    await history.visit(10)
    await history.visit(10 + gap_ms / 1000)
    assert (await history.audit()).is_clean is is_polite


async def test_robots_txt_keeps_the_pace_too(history: History) -> None:
    await history.visit(10)
    await history.ask_robots(10.1)
    await history.visit(10.2)
    audit = await history.audit()
    assert audit.pace.too_early == 2
    assert [early.task_id is None for early in audit.pace.examples] == [True, False]


async def test_quick_tries_keep_the_pace_too(history: History) -> None:
    await history.visit(20, earlier_requests=[at(10), at(10.5)])
    audit = await history.audit()
    assert audit.pace.requests == 3
    assert audit.pace.too_early == 1


async def test_the_pace_of_the_earlier_request_counts(history: History) -> None:
    """After a request at 5 s nothing may come for 5 s; the faster pace after it takes over from there."""
    await history.visit(10, 5000)
    await history.visit(15, 1000)
    await history.visit(16, 5000)
    assert (await history.audit()).is_clean
    await history.visit(18, 1000)
    audit = await history.audit()
    assert [(each.pace_ms, each.too_early) for each in audit.pace.classes] == [(1000, 0), (5000, 1)]


async def test_domains_do_not_wait_for_each_other(history: History) -> None:
    await history.visit(10)
    await history.ask_robots(10, domain="idle.example")
    audit = await history.audit()
    assert audit.is_clean
    assert audit.pace.domains == 2


async def test_unpaced_hosts_are_listed_as_such(history: History) -> None:
    await history.visit(10, 0)
    await history.visit(10.001, 0, earlier_requests=[at(10.0005)])
    await history.ask_robots(10.002, 0)
    audit = await history.audit()
    assert audit.is_clean
    assert (audit.pace.unpaced, audit.unpaced_count) == (4, 1)
    assert audit.unpaced_domains == (("shop.example", 4),)


async def test_requests_without_evidence_are_unproved(history: History) -> None:
    await history.visit(10, None)
    await history.visit(10.1, None)
    audit = await history.audit()
    assert audit.is_clean
    assert audit.pace.unproved == 2
    assert audit.pace.with_delay == ()


async def test_a_forbidden_visit_is_named_with_its_line(history: History) -> None:
    await history.robots(ROBOTS, 0, 3600)
    await history.visit(10)
    task = await history.visit(20, path="gone")
    audit = await history.audit()
    assert not audit.is_clean
    assert (audit.robots.visits, audit.robots.forbidden) == (2, 1)
    (visit,) = audit.robots.examples
    assert (visit.task_id, visit.url, visit.rule, visit.line) == (
        task,
        "http://shop.example/gone",
        "Disallow: /gone",
        2,
    )


@pytest.mark.parametrize(
    ("second", "origin"),
    [
        (5, "http://shop.example"),
        (3600, "http://shop.example"),
        (20, "https://shop.example"),
        (20, "http://shop.example.evil"),
    ],
)
async def test_a_copy_counts_for_its_time_and_origin(history: History, second: int, origin: str) -> None:
    await history.robots(ROBOTS, 10, 3600, origin=origin)
    await history.visit(second, path="gone")
    audit = await history.audit()
    assert audit.is_clean
    assert audit.robots.visits == 0


async def test_rules_for_others_do_not_bind_us(history: History) -> None:
    await history.robots("User-agent: Other\nDisallow: /\n", 0, 3600)
    await history.visit(10)
    assert (await history.audit()).is_clean
    assert not (await history.audit(agent="Other")).is_clean


async def test_a_robots_txt_that_could_not_be_had_forbids_everything(history: History) -> None:
    await history.robots(None, 0, 3600, error="the server answered 503")
    await history.visit(10)
    audit = await history.audit()
    assert audit.robots.forbidden == 1
    assert "the server answered 503" in audit.robots.examples[0].rule


async def test_one_domain_and_some_time(history: History) -> None:
    await history.visit(10)
    await history.visit(10.1)
    await history.ask_robots(10, domain="idle.example")
    assert not (await history.audit(domain="www.shop.example")).is_clean
    assert (await history.audit(domain="idle.example")).pace.requests == 1
    assert (await history.audit(since=at(10.05))).pace.requests == 1
    with pytest.raises(NotFoundError):
        await history.audit(domain="nowhere.example")


ADD_VISITS = """
    INSERT INTO crawl_tasks (page_id, domain_id, status, outcome, completed_at, status_code, requested_at, pace_ms)
    SELECT p.id, p.domain_id, 'completed', 'success', now(), 200, now() + n * interval '1 ms', 1000
    FROM pages p, generate_series(1, $2) n WHERE p.url LIKE $1"""


async def test_many_violations_are_counted_and_few_are_shown(history: History) -> None:
    await history.conn.execute(ADD_VISITS, "%about", 100)
    proof = await audit_delays(history.conn)
    assert proof.too_early == 99
    assert len(proof.examples) == MOST_SHOWN


async def test_more_origins_than_are_read_at_once(history: History) -> None:
    """Every copy is compared with its own visits, also in the later batches."""
    await history.conn.execute(
        "INSERT INTO domains (name, parent_domain, base_url, seed_rank)"
        " SELECT 'd' || n || '.example', '', '', n FROM generate_series(1, 120) n"
    )
    await history.conn.execute(
        "INSERT INTO pages (domain_id, url, url_hash, depth, priority)"
        " SELECT id, 'http://' || name || '/x', substring(sha256(name::bytea) FROM 1 FOR 16), 0, 5"
        " FROM domains WHERE seed_rank > 0"
    )
    await history.conn.execute(
        "INSERT INTO origins SELECT id, 'http://' || name, CASE WHEN seed_rank % 2 = 0 THEN $1 ELSE '' END, 200, NULL,"
        " now() - interval '1 hour', now() + interval '1 hour' FROM domains WHERE seed_rank > 0",
        "User-agent: *\nDisallow: /x\n",
    )
    await history.conn.execute(ADD_VISITS, "%/x", 1)
    audit = await history.audit()
    assert (audit.robots.origins, audit.robots.visits, audit.robots.forbidden) == (120, 120, 60)
    even = {f"http://d{number}.example/x" for number in range(2, 121, 2)}
    assert {visit.url for visit in audit.robots.examples} <= even
