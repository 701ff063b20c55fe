"""What a kill leaves behind: dead workers are buried by their pid and their domains freed, the living left alone."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.ground import Ground

from forager.engine.crash_marker import NOTE
from forager.engine.recovery import reclaim, recover
from forager.stats.processes import get_host_key, get_process_key, started_at

pytestmark = pytest.mark.both_servers


async def a_busy_worker(ground: Ground, name: str, **worker: Any) -> int:
    who = await ground.a_worker(await ground.a_run(), **worker)
    await ground.a_lease(await ground.a_domain(name, pages=1), who)
    return who


async def states(ground: Ground) -> dict[int, str]:
    return {row["id"]: row["status"] for row in await ground.conn.fetch("SELECT id, status::text FROM workers")}


async def test_a_worker_whose_process_ended_is_buried(ground: Ground) -> None:
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    began = started_at(child.pid)
    dead = await a_busy_worker(ground, "dead.example", pid=child.pid, pid_started=began)
    living = await a_busy_worker(ground, "living.example", pid=os.getpid(), pid_started=started_at(os.getpid()))
    assert await recover(ground.conn, dead_after_s=3600, delay_s=0.0) == []
    await child.communicate(b"\n")
    assert await recover(ground.conn, dead_after_s=3600, delay_s=0.0) == ["dead.example"]
    assert await states(ground) == {dead: "dead", living: "running"}
    assert await recover(ground.conn, dead_after_s=3600, delay_s=0.0) == []


async def test_the_page_a_dead_worker_was_reading_is_noted(ground: Ground, tmp_path: Path) -> None:
    run = await ground.a_run()
    domain = await ground.a_domain(pages=2)
    killer, innocent = [row["id"] for row in await ground.conn.fetch("SELECT id FROM pages ORDER BY id")]
    for page, pid, began in ((killer, 11, 1000), (0, 12, 1000), (innocent, 13, 2000)):
        (tmp_path / str(pid)).write_bytes(NOTE.pack(began, page))
        await ground.a_worker(run, pid=pid, pid_started=1000)  # the last note is of another process with that number
    await recover(ground.conn, dead_after_s=3600, delay_s=0.0, notes=tmp_path)
    assert (await ground.page(killer))["crashes"] == 1
    assert (await ground.page(innocent))["crashes"] == 0
    worker = await ground.a_worker(run)
    targets = await ground.targets(await ground.a_lease(domain, worker), worker, run)
    assert {target.page_id: target.crashes for target in targets} == {killer: 1, innocent: 0}


async def test_a_reused_pid_does_not_keep_the_dead_alive(ground: Ground) -> None:
    dead = await a_busy_worker(ground, "a.example", pid=os.getpid(), pid_started=started_at(os.getpid()) - 1)
    assert await recover(ground.conn, dead_after_s=3600, delay_s=0.0) == ["a.example"]
    assert await states(ground) == {dead: "dead"}


async def test_a_worker_of_another_machine_is_judged_by_its_silence(ground: Ground) -> None:
    far = await a_busy_worker(ground, "far.example", host="elsewhere", pid=2**22 - 1)
    await a_busy_worker(ground, "silent.example", host="elsewhere", silent_s=100)
    assert await recover(ground.conn, dead_after_s=60, delay_s=0.0) == ["silent.example"]
    assert (await states(ground))[far] == "running"
    assert sorted((await states(ground)).values()) == ["dead", "running"]


async def test_reclaiming_frees_what_silent_workers_hold(ground: Ground) -> None:
    """Of another machine it is dead after its time; of this one its process decides; its leases end, too."""
    here = {"pid": os.getpid(), "pid_started": started_at(os.getpid())}
    far, near, well = [
        await a_busy_worker(ground, "far.example", host="elsewhere", silent_s=100),
        await a_busy_worker(ground, "near.example", silent_s=100, **here),
        await a_busy_worker(ground, "well.example", host="elsewhere"),
    ]
    took = {"lease_s": 1800.0, "dead_after_s": 60.0, "delay_s": 0.0}
    assert sorted(await reclaim(ground.conn, **took)) == ["far.example", "near.example"]
    assert await states(ground) == {far: "dead", near: "running", well: "running"}
    assert await reclaim(ground.conn, **took) == []


async def test_a_lease_that_ran_out_is_reclaimed_before_its_worker_is_dead(ground: Ground) -> None:
    worker = await a_busy_worker(ground, "a.example", host="elsewhere", silent_s=20)
    await ground.conn.execute("UPDATE domains SET claim_expires_at = now() - interval '1 second'")
    assert await reclaim(ground.conn, lease_s=10.0, dead_after_s=60.0, delay_s=0.0) == ["a.example"]
    assert await states(ground) == {worker: "running"}


HERE, DEAD = get_process_key(), f"{os.getpid()} 1 {get_host_key()}"


@pytest.mark.parametrize(
    ("kept_by", "silent_s", "status"),
    [
        (HERE, 0, "running"),
        (HERE, 7200, "running"),  # no worker of it is left: it is about to say how it ended
        (DEAD, 0, "stopped"),  # also before it had a worker, and in its first minute
        ("1 1 elsewhere", 100, "running"),
        ("1 1 elsewhere", 400, "stopped"),
        (None, 30, "running"),
        (None, 90, "stopped"),
    ],
    ids=["alive", "alive and silent", "dead", "elsewhere", "silent elsewhere", "unknown", "silent and unknown"],
)
async def test_a_run_is_ended_when_the_process_that_keeps_it_is_gone(
    ground: Ground, kept_by: str | None, silent_s: int, status: str
) -> None:
    await ground.a_run()
    await ground.conn.execute(
        "UPDATE runs SET kept_by = $1, started_at = now() - interval '3 hours',"
        " kept_at = now() - make_interval(secs => $2)",
        kept_by,
        silent_s,
    )
    if kept_by is None:
        await ground.conn.execute(
            "UPDATE runs SET kept_at = NULL, started_at = now() - make_interval(secs => $1)", silent_s
        )
    await recover(ground.conn, dead_after_s=3600, delay_s=0.0)
    assert await ground.conn.fetchval("SELECT status::text FROM runs") == status


async def test_a_killed_run_ended_with_its_last_sign_of_life(ground: Ground) -> None:
    run = await ground.a_run()
    await ground.a_worker(run, pid=os.getpid(), pid_started=1)
    await ground.conn.execute(
        "UPDATE runs SET kept_by = $1, started_at = now() - interval '1 hour', kept_at = now() - interval '50 minutes'",
        DEAD,
    )
    await ground.conn.execute("UPDATE workers SET heartbeat_at = now() - interval '40 minutes'")
    await recover(ground.conn, dead_after_s=36000, delay_s=0.0)
    took = await ground.conn.fetchval("SELECT EXTRACT(EPOCH FROM ended_at - started_at)::int FROM runs")
    assert took == 20 * 60


async def test_a_run_whose_workers_go_on_is_not_ended_with_its_process(ground: Ground) -> None:
    run = await ground.a_run()
    await ground.conn.execute("UPDATE runs SET kept_by = $1", DEAD)
    await ground.a_worker(run, host="elsewhere")
    await recover(ground.conn, dead_after_s=3600, delay_s=0.0)
    assert await ground.conn.fetchval("SELECT status::text FROM runs") == "running"
