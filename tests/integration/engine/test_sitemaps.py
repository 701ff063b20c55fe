"""Sitemaps and feeds are found, followed as files of their own, and read whole; what they list is crawled."""

import gzip
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from tests.integration.engine.stage import Stage, WatchedSite, serve

from forager.db.database import Database
from forager.domains.sitemaps import count_listed, list_sitemaps
from forager.runs.models import Scope
from forager_playground import Answer

pytestmark = pytest.mark.timeout(120)
ON: dict[str, Any] = {"sitemaps": True, "feeds": True}
HTML, XML = "text/html", "application/xml"


class Files:
    """What a site serves besides its pages, by path; records what was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.files: dict[str, tuple[int, str, bytes]] = {}

    def add(self, path: str, body: str | bytes, kind: str = XML, status: int = 200) -> None:
        self.files[path] = status, kind, body.encode() if isinstance(body, str) else body

    def page(self, *paths: str, head: str = "") -> None:
        for path in paths:
            self.add(path, f"<title>{path}</title><head>{head}</head><p>Words of the page {path}.", HTML)

    def answer(self, path: str, _count: int) -> Answer | None:
        self.asked.append(path)
        if path not in self.files:
            return Answer(404, body=b"no", content_type=HTML, is_stable=False) if path != "/" else None
        status, kind, body = self.files[path]
        location = (("Location", body.decode()),) if 300 <= status < 400 else ()
        return Answer(status, body=body, content_type=kind, headers=location, is_stable=False)

    def counted(self) -> Counter[str]:
        return Counter(self.asked)


def urlset(*urls: str, lastmod: str = "") -> str:
    date = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    return "<urlset>" + "".join(f"<url><loc>{url}</loc>{date}</url>" for url in urls) + "</urlset>"


def index(*urls: str) -> str:
    return "<sitemapindex>" + "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls) + "</sitemapindex>"


Serve = Callable[[Files, str], None]


async def crawl(
    database: Database, prepare: Serve, *, robots: str | None = None, work: dict[str, Any] | None = None, **order: Any
) -> tuple[Stage, Files, str]:
    files = Files()
    site = WatchedSite(1, on_request=files.answer)
    async with serve(site) as web:
        root = web.urls[0].removesuffix("/")
        site.robots = robots.replace("ROOT", root) if robots is not None else None
        files.page("/")
        prepare(files, root)
        stage = await Stage.open(database, web, **order)
        await stage.work(**ON | (work or {}))
    return stage, files, root


async def fetched(stage: Stage, root: str) -> set[str]:
    return {url.removeprefix(root) for url in await stage.urls("status = 'fetched' AND NOT is_sitemap")}


async def test_a_site_is_crawled_by_the_index_that_its_robots_txt_names(database: Database) -> None:
    pages = [f"/p/{number}" for number in range(150)]

    def prepare(files: Files, root: str) -> None:
        files.page(*pages)
        files.add("/i.gz", gzip.compress(index(f"{root}/a.xml", f"{root}/b.txt").encode()), "application/octet-stream")
        files.add("/a.xml", urlset(*(root + path for path in pages[:120])))
        files.add("/b.txt", "\n".join(root + path for path in pages[120:]), "text/plain")

    stage, files, root = await crawl(database, prepare, robots="Sitemap: ROOT/i.gz\n")
    assert await fetched(stage, root) == {"/", *pages}, "although a page may have 100 links"
    assert "/sitemap.xml" not in files.asked
    assert await stage.broken_promises() == {}
    report = await stage.report()
    assert (report.progress.pages_ok, report.listed.sitemaps, report.listed.urls) == (151, 2, 150)
    (domain,) = await stage.fetch("SELECT * FROM domains")
    assert (domain["pages_discovered"], domain["pages_crawled"], domain["total_error_count"]) == (151, 151, 0)
    async with database.pool.acquire() as conn:
        rows = await list_sitemaps(conn, domain["name"])
        totals = await count_listed(conn, domain["name"])
    assert {row["url"].removeprefix(root): (row["found_by"], row["format"], row["urls"]) for row in rows} == {
        "/i.gz": ("robots", "index", 2),
        "/a.xml": ("index", "sitemap", 120),
        "/b.txt": ("index", "text", 30),
    }
    assert all(row["next_visit_at"] is not None for row in rows)
    assert (totals["pages"], totals["new_urls"], totals["orphans"]) == (150, 150, 150)


async def test_usual_places_are_tried_and_not_found_is_no_error(database: Database) -> None:
    stage, files, _ = await crawl(database, lambda _files, _root: None)
    assert files.counted()["/sitemap.xml"] == files.counted()["/sitemap_index.xml"] == 1
    (domain,) = await stage.fetch("SELECT * FROM domains")
    assert (domain["status"], domain["total_error_count"], domain["pages_discovered"]) == ("exhausted", 0, 1)
    report = await stage.report()
    assert (report.progress.pages_done, report.waiting, report.listed.unread) == (1, {}, 0)
    assert await stage.broken_promises() == {}
    async with database.pool.acquire() as conn:
        assert await list_sitemaps(conn, domain["name"]) == []


async def test_a_usual_place_may_redirect_and_a_page_in_its_place_is_no_sitemap(database: Database) -> None:
    def prepare(files: Files, root: str) -> None:
        files.add("/sitemap.xml", f"{root}/wp-sitemap.xml", status=301)
        files.add("/wp-sitemap.xml", urlset(f"{root}/hidden"))
        files.page("/hidden")
        files.add("/sitemap_index.xml", f"<title>Not found</title><a href='{root}/decoy'>x</a>", HTML)

    stage, files, root = await crawl(database, prepare)
    assert await fetched(stage, root) == {"/", "/hidden"}
    assert "/decoy" not in files.asked
    assert await stage.broken_promises() == {}


async def test_feeds_that_a_page_announces_are_followed(database: Database) -> None:
    def prepare(files: Files, root: str) -> None:
        link = '<link rel="alternate" type="application/rss+xml" href="/feed" title="News">'
        files.page("/", "/two", "/three", head=link)
        items = "".join(f"<item><link>{root}{path}</link></item>" for path in ("/two", "/three"))
        files.add("/feed", f"<rss><channel><link>{root}/</link>{items}</channel></rss>", HTML)

    stage, files, root = await crawl(database, prepare)
    assert await fetched(stage, root) == {"/", "/two", "/three"}
    assert files.counted()["/feed"] == 1
    assert await stage.urls("is_sitemap AND status = 'fetched'") == {f"{root}/feed"}
    assert await stage.broken_promises() == {}


@pytest.mark.parametrize(
    ("settings", "order"),
    [
        ({"sitemaps": False, "feeds": False}, {}),
        ({}, {"scope": Scope.PAGE}),
        ({}, {"max_depth": 0}),
    ],
)
async def test_nothing_is_looked_for_where_nothing_is_followed(
    database: Database, settings: dict[str, Any], order: dict[str, Any]
) -> None:
    def prepare(files: Files, root: str) -> None:
        files.page("/", head='<link rel="alternate" type="application/atom+xml" href="/feed">')

    stage, files, _ = await crawl(database, prepare, robots="Sitemap: ROOT/s.xml\n", work=settings, **order)
    assert set(files.asked) <= {"/", "/robots.txt"}
    assert await stage.broken_promises() == {}


async def test_entries_are_subject_to_the_scope_as_links_are(database: Database) -> None:
    files = Files()
    site = WatchedSite(1, on_request=files.answer)
    async with serve(site) as web:
        root = web.urls[0].removesuffix("/")
        site.robots = f"Sitemap: {root}/s.xml\n"
        files.page("/docs/a", "/docs/b", "/other")
        entries = (f"{root}/docs/a", f"{root}/docs/b", f"{root}/other", "http://elsewhere.example/")
        files.add("/s.xml", urlset(*entries))
        stage = await Stage.open(database, web, f"{root}/docs/a", scope=Scope.PREFIX, exclude=("*/b",))
        await stage.work(**ON)
    assert await fetched(stage, root) == {"/docs/a"}
    report = await stage.report()
    assert report.dropped["scope"] == 2
    assert report.dropped["excluded"] == 1


async def test_a_page_budget_is_not_charged_for_sitemaps(database: Database) -> None:
    def prepare(files: Files, root: str) -> None:
        paths = [f"/p/{number}" for number in range(20)]
        files.page(*paths)
        files.add("/s.xml", urlset(*(root + path for path in paths)))

    stage, _, root = await crawl(database, prepare, robots="Sitemap: ROOT/s.xml\n", max_pages=5)
    assert len(await fetched(stage, root)) == 5
    assert await stage.broken_promises() == {}


async def test_a_sitemap_that_a_page_links_to_is_still_a_file(database: Database) -> None:
    def prepare(files: Files, root: str) -> None:
        files.add("/", "<title>Home</title><a href='/s.xml'>Sitemap</a>", HTML)
        files.add("/s.xml", urlset(f"{root}/hidden"))
        files.page("/hidden")

    stage, files, root = await crawl(database, prepare, robots="Sitemap: ROOT/s.xml\n")
    assert await fetched(stage, root) == {"/", "/hidden"}
    assert files.counted()["/s.xml"] == 1
    assert await stage.broken_promises() == {}


async def test_indexes_that_never_end_do(database: Database) -> None:
    def prepare(files: Files, root: str) -> None:
        files.add("/i.xml", index(f"{root}/i.xml", f"{root}/j.xml"))
        files.add("/j.xml", index(f"{root}/i.xml", f"{root}/0.xml"))
        for number in range(100):
            files.add(f"/{number}.xml", index(f"{root}/{number + 1}.xml"))

    stage, files, _ = await crawl(database, prepare, robots="Sitemap: ROOT/i.xml\n", work={"max_sitemaps": 10})
    assert max(files.counted().values()) == 1
    assert (await stage.fetch("SELECT count(*)::int AS n FROM sitemaps"))[0]["n"] == 10
    assert (await stage.report()).dropped["too_many"] == 1
    assert await stage.broken_promises() == {}


async def test_an_index_of_very_many_sitemaps_is_bounded(database: Database) -> None:
    def prepare(files: Files, root: str) -> None:
        files.add("/i.xml", index(*(f"{root}/{number}.xml" for number in range(2500))))

    stage, _, _ = await crawl(database, prepare, robots="Sitemap: ROOT/i.xml\n", work={"max_sitemaps": 30})
    assert (await stage.fetch("SELECT count(*)::int AS n FROM sitemaps"))[0]["n"] == 30
    assert (await stage.report()).dropped["too_many"] == 2471
    assert await stage.broken_promises() == {}


async def test_fifty_thousand_entries_are_all_known(database: Database) -> None:
    def prepare(files: Files, root: str) -> None:
        files.add("/s.xml", urlset(*(f"{root}/p/{number}" for number in range(50_000)), lastmod="2024-01-01"))

    stage, _, _ = await crawl(database, prepare, robots="Sitemap: ROOT/s.xml\n", max_pages=5)
    (row,) = await stage.fetch("SELECT count(*)::int AS n FROM pages WHERE NOT is_sitemap")
    assert row["n"] == 50_001
    assert (await stage.report()).dropped == {}
    assert await stage.broken_promises() == {}


async def test_what_changed_is_visited_again_and_what_is_new_is_found(database: Database) -> None:
    files = Files()
    site = WatchedSite(1, on_request=files.answer)
    async with serve(site) as web:
        root = web.urls[0].removesuffix("/")
        site.robots = f"Sitemap: {root}/s.xml\n"
        files.page("/", "/old", "/same", "/new")
        files.add("/s.xml", urlset(f"{root}/old", f"{root}/same", lastmod="2020-01-01"))
        stage = await Stage.open(database, web)
        await stage.work(**ON)
        await stage.fetch("UPDATE pages SET fetched_at = now() - interval '2 days' WHERE fetched_at IS NOT NULL")
        entries = urlset(f"{root}/same", f"{root}/new", lastmod="2020-01-01")
        changed = f"<url><loc>{root}/old</loc><lastmod>{time.strftime('%Y-%m-%d')}</lastmod></url></urlset>"
        files.add("/s.xml", entries.replace("</urlset>", changed))
        await stage.fetch("UPDATE crawl_tasks SET scheduled_for = now() WHERE outcome IS NULL")
        await stage.fetch("UPDATE domains SET status = 'pending', ready_at = now(), next_crawl_after = NULL")
        files.asked.clear()
        await stage.work(**ON)
    assert files.counted() == {"/s.xml": 1, "/old": 1, "/new": 1}
    assert await stage.broken_promises() == {}


async def test_a_sitemap_on_another_host_is_read_for_the_site_that_names_it(database: Database) -> None:
    files, other = Files(), Files()
    site, host = WatchedSite(1, on_request=files.answer), WatchedSite(1, 2, on_request=other.answer)
    async with serve(site, host) as web:
        root, elsewhere = (url.removesuffix("/") for url in web.urls)
        site.robots = f"Sitemap: {elsewhere}/s.xml\n"
        files.page("/", "/hidden")
        other.page("/", "/theirs")
        other.add("/s.xml", urlset(f"{root}/hidden", f"{elsewhere}/theirs"))
        stage = await Stage.open(database, web, f"{root}/")
        await stage.work(**ON)
    assert await fetched(stage, root) == {"/", "/hidden"}
    assert set(other.asked) <= {"/robots.txt", "/s.xml"}
    async with database.pool.acquire() as conn:
        name = root.removeprefix("http://")
        assert [row["url"] for row in await list_sitemaps(conn, name)] == [f"{elsewhere}/s.xml"]
        assert (await count_listed(conn, name))["orphans"] == 1
    assert await stage.broken_promises() == {}


async def test_a_sitemap_that_fails_later_keeps_its_entries_and_is_tried_again(database: Database) -> None:
    files = Files()
    site = WatchedSite(1, on_request=files.answer)
    async with serve(site) as web:
        root = web.urls[0].removesuffix("/")
        site.robots = f"Sitemap: {root}/s.xml\n"
        files.page("/", "/hidden")
        files.add("/s.xml", urlset(f"{root}/hidden"))
        stage = await Stage.open(database, web)
        await stage.work(**ON)
        del files.files["/s.xml"]
        await stage.fetch("UPDATE crawl_tasks SET scheduled_for = now() WHERE outcome IS NULL")
        await stage.fetch("UPDATE domains SET status = 'pending', ready_at = now(), next_crawl_after = NULL")
        await stage.work(**ON)
    (row,) = await stage.fetch("SELECT p.status::text, s.urls FROM pages p JOIN sitemaps s ON s.page_id = p.id")
    assert tuple(row) == ("fetched", 1)
    (task,) = await stage.fetch(
        "SELECT scheduled_for > now() + interval '6 days' FROM crawl_tasks WHERE outcome IS NULL"
    )
    assert task[0]
    (domain,) = await stage.fetch("SELECT status::text, total_error_count FROM domains")
    assert tuple(domain) == ("exhausted", 0)
    assert await stage.broken_promises() == {}
