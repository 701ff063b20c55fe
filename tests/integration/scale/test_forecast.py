"""The forecast beside the real thing: who comes first, whose turn is next, and how fast a paced crawl is."""

import random
from typing import Any

import pytest
from tests.ground import Ground
from tests.integration.engine.stage import Stage, WatchedSite, serve

from forager import clock
from forager.app.scale import Machines, WebPlan, forecast_scale
from forager.app.scale.course import ClusterLimits, Crawl
from forager.app.scale.web import Kind, SimulatedWeb
from forager.db import Database
from forager.domains import store as domains
from forager.domains.store import Keeping, Release
from forager.engine.claims import Claims
from forager.records import RunSpec, Scope
from forager.settings import load

KIND = Kind(1.0, 0.1)
PLENTY = 1e9


async def test_turns_are_given_as_the_claim_gives_them(ground: Ground, database: Database) -> None:
    """Nine domains and four queues, eleven turns; sizes and scores are drawn. Real domains have real pages, so that a
    release knows who has something left."""
    draw, spec = random.Random(4), RunSpec(seeds=(), scope=Scope.ANY)
    sizes, scores = [draw.choice((1, 2, 3)) for _ in range(9)], [float(draw.randrange(5)) for _ in range(9)]
    run = await ground.a_run(spec)
    worker = await ground.a_worker(run)
    ids = [
        await ground.a_domain(f"d{place}.example", run=run, pages=size, priority_score=score)
        for place, (size, score) in enumerate(zip(sizes, scores, strict=True))
    ]
    claims = Claims(database, run=run, spec=spec, workers=1, lease_s=60.0, keeping=Keeping(is_scored=False))
    imagined = Crawl(
        SimulatedWeb(sizes, [KIND] * 9), {KIND: 1.0}, scores, ClusterLimits(4, PLENTY, PLENTY, PLENTY), turn_pages=1
    )
    held: dict[int, Any] = {}
    for _ in range(11):
        taken = imagined.claim()
        leases = (await claims.domains(worker, 4 - len(held))).leases
        assert {lease.domain_id for lease in leases} == {ids[place] for place in taken}
        held |= {lease.domain_id: lease for lease in leases}
        domain = ids[imagined.release()]
        lease = held.pop(domain)
        await claims.targets(worker, [(lease, 1)])
        await visited(ground, domain)
        await claims.release(worker, [Release(lease, wait_s=0.0, is_spent=True)])
        await ground.conn.execute(  # the real score moves with what is left; the order is what is compared
            "UPDATE domains SET priority_score = $2 WHERE id = $1", domain, scores[ids.index(domain)]
        )


async def visited(ground: Ground, domain: int) -> None:
    """What was claimed is done."""
    done = """WITH closed AS (UPDATE crawl_tasks SET status = 'completed', outcome = 'success', completed_at = now(),
                   locked_at = NULL, locked_by = NULL WHERE domain_id = $1 AND outcome IS NULL RETURNING page_id),
                   read AS (UPDATE pages SET status = 'fetched', fetched_at = now()
                            WHERE id IN (SELECT page_id FROM closed) RETURNING id)
              UPDATE domains SET frontier_size = frontier_size - (SELECT count(*) FROM read) WHERE id = $1"""
    await ground.conn.execute(done, domain)


async def test_imagined_domains_are_scored_as_real_ones(ground: Ground) -> None:
    ranks, sizes = [1, 500, 90_000], [3, 800, 40]
    for rank, pages in zip(ranks, sizes, strict=True):
        await ground.a_domain(f"r{rank}.example", seed_rank=rank, frontier_size=pages)
    real = await ground.conn.fetch("SELECT domain_score(d, first_seen_at) AS score FROM domains d ORDER BY seed_rank")
    imagined = await domains.score_imagined(ground.conn, ranks, sizes)
    assert imagined == pytest.approx([row["score"] for row in real], abs=0.01)
    assert len(set(imagined)) == 3


@pytest.mark.parametrize(("sites", "pages", "delay_s"), [(10, 8, 0.4)])
async def test_a_paced_crawl_is_as_fast_as_foreseen(
    database: Database, ground: Ground, sites: int, pages: int, delay_s: float
) -> None:
    """Where politeness decides, within a factor of two."""
    plan = WebPlan(sites, sites * pages, skew=0, delay_s=delay_s, response_s=0.01, slow_share=0)
    settings = load({"adaptive_pace": False}, {})
    foreseen = await forecast_scale(ground.conn, plan, Machines(workers=1), settings, until_s=3600)
    assert set(foreseen.course.limits_s) == {"pace"}
    async with serve(*(WatchedSite(pages, number=number + 1) for number in range(sites))) as web:
        stage = await Stage.open(database, web)
        began = clock.monotonic()
        await stage.work(delay_s=delay_s, is_unpaced=lambda _domain: False)
        took_s = clock.monotonic() - began
        assert len(stage.requests()) == sites * pages
    assert 0.5 < (sites * pages / took_s) / foreseen.course.pages_per_s < 2.0
