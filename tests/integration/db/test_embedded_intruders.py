"""What other users of the machine, and the account of the server itself, can do to a server that root runs."""

import contextlib
import os
import pwd
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
from tests.conftest import in_thread
from tests.integration.db.guests import Invite, is_ready, server_pid

from forager.config.loader import load
from forager.db import embedded
from forager.db.database import open_database
from forager.db.embedded import account, binaries, postmaster
from forager.db.embedded.paths import ROLE, SUPERUSER, Place
from forager.errors import ForagerError

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become others")
NOBODY = pwd.getpwnam("nobody").pw_uid


def run_as(uid: int, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Another user's program; it may read this checkout where that lies in a closed folder."""
    command = [sys.executable, "-I", "-c", code, *arguments]
    return account.Account(uid, uid, may_search=True).run(command, stderr=subprocess.PIPE)


KNOCK = """
import socket, struct, sys
knock = socket.socket(socket.AF_UNIX)
try:
    knock.connect(sys.argv[1])
except OSError as error:
    sys.exit(f"not let in: {error}")
names = f"user\\0{sys.argv[2]}\\0database\\0postgres\\0\\0".encode()
knock.sendall(struct.pack("!ii", 8 + len(names), 3 << 16) + names)
print(knock.recv(4096))
"""


@pytest.fixture
def running(made_home: Path) -> Iterator[Path]:
    seat = embedded.join(made_home)
    yield made_home
    seat.leave()


@pytest.mark.parametrize("role", [ROLE, SUPERUSER])
def test_another_user_is_no_user_of_the_database(running: Path, role: str) -> None:
    """Even one who reaches the socket: the server asks the kernel who he is."""
    place = Place.of(running)
    assert "not let in" in run_as(NOBODY, KNOCK, str(place.socket), role).stderr
    for path, mode in ((place.socket_folder, 0o755), (place.socket, 0o777)):
        path.chmod(mode)
    answer = run_as(NOBODY, KNOCK, str(place.socket), role).stdout
    assert "Peer authentication failed" in answer or "28000" in answer, answer
    assert "R\\x00\\x00\\x00\\x08\\x00\\x00\\x00\\x00" in run_as(0, KNOCK, str(place.socket), role).stdout


def test_the_server_runs_as_an_account_no_other_service_has(running: Path) -> None:
    place = Place.of(running)
    owner = place.data.stat().st_uid
    assert pwd.getpwuid(owner).pw_name == account.SERVICE
    assert stat.S_IMODE(place.log.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.data.stat().st_mode) == stat.S_IMODE(place.socket_folder.stat().st_mode) == 0o700


async def test_forager_is_no_superuser(running: Path) -> None:
    async with open_database(load({"home": running}), size=1, application="test") as database:
        assert await database.pool.fetchval("SELECT current_setting('is_superuser')") == "off"
        for attack in ("SELECT pg_read_file('/etc/passwd')", "COPY domains TO PROGRAM 'true'"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await database.pool.execute(attack)


@pytest.mark.parametrize(
    "name", ["forager.conf.new", "forager.conf", "pg_hba.conf", "forager.new", "postgresql.conf.new"]
)
def test_a_link_in_the_data_folder_does_not_make_root_write_elsewhere(
    made_home: Path, tmp_path: Path, name: str
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("root's own")
    planted = made_home / "postgres" / name
    planted.unlink(missing_ok=True)
    planted.symlink_to(precious)
    with contextlib.suppress(ForagerError):
        embedded.join(made_home).leave()
    assert precious.read_text() == "root's own"
    assert precious.stat().st_uid == 0


@pytest.mark.parametrize("name", ["postgres.log", "postgres.lock", "postgres.users"])
@pytest.mark.parametrize("kind", ["symlink", "hard link"])
def test_a_link_in_a_home_of_another_user_does_not_give_root_s_files_away(home: Path, name: str, kind: str) -> None:
    precious = home / "precious"
    precious.write_text("root's own")
    theirs = home / "theirs"
    theirs.mkdir()
    os.chown(theirs, NOBODY, NOBODY)
    if kind == "symlink":
        (theirs / name).symlink_to(precious)
    else:
        (theirs / name).hardlink_to(precious)
    with pytest.raises(ForagerError):
        embedded.join(theirs)
    assert precious.read_text() == "root's own"
    assert (precious.stat().st_uid, stat.S_IMODE(precious.stat().st_mode)) == (0, 0o644)


def test_a_pid_file_that_lies_ends_nobody_s_process(made_home: Path) -> None:
    """Its owner wrote the pid of a process of root into it, and the command line that is looked for."""
    place = Place.of(made_home)
    victim = subprocess.Popen(["/bin/sh", "-c", f"read wait; : /postgres -D {place.data}"], stdin=subprocess.PIPE)
    (place.data / "postmaster.pid").write_text(f"{victim.pid}\n{place.data}\n")
    try:
        assert postmaster.find(place) is None
        assert embedded.stop(made_home)
        embedded.join(made_home).leave()
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.communicate()


def test_a_pid_file_that_is_a_pipe_or_a_link_stops_nothing(made_home: Path, tmp_path: Path) -> None:
    place = Place.of(made_home)
    os.mkfifo(place.data / "postmaster.pid")
    assert postmaster.find(place) is None
    (place.data / "postmaster.pid").unlink()
    (tmp_path / "elsewhere").write_text(str(os.getpid()))
    (place.data / "postmaster.pid").symlink_to(tmp_path / "elsewhere")
    assert postmaster.find(place) is None


# Homes of earlier versions -------------------------------------------------------------------------------------------


@pytest.fixture
def old_home(home: Path) -> Path:
    """As the version before made it under root: `nobody`'s files, one superuser `forager`, no password for anybody."""
    place, nobody = Place.of(home), account.Account(NOBODY, NOBODY)
    place.data.mkdir(mode=0o700)
    os.chown(place.data, NOBODY, NOBODY)
    options: list[str | Path] = ["--username=forager", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
    initdb = binaries.folder() / "initdb"
    assert nobody.run([initdb, "-D", place.data, *options]).returncode == 0
    single: list[str | Path] = [binaries.folder() / "postgres", "--single", "-D", place.data]
    assert nobody.run([*single, "postgres"], told="CREATE DATABASE forager\n").returncode == 0
    made = [
        "CREATE TABLE kept (id bigint GENERATED ALWAYS AS IDENTITY, note text)",
        "INSERT INTO kept (note) VALUES ('of before')",
        "CREATE SEQUENCE alone",
        "CREATE VIEW seen AS SELECT * FROM kept",
        "CREATE TYPE mood AS ENUM ('calm')",
        "CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    ]
    assert nobody.run([*single, "forager"], told="\n".join(made) + "\n").returncode == 0
    with (place.data / "postgresql.conf").open("a") as file:
        file.write("\ninclude 'forager.conf'\n")
    (place.data / "forager.conf").write_text("listen_addresses = ''\n")
    place.log.write_text("old lines\n")
    os.chown(place.log, NOBODY, NOBODY)
    return home


OWNERS = """
SELECT DISTINCT pg_get_userbyid(owner) FROM (
    SELECT relowner AS owner FROM pg_class WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT proowner FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT typowner FROM pg_type WHERE typnamespace = 'public'::regnamespace
    UNION ALL SELECT datdba FROM pg_database WHERE datname = 'forager') AS o
"""


def test_a_home_of_the_version_before_is_closed_at_its_next_start(old_home: Path) -> None:
    place = Place.of(old_home)
    for _ in range(2):
        seat = embedded.join(old_home)
        owner = place.data.stat().st_uid
        assert pwd.getpwuid(owner).pw_name == account.SERVICE
        strangers = [path for path in place.data.rglob("*") if path.lstat().st_uid != owner]
        assert strangers == []
        assert in_thread(_ask(seat.dsn, OWNERS)) == [(ROLE,)]
        assert in_thread(_ask(seat.dsn, "SELECT note FROM kept WHERE id = 1")) == [("of before",)]
        assert in_thread(_ask(seat.dsn, "INSERT INTO kept (note) VALUES ('new') RETURNING id > 1")) == [(True,)]
        assert in_thread(_ask(seat.dsn, "SELECT current_setting('is_superuser')")) == [("off",)]
        assert "not let in" in run_as(NOBODY, KNOCK, str(place.socket), ROLE).stderr
        seat.leave()


async def _ask(dsn: str, sql: str) -> list[tuple[object, ...]]:
    connection = await asyncpg.connect(dsn)
    try:
        return [tuple(row) for row in await connection.fetch(sql)]
    finally:
        await connection.close()


def test_an_ordinary_user_s_home_of_the_version_before_goes_on_too(old_home: Path, invite: Invite) -> None:
    os.chown(old_home, NOBODY, NOBODY)
    guest = invite(old_home, NOBODY)
    assert guest.hear() == Place.of(old_home).dsn
    assert Place.of(old_home).data.stat().st_uid == NOBODY
    os.kill(server_pid(old_home), signal.SIGKILL)
    guest.leave()
    again = invite(old_home, NOBODY)
    assert again.hear() == Place.of(old_home).dsn
    assert is_ready(old_home)
    again.leave()


def test_strangers_at_the_socket_are_no_reason_to_wait(running: Path) -> None:
    with socket.socket(socket.AF_UNIX) as knock:
        knock.connect(str(Place.of(running).socket))
        assert is_ready(running)
