"""Snapshots: the same answer is one file, and nothing but what was stored is ever given back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import a_fetched

from forager.errors import StoreError
from forager.storage import snapshot
from forager.storage.refs import SnapshotRef

URL = "http://a.example/x"


@given(st.binary(max_size=2000), st.booleans())
def test_what_reading_needs_comes_back(body: bytes, is_truncated: bool) -> None:
    fetched = a_fetched(200, body, content_type="text/html; charset=latin1", x_robots_tag="noindex", server="x")
    kept = snapshot.pack(fetched)
    found = snapshot.unpack(kept.blob, SnapshotRef(kept.digest), URL)
    assert (found.url, found.status_code, found.body) == (URL, 200, body)
    assert found.headers == {"content-type": "text/html; charset=latin1", "x-robots-tag": "noindex"}


def test_the_same_answer_is_the_same_file_whatever_the_date_and_url() -> None:
    one = snapshot.pack(a_fetched(200, b"page", url="http://a.example/1", content_type="text/html", date="Monday"))
    other = snapshot.pack(a_fetched(200, b"page", url="http://b.example/2", content_type="text/html", date="Tuesday"))
    assert one.digest == other.digest
    assert snapshot.pack(a_fetched(200, b"page", content_type="text/plain")).digest != one.digest


@pytest.mark.parametrize("at", [0, 5, 20, -1])
def test_one_wrong_bit_is_found(at: int) -> None:
    kept = snapshot.pack(a_fetched(200, b"a page " * 50, content_type="text/html"))
    blob = bytearray(kept.blob)
    blob[at] ^= 1
    for damaged in (bytes(blob), kept.blob[:-3], b"", b"not at all"):
        with pytest.raises(StoreError) as error:
            snapshot.unpack(damaged, SnapshotRef(kept.digest), URL)
        assert error.value.reason == "damaged"


def test_a_bomb_in_the_store_is_damage_and_no_flood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "MOST_BYTES", 1000)
    kept = snapshot.pack(a_fetched(200, bytes(10_000_000)))
    with pytest.raises(StoreError):
        snapshot.unpack(kept.blob, SnapshotRef(kept.digest), URL)


def test_a_screenshot_is_stored_with_the_page() -> None:
    page = a_fetched(200, b"<p>x", URL)
    plain, shown = snapshot.pack(page), snapshot.pack(page, b"jpeg")
    assert plain.digest != shown.digest
    assert snapshot.get_screenshot(shown.blob, SnapshotRef(shown.digest)) == b"jpeg"
    assert snapshot.get_screenshot(plain.blob, SnapshotRef(plain.digest)) is None
    assert snapshot.unpack(shown.blob, SnapshotRef(shown.digest), page.url).body == b"<p>x"
