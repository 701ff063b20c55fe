"""Numbers by the minute: no sum changes, whatever is folded, rolled up, killed, done twice; they equal the history."""

import asyncio
import random
from datetime import datetime, timedelta
from typing import Any

import asyncpg
import pytest
from tests.builders import a_success
from tests.ground import Ground
from tests.integration.scheduler.stage import a_context
from tests.writers import open_writer

from forager.db.database import Database
from forager.engine.writer import Writer
from forager.errors import ConnectError, UsageError
from forager.frontier.models import Outcome, OutcomeKind
from forager.stats import overview as numbers
from forager.stats import series
from forager.stats.counters import CounterMap
from forager.stats.jobs.series import SeriesJob
from forager.stats.series import Number

pytestmark = pytest.mark.both_servers


@pytest.fixture(autouse=True)
async def series_are_new(ground: Ground) -> None:
    await ground.conn.execute(
        "DELETE FROM series_parts; DELETE FROM series; DELETE FROM series_days; DELETE FROM series_totals"
    )


def a_tally(**amounts: float) -> CounterMap:
    tally = CounterMap()
    for metric, amount in amounts.items():
        tally.add(metric, amount=amount)
    return tally


async def totals(ground: Ground) -> dict[tuple[str, str], float]:
    return {(each.metric, each.label): each.amount for each in await series.read_totals(ground.conn)}


async def age(ground: Ground, table: str, span: str) -> None:
    column = "day" if table == "series_days" else "minute"
    for way in (f"- interval '{span}' - interval '100 years'", "+ interval '100 years'"):  # not through each other
        await ground.conn.execute(f"UPDATE {table} SET {column} = {column} {way}")


async def rows(ground: Ground, table: str) -> int:
    count: int = await ground.conn.fetchval(f"SELECT count(*) FROM {table}")
    return count


async def everything(ground: Ground) -> float:
    """Of one metric, wherever it is."""
    total: float = await ground.conn.fetchval(
        "SELECT (SELECT COALESCE(sum(amount), 0) FROM series_parts WHERE metric = 'bytes')"
        " + (SELECT COALESCE(sum(amount), 0) FROM series WHERE metric = 'bytes')"
        " + (SELECT COALESCE(sum(amount), 0) FROM series_days WHERE metric = 'bytes')"
    )
    return total


# Folding -------------------------------------------------------------------------------------------------------------


async def test_workers_add_up_and_a_minute_that_is_not_over_stays_theirs(ground: Ground) -> None:
    for worker in (1, 2, 1):
        await series.add(ground.conn, worker, a_tally(bytes=10))
    assert await rows(ground, "series_parts") == 2
    assert await series.fold(ground.conn, older_s=60) == 0
    assert await totals(ground) == {("bytes", ""): 30}
    await age(ground, "series_parts", "5 minutes")
    assert await series.fold(ground.conn, older_s=60) == 2
    assert await series.fold(ground.conn, older_s=60) == 0
    assert await rows(ground, "series_parts") == 0
    assert await ground.conn.fetchval("SELECT amount FROM series") == 30
    assert await totals(ground) == {("bytes", ""): 30}


async def test_a_part_that_comes_late_is_added_to_its_minute(ground: Ground) -> None:
    for _ in range(2):
        await series.add(ground.conn, 1, a_tally(bytes=10))
        await ground.conn.execute("UPDATE series_parts SET minute = date_trunc('hour', now()) - interval '1 hour'")
        await series.fold(ground.conn, older_s=60)
    assert await ground.conn.fetchval("SELECT amount FROM series") == 20


async def test_a_fold_that_is_killed_and_two_at_once_change_no_sum(ground: Ground, pool: asyncpg.Pool) -> None:
    await series.add(ground.conn, 1, a_tally(bytes=10, links_seen=3))
    await age(ground, "series_parts", "5 minutes")
    killed = ground.conn.transaction()
    await killed.start()
    assert await series.fold(ground.conn, older_s=60) == 2
    await killed.rollback()
    assert await everything(ground) == 10
    folded = await asyncio.gather(*(pool.fetchval(series.SQL["fold_parts"], 60.0) for _ in range(4)))
    assert sum(folded) == 2
    assert await everything(ground) == 10
    assert (await totals(ground))["bytes", ""] == 10


async def test_totals_never_go_back_while_others_count_and_fold(ground: Ground, pool: asyncpg.Pool) -> None:
    stop = asyncio.Event()

    async def count(worker: int) -> None:
        for _ in range(30):
            async with pool.acquire() as conn, conn.transaction():
                await series.add(conn, worker, a_tally(bytes=1))

    async def fold() -> None:
        while not stop.is_set():
            async with pool.acquire() as conn:
                await series.fold(conn, older_s=-120)  # also what workers are writing to

    async def watch() -> list[float]:
        seen = []
        while not stop.is_set():
            seen.append((await totals(ground)).get(("bytes", ""), 0.0))
        return seen

    folding, watching = asyncio.create_task(fold()), asyncio.create_task(watch())
    await asyncio.gather(*map(count, range(3)))
    stop.set()
    await folding
    seen = await watching
    assert seen == sorted(seen)
    assert (await totals(ground))["bytes", ""] == 90


