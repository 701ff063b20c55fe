"""Root and ordinary users. PostgreSQL refuses uid 0; Forager as root lends it an account, and passes closed folders."""

import os
import pwd
import subprocess
from pathlib import Path

import pytest
from tests.integration.db.guests import Invite, is_ready, server_pid

from forager.db import embedded
from forager.db.embedded import account, binaries, processes
from forager.db.embedded.paths import Place
from forager.errors import ConfigurationError


def owner_of_process(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid


def capabilities_of(pid: int) -> int:
    """Those it has and those it could take."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    effective, permitted = (int(line.split()[1], 16) for line in lines if line.startswith(("CapEff:", "CapPrm:")))
    return effective | permitted


def may_lend_the_search_right() -> bool:
    permitted = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("CapPrm:"))
    return bool(int(permitted.split()[1], 16) & 1 << 2)


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become others")
lends_search = pytest.mark.skipif(
    os.geteuid() != 0 or not may_lend_the_search_right(), reason="only root with CAP_DAC_READ_SEARCH can lend it"
)


@pytest.fixture
def closed_home(home: Path) -> Path:
    closed = home / "closed"
    closed.mkdir(mode=0o700)
    return closed / "home"


@as_root
def test_root_lends_an_account_without_any_right(made_home: Path) -> None:
    seat = embedded.join(made_home)
    pid = server_pid(made_home)
    assert owner_of_process(pid) == Place.of(made_home).data.stat().st_uid != 0
    assert capabilities_of(pid) == 0
    seat.leave()


@lends_search
def test_root_may_keep_its_home_in_a_closed_folder(closed_home: Path) -> None:
    seat = embedded.join(closed_home)
    pid = server_pid(closed_home)
    assert owner_of_process(pid) != 0
    assert capabilities_of(pid) == 1 << 2, "the right to pass closed folders, and no other"
    assert is_ready(closed_home)
    seat.leave()
    embedded.join(closed_home).leave()


@lends_search
def test_root_may_keep_forager_itself_in_a_closed_folder(
    home: Path, closed_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after `git clone` in /root. The wheel keeps its libraries beside its package."""
    package = binaries.folder().parents[1]
    for part in (package, *package.parent.glob(f"{package.name}.libs")):
        subprocess.run(["cp", "-a", str(part), str(closed_home.parent)], check=True)
    closed = closed_home.parent / binaries.folder().relative_to(package.parent)
    monkeypatch.setattr(binaries, "folder", lambda: closed)
    seat = embedded.join(home)
    assert is_ready(home)
    assert str(closed) in processes.command_of(server_pid(home))
    seat.leave()


@as_root
def test_without_a_way_through_the_closed_folder_is_named(closed_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(account.CLEAN_ENVIRONMENT, "PATH", "/nonexistent")
    with pytest.raises(ConfigurationError, match=rf"user forager cannot reach {closed_home.parent}: open that folder"):
        embedded.join(closed_home)
    assert not Place.of(closed_home).data.exists()


@lends_search
def test_an_ordinary_user_runs_it_as_itself_and_root_follows(home: Path, invite: Invite) -> None:
    uid = pwd.getpwnam("nobody").pw_uid
    theirs = home / "theirs"
    theirs.mkdir()
    os.chown(theirs, uid, uid)
    guest = invite(theirs, uid)
    assert guest.hear() == Place.of(theirs).dsn
    assert owner_of_process(server_pid(theirs)) == uid
    guest.leave()

    seat = embedded.join(theirs)
    assert owner_of_process(server_pid(theirs)) == uid, "root keeps to the owner of the cluster"
    seat.leave()

    again = invite(theirs, uid)
    assert again.hear() == Place.of(theirs).dsn, "what root left behind is no obstacle"
    again.leave()


@lends_search
@pytest.mark.parametrize("is_running", [True, False])
def test_an_ordinary_user_is_told_whose_database_it_is(made_home: Path, invite: Invite, is_running: bool) -> None:
    owner = Place.of(made_home).data.stat().st_uid
    stranger = next(uid for uid in (1, 2) if uid != owner)
    for lock in ("postgres.lock", "postgres.users"):
        (made_home / lock).touch()
    seat = embedded.join(made_home) if is_running else None
    said = invite(made_home, stranger).hear()
    assert said.startswith("ConfigurationError: The database in")
    assert "run Forager as that user, or choose another folder with FORAGER_HOME." in said
    if seat:
        seat.leave()


def test_a_system_where_no_account_can_be_created_is_told_so(made_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "SERVICE", "no-such-user")
    monkeypatch.setattr(account, "SYSTEM_PATH", "/nonexistent")
    monkeypatch.setattr(account, "CREATE_TRIES", 1)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(ConfigurationError, match=r"account 'no-such-user' .* could not be created: create it"):
        account.choose(made_home.parent / "elsewhere" / "postgres")
