"""Runs that foremen look after: taken once, kept by who lives, ended when somebody asks; the one that never ends."""

import asyncio
from functools import partial

import asyncpg
import pytest
from tests.ground import Ground

from forager.domains.store import assign_free_domains
from forager.errors import ConflictError, NotFoundError
from forager.runs.models import RunSpec
from forager.runs.service import continuous_spec, order_run, stop_run
from forager.runtime.up import free_orders_of_the_dead
from forager.stats import store as stats
from forager.stats.processes import get_host_key

SPEC = RunSpec(("https://a.example/",))
take = partial(stats.take_orders, silent_s=60, limit=8)


async def test_an_order_is_taken_by_one_foreman(pool: asyncpg.Pool) -> None:
    runs = []
    async with pool.acquire() as conn, conn.transaction():
        runs = [await order_run(conn, RunSpec((f"https://s{n}.example/",)), by="api:me") for n in range(6)]

    async def one(name: str) -> list[int]:
        async with pool.acquire() as conn, conn.transaction():
            return await take(conn, name, limit=4)

    taken = await asyncio.gather(*(one(name) for name in "abc"))
    assert sorted(run for runs in taken for run in runs) == runs
    assert all(len(runs) <= 4 for runs in taken)


async def test_a_silent_foreman_is_replaced_and_hears_of_it(conn: asyncpg.Connection) -> None:
    run = await order_run(conn, SPEC, by="api:me")
    assert await take(conn, "first") == [run]
    assert await take(conn, "second") == []
    assert await stats.keep_orders(conn, "first", [run]) == {run: False}
    await conn.execute("UPDATE runs SET kept_at = now() - interval '2 minutes'")
    assert await take(conn, "second") == [run]
    assert await stats.keep_orders(conn, "first", [run]) == {}


async def test_somebody_asks_it_to_stop(conn: asyncpg.Connection) -> None:
    run = await order_run(conn, SPEC, by="api:me")
    await take(conn, "first")
    await stop_run(conn, run)
    await stop_run(conn, run)
    assert await stats.keep_orders(conn, "first", [run]) == {run: True}
    await stats.end_run(conn, run, "stopped")
    with pytest.raises(ConflictError, match=f"Run {run} cannot be stopped from here"):
        await stop_run(conn, run)
    with pytest.raises(NotFoundError):
        await stop_run(conn, run + 1)


async def test_a_crawl_of_somebody_else_is_not_ours_to_stop(ground: Ground, conn: asyncpg.Connection) -> None:
    run = await stats.start_run(conn, SPEC, by="cli")
    assert await take(conn, "first") == []
    with pytest.raises(ConflictError):
        await stop_run(conn, run)


async def test_orders_of_a_dead_foreman_of_this_machine_are_free_at_once(conn: asyncpg.Connection) -> None:
    dead, alive = f"999999999 1 {get_host_key()}", "1 2 another machine"
    runs = [await order_run(conn, RunSpec((f"https://s{n}.example/",)), by="api:me") for n in range(2)]
    assert await take(conn, dead, limit=1) == runs[:1]
    assert await take(conn, alive, limit=1) == runs[1:]
    await free_orders_of_the_dead(conn)
    assert await take(conn, "next") == runs[:1]


async def test_there_is_one_standing_run_whoever_asks(pool: asyncpg.Pool) -> None:
    spec = continuous_spec(max_depth=10)

    async def one() -> int:
        async with pool.acquire() as conn, conn.transaction():
            return await stats.ensure_continuous_run(conn, spec, by="forager up")

    runs = await asyncio.gather(*(one() for _ in range(6)))
    assert len(set(runs)) == 1
    async with pool.acquire() as conn:
        await stats.end_run(conn, runs[0], "stopped")
        assert await stats.ensure_continuous_run(conn, spec, by="forager up") == runs[0]
        assert await conn.fetchval("SELECT status::text FROM runs WHERE id = $1", runs[0]) == "running"
        found = await stats.find_run(conn, runs[0])
        assert found is not None
        assert found.is_standing


async def test_the_standing_run_takes_what_no_running_run_has(ground: Ground, conn: asyncpg.Connection) -> None:
    standing = await stats.ensure_continuous_run(conn, continuous_spec(max_depth=10), by="forager up")
    over, running = [await stats.start_run(conn, SPEC, by="cli") for _ in range(2)]
    await stats.end_run(conn, over, "finished")
    for name, run in (("free", None), ("over", over), ("busy", running), ("held", over)):
        await ground.a_domain(f"{name}.example", run=run)
    await conn.execute(
        "UPDATE domains SET claimed_by = 7, claim_expires_at = now() + interval '1 hour' WHERE name = 'held.example'"
    )
    assert await assign_free_domains(conn, standing, limit=1) == 1
    assert await assign_free_domains(conn, standing, limit=10) == 1
    assert await assign_free_domains(conn, standing, limit=10) == 0
    rows = await conn.fetch("SELECT name, run_id FROM domains ORDER BY name")
    assert {row["name"].removesuffix(".example"): row["run_id"] for row in rows} == {
        "busy": running,
        "free": standing,
        "held": over,
        "over": standing,
    }


async def test_a_site_that_a_run_had_for_its_images_has_its_pages_visited_again(
    ground: Ground, conn: asyncpg.Connection
) -> None:
    standing = await stats.ensure_continuous_run(conn, continuous_spec(max_depth=10), by="forager up")
    over = await stats.start_run(conn, SPEC, by="cli")
    await stats.end_run(conn, over, "finished")
    await ground.a_domain("site.example", run=over, pages=2, images_only=True, pages_discovered=2)
    await ground.a_domain("images.example", run=over, images_only=True)
    assert await assign_free_domains(conn, standing, limit=10) == 2
    rows = await conn.fetch("SELECT name FROM domains WHERE images_only")
    assert [row["name"] for row in rows] == ["images.example"]
