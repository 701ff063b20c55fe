"""A crawl reads the PDF files that pages link to, and goes on from the links in them; a hostile one ends alone."""

import gzip

import pytest
from tests.integration.engine.stage import Stage, WatchedSite, serve
from tests.pdf_files import a_pdf

from forager.db.database import Database
from forager_playground import Answer

pytestmark = pytest.mark.timeout(90)
TEXT = "The harbour was quiet in the morning and the boats were leaving one after the other."


async def test_linked_pdf_files_are_pages(database: Database) -> None:
    info = {"Title": "Harbour report", "Author": "Ada Lovelace", "CreationDate": "D:20240131120000Z"}
    report = a_pdf([TEXT], info=info, links=["/found/in/pdf"])

    def answer(path: str, _count: int) -> Answer | None:
        pages = {
            "/start": (b"<p><a href=report.pdf>r</a> <a href=download>f</a> <a href=packed>p</a>", "text/html"),
            "/report.pdf": (report, "application/pdf"),
            "/download": (a_pdf([TEXT], info={"Title": "Without an ending"}), "application/octet-stream"),
            "/packed": (b"PK\x03\x04" + bytes(2000), "application/octet-stream"),
            "/found/in/pdf": (b"<title>Found</title><a href=locked.pdf>l</a><a href=scan.pdf>s</a>", "text/html"),
            "/found/in/locked.pdf": (a_pdf(is_encrypted=True), "application/pdf"),
            "/found/in/scan.pdf": (a_pdf(["", ""]), "application/pdf"),
        }
        body, kind = pages.get(path, (b"", ""))
        return Answer(body=body, content_type=kind, is_stable=False) if body else None

    async with serve(WatchedSite(1, on_request=answer)) as web:
        root = web.urls[0]
        stage = await Stage.open(database, web, f"{root}start")
        await stage.work()
        rows = await stage.fetch(
            "SELECT url, title, author, language, flags, published_at::date::text AS day FROM pages"
        )
        found = {row["url"].removeprefix(root): row for row in rows}
        assert set(found) >= {"report.pdf", "download", "packed", "found/in/pdf", "found/in/scan.pdf"}
        report_row = found["report.pdf"]
        assert (report_row["title"], report_row["author"], report_row["language"], report_row["day"]) == (
            "Harbour report",
            "Ada Lovelace",
            "en",
            "2024-01-31",
        )
        assert found["download"]["title"] == "Without an ending"
        assert found["packed"]["title"] is None
        assert found["found/in/locked.pdf"]["flags"] == ["pdf", "encrypted"]
        assert found["found/in/scan.pdf"]["flags"] == ["pdf", "no_text_layer"]
        assert await stage.urls("status = 'fetched'") == {f"{root}{path}" for path in found}
    assert await stage.broken_promises() == {}


async def test_a_compressed_pdf_is_read(database: Database) -> None:
    def answer(path: str, _count: int) -> Answer | None:
        if path != "/file":
            return None
        headers = (("Content-Encoding", "gzip"),)
        body = gzip.compress(a_pdf([TEXT], info={"Title": "Packed"}))
        return Answer(body=body, content_type="application/octet-stream", headers=headers, is_stable=False)

    async with serve(WatchedSite(1, on_request=answer)) as web:
        root = web.urls[0]
        stage = await Stage.open(database, web, f"{root}file")
        await stage.work()
        assert await stage.urls("title = 'Packed'") == {f"{root}file"}
