"""Canonical URLs and twins: pages with the same content are one, and nothing is lost where a site lies about it."""

from dataclasses import dataclass
from typing import Any

import pytest
from tests.builders import a_lane, a_reading, a_success, queues_of
from tests.ground import Ground
from tests.writers import open_writer

from forager.db.database import Database
from forager.engine.writer import Writer
from forager.errors import StatusError
from forager.frontier.models import Outcome, OutcomeKind, Target
from forager.links.models import Discovery, Selection
from forager.pages.links import SQL
from forager.robots.rules import parse
from forager.urls.normalize import url_key

HOME = "https://a.example/"


@dataclass
class Site:
    """A domain under a lease, whose pages are read as the test says."""

    ground: Ground
    database: Database
    run: int
    worker: int
    domain: int
    writer: Writer
    lane: Any

    async def read(self, url: str, text: str = "same", *links: str, canonical: str | None = None, **more: Any) -> int:
        target = await self.claim(url)
        reading = a_reading(title=text, content_hash=text.encode().ljust(16, b"\0"), canonical=canonical, **more)
        await self.writer.write([a_success(target, *links, reading=reading)])
        return target.page_id

    async def redirect(self, url: str, to: str) -> int:
        target = await self.claim(url)
        link = Discovery(to, url_key(to), "a.example", 0, 1, "", "redirect")
        await self.writer.write([Outcome(target, OutcomeKind.SUCCESS, 301, selection=Selection([link]))])
        return target.page_id

    async def lose(self, url: str) -> None:
        target = await self.claim(url)
        await self.writer.write([Outcome(target, OutcomeKind.BLOCKED_4XX, 404, StatusError(404))])

    async def claim(self, url: str) -> Target:
        """The page's open task, or a new one."""
        conn = self.ground.conn
        page = await conn.fetchval("SELECT id FROM pages WHERE url = $1", url)
        if page is None:
            page = await self.ground.a_page(url, self.domain)
        elif (await self.ground.page(page))["status"] != "discovered":
            await conn.execute(
                "INSERT INTO crawl_tasks (page_id, domain_id) VALUES ($1, $2)"
                " ON CONFLICT (domain_id, page_id) WHERE outcome IS NULL DO UPDATE SET scheduled_for = now()",
                *(page, self.domain),
            )
        targets = await self.ground.targets(self.lane.lease, self.worker, self.run)
        for other in targets:
            if other.page_id != page:
                await conn.execute(
                    "UPDATE crawl_tasks SET locked_at = NULL, locked_by = NULL, status = 'pending' WHERE id = $1",
                    other.task_id,
                )
        return next(target for target in targets if target.page_id == page)

    async def duplicate_of(self, page: int) -> int | None:
        found: int | None = (await self.ground.page(page))["duplicate_of"]
        return found

    async def origin(self) -> str | None:
        found: str | None = (await self.ground.domain(self.domain))["site_origin"]
        return found


@pytest.fixture
async def site(ground: Ground, database: Database) -> Site:
    return await open_site(ground, database)


async def open_site(ground: Ground, database: Database, **lease: Any) -> Site:
    run = await ground.a_run()
    worker = await ground.a_worker(run)
    domain = await ground.a_domain(run=run, status="active")
    held = await ground.a_lease(domain, worker)
    lane = a_lane(domain, version=held.version, domain="a.example", **lease)
    for origin in ("http://a.example", "https://a.example", "https://www.a.example"):
        lane.robots.save(origin, parse("").rules_for("x"))
    return Site(ground, database, run, worker, domain, open_writer(database, run, queues=queues_of(worker, lane)), lane)


async def test_a_page_with_the_content_of_its_canonical_url_is_a_duplicate(site: Site) -> None:
    canonical = await site.read("https://a.example/x")
    page = await site.read("https://a.example/x?sort=1", canonical="https://a.example/x")
    assert await site.duplicate_of(page) == canonical
    assert await site.duplicate_of(canonical) is None


