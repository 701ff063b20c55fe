"""WARC files: read by somebody else's library, whole after a kill, rolled, indexed."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from forager.errors import StoreError
from forager.fetch.models import Fetched, RawHeads
from forager.frontier.models import Past
from forager.storage import warc_record
from forager.storage.body_store import BodyStore, open_store
from forager.storage.cdxj import index_line, surt
from forager.storage.warc_file import repair_all

AT = datetime(2026, 3, 4, 5, 6, 7, 123456, UTC)
REQUEST = b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"
HEADERS = [(b"Content-Type", b"text/html"), (b"Set-Cookie", b"a=1"), (b"Set-Cookie", b"b=2")]


def an_answer(body: bytes = b"a page", url: str = "http://a.example/", status_code: int = 200, **more: Any) -> Fetched:
    raw = RawHeads(REQUEST, more.pop("headers", HEADERS))
    return Fetched(url, status_code, {"content-type": "text/html"}, body, len(body), 1, raw=raw, **more)


@pytest.fixture
def body_store(tmp_path: Path) -> Iterator[BodyStore]:
    with open_store(tmp_path, user_agent="Forager/test") as opened:
        yield opened


def keep(body_store: BodyStore, *answers: Fetched, past: Past | None = None) -> list[str | None]:
    kept = [body_store.pack("archive", answer, past, AT) for answer in answers]
    return [shelved.ref for shelved in body_store.store([stored for stored in kept if stored])]


def files_of(home: Path, ending: str = "") -> list[Path]:
    return sorted(home.glob(f"bodies/warc/*.warc.gz{ending}"))


def records_of(path: Path) -> list[tuple[str, Any, Any, bytes]]:
    """As warcio reads them, digests checked."""
    with path.open("rb") as stream:
        return [
            (record.rec_type, record.rec_headers, record.http_headers, record.content_stream().read())
            for record in ArchiveIterator(stream, check_digests="raise")
        ]


def a_past(ref: str | None) -> Past:
    return Past("etag", None, None, 0, 0, 0.0, body_ref=ref)


def test_another_library_reads_what_was_written(body_store: BodyStore, tmp_path: Path) -> None:
    keep(body_store, an_answer(b"first"), an_answer(b"second" * 1000, "http://a.example/2"))
    body_store.close()
    (path,) = files_of(tmp_path)
    found = records_of(path)
    assert [kind for kind, *_ in found] == ["warcinfo", "request", "response", "request", "response"]
    _, fields, http, body = found[2]
    assert body == b"first"
    assert fields.get_header("WARC-Target-URI") == "http://a.example/"
    assert fields.get_header("WARC-Date") == "2026-03-04T05:06:07.123456Z"
    assert fields.protocol == "WARC/1.1"
    assert [value for name, value in http.headers if name == "Set-Cookie"] == ["a=1", "b=2"]
    assert found[1][1].get_header("WARC-Record-ID") == fields.get_header("WARC-Concurrent-To")
    assert b"Forager/" in found[0][3]


def test_headers_that_are_no_longer_true_are_kept_under_another_name(body_store: BodyStore, tmp_path: Path) -> None:
    headers = [(b"Content-Encoding", b"gzip"), (b"Transfer-Encoding", b"chunked"), (b"Content-Length", b"3")]
    keep(body_store, an_answer(b"decoded", headers=headers))
    body_store.close()
    *_, (_, _, http, body) = records_of(files_of(tmp_path)[0])
    assert body == b"decoded"
    assert http.get_header("Content-Length") == "7"
    assert http.get_header("X-Crawler-Content-Encoding") == "gzip"
    assert http.get_header("X-Crawler-Transfer-Encoding") == "chunked"


def test_a_header_cannot_start_another_record(body_store: BodyStore, tmp_path: Path) -> None:
    evil = [(b"X", b"1\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\n"), (b"Y\r\nZ", b"\0")]
    (ref,) = keep(body_store, an_answer(b"body", headers=evil))
    assert body_store.load(ref or "", "").body == b"body"
    body_store.close()
    assert len(records_of(files_of(tmp_path)[0])) == 3


def test_the_same_body_is_a_revisit_that_leads_to_the_first(body_store: BodyStore, tmp_path: Path) -> None:
    first, second = (
        keep(body_store, an_answer(b"same", url))[0] for url in ("http://a.example/1", "http://b.example/2")
    )
    body_store.close()
    *_, (kind, fields, http, body) = records_of(files_of(tmp_path)[0])
    assert kind == "revisit"
    assert fields.get_header("WARC-Profile") == warc_record.IDENTICAL
    assert fields.get_header("WARC-Refers-To-Target-URI") == "http://a.example/1"
    assert fields.get_header("WARC-Refers-To-Date") == warc_record.date_of(AT)
    assert http.get_statuscode() == "200"
    assert body == b""
    loaded = body_store.load(second or "", "")
    assert (loaded.url, loaded.body) == ("http://b.example/2", b"same")
    assert first != second


def test_an_answer_that_nothing_has_changed_is_a_revisit(tmp_path: Path) -> None:
    """Also of another worker's record, and through a chain of them: each leads to the one that has the body."""
    ref: str | None = None
    for number in range(3):
        with open_store(tmp_path) as body_store:
            past = a_past(ref) if number else None
            ref = keep(
                body_store, an_answer(b"" if number else b"page", status_code=304 if number else 200), past=past
            )[0]
    assert ref is not None
    *_, (kind, fields, http, _) = records_of(Path(tmp_path, "bodies/warc", ref.split(":")[1]))
    assert (kind, http.get_statuscode()) == ("revisit", "304")
    assert fields.get_header("WARC-Profile") == warc_record.NOT_MODIFIED
    with open_store(tmp_path) as body_store:
        loaded = body_store.load(ref, "")
    assert (loaded.status_code, loaded.body) == (200, b"page")


