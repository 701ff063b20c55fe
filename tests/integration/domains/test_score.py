"""The score of a domain: its terms, their limits, and what a visit changes."""

from typing import Any

import pytest
from tests.ground import Ground

from forager.domains.score_terms import UNITS
from forager.domains.store import SQL

pytestmark = pytest.mark.both_servers
TERMS = "SELECT s.* FROM domains d CROSS JOIN LATERAL score_terms(d, now()) s WHERE d.id = $1"


async def terms(ground: Ground, domain: int) -> dict[str, float]:
    return {name: round(value, 1) for name, value in (await ground.conn.fetchrow(TERMS, domain)).items()}


@pytest.mark.parametrize(
    ("columns", "term", "points"),
    [
        ({"seed_rank": 1}, "seed_rank", 1000.0),
        ({"seed_rank": 10_000_000}, "seed_rank", 0.0),
        ({"priority_boost": -40.0}, "boost", -40.0),
        ({"frontier_size": 10}, "new_pages", 20.0),
        ({"frontier_size": 10**6}, "new_pages", 1000.0),
        ({"last_crawled_at": "(now() - interval '10 days')"}, "staleness", 50.0),
        ({"last_crawled_at": "(now() - interval '3 years')"}, "staleness", 450.0),
        ({"images_stored": 30, "pages_crawled": 10, "pages_discovered": 10}, "image_yield", 300.0),
        ({"images_stored": 900, "pages_crawled": 10, "pages_discovered": 10}, "image_yield", 500.0),
        (
            {"images_stored": 30, "pages_crawled": 10, "pages_discovered": 10, "images_policy": "found"},
            "image_yield",
            0.0,
        ),
        ({"recent_error_rate": 1.0}, "recent_errors", -300.0),
        ({"recent_error_rate": 1.0, "last_crawled_at": "(now() - interval '7 days')"}, "recent_errors", -150.0),
    ],
    ids=str,
)
async def test_a_term(ground: Ground, columns: dict[str, Any], term: str, points: float) -> None:
    domain = await ground.a_domain(**columns)
    found = await terms(ground, domain)
    assert list(found) == list(UNITS)
    assert found[term] == points


async def count(ground: Ground, domain: int, *, ok: int, errors: int) -> float:
    """Records visits as the writer does."""
    await ground.conn.execute(
        SQL["count_visits"],
        *([domain], [0], [ok], [errors], [0], [0], [0], [None], [False], 60.0, [None], [None], [None], [None]),
        *(["closed"], [0], [None], [0], [0]),
    )
    rate: float = (await ground.domain(domain))["recent_error_rate"]
    return rate


async def test_one_failure_of_five_hardly_counts_and_a_dead_site_never_more_than_the_limit(ground: Ground) -> None:
    domain = await ground.a_domain()
    await ground.a_lease(domain, await ground.a_worker())
    assert await count(ground, domain, ok=4, errors=1) == pytest.approx(0.019, abs=0.001)
    assert (await terms(ground, domain))["recent_errors"] > -6
    for _ in range(50):
        await count(ground, domain, ok=0, errors=10)
    assert (await terms(ground, domain))["recent_errors"] == -300
    assert await count(ground, domain, ok=100, errors=0) < 0.15, "and it is forgotten again"


async def test_a_boost_counts_at_once(ground: Ground) -> None:
    domain = await ground.a_domain(priority_score=10.0)
    await ground.conn.execute("UPDATE domains SET priority_boost = 5")
    row = await ground.domain(domain)
    assert (row["priority_score"], row["urgency"]) == (15.0, 1)
    await ground.conn.execute("UPDATE domains SET priority_boost = -5")
    row = await ground.domain(domain)
    assert (row["priority_score"], row["urgency"]) == (5.0, 0)
