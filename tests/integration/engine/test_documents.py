"""A crawl that meets sitemaps and feeds goes on from their entries, by the same gates as from any page's links."""

import gzip

import pytest
from tests.integration.engine.stage import Stage, WatchedSite, serve

from forager.db.database import Database
from forager_playground import Answer

pytestmark = pytest.mark.timeout(90)
PAGE = b"<!doctype html><html lang=en><title>Told by nobody else</title><meta name=author content=Ann><p>words"


async def test_pages_that_only_sitemaps_and_feeds_know_are_crawled(database: Database) -> None:
    root = ""

    def answer(path: str, _count: int) -> Answer | None:
        index = f"<sitemapindex><sitemap><loc>{root}s.xml.gz</loc></sitemap></sitemapindex>"
        packed = f"<urlset><url><loc>{root}hidden/1</loc><lastmod>2024-03-05</lastmod></url></urlset>"
        feed = f"<rss><channel><item><title>Two</title><link>{root}hidden/2</link></item></channel></rss>"
        told = {
            "/sitemap.xml": (index.encode(), "application/xml"),
            "/s.xml.gz": (gzip.compress(packed.encode()), "application/x-gzip"),
            "/feed": (feed.encode(), "application/rss+xml"),
            "/hidden/1": (PAGE, "text/html"),
            "/hidden/2": (PAGE, "text/html"),
        }
        body, kind = told.get(path, (b"", ""))
        return Answer(body=body, content_type=kind, is_stable=False) if body else None

    async with serve(WatchedSite(1, on_request=answer)) as web:
        root = web.urls[0]
        stage = await Stage.open(database, web, f"{root}sitemap.xml", f"{root}feed")
        await stage.work(sitemaps=True, feeds=True)
        hidden = {f"{root}hidden/1", f"{root}hidden/2"}
        assert await stage.urls("status = 'fetched' AND author = 'Ann'") == hidden
        rows = await stage.fetch("SELECT url, modified_at::date::text FROM pages WHERE modified_at IS NOT NULL")
        assert [tuple(row) for row in rows] == [(f"{root}s.xml.gz", "2024-03-05")]
    assert await stage.broken_promises() == {}
