"""Domains that want a label are claimed by workers that have it, and cost the others nothing."""

import asyncio
from typing import Any

import pytest
from tests.builders import a_spec
from tests.ground import Ground
from tests.integration.engine.stage import Stage, WatchedSite, serve
from tests.integration.frontier.test_claim_plans import blocks_read
from tests.integration.frontier.test_plans import Hot

from forager.db.database import Database
from forager.domains import store as domains
from forager.frontier import claim as claims
from forager.frontier.claim import SQL as CLAIM

FILL = """
INSERT INTO domains (name, parent_domain, base_url, status, ready_at, run_id, worker_label, priority_score)
SELECT 'd' || n || $2 || '.example', '', '', 'active', now(), $1, $2, 1000 - n FROM generate_series(1, $3::int) n"""


async def claim(ground: Ground, worker: int, run: int, *labels: str, workers: int = 1, limit: int = 100) -> set[str]:
    leases = await claims.claim_domains(
        ground.conn,
        worker=worker,
        run=run,
        limit=limit,
        lease_s=60.0,
        workers=workers,
        max_pages_per_domain=None,
        labels=labels,
    )
    return {lease.domain for lease in leases}


@pytest.mark.both_servers
async def test_a_label_is_claimed_by_who_has_it(ground: Ground) -> None:
    run = await ground.a_run()
    for name, label in (("any.example", ""), ("eu.example", "eu"), ("gpu.example", "gpu")):
        await ground.a_domain(name, run=run, pages=1, worker_label=label)
    plain, european = await ground.a_worker(run), await ground.a_worker(run, labels=["eu", "us"])
    assert await claim(ground, plain, run) == {"any.example"}
    assert await claim(ground, plain, run) == set()
    assert await claim(ground, european, run, "eu", "us") == {"eu.example"}


async def test_the_best_come_first_whatever_their_label(ground: Ground) -> None:
    run = await ground.a_run()
    for score, label in ((1.0, ""), (4.0, "eu"), (3.0, ""), (2.0, "eu")):
        await ground.a_domain(f"s{score:.0f}.example", run=run, pages=1, worker_label=label, priority_score=score)
    worker = await ground.a_worker(run, labels=["eu"])
    assert await claim(ground, worker, run, "eu", limit=3) == {"s4.example", "s3.example", "s2.example"}


async def test_who_alone_has_a_label_takes_all_that_want_it(ground: Ground) -> None:
    """Four share the run, one of them has the label: it need not leave three quarters of it to nobody."""
    run = await ground.a_run()
    for number in range(8):
        await ground.a_domain(f"e{number}.example", run=run, pages=1, worker_label="eu")
        await ground.a_domain(f"a{number}.example", run=run, pages=1)
    for _ in range(3):
        await ground.a_worker(run)
    worker = await ground.a_worker(run, labels=["eu"])
    found = await claim(ground, worker, run, "eu", workers=4)
    assert sum(name.startswith("e") for name in found) == 8
    assert sum(name.startswith("a") for name in found) == 2


async def test_a_label_that_nobody_has_is_not_waited_for(ground: Ground) -> None:
    run = await ground.a_run()
    await ground.a_domain("due.example", run=run, pages=1, worker_label="eu")
    await ground.a_domain("later.example", run=run, worker_label="eu", ready_at="(now() + interval '1 minute')")
    assert await domains.next_ready(ground.conn, run, max_pages_per_domain=None) == (False, None)
    assert await domains.next_ready(ground.conn, run, max_pages_per_domain=None, labels=["eu"]) == (False, 0.0)


@pytest.mark.both_servers
async def test_thousands_that_wait_for_another_label_are_not_read(ground: Ground) -> None:
    """Finding the best is what may not cost more; to look them up and to stamp them in every index is another matter.
    Twenty times as many others make an index one level higher, which each descent into it meets."""
    run = await ground.a_run(a_spec())
    await ground.conn.execute(FILL, run, "", 50)
    worker, read = await ground.a_worker(run), []
    ask = Hot(CLAIM["claim_domains"], (worker, run, 20, 60.0, 1.0, None, [""], 120.0, 30.0, None, None), set())
    for label, count in (("gpu", 1_000), ("eu", 20_000)):
        await ground.conn.execute(FILL, run, label, count)
        await ground.conn.execute("VACUUM (ANALYZE) domains")
        read.append(await blocks_read(ground.conn, ask, "CTE best"))
    assert read[1] <= read[0] * 2, read


async def test_a_crawl_leaves_what_it_may_not_take_and_the_right_worker_does_it(database: Database) -> None:
    async with serve(WatchedSite(6), WatchedSite(5, number=2)) as web:
        stage = await Stage.open(database, web)
        await stage.fetch(
            "INSERT INTO domain_settings (domain_id, settings)"
            """ SELECT max(id), '{"worker_label": "eu"}' FROM domains"""
        )
        wanting = await stage.fetch("SELECT base_url FROM domains WHERE worker_label = 'eu'")
        await stage.work()
        first = await stage.urls("status = 'fetched'")
        assert first == {url for url in web.answer_key.expected_success() if not url.startswith(wanting[0]["base_url"])}
        await asyncio.gather(stage.work(labels=("eu",)), stage.work())
        assert stage.requests() == dict.fromkeys(web.answer_key.expected_success(), 1)
    assert await stage.broken_promises() == {}
    labels: Any = await stage.fetch("SELECT labels FROM workers ORDER BY id")
    assert sorted(row["labels"] for row in labels) == [[], [], ["eu"]]
