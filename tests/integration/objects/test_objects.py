"""Bodies in a bucket of a real S3 server: put, read, confirmed, deleted, listed; and beside a local folder."""

import threading
from datetime import timedelta
from pathlib import Path

import pytest
from tests.integration.objects.server import ObjectServer

from forager import clock
from forager.errors import StoreError
from forager.storage.bucket import Bucket
from forager.storage.fallback import LayeredLocation
from forager.storage.local import LocalLocation
from forager.storage.objects import DAY, BucketLocation

KEY, OTHER = "ab/cdef.zst", "ab/cdef.zst2"
"""The second begins with the first."""
WARC = "warc/forager-1.warc.gz"


@pytest.fixture
def days_ago(objects: ObjectServer, bucket: Bucket) -> None:
    """KEY was put three days ago, as far as its name says it."""
    day = f"{clock.now() - timedelta(days=3):{DAY}}"
    objects.store().put(f"{bucket.prefix}/{KEY}/{day}", b"old")


def names(objects: ObjectServer, bucket: Bucket) -> list[str]:
    found = [each["path"] for portion in objects.store().list(bucket.prefix) for each in portion]
    return sorted(name.removeprefix(f"{bucket.prefix}/") for name in found)


def test_what_is_put_is_read_back_whole_and_in_pieces(place: BucketLocation) -> None:
    assert place.put({KEY: b"0123456789", OTHER: b"", WARC: b"abc"}) == {}
    assert place.get(KEY) == b"0123456789"
    assert place.get(KEY, 3, 4) == b"3456"
    assert place.get(KEY, 8) == b"89"
    assert place.get(KEY, 10, 0) == b""
    assert place.get(OTHER) == b""
    assert place.get(WARC, 1, 2) == b"bc"
    assert sorted(item.key for item in place.list()) == [KEY, OTHER, WARC]
    assert [item.size_bytes for item in place.list("ab")] == [10, 0]


def test_a_large_body_comes_back_to_the_last_bit(place: BucketLocation) -> None:
    """Beyond the size that goes in one request."""
    content = bytes(range(256)) * 50_000
    assert place.put({KEY: content}) == {}
    assert place.get(KEY) == content


@pytest.mark.parametrize("key", [KEY, WARC])
def test_what_is_not_there_is_missing_and_a_short_one_damaged(place: BucketLocation, key: str) -> None:
    with pytest.raises(StoreError, match="is not there") as missing:
        place.get(key)
    assert missing.value.reason == "missing"
    place.put({key: b"short"})
    with pytest.raises(StoreError, match="ends before byte 7") as damaged:
        place.get(key, 3, 4)
    assert damaged.value.reason == "damaged"


@pytest.mark.parametrize("key", ["../x", "/etc/passwd", "a//b", "a/../b", "a\0b", ".hidden", "x" * 500])
def test_what_is_no_key_reaches_no_server(place: BucketLocation, key: str) -> None:
    for ask in (
        lambda: place.put({key: b"x"}),
        lambda: place.get(key),
        lambda: place.confirm([key]),
        lambda: place.delete([key], unless_since=clock.now()),
        lambda: list(place.list(key)),
    ):
        with pytest.raises(StoreError, match="no key"):
            ask()


def test_many_small_bodies_are_put_at_once(place: BucketLocation) -> None:
    items = {f"{number % 7}a/{number}": str(number).encode() for number in range(300)}
    assert place.put(items) == {}
    assert place.confirm([*items, "zz/none"]) == set(items)
    assert {item.key for item in place.list()} == set(items)


def test_deleting_spares_what_was_put_since_and_says_what_is_gone(place: BucketLocation) -> None:
    place.put({KEY: b"x", WARC: b"y"})
    assert place.delete([KEY, WARC, "no/ne"], unless_since=clock.now() - timedelta(days=1)) == ["no/ne"]
    assert place.get(KEY) == b"x"
    soon = clock.now() + timedelta(minutes=5)
    assert sorted(place.delete([KEY, WARC], unless_since=soon)) == [KEY, WARC]
    assert list(place.list()) == []


@pytest.mark.usefixtures("days_ago")
def test_what_is_confirmed_counts_as_put_today(objects: ObjectServer, place: BucketLocation, bucket: Bucket) -> None:
    assert place.confirm([KEY]) == {KEY}
    assert names(objects, bucket) == [f"{KEY}/{clock.now():{DAY}}"]
    assert place.delete([KEY], unless_since=clock.now() - timedelta(days=1)) == []
    assert place.get(KEY) == b"old"


@pytest.mark.usefixtures("days_ago")
def test_what_nobody_confirmed_for_days_goes(objects: ObjectServer, place: BucketLocation, bucket: Bucket) -> None:
    assert place.delete([KEY], unless_since=clock.now() - timedelta(days=1)) == [KEY]
    assert names(objects, bucket) == []
    assert place.confirm([KEY]) == set()


@pytest.mark.usefixtures("days_ago")
def test_a_body_brought_again_while_it_is_deleted_is_there(place: BucketLocation) -> None:
    """Many times over: whoever comes first, what was put or confirmed is there afterwards."""
    since, lost = clock.now() - timedelta(days=1), []
    for number in range(20):
        key = f"race/{number}"
        day = f"{clock.now() - timedelta(days=3):{DAY}}"
        place._store.put(f"{key}/{day}", b"old")
        begin = threading.Barrier(2)

        def delete(key: str = key, begin: threading.Barrier = begin) -> None:
            begin.wait()
            place.delete([key], unless_since=since)

        deleter = threading.Thread(target=delete)
        deleter.start()
        begin.wait()
        if not place.confirm([key]):
            place.put({key: b"old"})
        deleter.join()
        try:
            assert place.get(key) == b"old"
        except StoreError:
            lost.append(key)
    assert lost == []


def test_bodies_stored_here_before_stay_readable_and_move_when_confirmed(place: BucketLocation, tmp_path: Path) -> None:
    local = LocalLocation(tmp_path)
    local.put({KEY: b"before", "ab/other": b"still here"})
    both = LayeredLocation(place, local)
    assert both.get(KEY) == b"before"
    assert both.confirm([KEY, "no/ne"]) == {KEY}
    assert place.get(KEY) == b"before"
    assert both.put({"new/one": b"new"}) == {}
    assert both.get("new/one") == b"new"
    with pytest.raises(StoreError, match="no such file"):
        local.get("new/one")
    assert {item.key for item in both.list()} == {KEY, "ab/other", "new/one"}
    soon = clock.now() + timedelta(minutes=5)
    assert sorted(both.delete([KEY, "ab/other"], unless_since=soon)) == ["ab/cdef.zst", "ab/other"]
    assert {item.key for item in both.list()} == {"new/one"}
