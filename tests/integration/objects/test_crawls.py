"""Crawls that keep bodies in a bucket, as a person runs them: killed and resumed, and the server killed meanwhile."""

import json
import random
import time
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from tests.acceptance.conftest import NETWORK, OpenWeb
from tests.acceptance.stage import SMALL, Forager, tell, until
from tests.integration.objects.server import BUCKET, ObjectServer
from tests.integration.storage.kept import REFS, home_of, refs_of
from tests.integration.storage.test_kept_bodies import PASS_TIME, kept_of

from forager import clock
from forager.parsing import page as parser
from forager.storage.body_store import open_readonly_store
from forager.storage.bucket import parse_bucket
from forager.storage.objects import DAY, BucketLocation

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]
UNPACED = {"FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK}


@pytest.fixture
def url(objects: ObjectServer, forager: Forager) -> str:
    """Its bodies are in a folder of a bucket."""
    return use(forager, objects)


def use(forager: Forager, objects: ObjectServer) -> str:
    url = f"s3://{BUCKET}/{uuid.uuid4().hex}"
    forager.environ |= objects.environ | {"FORAGER_STORAGE_BUCKET": url}
    return url


def assert_readable(forager: Forager, url: str, home: Path | None = None) -> int:
    """Every ref leads to the body its page was read from, on any machine; answers how many there are."""
    rows = forager.ask(REFS)
    body_store = open_readonly_store(home or Path("/nonexistent"), parse_bucket(url))
    for row in rows:
        reading = parser.read(body_store.load(row["body_ref"], row["url"]), keyword_words=10)
        assert reading.content_hash.hex() == row["hash"], row["url"]
    return len(rows)


@pytest.mark.parametrize("policy", ["snapshot", "archive"])
def test_everything_killed_in_the_middle_and_resumed(
    forager: Forager, url: str, open_web: OpenWeb, rng: random.Random, policy: str
) -> None:
    web = open_web("uniform=4x15")
    command = (*web.urls, "--workers", "2", "--keep", policy, "-o", "out.jsonl")
    crawl = forager.start(*command, **SMALL | UNPACED)
    web.wait_past(20 + rng.randrange(20))
    time.sleep(rng.uniform(0, 0.1))  # puts, rows and tasks are hit in all their phases
    crawl.kill_all()
    forager.check()
    forager.start(*command, **SMALL | UNPACED).finish()
    forager.check()
    assert forager.pages() == web.key.expected_success()
    assert set(refs_of(forager)) == web.key.expected_success()
    tell(f"{assert_readable(forager, url)} refs are readable")
    left = home_of(forager) / "bodies"
    assert [path for path in left.rglob("*") if path.is_file()] == []
    said = forager.run("bodies").stderr
    assert f"In {url}." in said
    forager.do("replay", "--shadow")
    forager.do("export", "warc", "-o", "out.warc.gz")
    assert (forager.folder / "out.warc.gz").stat().st_size > 1000


def test_a_server_that_dies_pauses_the_crawl_until_it_is_back(
    forager: Forager, own_server: ObjectServer, open_web: OpenWeb
) -> None:
    url = use(forager, own_server)
    web = open_web("docs=20")
    crawl = forager.start(*web.urls, "--delay", "0.05", "--keep", "snapshot", "-o", "out.jsonl", **SMALL)
    web.wait_past(12)
    own_server.kill()
    until(lambda: forager.ask("SELECT FROM workers WHERE pause_reason = 'store_unavailable'"), "the worker is paused")
    own_server.start()
    crawl.finish()
    assert forager.pages() == web.key.expected_success()
    assert set(refs_of(forager)) == web.key.expected_success()
    assert kept_of(forager).keys() <= {"stored", "known"}
    assert forager.value("SELECT sum(total_error_count) FROM domains") == 0
    assert_readable(forager, url)
    forager.check()


def test_bodies_from_before_the_bucket_are_read_and_checked(
    forager: Forager, objects: ObjectServer, open_web: OpenWeb
) -> None:
    web = open_web("news=6")
    (host,) = web.hosts
    forager.start(*web.urls, "--delay", "0", "--keep", "snapshot").finish()
    forager.do("domain", host, "set", "--keep", "snapshot", "--every", "1h")
    url = use(forager, objects)
    forager.check()
    forager.do("replay", "--shadow")
    forager.ask(PASS_TIME)
    forager.do("refresh", "--delay", "0", "-q")
    assert assert_readable(forager, url, home_of(forager)) > 0
    forager.check()


def test_retention_deletes_in_the_bucket_and_check_misses_what_somebody_else_deleted(
    forager: Forager, objects: ObjectServer, url: str, open_web: OpenWeb
) -> None:
    web = open_web("docs=8")
    forager.start(*web.urls, "--delay", "0", "--keep", "snapshot").finish()
    store, prefix = objects.store(), url.removeprefix(f"s3://{BUCKET}/")
    before = [each["path"] for portion in store.list(prefix) for each in portion]
    day = f"{clock.now() - timedelta(days=40):{DAY}}"
    kept, *old = sorted(before)
    for name in old:  # as if their last visit was long ago
        store.rename(name, f"{name.rpartition('/')[0]}/{day}")
    name_of_kept = "".join(kept.split("/")[-3:-1]).removesuffix(".zst")
    forager.ask("UPDATE bodies SET used_at = now() - interval '31 days' WHERE name <> $1", name_of_kept)
    forager.do("schedule", "run", "bodies", "--once")
    assert [each["path"] for portion in store.list(prefix) for each in portion] == [kept]
    assert forager.value("SELECT count(*) FROM bodies WHERE deleted_at IS NOT NULL") == len(old)
    forager.check()
    store.delete(kept)
    ended = forager.run("check", "--json")
    assert ended.returncode == 1
    findings = {check["name"]: check for promise in json.loads(ended.stdout)["promises"] for check in promise["checks"]}
    assert findings["bodies_stored"]["broken"] == 1
    assert f"{name_of_kept} is not in the store" in findings["bodies_stored"]["examples"][0]


def test_images_go_to_the_bucket(forager: Forager, url: str, open_web: OpenWeb) -> None:
    web = open_web("gallery=6")
    forager.start(*web.urls, "--delay", "0", "--images", "download").finish()
    stored = forager.value("SELECT count(DISTINCT body_ref) FROM images WHERE body_ref IS NOT NULL")
    found = [item.key for item in BucketLocation(parse_bucket(url)).list("images")]
    assert stored > 0
    assert len(found) == stored
    forager.check()
