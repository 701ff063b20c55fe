"""A restore that was killed leaves no home that looks whole, and the same command finishes it."""

import json
import shutil
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.acceptance.conftest import SETTINGS
from tests.acceptance.stage import Crawl, Forager, until

from forager.db import embedded, unfinished
from forager.db.embedded.paths import Place
from forager.db.pool import CONNECTION_LOST

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]
FILES = 400
TRIES = 5
TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"


@pytest.fixture
def elsewhere(run_folder: Path, tmp_path: Path) -> Iterator[Forager]:
    """A home that does not exist yet."""
    home = run_folder / "elsewhere"
    product = Forager(tmp_path, SETTINGS | {"FORAGER_HOME": str(home)}, Place.of(home).dsn)
    yield product
    product.close()
    embedded.stop(home)
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def saved(own_forager: Forager, home: Path, tmp_path: Path) -> Path:
    """A backup of an instance with a domain and stored files."""
    own_forager.do("seed", "http://a.example/")
    bodies = home / "bodies" / "ab"
    bodies.mkdir(parents=True)
    for number in range(FILES):
        (bodies / f"{number}.zst").write_bytes(b"body")
    own_forager.do("backup", str(tmp_path / "saved"))
    return tmp_path / "saved"


def test_a_killed_restore_is_told_and_the_same_command_finishes_it(elsewhere: Forager, saved: Path) -> None:
    home = Path(elsewhere.environ["FORAGER_HOME"])
    moments: dict[str, Callable[[], bool]] = {
        "the marker is written": (home / unfinished.NAME).exists,
        "files come": (home / "bodies" / "ab").is_dir,
        "the database is there": lambda: has_tables(elsewhere),
    }
    for moment, has_come in moments.items():
        restoring = freeze_at(elsewhere, saved, has_come, moment)
        assert "is running" in elsewhere.run("domains").stderr
        restoring.kill_parent()
        refused = elsewhere.run("domains")
        assert refused.returncode == 4, refused.stdout + refused.stderr
        assert f"forager restore {saved} --into {home}" in refused.stderr
        assert elsewhere.run("check").returncode == 4

    elsewhere.do("restore", str(saved))
    assert not (home / unfinished.NAME).exists()
    assert [row["name"] for row in json.loads(elsewhere.do("domains", "--json"))] == ["a.example"]
    assert len(list((home / "bodies" / "ab").iterdir())) == FILES
    elsewhere.check()


def freeze_at(elsewhere: Forager, saved: Path, has_come: Callable[[], bool], moment: str) -> Crawl:
    """A restore that is stopped when a moment has come; on a busy machine it may be over first, and is begun again."""
    home = Path(elsewhere.environ["FORAGER_HOME"])
    for _ in range(TRIES):
        restoring = elsewhere.spawn("restore", str(saved))
        until(partial(has_come_or_ended, has_come, restoring), moment, most_s=0.02)
        if restoring.is_running:
            restoring.signal(signal.SIGSTOP)
        if restoring.is_running and (home / unfinished.NAME).exists():
            return restoring
        restoring.kill_parent()
        embedded.stop(home)
        shutil.rmtree(home)
    raise AssertionError(f"the restore was always over before {moment}: {restoring.said}")


def has_come_or_ended(has_come: Callable[[], bool], restoring: Crawl) -> bool:
    return not restoring.is_running or has_come()


def has_tables(forager: Forager) -> bool:
    try:
        return bool(forager.value(TABLES))
    except CONNECTION_LOST:
        return False