def test_a_page_that_came_again_unchanged_is_a_revisit_of_an_older_file(tmp_path: Path) -> None:
    with open_store(tmp_path) as body_store:
        (first,) = keep(body_store, an_answer(b"page"))
    with open_store(tmp_path) as body_store:
        (again,) = keep(body_store, an_answer(b"page"), past=a_past(first))
        (other,) = keep(body_store, an_answer(b"new page"), past=a_past(again))
        assert [body_store.load(ref or "", "").body for ref in (first, again, other)] == [b"page", b"page", b"new page"]
    kinds = [kind for path in files_of(tmp_path) for kind, *_ in records_of(path)]
    assert kinds.count("revisit") == 1


def test_nothing_has_changed_since_nothing_is_nothing(body_store: BodyStore) -> None:
    assert body_store.pack("archive", an_answer(b"", status_code=304), a_past(None), AT) is None


def test_redirects_are_archived_and_no_task_refers_to_them(body_store: BodyStore, tmp_path: Path) -> None:
    assert keep(body_store, an_answer(b"", status_code=301, headers=[(b"Location", b"/x")])) == [None]
    body_store.close()
    *_, (kind, _, http, _) = records_of(files_of(tmp_path)[0])
    assert (kind, http.get_header("Location")) == ("response", "/x")


def test_files_are_rolled_by_size_and_by_age(tmp_path: Path) -> None:
    for limits in ({"warc_bytes": 1}, {"warc_age_s": 1e-9}):
        home = tmp_path / next(iter(limits))
        with open_store(home, **limits) as body_store:
            refs = [keep(body_store, an_answer(os.urandom(20)))[0] for _ in range(3)]
            assert [len(body_store.load(ref or "", "").body) for ref in refs] == [20] * 3
        assert len(files_of(home)) == 3
        assert not files_of(home, ".open")


# Kills ---------------------------------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from tests.unit.storage.test_warc import an_answer, keep
from forager.storage.body_store import open_store
with open_store(Path(sys.argv[1])) as shelf:
    for number in range(10**9):
        refs = keep(shelf, *(an_answer(b"page %d %d" % (number, other) * 500) for other in range(5)))
        print(*refs, flush=True)