# Days ----------------------------------------------------------------------------------------------------------------


async def test_minutes_that_are_seven_days_old_become_days(ground: Ground) -> None:
    for days in (10, 8, 7, 0):
        for minute in range(3):
            await ground.conn.execute(
                "INSERT INTO series (minute, metric, label, amount) VALUES"
                " ((date_trunc('day', now() AT TIME ZONE 'UTC') - make_interval(days => $1, mins => -$2::int))"
                " AT TIME ZONE 'UTC', 'bytes', '', 1)",
                *(days, minute),
            )
    assert await series.roll_up(ground.conn, after_days=7) == 6
    assert await series.roll_up(ground.conn, after_days=7) == 0
    assert await rows(ground, "series") == 6
    assert [row["amount"] for row in await ground.conn.fetch("SELECT amount FROM series_days")] == [3, 3]
    assert await everything(ground) == 12


async def test_a_roll_up_that_is_killed_or_comes_twice_or_finds_more_later(ground: Ground) -> None:
    await series.add_samples(ground.conn, [Number("frontier_size", "", 10)])
    await series.add_samples(ground.conn, [Number("frontier_size", "", 30)])
    await age(ground, "series", "9 days")
    killed = ground.conn.transaction()
    await killed.start()
    assert await series.roll_up(ground.conn, after_days=7) == 1
    await killed.rollback()
    assert await rows(ground, "series_days") == 0
    assert await series.roll_up(ground.conn, after_days=7) == 1
    await series.add_samples(ground.conn, [Number("frontier_size", "", 50)])
    await age(ground, "series", "9 days")
    assert await series.roll_up(ground.conn, after_days=7) == 1
    row = await ground.conn.fetchrow("SELECT amount, samples, most FROM series_days")
    assert tuple(row) == (90, 3, 50)


async def test_the_job_does_all_of_it_and_may_run_twice(ground: Ground) -> None:
    await series.add(ground.conn, 1, a_tally(bytes=10))
    await age(ground, "series_parts", "10 days")
    said = await SeriesJob().run(a_context(ground.conn))
    assert said.startswith("1 row folded, ")
    assert said.endswith(", 1 minute became days")
    await SeriesJob().run(a_context(ground.conn))
    assert await everything(ground) == 10
    samples = await ground.conn.fetchval("SELECT sum(samples) FROM series WHERE metric = 'frontier_size'")
    assert samples == 2


@pytest.mark.parametrize("seed", range(4))
async def test_no_order_of_counting_folding_rolling_up_and_kills_changes_a_sum(ground: Ground, seed: int) -> None:
    rng = random.Random(seed)
    counted = 0.0
    for _ in range(60):
        deed = rng.choice(["count", "count", "fold", "roll_up", "age"])
        is_killed = rng.random() < 0.3
        attempt = ground.conn.transaction()
        await attempt.start()
        match deed:
            case "count":
                await series.add(ground.conn, rng.randrange(3), a_tally(bytes=1))
                counted += not is_killed
            case "fold":
                await series.fold(ground.conn, older_s=60)
            case "roll_up":
                await series.roll_up(ground.conn, after_days=7)
            case "age":
                await age(ground, "series_parts", "7 minutes")
                await age(ground, "series", "3 days")
        await (attempt.rollback() if is_killed else attempt.commit())
        assert await everything(ground) == counted
        assert (await totals(ground)).get(("bytes", ""), 0.0) == counted


# The writer ----------------------------------------------------------------------------------------------------------


async def a_written_batch(ground: Ground, database: Database) -> tuple[Writer, list[Outcome], int]:
    run = await ground.a_run()
    worker = await ground.a_worker(run)
    domain = await ground.a_domain(run=run, pages=4)
    lease = await ground.a_lease(domain, worker)
    targets = await ground.targets(lease, worker, run)
    writer = open_writer(database, run, worker)
    outcomes = [a_success(target, "http://a.example/new", waited_s=0.01) for target in targets[:3]]
    outcomes.append(Outcome(targets[3], OutcomeKind.FAILED, error=ConnectError("nobody there")))
    await writer.write(outcomes)
    return writer, outcomes, run


async def test_a_batch_counts_what_it_records_in_the_same_transaction(ground: Ground, database: Database) -> None:
    await a_written_batch(ground, database)
    counted = await totals(ground)
    assert counted["visits", "success"] == 3
    assert counted["visits", "failed"] == counted["failures", "connect_error"] == 1
    assert counted["pages_learned", ""] == 1
    assert counted["learn_s", max((label for metric, label in counted if metric == "learn_s"))] == 1
    history = await ground.conn.fetchval("SELECT count(*) FROM crawl_tasks WHERE outcome IS NOT NULL")
    assert sum(amount for (metric, _), amount in counted.items() if metric == "visits") == history


