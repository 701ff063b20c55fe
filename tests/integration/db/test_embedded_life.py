"""The embedded server from its first start to its last stop, shared by real processes."""

import os
import signal
import stat
from pathlib import Path

import asyncpg
import pytest
from tests.integration.db.guests import Invite, is_ready, server_pid, starts

from forager.db import embedded
from forager.db.embedded.paths import LONGEST_SOCKET_PATH_BYTES, Place, open_folder
from forager.errors import ConfigurationError, DatabaseUnreachableError


def test_the_first_guest_starts_the_server_and_the_last_one_stops_it(home: Path, invite: Invite) -> None:
    first, second = invite(), invite()
    assert first.hear() == second.hear() == Place.of(home).dsn
    first.leave()
    assert is_ready(home)
    second.leave()
    assert embedded.status(home).is_running is False
    assert starts(home) == 1


def test_eight_guests_at_once_start_one_server(home: Path, invite: Invite) -> None:
    guests = [invite() for _ in range(8)]
    assert {guest.hear() for guest in guests} == {Place.of(home).dsn}
    assert starts(home) == 1
    for guest in guests:
        guest.ask_to_leave()
    assert [guest.hear() for guest in guests] == ["left"] * 8
    assert embedded.status(home).is_running is False


def test_who_arrives_while_the_last_one_leaves_finds_a_server(made_home: Path, invite: Invite) -> None:
    present = invite()
    assert present.hear()
    for _ in range(6):
        arriving = invite()
        present.ask_to_leave()
        assert present.hear() == "left"
        assert arriving.hear() == Place.of(made_home).dsn
        assert is_ready(made_home)
        present = arriving


def test_two_seats_of_one_process_are_two(made_home: Path) -> None:
    first, second = embedded.join(made_home), embedded.join(made_home)
    first.leave()
    first.leave()
    assert is_ready(made_home)
    second.leave()
    assert not is_ready(made_home)


def test_a_kept_server_runs_on_when_the_last_one_leaves(made_home: Path) -> None:
    embedded.keep(made_home)
    embedded.join(made_home).leave()
    assert is_ready(made_home)
    assert embedded.status(made_home).is_kept
    embedded.delete_keep_file(made_home)
    embedded.join(made_home).leave()
    assert not is_ready(made_home)
    assert starts(made_home) == 1


def test_a_killed_guest_gives_its_seat_back(made_home: Path, invite: Invite) -> None:
    killed, staying = invite(), invite()
    assert killed.hear()
    assert staying.hear()
    killed.kill()
    staying.leave()
    assert not is_ready(made_home)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_guests_process_group_does_not_reach_the_server(
    made_home: Path, invite: Invite, number: signal.Signals
) -> None:
    guest = invite()
    assert guest.hear()
    pid = server_pid(made_home)
    assert os.getsid(pid) != os.getsid(guest.process.pid)
    guest.kill(number)
    assert is_ready(made_home)
    assert server_pid(made_home) == pid


def test_status_tells_without_starting_anything(home: Path) -> None:
    before = embedded.status(home)
    assert (before.is_running, before.is_used, before.pid, before.version, before.size_bytes) == (
        False,
        False,
        None,
        None,
        0,
    )
    assert list(home.iterdir()) == []
    seat = embedded.join(home)
    during = embedded.status(home)
    assert (during.is_running, during.is_used, during.pid, during.version) == (True, True, server_pid(home), 18)
    assert during.size_bytes > 10_000_000
    assert during.socket.is_socket()
    seat.leave()


def test_stop_ends_a_server_in_use_and_ensure_running_brings_it_back(made_home: Path) -> None:
    seat = embedded.join(made_home)
    assert embedded.stop(made_home)
    assert not is_ready(made_home)
    assert embedded.ensure_running(made_home) == seat.dsn
    assert is_ready(made_home)
    seat.leave()
    assert not is_ready(made_home)


def test_stopping_where_nothing_ever_ran_is_fine(tmp_path: Path) -> None:
    assert embedded.stop(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_a_home_with_a_long_path_gets_a_short_private_socket_folder(home: Path) -> None:
    deep = home / ("d" * 100) / "home with 'quotes' and spaces"
    place = Place.of(deep)
    seat = embedded.join(deep)
    try:
        assert is_ready(deep)
        assert len(os.fsencode(place.socket)) <= LONGEST_SOCKET_PATH_BYTES
        assert not place.socket.is_relative_to(deep)
        assert stat.S_IMODE(place.socket_folder.stat().st_mode) == 0o700
    finally:
        seat.leave()
    assert not place.socket_folder.exists()


def test_a_folder_somebody_else_planted_is_refused(tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    planted.symlink_to(tmp_path)
    with pytest.raises(ConfigurationError, match="belongs to somebody else: remove it"):
        open_folder(planted, os.geteuid(), os.getegid())


def test_two_spellings_of_a_home_share_one_server(made_home: Path) -> None:
    (made_home / "real").mkdir()
    (made_home / "alias").symlink_to(made_home / "real")
    first, second = embedded.join(made_home / "real"), embedded.join(made_home / "alias")
    assert first.dsn == second.dsn
    first.leave()
    assert is_ready(made_home / "real")
    second.leave()
    assert not is_ready(made_home / "real")


def test_a_cluster_of_another_version_is_refused_and_left_alone(made_home: Path) -> None:
    embedded.join(made_home).leave()
    version_file = made_home / "postgres" / "PG_VERSION"
    version_file.write_text("16\n")
    with pytest.raises(
        ConfigurationError, match="was made by PostgreSQL 16, but this Forager brings PostgreSQL 18: use"
    ):
        embedded.join(made_home)
    assert version_file.read_text() == "16\n"
    version_file.write_text("18\n")
    embedded.join(made_home).leave()


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match=r"cannot keep its database in .*/file/home: Not a directory"):
        embedded.join(tmp_path / "file" / "home")


def test_a_server_that_does_not_start_says_why_and_where_to_look(made_home: Path) -> None:
    embedded.join(made_home).leave()
    with (made_home / "postgres" / "postgresql.conf").open("a") as file:
        file.write("no_such_setting = 1\n")
    with pytest.raises(DatabaseUnreachableError, match=r"did not start: .*postgresql.conf.* \(see .*/postgres.log\)"):
        embedded.join(made_home)
    assert embedded.status(made_home).is_used is False


async def test_it_is_tuned_durable_and_deaf_to_the_network(made_home: Path) -> None:
    seat = embedded.join(made_home)
    connection = await asyncpg.connect(seat.dsn)
    try:
        rows = await connection.fetch("SELECT name, setting FROM pg_settings")
        found = {row["name"]: row["setting"] for row in rows}
        expected = {
            "fsync": "on",
            "synchronous_commit": "on",
            "full_page_writes": "on",
            "listen_addresses": "",
            "jit": "off",
            "wal_level": "minimal",
            "max_connections": "200",
            "TimeZone": "UTC",
            "server_encoding": "UTF8",
            "dynamic_shared_memory_type": "mmap",
        }
        assert {name: found[name] for name in expected} == expected
        assert await connection.fetchval("SELECT lower('ÄÖ')") == "äö"
    finally:
        await connection.close()
        seat.leave()
