"""The database's disk fills up, or the database becomes read-only, in the middle of work: it is unavailable like any
other, says so, and everything resumes by itself. `forager up` never ends because of it.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.acceptance.conftest import NETWORK, OpenWeb
from tests.acceptance.instance import Instance, up
from tests.acceptance.stage import Forager, tell, until

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

UNPACED = {"FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK}
SLOW = "0.05"
PIECE = bytes(64 * 1024)
END_ALL = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()"""
FETCHED = "SELECT url FROM pages WHERE status = 'fetched'"


@pytest.fixture
def small_disk(home: Path) -> Iterator[Path]:
    """The home is a disk of its own."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=250m,mode=755", "tmpfs", str(home)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small disk")
    yield home
    subprocess.run(["umount", "-l", home], check=True)


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """Not a byte more fits on it inside."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for piece in (PIECE, PIECE[:512], PIECE[:1]):
            try:
                while file.write(piece):
                    pass
            except OSError:
                continue
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def read_only(forager: Forager) -> Iterator[None]:
    """As after a fail-over: new transactions may not write. Sessions that are open have to be told."""
    name = forager.value("SELECT current_database()")
    forager.ask(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    forager.ask(END_ALL)
    try:
        yield
    finally:
        forager.ask(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
        forager.ask(END_ALL)


def fetched(forager: Forager) -> set[str]:
    return {row["url"] for row in forager.ask(FETCHED)}


def finished_well(forager: Forager) -> None:
    forager.do("audit", "politeness")
    forager.check()


def test_a_crawl_waits_while_the_disk_is_full(small_disk: Path, own_forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=10x40")
    crawl = own_forager.start(*web.urls, "--delay", SLOW, "-o", "out.jsonl")
    web.wait_past(60)
    with full(small_disk):
        until(lambda: "the database is unavailable" in crawl.said, "the crawl says what is wrong")
        asked = web.count()
        assert crawl.is_running
        assert web.count() - asked <= 1
    crawl.finish()
    tell(crawl.said[:3000])
    assert "No space left on device" in crawl.said
    assert "bug of ours" not in crawl.said
    assert own_forager.pages() == web.key.expected_success()
    finished_well(own_forager)


def test_up_stays_and_says_so_while_the_disk_is_full(small_disk: Path, own_forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=10x60")
    # At this pace the disk is full before all is fetched.
    with up(
        own_forager, "--workers", "1", FORAGER_POLITENESS_DELAY="0.1", FORAGER_POLITENESS_NO_DELAY_HOSTS=""
    ) as instance:
        own_forager.do("seed", *web.urls)
        web.wait_past(60)
        with full(small_disk):
            paused = until(lambda: in_health(instance, "the database is unavailable"), "a worker says why it is paused")
            assert "No space left on device" in paused
            assert "No space left on device" in own_forager.run("why", web.hosts[0]).stdout
            assert instance.process.is_running
        until(lambda: fetched(own_forager) == web.key.expected_success(), "everything is fetched")
        until(lambda: instance.http.get("/health").json()["parts"]["workers"]["state"] == "ok", "health is well again")
        finished_well(own_forager)
        instance.stop()
    assert "bug of ours" not in instance.process.said


def test_up_and_crawl_wait_while_the_database_is_read_only(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=10x60")
    with up(
        forager, "--workers", "1", FORAGER_POLITENESS_DELAY="0.1", FORAGER_POLITENESS_NO_DELAY_HOSTS=""
    ) as instance:
        forager.do("seed", *web.urls)
        web.wait_past(60)
        with read_only(forager):
            said = until(lambda: in_health(instance, "takes no writes"), "health names it")
            assert "read-only transaction" in said
            late = forager.run("crawl", "http://127.77.0.99:9/")
            assert (late.returncode, "The database is read-only" in late.stderr) == (5, True)
            until(lambda: "the database is unavailable" in instance.process.said, "the worker is paused")
            assert instance.process.is_running
        until(lambda: fetched(forager) == web.key.expected_success(), "everything is fetched")
        instance.stop()
    assert "bug of ours" not in instance.process.said
    finished_well(forager)


def in_health(instance: Instance, words: str) -> str:
    """What `/health` says, if that is among it."""
    said = instance.http.get("/health").text
    return said if words in said else ""


def test_a_crawl_that_cannot_begin_because_the_disk_is_full_says_so_in_one_sentence(
    small_disk: Path, own_forager: Forager
) -> None:
    own_forager.do("seed", "http://127.77.0.99:9/")
    own_forager.do("db", "stop")
    with full(small_disk):
        late = own_forager.run("crawl", "http://127.77.0.99:9/")
    assert late.returncode == 5
    (said,) = late.stderr.splitlines()
    assert "No space left on device. Make the disk take writes again" in said
    assert own_forager.run("domains").returncode == 0
