"""What a claim costs does not grow with the domains: it reads those that are due or leased, and never the table.

The domains are those `python -m bench leases` measures with: most asleep, some exhausted or blocked, a few due.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from bench.leases import SQL as FILL
from tests.builders import a_spec
from tests.ground import NO_PATTERNS, Ground
from tests.integration.frontier.test_plans import Hot, explain_custom, explain_generic, indexes, nodes, read_ends

from forager.domains.store import SQL as DOMAINS
from forager.frontier.claim import SQL as CLAIM
from forager.stats.store import SQL as STATS

pytestmark = pytest.mark.both_servers

FEW, MANY = 1_000, 20_000
GROWTH = 1.3
WORKER = 1
EVERYBODY_IS_DUE = "UPDATE domains SET ready_at = now() WHERE status = 'active'"
ALL_GAVE_WHAT_THEY_MAY = (
    "UPDATE domains d SET run_pages = r.max_pages_per_domain FROM runs r WHERE r.id = run_id AND is_due"
)
NOBODY_IS_DUE = "UPDATE domains SET ready_at = now() + interval '1 hour' WHERE is_due"


def hot(run: int) -> dict[str, Hot]:
    return {
        "wake_due": Hot(DOMAINS["wake_due"], (run,), {"domains_asleep"}),
        "claim_domains": Hot(
            CLAIM["claim_domains"],
            (WORKER, run, 50, 60.0, 1.0, None, ["", "eu"], 120.0, 30.0, None, None),
            {"domains_claimable", "domains_held"},
        ),
        "claim_offered": Hot(
            CLAIM["claim_domains"],
            (WORKER, run, 50, 60.0, 1.0, None, ["", "eu"], 120.0, 30.0, list(range(1, 51)), [0] * 50),
            {"domains_claimable", "domains_held", "domains_pkey"},
        ),
        "has_stale_workers": Hot(STATS["has_stale_workers"], (1800.0, 120.0, "here"), {"workers_running"}),
        "next_ready": Hot(
            DOMAINS["next_ready"], (run, None, [""], 5.0, 60.0), {"domains_claimable", "domains_held", "domains_asleep"}
        ),
    }


@pytest.fixture
async def run(ground: Ground) -> AsyncIterator[int]:
    """On empty files, so that what other tests left behind counts for nothing."""
    empty = "TRUNCATE runs, workers, domains, pages, page_link_lists CASCADE"
    await ground.conn.execute(empty)
    yield await ground.a_run(a_spec(max_pages_per_domain=10))
    await ground.conn.execute(empty)


ENDED_WORKERS = """INSERT INTO workers (run_id, host, pid, pid_started, status, ended_at)
                   SELECT $1, 'here', n, 0, 'stopped', now() FROM generate_series(1, 2000) AS n"""


async def grow(conn: Any, run: int, have: int, size: int) -> None:
    if not have:  # as after a month, and known to the planner
        await conn.execute(ENDED_WORKERS, run)
        await conn.execute("VACUUM (ANALYZE) workers")
    await conn.execute(FILL["add_domains"], run, have + 1, size)
    await conn.execute("VACUUM (ANALYZE) domains")


@pytest.mark.parametrize("change", [None, EVERYBODY_IS_DUE], ids=["some due", "all due"])
async def test_no_plan_reads_all_domains(ground: Ground, run: int, change: str | None) -> None:
    conn = ground.conn
    await grow(conn, run, 0, MANY)
    if change:
        await conn.execute(change)
        await conn.execute("VACUUM (ANALYZE) domains")
    found = {name: await explain_custom(conn, each) for name, each in hot(run).items()}
    await conn.execute("SET plan_cache_mode = force_generic_plan")
    found |= {f"{name}, generic": await explain_generic(conn, name, each) for name, each in hot(run).items()}
    assert {name: read_ends(plan) for name, plan in found.items() if read_ends(plan)} == {}
    missing = {name: hot(run)[name.partition(",")[0]].indexes - indexes(plan) for name, plan in found.items()}
    assert {name: which for name, which in missing.items() if which} == {}


@pytest.mark.parametrize(
    "change",
    [None, EVERYBODY_IS_DUE, NOBODY_IS_DUE, ALL_GAVE_WHAT_THEY_MAY],
    ids=["some due", "all due", "none due", "all over their limit"],
)
async def test_as_much_is_read_among_many_as_among_few(ground: Ground, run: int, change: str | None) -> None:
    """When nobody is due, the planner still believes that some are: its statistics are older than that."""
    read: dict[int, dict[str, int]] = {}
    for have, size in ((0, FEW), (FEW, MANY)):
        await grow(ground.conn, run, have, size)
        if change:
            await ground.conn.execute(change)
            await ground.conn.execute("VACUUM domains")
        read[size] = {name: await blocks_read(ground.conn, each) for name, each in hot(run).items()}
    grown = {name: read[MANY][name] / read[FEW][name] for name in read[FEW]}
    assert {name: ratio for name, ratio in grown.items() if ratio > GROWTH} == {}, read


async def blocks_read(conn: Any, each: Hot, part: str | None = None) -> int:
    """Blocks that executing it, or this part of it, touches; what it does is undone."""
    undone = conn.transaction()
    await undone.start()
    explained = "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) " + each.sql
    plan = json.loads(await conn.fetchval(explained, *each.args))[0]["Plan"]
    await undone.rollback()
    node = next(node for node in nodes(plan) if part in {None, node.get("Subplan Name")})
    return int(node["Shared Hit Blocks"]) + int(node["Shared Read Blocks"])


JOINS = {"Nested Loop", "Hash Join", "Merge Join"}


async def test_new_tasks_are_not_compared_with_their_pages_one_by_one(ground: Ground, run: int) -> None:
    """Of what the statement itself makes the server knows nothing and expects one row: it would loop over all of it for
    each of it."""
    claim = Hot(CLAIM["claim_tasks"], ([1, 2], [1, 1], [128, 128], WORKER, run, None, 10, *NO_PATTERNS, False), set())
    for plan in (await explain_custom(ground.conn, claim), await explain_generic(ground.conn, "claim_new", claim)):
        made = [node for node in nodes(plan) if node["Node Type"] in JOINS]
        inputs = [[child["Node Type"] for child in node["Plans"]] for node in made]
        assert ["CTE Scan", "CTE Scan"] not in inputs
