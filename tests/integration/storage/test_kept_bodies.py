"""Crawls that keep bodies, as a person runs them: killed and resumed, shared by two workers, on a full disk."""

import json
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.acceptance.conftest import NETWORK, OpenWeb
from tests.acceptance.stage import SMALL, Forager, tell, until
from tests.integration.storage.kept import assert_readable, home_of, refs_of
from warcio.archiveiterator import ArchiveIterator

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

UNPACED = {"FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK}
PASS_TIME = """WITH due AS (UPDATE crawl_tasks SET scheduled_for = now() WHERE outcome IS NULL RETURNING domain_id)
               UPDATE domains SET next_crawl_after = now() WHERE id IN (SELECT domain_id FROM due) RETURNING id"""
COUNTS = "SELECT what, bodies FROM run_bodies ORDER BY what"


def kept_of(forager: Forager) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in forager.ask(COUNTS):
        found[row["what"]] = found.get(row["what"], 0) + row["bodies"]
    return found


@pytest.mark.parametrize("policy", ["snapshot", "archive"])
def test_everything_killed_in_the_middle_and_resumed(
    forager: Forager, open_web: OpenWeb, rng: random.Random, policy: str
) -> None:
    web = open_web("uniform=8x20")
    command = (*web.urls, "--workers", "2", "--keep", policy, "-o", "out.jsonl")
    crawl = forager.start(*command, **SMALL | UNPACED)
    web.wait_past(40 + rng.randrange(60))
    time.sleep(rng.uniform(0, 0.1))  # writes of files, rows and tasks are hit in all their phases
    crawl.kill_all()
    forager.check()
    forager.start(*command, **SMALL | UNPACED).finish()
    forager.check()
    assert forager.pages() == web.key.expected_success()
    assert set(refs_of(forager)) == web.key.expected_success()
    tell(f"{assert_readable(forager)} refs are readable")
    if policy == "archive":
        folder = home_of(forager) / "bodies/warc"
        assert not list(folder.glob("*.open"))
        for path in folder.glob("*.warc.gz"):
            with path.open("rb") as stream:
                for record in ArchiveIterator(stream, check_digests="raise"):
                    record.content_stream().read()


def test_the_same_page_on_two_hosts_is_stored_once_by_two_workers(forager: Forager, open_web: OpenWeb) -> None:
    """Two webs of one seed are the same but for their host names, which their pages do not name."""
    web = open_web("uniform=6x15")
    forager.start(*web.urls, "--delay", "0.02", "--workers", "2", "--keep", "snapshot").finish()
    forager.check()
    assert assert_readable(forager) == len(web.key.expected_success())
    stored = forager.value("SELECT count(*) FROM bodies")
    assert stored == len(set(refs_of(forager).values()))
    assert kept_of(forager).get("stored") == stored


def test_signals_keep_no_body(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("docs=10")
    forager.start(*web.urls, "--delay", "0").finish()
    assert refs_of(forager) == {}
    assert not (home_of(forager) / "bodies").exists()
    said = forager.run("replay")
    assert said.returncode == 1
    assert "the content policy of the settings is 'signals'" in said.stderr
    assert "forager crawl --keep snapshot" in said.stderr
    assert "No body is stored." in forager.run("bodies").stderr


def test_a_domain_says_otherwise_than_the_crawl(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=2x5")
    quiet, loud = web.hosts
    forager.do("seed", *web.urls)
    forager.do("domain", quiet, "set", "--keep", "signals")
    forager.start(*web.urls, "--delay", "0", FORAGER_STORAGE_CONTENT_POLICY="archive").finish()
    assert {url.split("/")[2] for url in refs_of(forager)} == {loud}
    said = forager.run("replay", "--domain", quiet)
    assert f"the content policy of {quiet} is 'signals'" in said.stderr


@pytest.mark.parametrize("policy", ["snapshot", "archive"])
def test_what_has_not_changed_keeps_its_body(forager: Forager, open_web: OpenWeb, policy: str) -> None:
    """The policy comes after the first visit: then the whole page is asked for once more, and after that no more."""
    web = open_web("news=6")
    (host,) = web.hosts
    forager.start(*web.urls, "--delay", "0").finish()
    forager.do("domain", host, "set", "--keep", policy, "--every", "1h")
    forager.ask(PASS_TIME)
    forager.do("refresh", "--delay", "0", "-q")
    pages = web.key.expected_success()
    assert set(refs_of(forager)) == pages
    assert forager.value("SELECT count(*) FROM crawl_tasks WHERE status_code = 304") == 0
    forager.ask(PASS_TIME)
    forager.do("refresh", "--delay", "0", "-q")
    assert forager.value("SELECT count(*) FROM crawl_tasks WHERE status_code = 304 AND body_ref IS NOT NULL") > 0
    assert set(refs_of(forager)) == pages
    assert_readable(forager)
    forager.check()


PAUSED = "SELECT pause_detail FROM workers WHERE status = 'running' AND pause_reason = 'store_unavailable'"
WITHOUT_BODY = """SELECT count(*) FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
                  WHERE t.outcome = 'success' AND t.status_code = 200 AND t.body_ref IS NULL"""
ROOM = "remount,size=64m"


@contextmanager
def a_disk_of_bodies(forager: Forager, *options: str) -> Iterator[Callable[[str], None]]:
    """The folder of bodies is a disk of its own; gives a function that mounts it anew with other options."""
    folder = home_of(forager) / "bodies"
    folder.mkdir()

    def mount(*given: str) -> int:
        command = ["mount", "-t", "tmpfs", "-o", ",".join(given), "tmpfs", str(folder)]
        return subprocess.run(command, capture_output=True, check=False).returncode

    if mount(*options):
        pytest.skip("only root may mount a disk")

    def remount(option: str) -> None:
        assert mount(option) == 0

    try:
        yield remount
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize(
    ("bad", "good", "why"),
    [("size=48k", ROOM, "no space left on device"), ("ro", "remount,rw", "read-only file system")],
    ids=["full", "read-only"],
)
@pytest.mark.parametrize("policy", ["snapshot", "archive"])
def test_a_store_that_takes_nothing_pauses_what_needs_it_and_loses_nothing(
    forager: Forager, open_web: OpenWeb, *, policy: str, bad: str, good: str, why: str
) -> None:
    web = open_web("docs=40", "uniform=1x30")
    keeps, drops = web.hosts
    forager.do("seed", *web.urls)
    forager.do("domain", drops, "set", "--keep", "signals")
    with a_disk_of_bodies(forager, bad) as remount:
        policy_of_all = {"FORAGER_STORAGE_CONTENT_POLICY": policy}
        crawl = forager.start(*web.urls, "-o", "out.jsonl", **SMALL | UNPACED | policy_of_all)
        paused = until(lambda: forager.ask(PAUSED), "the worker is paused")
        assert why in paused[0]["pause_detail"]
        pages = {url for url in web.key.expected_success() if url.split("/")[2] == drops}
        visited = f"SELECT count(*)::int FROM pages WHERE status = 'fetched' AND url LIKE 'http://{drops}/%'"
        until(lambda: forager.value(visited) == len(pages), "the domain that stores nothing goes on")
        assert f"paused: bodies cannot be stored ({paused[0]['pause_detail']})" in forager.run("workers").stdout
        assert "it resumes by itself" in forager.run("why", keeps).stdout
        asked = web.count()
        time.sleep(1.5)
        assert web.count() == asked
        remount(good)
        crawl.finish()
        assert forager.pages() == web.key.expected_success()
        assert set(refs_of(forager)) == web.key.expected_success() - pages
        assert kept_of(forager).keys() <= {"stored", "known"}
        assert web.repeated() == {}
        assert assert_readable(forager) == len(refs_of(forager))
        assert forager.value("SELECT sum(total_error_count) FROM domains") == 0
        forager.check()


def test_a_crawl_stopped_while_its_store_is_full_leaves_its_pages_open(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("docs=40")
    command = (*web.urls, "--keep", "snapshot", "-o", "out.jsonl")
    with a_disk_of_bodies(forager, "size=48k") as remount:
        crawl = forager.start(*command, **SMALL | UNPACED)
        until(lambda: forager.ask(PAUSED), "the worker is paused")
        crawl.signal(signal.SIGINT)
        crawl.wait()
        assert forager.value(WITHOUT_BODY) == 0
        forager.check()
        assert forager.do("audit", "politeness") is not None
        remount(ROOM)
        forager.start(*command, **SMALL | UNPACED).finish()
        assert set(refs_of(forager)) == web.key.expected_success()
        assert forager.pages() == web.key.expected_success()
        forager.check()


def test_check_misses_a_file_that_is_gone(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("docs=5")
    forager.start(*web.urls, "--delay", "0", "--keep", "snapshot").finish()
    (gone, *_) = (home_of(forager) / "bodies").glob("??/*.zst")
    gone.unlink()
    ended = forager.run("check", "--json")
    assert ended.returncode == 1
    findings = {check["name"]: check for promise in json.loads(ended.stdout)["promises"] for check in promise["checks"]}
    assert findings["bodies_stored"]["broken"] == 1
    assert f"{gone.parent.name}{gone.stem} is not in the store" in findings["bodies_stored"]["examples"][0]


def test_retention_deletes_what_is_old_and_nothing_that_a_newer_visit_confirmed(
    forager: Forager, open_web: OpenWeb
) -> None:
    web = open_web("docs=8")
    forager.start(*web.urls, "--delay", "0", "--keep", "snapshot").finish()
    folder = home_of(forager) / "bodies"
    files = sorted(folder.glob("??/*.zst"))
    kept, *old = (path.parent.name + path.stem for path in files)
    forager.ask("UPDATE bodies SET used_at = now() - interval '31 days' WHERE name <> $1", kept)
    fresh = old.pop()  # written by a visit that is not recorded yet
    subprocess.run(["touch", "-d", "40 days ago", *(p for p in files if p.parent.name + p.stem != fresh)], check=True)
    forager.do("schedule", "run", "bodies", "--once")
    left = {path.parent.name + path.stem for path in folder.glob("??/*.zst")}
    assert left == {kept, fresh}
    assert forager.value("SELECT count(*) FROM bodies WHERE deleted_at IS NOT NULL") == len(old)
    forager.check()
    said = forager.run("replay", "--dry-run")
    assert f"of {len(old) + 1} more the body was deleted" in said.stderr
    assert "1 page of 1 domain would be read again" in said.stderr


def test_two_workers_of_an_archive_have_a_file_each(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=6x12")
    crawl = forager.start(*web.urls, "--delay", "0.1", "--workers", "2", "--keep", "archive")
    folder = home_of(forager) / "bodies/warc"
    until(lambda: len(list(folder.glob("*.open"))) == 2, "both workers write")
    crawl.finish()
    assert len({ref.split(":")[1] for ref in refs_of(forager).values()}) == 2
    assert assert_readable(forager) == len(web.key.expected_success())
    forager.check()
    assert sorted(path.name for path in Path(folder).glob("*.gz")) == sorted(
        row["name"] for row in forager.ask("SELECT name FROM bodies WHERE kind = 'archive'")
    )


def test_a_refresh_keeps_bodies_where_it_is_told_to(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("docs=4")
    forager.start(*web.urls, "--delay", "0").finish()
    assert not refs_of(forager)
    forager.do("refresh", "--now", "--quiet", "--delay", "0", "--keep", "snapshot")
    assert len(refs_of(forager)) == len(web.key.expected_success())
