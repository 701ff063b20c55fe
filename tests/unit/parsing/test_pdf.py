"""PDF files become readings: text, metadata, links; whatever the bytes are, a flagged result comes out."""

from datetime import UTC, datetime

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pdf_files import a_pdf

from forager.fetch.documents import PdfSniff, is_pdf
from forager.fetch.models import Fetched
from forager.parsing.models import Reading
from forager.parsing.page import read
from forager.parsing.pdf import choose_title, parse_pdf_date, read_pdf

ENGLISH = "The harbour was quiet in the morning and the boats were leaving one after the other."


def reading(body: bytes, content_type: str = "application/pdf", **headers: str) -> Reading:
    fetched = Fetched("http://a.example/r.pdf", 200, {"content-type": content_type, **headers}, body, len(body), 1)
    return read(fetched, keyword_words=100)


def test_text_metadata_and_links_are_read() -> None:
    info = {
        "Title": "Harbour report",
        "Author": "Ada Lovelace",
        "Subject": "All about boats",
        "Keywords": "boats, harbour; quay",
        "CreationDate": "D:20240131120000+01'00'",
        "ModDate": "D:20240201",
    }
    page = reading(
        a_pdf([ENGLISH, "Second page"], info=info, links=["http://a.example/next", "relative.html"], outline=["One"])
    )
    assert page.title == page.headline == "Harbour report"
    assert (page.author, page.description, page.tags) == (
        "Ada Lovelace",
        "All about boats",
        ("boats", "harbour", "quay"),
    )
    assert page.published_at == datetime(2024, 1, 31, 11, tzinfo=UTC)
    assert page.modified_at == datetime(2024, 2, 1, tzinfo=UTC)
    assert page.language == "en"
    assert page.headings == "One"
    assert page.text.startswith("The harbour was quiet")
    assert page.text.endswith("Second page")
    assert [link.href for link in page.links] == ["http://a.example/next", "relative.html"]
    assert page.links[0].anchor.startswith("The harbour")
    assert page.flags == ("pdf",)
    (item,) = orjson.loads(page.structured_data)
    assert (item["syntax"], item["properties"]["numberOfPages"]) == ("pdf", 2)


def test_addresses_in_the_text_are_links() -> None:
    page = reading(a_pdf(["See https://a.example/written/out for more.\nand www.b.example/x, too"]))
    assert "https://a.example/written/out" in [link.href for link in page.links]
    assert read_pdf(a_pdf(links=["www.a.example/x"])).links[0].href == "http://www.a.example/x"


def test_the_language_of_little_text_is_the_declared_one() -> None:
    assert reading(a_pdf(["42 km"], language="de-AT")).language == "de-AT"


def test_a_password_is_a_flag() -> None:
    page = reading(a_pdf(is_encrypted=True))
    assert (page.flags, page.text, list(page.links)) == (("pdf", "encrypted"), "", [])


def test_pages_without_text_are_a_flag() -> None:
    assert reading(a_pdf(["", "", "3"])).flags == ("pdf", "no_text_layer")


def test_a_damaged_file_is_a_flag() -> None:
    assert reading(b"%PDF-1.7\n" + bytes(200)).flags == ("pdf", "broken_pdf")


def test_a_damaged_index_does_not_hide_the_text() -> None:
    whole = a_pdf([ENGLISH] * 5)
    at = whole.index(b"xref\n")
    assert "harbour" in reading(whole[:at] + whole[whole.index(b"trailer") :]).text
    assert reading(whole[:at]).flags == ("pdf", "broken_pdf")


def test_the_same_text_has_the_same_hash_whatever_date_is_in_the_file() -> None:
    dates = ["D:20240131120000", "D:20250131120000"]
    first, second = (reading(a_pdf([ENGLISH], info={"Title": "T", "CreationDate": date})) for date in dates)
    assert first.content_hash == second.content_hash
    assert first.content_hash != reading(a_pdf([ENGLISH + " More."], info={"Title": "T"})).content_hash


