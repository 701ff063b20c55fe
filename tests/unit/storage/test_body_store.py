"""The shelf: each policy keeps what it says, the same is stored once, what cannot be stored is lost aloud and alone."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.builders import a_fetched
from tests.unit.storage.test_warc import AT, a_past, an_answer

from forager.errors import StoreError
from forager.fetch.models import Fetched
from forager.storage.body_store import BodyStore, open_store
from forager.storage.local import LocalLocation

PAGE = a_fetched(200, b"<p>a page", content_type="text/html")


@pytest.fixture
def body_store(tmp_path: Path) -> Iterator[BodyStore]:
    with open_store(tmp_path) as opened:
        yield opened


@pytest.mark.parametrize("policy", ["snapshot", "archive"])
def test_what_is_kept_can_be_read_again(body_store: BodyStore, policy: str) -> None:
    kept = body_store.pack(policy, PAGE, None, AT)
    assert kept is not None
    (shelved,) = body_store.store([kept])
    assert shelved.what == "stored"
    loaded = body_store.load(shelved.ref or "", PAGE.url)
    assert (loaded.url, loaded.status_code, loaded.body) == (PAGE.url, 200, PAGE.body)
    assert loaded.content_type == "text/html"


def test_signals_keep_nothing(body_store: BodyStore, tmp_path: Path) -> None:
    assert body_store.pack("signals", PAGE, None, AT) is None
    assert not (tmp_path / "bodies").exists()


@pytest.mark.parametrize("policy", ["snapshot", "archive"])
@pytest.mark.parametrize("answer", [a_fetched(200), a_fetched(404, b"no"), a_fetched(500, b"no")])
def test_what_is_no_page_is_not_kept(body_store: BodyStore, policy: str, answer: Fetched) -> None:
    assert body_store.pack(policy, answer, None, AT) is None


def test_the_same_snapshot_is_stored_once(body_store: BodyStore, tmp_path: Path) -> None:
    kept = [body_store.pack("snapshot", PAGE, None, AT) for _ in range(3)]
    batch = [stored for stored in kept if stored]
    assert [shelved.what for shelved in body_store.store(batch)] == ["stored", "known", "known"]
    assert [shelved.what for shelved in body_store.store(batch[:1])] == ["known"]
    assert len(list(LocalLocation(tmp_path / "bodies").list())) == 1


def test_a_snapshot_that_was_confirmed_stays(body_store: BodyStore) -> None:
    (shelved,) = body_store.store([body_store.pack("snapshot", PAGE, None, AT)])  # type: ignore[list-item]
    confirmed = body_store.pack("snapshot", a_fetched(304), a_past(shelved.ref), AT)
    assert confirmed is not None
    (again,) = body_store.store([confirmed])
    assert (again.ref, again.what) == (shelved.ref, "known")


def test_a_snapshot_that_is_gone_cannot_be_confirmed(body_store: BodyStore) -> None:
    gone = body_store.pack("snapshot", a_fetched(304), a_past("snapshot:" + "0" * 64), AT)
    assert gone is not None
    (shelved,) = body_store.store([gone])
    assert (shelved.ref, shelved.what) == (None, "lost:missing")


def test_a_policy_that_was_changed_confirms_what_there_is(body_store: BodyStore) -> None:
    (old,) = body_store.store([body_store.pack("snapshot", PAGE, None, AT)])  # type: ignore[list-item]
    kept = body_store.pack("archive", an_answer(b"", status_code=304), a_past(old.ref), AT)
    assert kept is not None
    assert body_store.store([kept])[0].ref == old.ref


@pytest.fixture
def full_home(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", folder], capture_output=True, check=False
    ).returncode:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize("policy", ["snapshot", "archive"])
def test_a_full_disk_loses_bodies_and_nothing_else(full_home: Path, policy: str) -> None:
    """What is stored is good, what is lost says why, and when there is room again it goes on."""
    ballast = full_home / "ballast"
    with open_store(full_home) as body_store:
        first = body_store.pack(policy, PAGE, None, AT)
        assert first is not None
        (stored,) = body_store.store([first])
        ballast.write_bytes(bytes(shutil.disk_usage(full_home).free))
        other = body_store.pack(policy, a_fetched(200, os.urandom(9000)), None, AT)
        assert other is not None
        for _ in range(3):
            (lost,) = body_store.store([other])
            assert (lost.ref, lost.what) == (None, "lost:disk_full")
        ballast.unlink()
        (again,) = body_store.store([other])
        assert again.what == "stored"
        for ref in (stored.ref, again.ref):
            assert body_store.load(ref or "", PAGE.url).body
    with open_store(full_home) as body_store:
        assert body_store.load(stored.ref or "", PAGE.url).body == PAGE.body


@pytest.mark.parametrize("ref", ["", "snapshot:../../../etc/passwd", "warc:x.warc.gz:0:1", "file:///etc/passwd"])
def test_no_ref_reads_anything_else(body_store: BodyStore, ref: str) -> None:
    with pytest.raises(StoreError):
        body_store.load(ref, PAGE.url)


def test_batches_that_are_stored_at_once_do_not_overwrite_each_other(body_store: BodyStore) -> None:
    """What was held back while the disk was full is tried again beside the next batch."""
    pages = [
        a_fetched(200, b"<p>page %d of many" % number * 50, url=f"http://a.example/{number}", content_type="text/html")
        for number in range(400)
    ]
    kept = [body_store.pack("archive", page, None, AT) for page in pages]
    batches = [[stored for stored in kept[at : at + 10] if stored] for at in range(0, len(kept), 10)]
    with ThreadPoolExecutor(8) as threads:
        shelved = [each for batch in threads.map(body_store.store, batches) for each in batch]
    for page, stored in zip(pages, shelved, strict=True):
        assert body_store.load(stored.ref or "", page.url).body == page.body


def test_a_snapshot_that_cannot_be_marked_as_used_is_stored_again(
    body_store: BodyStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file belongs to another account; the store itself takes writes."""
    (shelved,) = body_store.store([body_store.pack("snapshot", PAGE, None, AT)])  # type: ignore[list-item]
    confirmed = body_store.pack("snapshot", a_fetched(304), a_past(shelved.ref), AT)
    assert confirmed is not None
    monkeypatch.setattr(LocalLocation, "confirm", lambda _place, _keys: set())
    (again,) = body_store.store([confirmed])
    assert (again.ref, again.what, again.error) == (shelved.ref, "known", None)
