"""Jobs with a time of day: they run at it, in any process, and `never` switches them off."""

from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import asyncpg
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import in_thread
from tests.ground import Ground
from tests.integration.scheduler.stage import a_context
from tests.integration.scheduler.test_scheduler import Counted, a_scheduler

from forager.config.loader import load
from forager.db.jobs import VacuumJob
from forager.instance import open_forager
from forager.runtime.schedule import run_jobs_once
from forager.scheduler.store import list_jobs
from forager.scheduler.times import TimeOfDay

NIGHT = TimeOfDay("02:00", None)
SUNDAY = TimeOfDay("04:00", 7)


def next_time(since: datetime, at: time, weekday: int | None) -> datetime:
    """The same in other words."""
    day = since.astimezone(UTC).date()
    moments = (datetime.combine(day + timedelta(days=n), at, UTC) for n in range(9))
    return next(m for m in moments if m > since and weekday in {None, m.isoweekday()})


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cases=st.lists(
        st.tuples(
            st.integers(1_600_000_000, 2_200_000_000).map(lambda s: datetime.fromtimestamp(s, UTC)),
            st.integers(0, 1439),
            st.none() | st.integers(1, 7),
        ),
        min_size=50,
        max_size=50,
    )
)
def test_the_next_time_is_the_first_that_fits(database_url: str, cases: list[tuple[datetime, int, int | None]]) -> None:
    given_times = [(since, time(minute // 60, minute % 60), weekday) for since, minute, weekday in cases]

    async def ask() -> list[datetime]:
        conn = await asyncpg.connect(database_url, server_settings={"timezone": "Asia/Tokyo"})
        try:
            columns = [list(column) for column in zip(*given_times, strict=True)]
            rows = await conn.fetch(
                "SELECT next_time(s, t, w) AS at FROM unnest($1::timestamptz[], $2::time[], $3::int[])"
                " WITH ORDINALITY AS n (s, t, w, i) ORDER BY i",
                *columns,
            )
        finally:
            await conn.close()
        return [row["at"] for row in rows]

    assert in_thread(ask()) == [next_time(*case) for case in given_times]


async def test_a_new_job_of_the_night_waits_for_it_and_then_for_the_next(ground: Ground, pool: asyncpg.Pool) -> None:
    night, weekly, hourly = Counted("night", at=NIGHT), Counted("weekly", at=SUNDAY), Counted("hourly")
    scheduler = a_scheduler(pool, night, weekly, hourly)
    await scheduler.register()
    assert [done.name for done in await scheduler.run_due()] == ["hourly"]
    await scheduler.run_now("night")
    await ground.conn.execute("UPDATE jobs SET next_at = now() - interval '3 days' WHERE name = 'weekly'")
    assert [done.name for done in await scheduler.run_due()] == ["weekly"], "what was missed is done once"
    assert await scheduler.run_due() == []
    now = datetime.now(UTC)
    found = {row["name"]: row["next_at"] for row in await list_jobs(ground.conn)}
    assert found["night"] == next_time(now, time(2), None)
    assert found["weekly"] == next_time(now, time(4), 7)


async def test_never_is_never(database_url: str, ground: Ground, tmp_path: Path) -> None:
    off = dict.fromkeys(("backup.schedule", "archive.schedule", "database.vacuum_schedule"), "never")
    settings_of = load({"home": tmp_path / "home", "database.url": database_url} | off, {})
    async with open_forager(settings_of, application="test") as forager:
        done = await run_jobs_once(forager, ["backup", "retain", "vacuum"])
    assert [each.result for each in done] == [f"switched off by the setting {name}" for name in off]
    assert not (tmp_path / "home").exists()


async def test_a_night_saves_moves_and_cleans(database_url: str, ground: Ground, tmp_path: Path) -> None:
    await ground.a_domain(pages=2)
    settings_of = load({"home": tmp_path / "home", "database.url": database_url}, {})
    async with open_forager(settings_of, application="test") as forager:
        done = {each.name: each for each in await run_jobs_once(forager, ["backup", "retain", "vacuum"])}
        assert {each.error for each in done.values()} == {None}
        assert await forager.pool.fetchval("SELECT size_bytes > 0 FROM storage_days WHERE what = 'pages'")
    assert len(list((tmp_path / "home/backups").glob("forager-*Z/manifest.json"))) == 1
    assert done["retain"].result == ("0 rows moved to 0 cold files; 0 images dropped, 0 files of images deleted")


async def test_a_backup_that_fails_is_told(database_url: str, ground: Ground, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    given_settings = {"home": tmp_path, "database.url": database_url, "backup.folder": tmp_path / "file"}
    async with open_forager(load(given_settings, {}), application="test") as forager:
        (done,) = await run_jobs_once(forager, ["backup"])
    assert done.error is not None
    assert "No backup was made; older ones are as they were." in done.error


async def test_a_vacuum_waits_for_nobody(ground: Ground, pool: asyncpg.Pool) -> None:
    """A table somebody holds is left out; readers and writers of the others go on."""
    async with pool.acquire() as holder, holder.transaction():
        await holder.execute("LOCK TABLE pages IN ACCESS EXCLUSIVE MODE")
        async with pool.acquire() as conn:
            await conn.execute("SET lock_timeout = '1s'")
            assert await VacuumJob().run(a_context(conn)) == "all tables vacuumed and analysed"
            assert await conn.fetchval("SHOW vacuum_cost_delay") == "0"