def test_it_is_recognised_by_its_bytes() -> None:
    for content_type in ("application/octet-stream", "text/html", ""):
        assert "Hello world" in reading(a_pdf(), content_type).text
    assert is_pdf(b"\xef\xbb\xbf\r\n%PDF-1.4")
    assert not is_pdf(b"about %PDF-1.4")


def test_headers_forbid_indexing() -> None:
    page = reading(a_pdf(), **{"x-robots-tag": "noindex, nofollow"})
    assert page.is_noindex
    assert page.is_nofollow


def test_reading_stops_when_it_has_enough() -> None:
    found = read_pdf(a_pdf([ENGLISH] * 20), most_characters=300)
    assert len(found.text) <= 310
    assert found.is_partial
    assert found.pages == 20
    assert read_pdf(a_pdf([ENGLISH] * 20), most_cpu_s=0).is_partial


def test_the_largest_words_replace_a_title_that_a_program_made_up() -> None:
    found = read_pdf(a_pdf([f"Annual Report 2024\n{ENGLISH}"], info={"Title": "rep_24.docx"}, title_size=30))
    assert found.title == "Annual Report 2024"


@pytest.mark.parametrize(
    ("declared", "largest", "title"),
    [
        ("Harbours", "Large", "Harbours"),
        ("", "Large", "Large"),
        ("Microsoft Word - Annual report 2024.doc", "", "Annual report 2024"),
        ("Microsoft Word - x.doc", "Large", "Large"),
        ("untitled", "", "untitled"),
        ("Untitled-1", "Large", "Large"),
        ("", "", None),
        ("Document management for small firms", "Large", "Document management for small firms"),
    ],
)
def test_titles(declared: str, largest: str, title: str | None) -> None:
    assert choose_title(declared, largest) == title


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("D:20240131120000-05'30'", datetime(2024, 1, 31, 17, 30, tzinfo=UTC)),
        ("D:20240131120000Z", datetime(2024, 1, 31, 12, tzinfo=UTC)),
        ("D:20240131120000Z00'00'", datetime(2024, 1, 31, 12, tzinfo=UTC)),
        ("2024-01-31T12:00:00+01:00", datetime(2024, 1, 31, 11, tzinfo=UTC)),
        ("D:2024", datetime(2024, 1, 1, tzinfo=UTC)),
        ("D:20241399", None),
        ("D:00000101000000", None),
        ("Tuesday", None),
        ("", None),
    ],
)
def test_dates(text: str, moment: datetime | None) -> None:
    assert parse_pdf_date(text) == moment


@given(st.text(max_size=40))
def test_any_date_is_a_moment_or_none(text: str) -> None:
    found = parse_pdf_date(text)
    assert found is None or found.tzinfo is UTC


WHOLE = a_pdf([ENGLISH] * 3, info={"Title": "T"}, links=["http://a.example/"], outline=["One", "Two"])


@given(st.lists(st.tuples(st.integers(5, len(WHOLE)), st.binary(max_size=6)), max_size=6), st.integers(0, len(WHOLE)))
@settings(max_examples=200, deadline=None)
def test_damaged_files_end_as_readings(damage: list[tuple[int, bytes]], cut: int) -> None:
    body = WHOLE
    for place, put in damage:
        body = body[:place] + put + body[place + len(put) :]
    found = read_pdf(body[: max(cut, 20)])
    assert found.flags[0] == "pdf"
    found.text.encode()
    assert "\0" not in found.text


def test_the_first_bytes_decide_about_files_of_any_type() -> None:
    sniff = PdfSniff()
    assert sniff.is_possible("application/octet-stream")
    assert not sniff.is_possible("image/png")
    assert sniff.is_wanted(b"%PDF-1.4", "") is True
    assert sniff.is_wanted(b"PK\x03\x04", "") is False
    assert sniff.is_wanted(b"%P", "") is None
    assert sniff.is_wanted(b"", "") is None