async def test_what_is_recorded_twice_is_counted_once(ground: Ground, database: Database) -> None:
    """As after a commit whose answer the connection lost."""
    writer, outcomes, _ = await a_written_batch(ground, database)
    await writer.write(outcomes)
    counted = await totals(ground)
    assert counted["visits", "success"] == 3
    assert sum(amount for (metric, _), amount in counted.items() if metric == "record_s") == 0


async def test_results_of_a_lost_lease_are_not_counted(ground: Ground, database: Database) -> None:
    run = await ground.a_run()
    worker = await ground.a_worker(run)
    domain = await ground.a_domain(run=run, pages=1)
    targets = await ground.targets(await ground.a_lease(domain, worker), worker, run)
    await ground.a_lease(domain, await ground.a_worker(run))
    writer = open_writer(database, run, worker)
    await writer.write([a_success(target) for target in targets])
    assert ("visits", "success") not in await totals(ground)


# Over time -----------------------------------------------------------------------------------------------------------


async def chart(ground: Ground, metric: str, span: timedelta, **more: Any) -> numbers.Series:
    now: datetime = await ground.conn.fetchval("SELECT now()")
    return await numbers.series(ground.conn, metric, since=now - span, **more)


async def test_a_series_has_every_step_and_what_is_not_folded_yet(ground: Ground) -> None:
    await series.add(ground.conn, 1, a_tally(bytes=10))
    await age(ground, "series_parts", "3 minutes")
    await series.fold(ground.conn, older_s=60)
    await series.add(ground.conn, 1, a_tally(bytes=5))
    found = await chart(ground, "bytes", timedelta(minutes=10))
    assert found.step_s == 60
    assert len(found.points) in {11, 12}
    assert [point.value for point in found.points if point.value] == [10, 5]
    assert {later.at - earlier.at for earlier, later in zip(found.points, found.points[1:], strict=False)} == {
        timedelta(minutes=1)
    }


async def test_old_days_and_new_minutes_are_one_series(ground: Ground) -> None:
    await series.add_samples(ground.conn, [Number("frontier_size", "", 10)])
    await age(ground, "series", "9 days")
    await series.roll_up(ground.conn, after_days=7)
    for size in (20, 40):
        await series.add_samples(ground.conn, [Number("frontier_size", "", size)])
    found = await chart(ground, "frontier_size", timedelta(days=20))
    assert found.step_s == 86_400
    assert [(point.value, point.most) for point in found.points] == [(10, 10), (30, 40)]


async def test_rates_and_latencies_over_time(ground: Ground) -> None:
    tally = CounterMap()
    tally.add("visits", "success", 30)
    tally.add("visits", "failed", 10)
    tally.time("fetch", 0.02, 0.02, 0.3)
    await series.add(ground.conn, 1, tally)
    await age(ground, "series_parts", "2 minutes")
    rates = [
        point.value for point in (await chart(ground, "pages_per_second", timedelta(minutes=10))).points if point.value
    ]
    assert rates == [pytest.approx(40 / 60)]
    shares = (await chart(ground, "success_rate", timedelta(minutes=10))).points
    assert [point.value for point in shares if point.value is not None] == [0.75]
    latency = {
        point.label: point.value for point in (await chart(ground, "fetch_latency", timedelta(minutes=10))).points
    }
    assert latency["p50"] is not None
    assert 0.01 < latency["p50"] <= 0.025
    assert latency["p99"] is not None
    assert 0.25 < latency["p99"] <= 0.5


async def test_a_series_that_lies_in_the_future_is_refused(ground: Ground) -> None:
    with pytest.raises(UsageError, match="The series is empty"):
        await chart(ground, "bytes", -timedelta(hours=1))


async def test_every_metric_can_be_asked_for(ground: Ground) -> None:
    await SeriesJob().run(a_context(ground.conn))
    for metric in numbers.METRICS:
        await chart(ground, metric, timedelta(hours=1))


async def test_the_overview_of_an_empty_and_of_a_working_instance(ground: Ground, database: Database) -> None:
    empty = await numbers.overview(ground.conn)
    assert (empty["pages_crawled"], empty["success_rate"], empty["pages_per_second"]) == (0, None, 0)
    await a_written_batch(ground, database)
    shown = await numbers.overview(ground.conn)
    assert shown["visits"] == {"failed": 1, "success": 3}
    assert shown["success_rate"] == 0.75
    assert shown["active_workers"] == 1
    assert shown["leases_held"] == 1
    assert shown["latency"]["fetch"]["p50"] > 0
    assert set(numbers.public(shown)) == set(numbers.PUBLIC)