async def test_the_order_of_visits_does_not_matter(site: Site) -> None:
    page = await site.read("https://a.example/x?sort=1", canonical="https://a.example/x")
    assert await site.duplicate_of(page) is None
    canonical = await site.read("https://a.example/x")
    assert await site.duplicate_of(page) == canonical


async def test_nearly_the_same_text_under_the_same_title_is_enough(site: Site) -> None:
    canonical = await site.read("https://a.example/x", simhash=0b1011)
    near = await site.read("https://a.example/x?1", "same", canonical="https://a.example/x", simhash=0b1000)
    await site.ground.conn.execute("UPDATE pages SET content_hash = '\\x01' WHERE id = $1", near)
    await site.read("https://a.example/x", simhash=0b1011)
    assert await site.duplicate_of(near) == canonical
    far = await site.read("https://a.example/x?2", "other", canonical="https://a.example/x", simhash=0b1011)
    assert await site.duplicate_of(far) is None, "its title is another"


async def test_pages_that_all_name_the_home_page_are_no_duplicates_of_it(site: Site) -> None:
    await site.read(HOME, "home")
    for number in range(3):
        page = await site.read(f"https://a.example/{number}", f"text {number}", canonical=HOME)
        assert await site.duplicate_of(page) is None


async def test_another_host_a_loop_a_chain_and_a_page_that_is_gone_mark_nothing(site: Site) -> None:
    pages = [
        await site.read("https://a.example/other", canonical="https://b.example/"),
        await site.read("https://a.example/1", canonical="https://a.example/2"),
        await site.read("https://a.example/2", canonical="https://a.example/1"),
        await site.read("https://a.example/self", canonical="https://a.example/self"),
        await site.read("https://a.example/3", canonical="https://a.example/4"),
        await site.read("https://a.example/4", canonical="https://a.example/other"),
    ]
    await site.lose("https://a.example/gone")
    pages.append(await site.read("https://a.example/5", canonical="https://a.example/gone"))
    assert [await site.duplicate_of(page) for page in pages] == [None] * len(pages)


async def test_a_mark_lasts_no_longer_than_its_reason(site: Site) -> None:
    canonical = await site.read("https://a.example/x")
    page = await site.read("https://a.example/x?1", canonical="https://a.example/x")
    assert await site.duplicate_of(page) == canonical
    await site.read("https://a.example/x?1", "now different", canonical="https://a.example/x")
    assert await site.duplicate_of(page) is None
    await site.read("https://a.example/x?1", canonical="https://a.example/x")
    assert await site.duplicate_of(page) == canonical
    await site.lose("https://a.example/x")
    assert await site.duplicate_of(page) is None


async def test_duplicates_are_not_revisited_until_their_page_is_gone(ground: Ground, database: Database) -> None:
    site = await open_site(ground, database, revisit_every=3600.0)
    canonical = await site.read("https://a.example/x")
    page = await site.read("https://a.example/x?1", canonical="https://a.example/x")
    assert [t["status"] for t in await ground.tasks(canonical)] == ["completed", "pending"]
    assert [t["status"] for t in await ground.tasks(page)] == ["completed"]
    await site.lose("https://a.example/x")
    assert [t["status"] for t in await ground.tasks(page)] == ["completed", "pending"]


async def test_links_of_a_duplicate_are_followed(site: Site) -> None:
    await site.read("https://a.example/x")
    await site.read("https://a.example/x?1", "same", "https://a.example/only-here", canonical="https://a.example/x")
    assert "https://a.example/only-here" in await site.ground.urls()


async def test_twins_with_the_same_content_become_one_site(site: Site) -> None:
    for number in range(3):
        worse = await site.read(f"http://a.example/{number}", f"text {number}")
        better = await site.read(f"https://a.example/{number}", f"text {number}")
        assert await site.duplicate_of(worse) == better
    assert await site.origin() == "https://a.example"
    await site.read("https://a.example/9", "nine", "http://a.example/new", "http://www.a.example/new")
    assert {url for url in await site.ground.urls() if url.endswith("/new")} == {"https://a.example/new"}


