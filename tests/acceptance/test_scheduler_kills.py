"""kill -9 of the scheduler: in the middle of a job, and together with a crawl. The next one does what was left."""

import random
import signal
from typing import Any

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import AT_RISK, SMALL, Forager, assert_exact, kill, tell, until

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

DOMAINS = 700
"""More than three portions of what the cooldown job returns in one transaction."""
BLOCK = """UPDATE domains SET status = 'blocked', block_reason_code = 'forbidden', block_reason = 'it answered 403',
           next_crawl_after = now() - interval '1 minute' RETURNING id"""
RETURNED = "SELECT count(*) FROM domains WHERE status = 'pending'"
TIMES = "SELECT DISTINCT blocked_returns FROM domains"
MOVES = """SELECT moves, count(*) AS domains
           FROM (SELECT count(*) AS moves FROM domain_history WHERE to_status = 'pending' GROUP BY domain_id) n
           GROUP BY moves"""
WAITS_FOR_LOCK = """SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                    AND application_name LIKE 'forager schedule%' AND wait_event_type = 'Lock'"""


async def test_a_scheduler_killed_in_the_middle_of_a_job(forager: Forager, conn: Any) -> None:
    """It is held up where it writes the history, and killed there: nothing of that transaction stays."""
    seeds = "".join(f"http://127.77.{number >> 8}.{number & 255}/\n" for number in range(256, 256 + DOMAINS))
    (forager.folder / "seeds.txt").write_text(seeds)
    forager.do("seed", "-f", "seeds.txt")
    assert len(forager.ask(BLOCK)) == DOMAINS
    async with conn.transaction():
        await conn.execute("LOCK TABLE domain_history IN SHARE MODE")
        scheduler = forager.spawn("schedule", "run", "cooldown")
        until(lambda: forager.value(WAITS_FOR_LOCK), "the job waits to write its first moves")
        kill(scheduler.process.pid)
    assert forager.value(RETURNED) == 0
    assert forager.ask(TIMES) == [(0,)]
    forager.check()

    scheduler = forager.spawn("schedule", "run", "cooldown")
    until(lambda: forager.value(RETURNED), "the next one began")
    kill(scheduler.process.pid)
    tell(f"killed again when {forager.value(RETURNED)} of {DOMAINS} had returned")
    assert forager.value(RETURNED) % 200 in {0, DOMAINS % 200}
    scheduler = forager.spawn("schedule", "run", "cooldown")
    until(lambda: forager.value(RETURNED) == DOMAINS, "all returned")
    scheduler.signal(signal.SIGTERM)
    scheduler.finish()
    assert forager.ask(TIMES) == [(1,)]
    assert forager.ask(MOVES) == [(1, DOMAINS)]
    forager.check()


def test_a_crawl_and_the_scheduler_killed_together(forager: Forager, open_web: OpenWeb, rng: random.Random) -> None:
    """What the dead held is taken from them by the job, without any crawl; then the same command goes on."""
    web = open_web("uniform=6x25")
    command = (*web.urls, "--delay", "0.1", "-o", "out.jsonl")
    scheduler, crawl = forager.spawn("schedule", "run"), forager.start(*command, **SMALL)
    web.wait_past(rng.randrange(20, 100))
    held = "SELECT count(*) FROM domains WHERE claimed_by IS NOT NULL"
    crawl.kill_all()
    kill(scheduler.process.pid)
    assert forager.value(held) > 0
    forager.do("schedule", "run", "takeover", "--once")
    assert forager.value(held) == 0
    assert forager.value("SELECT count(*) FROM crawl_tasks WHERE locked_by IS NOT NULL") == 0
    forager.check()
    scheduler = forager.spawn("schedule", "run")
    forager.start(*command, **SMALL).finish()
    scheduler.signal(signal.SIGTERM)
    scheduler.finish()
    assert_exact(forager, web, at_risk=AT_RISK)
