"""The content policies on a bucket: snapshots are put there, archive files move there once they are closed."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.acceptance.stage import until
from tests.integration.objects.server import BUCKET, ObjectServer
from tests.unit.storage.test_warc import AT, an_answer, files_of, keep
from warcio.archiveiterator import ArchiveIterator

from forager.errors import StoreError
from forager.storage.body_store import open_readonly_store, open_store
from forager.storage.bucket import Bucket, parse_bucket
from forager.storage.migrator import WarcMover
from forager.storage.objects import BucketLocation
from forager.storage.upload import PART_BYTES

BIG = "forager-20260101000000-00000000.warc.gz"


def test_snapshots_are_in_the_bucket_and_nowhere_else(bucket: Bucket, tmp_path: Path) -> None:
    with open_store(tmp_path, bucket=bucket) as body_store:
        packed = body_store.pack("snapshot", an_answer(b"one page"), None, AT)
        assert packed is not None
        (first,) = body_store.store([packed])
        (again,) = body_store.store([packed])
        assert (first.what, again.what) == ("stored", "known")
        assert first.ref == again.ref
    assert not (tmp_path / "bodies").exists()
    elsewhere = open_readonly_store(tmp_path / "another machine", bucket)
    assert elsewhere.load(first.ref or "", "http://a.example/").body == b"one page"


def test_archive_files_move_when_they_are_closed(bucket: Bucket, tmp_path: Path) -> None:
    with open_store(tmp_path, bucket=bucket, warc_bytes=20_000) as body_store:
        refs = [ref for number in range(40) for ref in keep(body_store, an_answer(b"page %d" % number * 300))]
        assert all(body_store.load(ref or "", "").body for ref in refs)
    assert list((tmp_path / "bodies/warc").iterdir()) == []
    place = BucketLocation(bucket)
    names = {item.key for item in place.list("warc")}
    files = {f"warc/{(ref or '').split(':')[1]}" for ref in refs}
    assert names == files | {f"{name}.cdxj" for name in files}
    elsewhere = open_readonly_store(tmp_path / "another machine", bucket)
    for number, ref in enumerate(refs):
        assert elsewhere.load(ref or "", "").body == b"page %d" % number * 300
    lines = place.get(f"{min(files)}.cdxj").decode().splitlines()
    assert json.loads(lines[0].split(" ", 2)[2])["filename"] == min(files).removeprefix("warc/")
    saved = tmp_path / "saved.warc.gz"
    saved.write_bytes(place.get(min(files)))
    with saved.open("rb") as stream:
        kinds = [record.rec_type for record in ArchiveIterator(stream, check_digests="raise")]
    assert kinds[0] == "warcinfo"
    assert kinds.count("response") >= 1


def test_archives_of_a_dead_worker_move_with_the_next(bucket: Bucket, tmp_path: Path) -> None:
    with open_store(tmp_path) as body_store:  # before there was a bucket
        (ref,) = keep(body_store, an_answer(b"kept before"))
    assert files_of(tmp_path)
    with open_store(tmp_path, bucket=bucket):
        until(lambda: not files_of(tmp_path), "the file moved")
    assert open_readonly_store(tmp_path, bucket).load(ref or "", "").body == b"kept before"


UPLOADER = """
import sys, time
from pathlib import Path
from forager.storage import upload
from forager.storage.bucket import parse_bucket
from forager.storage.migrator import WarcMover
read = upload._parts
def slowly(*what):
    for number, piece in enumerate(read(*what)):
        if number == 3:
            print("under way", flush=True)
            time.sleep(10**6)
        yield piece
upload._parts = slowly
WarcMover(Path(sys.argv[1]), parse_bucket(sys.argv[2])).move_all()
"""


def test_an_upload_that_is_killed_leaves_no_object_and_the_file(
    objects: ObjectServer, bucket: Bucket, tmp_path: Path
) -> None:
    folder = tmp_path / "warc"
    folder.mkdir()
    content = bytes(range(256)) * (6 * PART_BYTES // 256) + b"the end"
    (folder / BIG).write_bytes(content)
    child = subprocess.Popen([sys.executable, "-c", UPLOADER, folder, str(bucket)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "under way\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    place = BucketLocation(bucket)
    with pytest.raises(StoreError, match="not there"):
        place.get(f"warc/{BIG}")
    assert list(place.list()) == []
    assert (folder / BIG).read_bytes() == content
    assert WarcMover(folder, bucket).move_all()
    assert place.get(f"warc/{BIG}") == content
    assert list(folder.iterdir()) == []


def test_a_worker_that_has_to_go_leaves_a_slow_upload_to_the_next(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forager.storage.migrator.AT_THE_END_S", -1.0)
    (tmp_path / BIG).write_bytes(b"x" * (2 * PART_BYTES))
    mover = WarcMover(tmp_path, bucket)
    mover._stop.set()
    mover._until = 0.0
    mover.start()
    mover.stop()
    assert (tmp_path / BIG).exists()
    assert list(BucketLocation(bucket).list()) == []


def test_a_server_that_dies_loses_no_archive_and_says_which_snapshots_it_cost(
    own_server: ObjectServer, tmp_path: Path
) -> None:
    bucket = parse_bucket(f"s3://{BUCKET}/x")
    with open_store(tmp_path, bucket=bucket) as body_store:
        (before,) = keep(body_store, an_answer(b"before"))
        packed = [body_store.pack("snapshot", an_answer(b"%d" % number), None, AT) for number in range(100)]
        kept = [shelved.what for shelved in body_store.store([each for each in packed[:50] if each])]
        assert kept == ["stored"] * 50
        own_server.kill()
        lost = body_store.store([each for each in packed if each])
        assert {shelved.what for shelved in lost} == {"lost:store_away"}
        assert {shelved.ref for shelved in lost} == {None}
        (meanwhile,) = keep(body_store, an_answer(b"meanwhile"))
        body_store.close()
        assert not WarcMover(tmp_path / "bodies/warc", bucket).move_all()
        assert len(files_of(tmp_path)) == 1
        own_server.start()
        again = [shelved.what for shelved in body_store.store([each for each in packed if each])]
        assert again == ["known"] * 50 + ["stored"] * 50
        assert WarcMover(tmp_path / "bodies/warc", bucket).move_all()
    assert files_of(tmp_path) == []
    elsewhere = open_readonly_store(tmp_path / "another machine", bucket)
    assert elsewhere.load(before or "", "").body == b"before"
    assert elsewhere.load(meanwhile or "", "").body == b"meanwhile"