async def test_a_site_that_redirects_is_known_under_where_it_leads(site: Site) -> None:
    for number in range(2):
        await site.redirect(f"http://a.example/{number}", f"https://www.a.example/{number}")
        await site.read(f"https://www.a.example/{number}", f"text {number}")
    assert await site.origin() == "https://www.a.example"
    page = await site.read("https://www.a.example/9", "nine", "http://a.example/new")
    assert "http://a.example/new" not in await site.ground.urls()
    (link,) = await site.ground.conn.fetch(
        "SELECT p.url FROM page_links l JOIN pages p ON p.id = l.to_page_id WHERE l.from_page_id = $1", page
    )
    assert link["url"] == "https://www.a.example/new"


async def test_a_redirect_back_is_followed_as_it_is(site: Site) -> None:
    await site.ground.conn.execute("UPDATE domains SET site_origin = 'https://a.example' WHERE id = $1", site.domain)
    await site.redirect("https://a.example/old", "http://a.example/old")
    assert "http://a.example/old" in await site.ground.urls()


async def test_another_worker_takes_links_under_the_origin_that_was_found(
    site: Site, ground: Ground, database: Database
) -> None:
    await ground.conn.execute("UPDATE domains SET site_origin = 'https://a.example' WHERE id = $1", site.domain)
    other = open_writer(database, site.run)
    link = Discovery("http://www.a.example/y", url_key("http://www.a.example/y"), "a.example", 1, 0, "", "a")
    learned = await other.learn([link])
    page = await ground.page(learned.page_ids[link.key])
    assert page["url"] == "https://a.example/y"
    again = await other.learn([link])
    assert again.page_ids[link.key] == page["id"]
    assert not again.new


async def test_different_twins_stay_two_pages(site: Site) -> None:
    for number in range(4):
        worse = await site.read(f"http://a.example/{number}", f"http {number}")
        await site.read(f"https://a.example/{number}", f"https {number}")
        assert await site.duplicate_of(worse) is None
    assert await site.origin() is None


async def test_a_page_that_fails_for_now_keeps_its_duplicates(ground: Ground, database: Database) -> None:
    site = await open_site(ground, database, revisit_every=3600.0)
    canonical = await site.read("https://a.example/x")
    page = await site.read("https://a.example/x?1", canonical="https://a.example/x")
    target = await site.claim("https://a.example/x")
    await site.writer.write([Outcome(target, OutcomeKind.BLOCKED_5XX, 503, StatusError(503), retry_in_s=60.0)])
    assert await site.duplicate_of(page) == canonical


async def test_duplicates_of_a_deleted_page_are_pages_of_their_own(site: Site) -> None:
    canonical = await site.read("https://a.example/x")
    page = await site.read("https://a.example/x?1", canonical="https://a.example/x")
    await site.ground.conn.execute("SELECT set_config('forager.purge', 'on', false)")
    await site.ground.conn.execute("DELETE FROM pages WHERE id = $1", canonical)
    assert await site.duplicate_of(page) is None


async def test_links_out_of_scope_are_stored_and_never_known(site: Site) -> None:
    target = await site.claim("https://a.example/x")
    away = Discovery("https://b.example/y", url_key("https://b.example/y"), "b.example", 1, 0, "Away", "a nofollow")
    await site.writer.write([a_success(target, selection=Selection((), {"scope": 1}, [away]))])
    assert "https://b.example/y" not in await site.ground.urls()
    (row,) = await site.ground.conn.fetch(SQL["external_links_from"], target.page_id, None)
    assert dict(row) == {"url": "https://b.example/y", "anchor": "Away", "rel": "a nofollow", "position": 0}
    await site.read("https://a.example/x", "no longer")
    assert await site.ground.conn.fetch(SQL["external_links_from"], target.page_id, None) == []
