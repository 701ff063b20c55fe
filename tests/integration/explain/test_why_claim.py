"""`why` and the claim agree: a domain whose gates are all open is claimed, and no other is."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.builders import a_lease
from tests.integration.explain.fetch_policies import MANNERS
from tests.integration.world import World

from forager import clock
from forager.domains import store as domains
from forager.explain.why import explain
from forager.frontier import claim
from forager.stats import store as stats

CLAIM = ("state", "cooldown", "switch", "window", "budget", "lease", "frontier")
NAME = "shop.example"
HOURS = {"none": None, "past": -3, "future": 3}

CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(["pending", "active", "exhausted", "blocked", "unreachable"]),
        "cooldown": st.sampled_from(list(HOURS)),
        "ready": st.sampled_from(list(HOURS)),
        "is_active": st.booleans(),
        "window": st.sampled_from(["none", "open", "closed"]),
        "is_leased": st.booleans(),
        "run_pages": st.integers(0, 4),
        "own_limit": st.none() | st.integers(1, 4),
        "run_limit": st.none() | st.integers(1, 4),
    },
)
OPEN = {
    "status": "active",
    "cooldown": "none",
    "ready": "past",
    "is_active": True,
    "window": "none",
    "is_leased": False,
    "run_pages": 0,
    "own_limit": None,
    "run_limit": None,
}


def in_hours(hours: int | None) -> datetime | None:
    return None if hours is None else clock.now() + timedelta(hours=hours)


def window_of(kind: str) -> tuple[time | None, time | None]:
    """One that is over, or has long begun; none ends while a test runs."""
    at = datetime.now(UTC)
    starts, ends = {"none": (0, 0), "open": (3, 5), "closed": (-3, 3)}[kind]
    if kind == "none":
        return None, None
    return (at + timedelta(hours=starts)).time(), (at + timedelta(hours=ends)).time()


async def put(world: World, state: dict[str, Any]) -> None:
    """The domain in this state, whatever it was before, as the triggers would leave it."""
    await world.damage(f"UPDATE domains SET status = '{state['status']}', block_reason_code = {block_code(state)}")
    await world.conn.execute("UPDATE runs SET max_pages_per_domain = $1", state["run_limit"])
    starts, ends = window_of(state["window"])
    await world.conn.execute(
        "UPDATE domains SET next_crawl_after = $2, ready_at = $3, is_active = $4, maintenance_start = $5,"
        " maintenance_end = $6, claimed_by = $7, claim_expires_at = $8, run_pages = $9, max_pages_per_run = $10,"
        " counts_revisits = $11"
        " WHERE name = $1",
        NAME,
        in_hours(HOURS[state["cooldown"]]),
        in_hours(HOURS[state["ready"]]),
        state["is_active"],
        starts,
        ends,
        world.worker if state["is_leased"] else None,
        in_hours(1) if state["is_leased"] else None,
        state["run_pages"],
        state["own_limit"],
        state.get("counts_revisits", False),
    )


def block_code(state: dict[str, Any]) -> str:
    return "'forbidden'" if state["status"] in {"blocked", "unreachable"} else "NULL"


async def is_claimed(world: World, run_limit: int | None) -> bool:
    """By another worker, in a transaction that is taken back."""
    rollback = world.conn.transaction()
    await rollback.start()
    try:
        await domains.wake_due(world.conn, world.run)
        another = await stats.add_worker(world.conn, world.run, host="elsewhere", pid=1, pid_started=0)
        leases = await claim.claim_domains(
            world.conn,
            worker=another,
            run=world.run,
            limit=100,
            lease_s=60.0,
            workers=1,
            max_pages_per_domain=run_limit,
        )
    finally:
        await rollback.rollback()
    return NAME in {lease.domain for lease in leases}


async def agree(world: World, state: dict[str, Any]) -> bool:
    """Whether it is open; fails where the two see it differently."""
    await put(world, state)
    gates = {gate.name: gate for gate in (await explain(world.conn, NAME, MANNERS)).domain_checks}
    is_open = all(gates[name].is_open for name in CLAIM)
    assert is_open == await is_claimed(world, state["run_limit"])
    return is_open


ALONE: dict[str, dict[str, Any]] = {
    "state": {"status": "exhausted"},
    "cooldown": {"cooldown": "future"},
    "switch": {"is_active": False},
    "window": {"window": "closed"},
    "budget": {"run_pages": 2, "own_limit": 2, "counts_revisits": True},
    "lease": {"is_leased": True},
    "frontier": {"ready": "none"},
}


async def test_an_open_domain_is_claimed(world: World) -> None:
    assert await agree(world, OPEN)


@pytest.mark.parametrize("gate", CLAIM)
async def test_each_gate_alone_keeps_it_from_being_claimed(world: World, gate: str) -> None:
    assert not await agree(world, OPEN | ALONE[gate])
    answer = await explain(world.conn, NAME, MANNERS)
    assert [found.name for found in answer.domain_checks if found.is_closed and found.name in CLAIM] == [gate]


@given(changes=CHANGES)
@example(changes={})
@example(changes={"window": "open"})
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_why_and_the_claim_agree(world: World, changes: dict[str, Any]) -> None:
    await agree(world, OPEN | changes)


# The place in the queue ----------------------------------------------------------------------------------------------

PAGES = st.lists(
    st.fixed_dictionaries(
        {"priority": st.integers(1, 10), "depth": st.integers(1, 12), "is_task": st.booleans(), "is_due": st.booleans()}
    ),
    max_size=12,
)


async def plant(world: World, pages: list[dict[str, Any]]) -> list[str]:
    """Only these pages; tasks of one rank are due one after the other."""
    await world.damage("DELETE FROM crawl_tasks; DELETE FROM pages")
    urls = []
    for number, page in enumerate(pages):
        urls.append(f"http://{NAME}/{number}")
        status = "queued" if page["is_task"] else "discovered"
        await world.add_page(urls[-1], status=status, priority=page["priority"], depth=page["depth"])
        if page["is_task"]:
            due_at = clock.now() + timedelta(hours=-1 if page["is_due"] else 1, seconds=-number)
            await world.add_task(urls[-1], priority=page["priority"], scheduled_for=due_at)
    return urls


async def claim_one_by_one(world: World) -> list[str]:
    """The URLs in the order in which a worker gets them; taken back afterwards."""
    rollback = world.conn.transaction()
    await rollback.start()
    try:
        version = await world.conn.fetchval(
            "UPDATE domains SET claimed_by = $1, claim_expires_at = now() + interval '1 hour', pages_crawled = 0,"
            " total_error_count = 0 WHERE name = $2 RETURNING version",  # no place is kept for a kind then
            world.worker,
            NAME,
        )
        lease = a_lease(world.domains[NAME], version)
        claimed: list[str] = []
        given: dict[str, Any] = {"max_pages_per_domain": None, "max_depth": 10, "patterns": (None, None, None)}
        while True:
            targets, _ = await claim.claim_tasks(world.conn, [(lease, 1)], worker=world.worker, run=world.run, **given)
            if not targets:
                break
            claimed += [target.url for target in targets]
        return claimed
    finally:
        await rollback.rollback()


@given(pages=PAGES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_the_place_in_the_queue_is_the_order_of_the_claim(world: World, pages: list[dict[str, Any]]) -> None:
    urls = await plant(world, pages)
    expected = await claim_one_by_one(world)
    answers = {url: await explain(world.conn, url, MANNERS) for url in urls}
    delays = {
        url: (answer.outlook.at - answer.asked_at).total_seconds() / MANNERS.delay_s
        for url, answer in answers.items()
        if answer.outlook.at is not None and answer.outlook.at < answer.asked_at + timedelta(minutes=30)
    }
    assert sorted(delays, key=lambda url: delays[url]) == expected
    assert [round(delays[url]) for url in expected] == list(range(len(expected)))