"""


def test_a_killed_writer_leaves_whole_records(tmp_path: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    told = [writer.stdout.readline().split() for _ in range(20)]
    writer.send_signal(signal.SIGKILL)
    told += [line.split() for line in writer.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
    writer.wait()
    writer.stdout.close()
    (torn,) = files_of(tmp_path, ".open")
    with torn.open("ab") as stream:
        stream.write(torn.read_bytes()[:700])  # whatever was under way
    with open_store(tmp_path) as body_store:
        assert not files_of(tmp_path, ".open")
        (path,) = files_of(tmp_path)
        responses = [record for record in records_of(path) if record[0] == "response"]
        refs = [ref for line in told for ref in line]
        assert len(refs) >= 100
        assert all(body_store.load(ref, "").body.startswith(b"page ") for ref in refs)
        assert len(responses) >= len(refs)
    assert_indexed(path)


def assert_indexed(path: Path) -> None:
    """Each capture has its line, sorted, and the line leads to it."""
    lines = path.with_name(path.name + ".cdxj").read_text().splitlines()
    captures = [record for record in records_of(path) if record[0] in {"response", "revisit"}]
    assert lines == sorted(lines)
    assert len(lines) == len(captures)
    content = path.read_bytes()
    for line in lines:
        key, moment, fields = line.split(" ", 2)
        place = json.loads(fields)
        start, length = int(place["offset"]), int(place["length"])
        (record,) = ArchiveIterator(io.BytesIO(content[start : start + length]))
        assert record.rec_headers.get_header("WARC-Target-URI") == place["url"]
        assert key == surt(place["url"])
        assert len(moment) == 14
        assert place["filename"] == path.name


@pytest.mark.parametrize("cut", [1, 9, 40, 300])
def test_a_file_cut_anywhere_keeps_what_is_whole(tmp_path: Path, cut: int) -> None:
    body_store = open_store(tmp_path).__enter__()
    keep(body_store, *(an_answer(os.urandom(100)) for _ in range(5)))
    body_store._desk._drop()  # as a kill leaves it
    (torn,) = files_of(tmp_path, ".open")
    os.truncate(torn, torn.stat().st_size - cut)
    (name,) = repair_all(torn.parent)
    path = torn.with_name(name)
    assert 3 <= sum(kind == "response" for kind, *_ in records_of(path)) <= 4
    assert_indexed(path)


def test_a_file_without_a_whole_record_is_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "bodies/warc"
    folder.mkdir(parents=True)
    (folder / "forager-1-a.warc.gz.open").write_bytes(b"\x1f\x8b half of a first record")
    with open_store(tmp_path):
        pass
    assert list(folder.iterdir()) == []


def test_a_living_writers_file_is_left_alone(tmp_path: Path) -> None:
    with open_store(tmp_path) as body_store:
        (ref,) = keep(body_store, an_answer(b"page"))
        with open_store(tmp_path) as other:
            assert len(files_of(tmp_path, ".open")) == 1
            assert other.load(ref or "", "").body == b"page"
            keep(other, an_answer(b"other"))
        keep(body_store, an_answer(b"goes on"))
    assert len(files_of(tmp_path)) == 2
    for path in files_of(tmp_path):
        assert_indexed(path)


def test_without_an_index_it_is_made_anew(tmp_path: Path) -> None:
    body_store = open_store(tmp_path).__enter__()
    keep(body_store, an_answer(b"1"), an_answer(b"2"))
    body_store._desk._drop()
    (index,) = files_of(tmp_path, ".cdxj")
    index.unlink()
    with open_store(tmp_path):
        assert_indexed(files_of(tmp_path)[0])


# Damage --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0, 30, -10])
def test_one_wrong_bit_is_found(body_store: BodyStore, tmp_path: Path, at: int) -> None:
    (ref,) = keep(body_store, an_answer(b"a page " * 100))
    body_store.close()
    assert ref is not None
    _, name, offset, length = ref.split(":")
    path = tmp_path / "bodies/warc" / name
    content = bytearray(path.read_bytes())
    content[int(offset) + at % int(length)] ^= 1
    path.write_bytes(content)
    with pytest.raises(StoreError):
        body_store.load(ref, "")


@pytest.mark.parametrize("member", [b"", b"junk", b"\x1f\x8b\x08\x00"])
def test_what_is_no_record_is_damage(member: bytes) -> None:
    with pytest.raises(StoreError):
        warc_record.read(member)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.a.example/B?c=D", "example,a)/b?c=d"),
        ("https://a.b.example:8443/", "example,b,a:8443)/"),
        ("http://127.0.0.1:81/x", "127.0.0.1:81)/x"),
        ("http://[::1]/x", "::1)/x"),
    ],
)
def test_keys_of_the_index(url: str, key: str) -> None:
    assert surt(url) == key
    assert index_line(url, AT, 200, "text/html; charset=x", "sha256:A").startswith(f"{key} 20260304050607 {{")
