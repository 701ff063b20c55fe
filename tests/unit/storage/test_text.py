"""Stored texts: the same text is one file, damage is found, and the text of any stored body is made on demand."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import a_fetched
from tests.pdf_files import a_pdf
from tests.unit.storage.test_warc import a_past

from forager import clock
from forager.errors import StoreError
from forager.storage import snapshot, text
from forager.storage.body_store import open_store
from forager.storage.refs import TextRef, parse

URL = "http://a.example/x"
PAGE = a_fetched(200, b"<h1>A</h1><p>Some <a href=/b>words</a>.</p>", url=URL, content_type="text/html")
SAID = "# A\n\nSome [words](http://a.example/b)."


@given(st.text(max_size=500).filter(lambda said: said.isprintable()))
def test_a_text_comes_back(said: str) -> None:
    kept = text.pack(said)
    assert text.unpack(kept.blob, TextRef(kept.digest)) == said
    assert text.pack(said).digest == kept.digest
    assert kept.digest != snapshot.pack(a_fetched(200, said.encode())).digest


def test_a_damaged_text_is_not_returned() -> None:
    kept = text.pack("words " * 50)
    other = snapshot.pack(PAGE)
    for blob in (kept.blob[:-3], b"", kept.blob[:20] + b"\0" + kept.blob[21:], other.blob):
        with pytest.raises(StoreError, match="damaged"):
            text.unpack(blob, TextRef(kept.digest))


def test_the_text_of_any_stored_body(tmp_path: Path) -> None:
    now = clock.now()
    with open_store(tmp_path) as store:
        kept = [
            store.pack(policy, PAGE, None, now, markdown=SAID) for policy in ("text", "snapshot", "archive", "text")
        ]
        results = store.store([each for each in kept if each is not None])
        refs = [result.ref or "" for result in results]
        assert [result.what for result in results] == ["stored", "stored", "stored", "known"]
        assert [text.load_text(store, ref, URL) for ref in refs] == [SAID] * 4
        assert isinstance(parse(refs[0]), TextRef)
        with pytest.raises(StoreError, match="Only the text"):
            store.load(refs[0], URL)


def test_the_text_of_a_document_is_read_in_a_process_of_its_own(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        bodies = [a_pdf(["Some words of a document."]), b"%PDF-1.7 damaged"]
        fetched = [a_fetched(200, body, URL, content_type="application/pdf") for body in bodies]
        refs = [result.ref or "" for result in store.store([snapshot.pack(each) for each in fetched])]
        assert text.load_text(store, refs[0], URL) == "Some words of a document."
        assert text.load_text(store, refs[1], URL) == ""


def test_a_page_that_has_not_changed_keeps_its_text(tmp_path: Path) -> None:
    now = clock.now()
    with open_store(tmp_path) as store:
        (first,) = store.store([text.pack(SAID)])
        confirmed = store.pack("text", a_fetched(304), a_past(first.ref), now)
        assert confirmed is not None
        (again,) = store.store([confirmed])
        assert (again.ref, again.kind, again.what) == (first.ref, "text", "known")
        assert store.pack("text", PAGE, None, now) is None, "a page without a text"
