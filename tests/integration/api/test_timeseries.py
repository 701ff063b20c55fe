"""Numbers over time: however far back one asks, the response is bounded and nobody else waits for it."""

import asyncio
from datetime import timedelta

import asyncpg
import httpx
import pytest

from forager import clock
from forager.stats import overview as numbers


def days_ago(days: int) -> str:
    return (clock.now() - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize("since", ["0002-01-01T00:00:00Z", "1969-12-31T23:59:59Z"])
async def test_nobody_asks_for_a_millennium(user: httpx.AsyncClient, since: str) -> None:
    answer = await user.get(f"/api/stats/timeseries?metric=pages_per_second&since={since}")
    assert answer.status_code == 422


@pytest.mark.parametrize("metric", ["pages_per_second", "visits"])
async def test_a_beginning_long_ago_is_moved_to_where_a_chart_can_begin(user: httpx.AsyncClient, metric: str) -> None:
    answer = await user.get(f"/api/stats/timeseries?metric={metric}&since=1970-01-01T00:00:00Z")
    assert answer.status_code == 200
    assert len(answer.json()["points"]) <= numbers.MOST_STEPS + 1
    assert answer.json()["since"] >= days_ago(numbers.MOST_STEPS + 2)[:10]
    asked = await user.get(f"/api/stats/timeseries?metric={metric}&since=1970-01-01T00:00:00Z&step_s=86400")
    assert asked.status_code == 422


async def test_four_years_by_the_day_are_a_chart(user: httpx.AsyncClient) -> None:
    answer = await user.get(f"/api/stats/timeseries?metric=pages_per_second&since={days_ago(1460)}")
    assert answer.json()["step_s"] == 86_400
    assert len(answer.json()["points"]) == 1461


async def test_many_labels_are_bounded_and_large_responses_let_others_in(
    user: httpx.AsyncClient, anybody: httpx.AsyncClient, conn: asyncpg.Connection
) -> None:
    await conn.execute(
        "INSERT INTO series_days (day, metric, label, amount, samples)"
        " SELECT current_date - 10, 'failures', 'label ' || n, 1, 0 FROM generate_series(1, 60) n"
    )
    asking = asyncio.create_task(user.get(f"/api/stats/timeseries?metric=failures&since={days_ago(1460)}"))
    while not asking.done():
        assert (await anybody.get("/health")).status_code == 200
    assert len((await asking).json()["points"]) == 60 * 1461
    await conn.execute(
        "INSERT INTO series_days (day, metric, label, amount, samples)"
        " SELECT current_date - 10, 'failures', 'more ' || n, 1, 0 FROM generate_series(1, 60) n"
    )
    refused = await user.get(f"/api/stats/timeseries?metric=failures&since={days_ago(1460)}")
    assert (refused.status_code, f"{numbers.MOST_POINTS:,} points" in refused.json()["detail"]) == (422, True)
