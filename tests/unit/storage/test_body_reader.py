"""Bodies are read in pieces and verified first: snapshots, records of WARC files, and those that refer to others."""

import os
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest

from forager.errors import StoreError
from forager.fetch.models import Fetched
from forager.storage.body_reader import HELD_BYTES, BodyReader
from forager.storage.body_store import FOLDER, open_store
from forager.storage.local import LocalLocation
from forager.storage.refs import parse

URL = "http://a.example/"
AT = datetime(2026, 11, 18, tzinfo=UTC)


def fetched(body: bytes, content_type: str = "text/html") -> Fetched:
    return Fetched(URL, 200, {"content-type": content_type}, body, len(body), 0)


def store(home: Path, policy: str, *bodies: bytes) -> list[str]:
    """References of visits with these bodies."""
    refs: list[str] = []
    with open_store(home) as body_store:
        for body in bodies:
            stored = body_store.pack(policy, fetched(body), None, AT)
            assert stored is not None
            (done,) = body_store.store([stored])
            assert done.ref is not None
            refs.append(done.ref)
    return refs


@pytest.fixture
def reader(tmp_path: Path) -> BodyReader:
    return BodyReader(LocalLocation(tmp_path / FOLDER))


@pytest.mark.parametrize("policy", ["snapshot", "archive"])
@pytest.mark.parametrize("size", [1, 5_000, HELD_BYTES + 1, 3 * HELD_BYTES])
def test_it_is_what_was_stored(tmp_path: Path, reader: BodyReader, policy: str, size: int) -> None:
    body = os.urandom(1000) * (size // 1000) + b"x" * (size % 1000)
    (ref,) = store(tmp_path, policy, body)
    opened = reader.open(ref)
    assert b"".join(opened.chunks()) == body
    assert b"".join(opened.chunks()) == body, "a second time"
    assert (opened.info.size_bytes, opened.info.status_code, opened.info.content_type) == (size, 200, "text/html")
    assert opened.read(size) == body
    with pytest.raises(StoreError, match="more than"):
        opened.read(size - 1)


def test_a_repeated_body_is_that_of_its_original(tmp_path: Path, reader: BodyReader) -> None:
    first, second = store(tmp_path, "archive", b"<p>same", b"<p>same")
    assert not reader.describe(first).is_revisit
    again = reader.open(second)
    assert again.info.is_revisit
    assert again.info.digest == reader.describe(first).digest
    assert b"".join(again.chunks()) == b"<p>same"


def test_a_huge_body_takes_little_memory(tmp_path: Path, reader: BodyReader) -> None:
    (ref,) = store(tmp_path, "snapshot", bytes(200 * 1024 * 1024))
    tracemalloc.start()
    try:
        size = sum(len(chunk) for chunk in reader.open(ref).chunks())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size == 200 * 1024 * 1024
    assert peak < 30 * 1024 * 1024


@pytest.mark.parametrize("policy", ["snapshot", "archive"])
def test_a_damaged_one_is_found_before_its_first_byte(tmp_path: Path, reader: BodyReader, policy: str) -> None:
    (ref,) = store(tmp_path, policy, os.urandom(HELD_BYTES + 5000))
    path = tmp_path / FOLDER / parse(ref).key
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(StoreError) as damaged:
        reader.open(ref)
    assert damaged.value.reason == "damaged"
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(StoreError) as short:
        reader.open(ref)
    assert short.value.reason == "damaged"
    path.unlink()
    with pytest.raises(StoreError) as missing:
        reader.open(ref)
    assert missing.value.reason == "missing"
