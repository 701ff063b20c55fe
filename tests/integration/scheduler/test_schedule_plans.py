"""Jobs that run every minute use their indexes: on filled tables no plan reads pages or tasks from end to end."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.integration.frontier.test_plans import Hot, explain_custom, explain_generic, filled, indexes, read_ends

from forager.domains.cooldown import SQL as REST
from forager.frontier.revisit_store import SQL as AGAIN
from forager.stats.days import SQL as DAYS

pytestmark = pytest.mark.both_servers
__all__ = ["filled"]

MANY_DAYS = """
UPDATE domains SET next_crawl_after = now() + make_interval(days => id::int % 1000 - 1) WHERE status = 'exhausted';
INSERT INTO crawl_tasks (page_id, domain_id, status, outcome, completed_at)
SELECT p.id, p.domain_id, 'completed', 'success', now() - make_interval(days => 100 - n)
FROM generate_series(1, 100) n, (SELECT id, domain_id FROM pages ORDER BY id LIMIT 1000) p ORDER BY n;
ANALYZE;
"""
A_DAY = datetime(2026, 1, 1, tzinfo=UTC)
HOT = {
    "lock_expired_cooldowns": Hot(REST["lock_expired_cooldowns"], (200,), {"domains_resting"}),
    "find_due_exhausted": Hot(REST["find_due_exhausted"], (10_000, 86_400.0), {"domains_resting"}),
    "wake_exhausted": Hot(REST["wake_exhausted"], ([1, 2], True), {"domains_pkey"}),
    "put_off": Hot(REST["put_off"], ([1, 2], 86_400.0), {"domains_pkey"}),
    "close_windows": Hot(REST["close_windows"], (1000,), set()),
    "requeue_start_pages": Hot(
        AGAIN["requeue_start_pages"], ([1, 2], "schedule", 100), {"pages_domain_id_url_hash_key"}
    ),
    "refresh_pages": Hot(AGAIN["refresh_pages"], ([1, 2], b"", 1000), {"pages_domain_id_url_hash_key"}),
    "sample_watches": Hot(AGAIN["sample_watches"], ([1, 2], 1000), {"pages_domain_id_url_hash_key"}),
    "roll_up": Hot(DAYS["roll_up"], (A_DAY, 0, 1000), {"crawl_tasks_completed"}),
}


async def test_jobs_use_their_indexes(filled: Any) -> None:
    await filled.execute(MANY_DAYS)
    found = {name: await explain_custom(filled, hot) for name, hot in HOT.items()}
    await filled.execute("SET plan_cache_mode = force_generic_plan")
    found |= {f"{name}, generic": await explain_generic(filled, name, hot) for name, hot in HOT.items()}
    ends = {name: read_ends(plan) - {"domains"} for name, plan in found.items()}
    assert {name: which for name, which in ends.items() if which} == {}
    missing = {name: HOT[name.partition(",")[0]].indexes - indexes(plan) for name, plan in found.items()}
    assert {name: which for name, which in missing.items() if which} == {}
