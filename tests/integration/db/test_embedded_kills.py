"""kill -9 of the server, of its users, of everything: the next caller brings it back with all it had promised."""

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import asyncpg
import pytest
from tests.integration.db.guests import Invite, is_ready, server_pid, starts

from forager.db import embedded
from forager.db.embedded import postmaster, processes
from forager.db.embedded.account import choose
from forager.db.embedded.paths import Place


def wait_until(is_so: Callable[[], bool], timeout_s: float = 30) -> None:
    give_up_at = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < give_up_at, "it did not happen"
        time.sleep(0.005)


def processes_of(home: Path) -> list[int]:
    """The server and its children."""
    server = server_pid(home)
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    return [server, *map(int, children)]


def kill(*pids: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not any(processes.is_alive(pid) for pid in pids))


def test_a_process_is_alive_until_it_is_dead_even_if_nobody_buries_it() -> None:
    with subprocess.Popen(["sleep", "600"]) as child:
        assert processes.is_alive(child.pid)
        wait_until(lambda: processes.command_of(child.pid).strip() == "sleep 600")
        child.kill()
        wait_until(lambda: not processes.is_alive(child.pid))
        assert child.poll() is not None
    assert not processes.is_alive(child.pid)


def test_a_process_is_alive_while_it_turns_into_another_program() -> None:
    """Its command line is empty for a moment then, which once made a starting server look dead."""
    turn = '[ "$1" -eq 0 ] || exec sh -c "$0" "$0" $(($1 - 1))'
    looks = 0
    with subprocess.Popen(["sh", "-c", turn, turn, "300"]) as child:
        while child.poll() is None:
            is_alive = processes.is_alive(child.pid)
            assert is_alive or child.poll() is not None
            looks += 1
    assert child.returncode == 0
    assert looks > 100


async def remember(dsn: str, what: int) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute("CREATE TABLE IF NOT EXISTS promises (what int)")
    await connection.execute("INSERT INTO promises VALUES ($1)", what)
    connection.terminate()


async def recall(dsn: str) -> list[int]:
    connection = await asyncpg.connect(dsn)
    try:
        return [row["what"] for row in await connection.fetch("SELECT what FROM promises ORDER BY what")]
    finally:
        await connection.close()


async def test_a_killed_server_comes_back_with_everything_committed(made_home: Path) -> None:
    seat = embedded.join(made_home)
    for kills in range(3):
        await remember(seat.dsn, kills)
        kill(server_pid(made_home))
        await asyncio.to_thread(embedded.ensure_running, made_home)
    assert await recall(seat.dsn) == [0, 1, 2]
    assert starts(made_home) == 4
    seat.leave()


async def _until_active(dsn: str, pid: int) -> None:
    observer = await asyncpg.connect(dsn)
    state = "SELECT state FROM pg_stat_activity WHERE pid = $1"
    while await observer.fetchval(state, pid) != "active":  # noqa: ASYNC110 (another process's event)
        await asyncio.sleep(0.01)
    observer.terminate()


async def test_a_killed_server_comes_back_though_its_children_are_busy(made_home: Path) -> None:
    seat = embedded.join(made_home)
    await remember(seat.dsn, 1)
    busy = await asyncpg.connect(seat.dsn)
    pid = busy.get_server_pid()
    # A busy loop never waits, so the child does not notice that its parent is gone.
    loop = asyncio.create_task(busy.execute("DO $$ BEGIN LOOP END LOOP; END $$"))
    await _until_active(seat.dsn, pid)
    kill(server_pid(made_home))
    assert processes.is_alive(pid)
    await asyncio.to_thread(embedded.ensure_running, made_home)
    assert await recall(seat.dsn) == [1]
    assert not processes.is_alive(pid)
    with pytest.raises((asyncpg.PostgresError, OSError)):
        await loop
    busy.terminate()
    seat.leave()


async def test_everything_killed_at_once_comes_back_for_eight_who_race(made_home: Path, invite: Invite) -> None:
    guests = [invite() for _ in range(2)]
    dsn = guests[0].hear()
    assert guests[1].hear() == dsn
    await remember(dsn, 7)
    doomed = processes_of(made_home)
    for guest in guests:
        guest.kill()
    kill(*doomed)
    racers = [invite() for _ in range(8)]
    assert {racer.hear() for racer in racers} == {dsn}
    assert starts(made_home) == 2
    assert await recall(dsn) == [7]


def test_a_pid_that_now_belongs_to_somebody_else_does_not_matter(made_home: Path) -> None:
    """The worst case: the other process runs under the server's own account, so PostgreSQL itself would refuse."""
    place = Place.of(made_home)
    seat = embedded.join(made_home)
    kill(*processes_of(made_home))
    account = choose(place.data)
    with subprocess.Popen(["sleep", "600"], user=account.uid, group=account.gid) as bystander:
        for file in (place.data / "postmaster.pid", place.socket.with_name(place.socket.name + ".lock")):
            _, *rest = file.read_text().splitlines(keepends=True)
            file.write_text("".join([f"{bystander.pid}\n", *rest]))
        assert postmaster.find(place) is None
        embedded.ensure_running(made_home)
        assert is_ready(made_home)
        seat.leave()
        assert bystander.poll() is None
        bystander.kill()


def test_a_stop_never_signals_a_stranger_with_the_servers_old_pid(made_home: Path) -> None:
    place = Place.of(made_home)
    embedded.join(made_home).leave()
    with subprocess.Popen(["sleep", "600"]) as bystander:
        (place.data / "postmaster.pid").write_text(f"{bystander.pid}\n{place.data}\n")
        assert embedded.stop(made_home)
        assert bystander.poll() is None
        bystander.kill()


def test_a_guest_killed_while_it_makes_the_cluster_leaves_no_half_one(home: Path, invite: Invite) -> None:
    maker = invite()
    wait_until(lambda: any(path.name.startswith("postgres.new.") for path in home.iterdir()))
    maker.kill()
    assert not Place.of(home).data.exists()
    seat = embedded.join(home)
    assert is_ready(home)
    seat.leave()


def test_a_guest_killed_at_any_moment_of_a_start_does_no_harm(made_home: Path, invite: Invite) -> None:
    for marker in ("postgres.users", "postgres.log", "socket/.s.PGSQL.5432"):
        starter = invite()
        wait_until((made_home / marker).exists)
        starter.kill()
        seat = embedded.join(made_home)
        assert is_ready(made_home)
        seat.leave()
        assert not is_ready(made_home)
        for leftover in ("postgres.users", "postgres.log"):
            (made_home / leftover).unlink()
