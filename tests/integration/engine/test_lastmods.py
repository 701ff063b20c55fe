"""Sitemaps say that pages changed: whose visits come nearer, how that is tested, and what becomes of liars."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.builders import a_discovery, a_lane, a_reading, a_success, queues_of
from tests.ground import Ground
from tests.writers import open_writer

from forager.db.database import Database
from forager.explain.check import check
from forager.frontier.models import Lease, Target
from forager.links.models import Selection
from forager.parsing.models import Listing

A = "http://a.example"
PAGES = 30
NOW = datetime.now(UTC)


class Desk:
    """A worker with one leased domain whose pages were read an hour ago and are to be visited again in a day."""

    def __init__(self, ground: Ground, database: Database, run: int, worker: int, lease: Lease) -> None:
        self.ground, self.run, self.worker, self.lease = ground, run, worker, lease
        queue = a_lane(lease.domain_id, domain="a.example", revisit_every_s=86_400.0)
        self.queues = queues_of(worker, queue)
        self.writer = open_writer(database, run, queues=self.queues)

    async def read_all(self) -> Target:
        """Answers the sitemap, the one page that is due."""
        targets = await self.ground.targets(self.lease, self.worker, self.run, 100)
        await self.writer.write([a_success(target, reading=a_reading(content_hash=b"1" * 16)) for target in targets])
        await self.ground.conn.execute("UPDATE pages SET fetched_at = now() - interval '1 hour'")
        return targets[0]

    async def sitemap(self, *entries: tuple[int, str]) -> None:
        """It is read again, and says when these pages changed."""
        await self.ground.conn.execute(
            "UPDATE crawl_tasks t SET scheduled_for = now() FROM pages p"
            " WHERE p.id = t.page_id AND t.outcome IS NULL AND p.url LIKE '%/0'"
        )
        due = await self.targets()
        (target,) = [each for each in due if each.url == f"{A}/0"]
        links = [
            a_discovery(f"{A}/{number}", rel="sitemap")._replace(anchor=lastmod, domain="a.example")
            for number, lastmod in entries
        ]
        reading = a_reading(content_hash=b"1" * 16, listing=Listing("sitemap"))
        await self.writer.write([a_success(target, reading=reading, selection=Selection(links))])

    async def targets(self) -> list[Target]:
        return await self.ground.targets(self.lease, self.worker, self.run, 100)

    async def due(self) -> set[str]:
        rows = await self.ground.conn.fetch(
            "SELECT p.url FROM crawl_tasks t JOIN pages p ON p.id = t.page_id"
            " WHERE t.outcome IS NULL AND t.scheduled_for <= now() AND t.locked_at IS NULL"
        )
        return {row["url"].removeprefix(A) for row in rows}

    async def visit(self, *, is_changed: bool) -> int:
        """All that is due."""
        targets = await self.targets()
        outcomes = [a_success(target, reading=a_reading(), is_changed=is_changed) for target in targets]
        await self.writer.write(outcomes)
        return len(targets)

    async def counts(self) -> tuple[int, int]:
        row = await self.ground.conn.fetchrow(
            "SELECT lastmod_claims, lastmod_truths FROM domains WHERE name = 'a.example'"
        )
        return row["lastmod_claims"], row["lastmod_truths"]

    async def broken(self) -> dict[str, Any]:
        async with self.ground.conn.transaction(isolation="repeatable_read", readonly=True):
            found = [finding for verdict in await check(self.ground.conn) for finding in verdict.findings]
        return {finding.name: finding.examples for finding in found if finding.broken}


@pytest.fixture
async def desk(ground: Ground, database: Database) -> Desk:
    run = await ground.a_run()
    worker = await ground.a_worker(run)
    domain = await ground.a_domain("a.example", run=run)
    for number in range(PAGES):
        await ground.a_page(f"{A}/{number}", domain)
    made = Desk(ground, database, run, worker, await ground.a_lease(domain, worker))
    await made.read_all()
    return made


def ago(**span: float) -> str:
    return (NOW - timedelta(**span)).isoformat()


async def test_a_page_that_changed_since_it_was_read_is_visited_now(desk: Desk) -> None:
    await desk.sitemap((1, ago(minutes=5)), (2, ago(hours=5)), (3, ""), (4, "soon"), (5, ago(days=-2)))
    assert await desk.due() == {"/1"}
    assert (await desk.ground.conn.fetchval("SELECT count(*) FROM pages WHERE lastmod_at IS NOT NULL")) == 1


async def test_the_visit_tells_whether_it_was_true(desk: Desk) -> None:
    await desk.sitemap((1, ago(minutes=5)), (2, ago(minutes=6)))
    (first, second) = await desk.targets()
    assert first.past is not None
    assert first.past.is_claimed
    await desk.writer.write([a_success(first, is_changed=True), a_success(second, is_changed=False)])
    assert await desk.counts() == (2, 1)
    await desk.ground.conn.execute("UPDATE crawl_tasks SET scheduled_for = now() WHERE outcome IS NULL")
    assert not any(target.past and target.past.is_claimed for target in await desk.targets()), "tested once"


async def test_a_liar_is_not_believed_any_more_and_still_tested(desk: Desk) -> None:
    await desk.sitemap(*((number, ago(minutes=5)) for number in range(1, 6)))
    assert await desk.visit(is_changed=False) == 5
    await desk.ground.conn.execute("UPDATE pages SET fetched_at = now() - interval '1 hour'")
    await desk.sitemap(*((number, ago(minutes=2)) for number in range(1, 11)))
    assert await desk.due() == set()
    await desk.ground.conn.execute(
        "UPDATE crawl_tasks SET scheduled_for = now() WHERE outcome IS NULL AND locked_at IS NULL"
    )
    await desk.visit(is_changed=True)
    assert await desk.counts() == (15, 10)


async def test_a_sitemap_that_says_today_of_everything_costs_a_handful_of_visits(desk: Desk) -> None:
    await desk.sitemap(*((number, ago(seconds=number + 1)) for number in range(1, PAGES)))
    assert await desk.due() == {f"/{number}" for number in range(1, 21)}, "the newest first"


async def test_a_page_that_is_not_revisited_by_itself_is_visited_for_a_change(desk: Desk) -> None:
    await desk.ground.conn.execute(
        "DELETE FROM crawl_tasks t USING pages p WHERE p.id = t.page_id AND t.outcome IS NULL AND p.url NOT LIKE '%/0'"
    )
    desk.queues.add(a_lane(desk.lease.domain_id, domain="a.example"))
    await desk.sitemap((1, ago(minutes=5)), (2, ago(hours=5)))
    assert await desk.due() == {"/1"}
    assert await desk.visit(is_changed=True) == 1
    assert await desk.counts() == (1, 1)
    assert await desk.broken() == {}


async def test_what_another_domains_sitemap_says_is_not_heard(desk: Desk) -> None:
    desk.queues.add(a_lane(desk.lease.domain_id, domain="other.example", revisit_every_s=86_400.0))
    await desk.sitemap((1, ago(minutes=5)))
    assert await desk.due() == set()


async def test_a_lost_lease_moves_nothing(desk: Desk) -> None:
    links = [a_discovery(f"{A}/1", rel="sitemap")._replace(anchor=ago(minutes=5))]
    await desk.ground.conn.execute(
        "UPDATE crawl_tasks SET scheduled_for = now() WHERE outcome IS NULL AND page_id = (SELECT min(id) FROM pages)"
    )
    (target,) = await desk.targets()
    await desk.ground.conn.execute("UPDATE domains SET version = version + 1")
    await desk.writer.write([a_success(target, selection=Selection(links))])
    assert await desk.due() == set()


async def test_a_paused_task_keeps_its_time(desk: Desk) -> None:
    await desk.ground.conn.execute(
        "UPDATE crawl_tasks t SET status = 'paused' FROM pages p"
        " WHERE p.id = t.page_id AND p.url LIKE '%/1' AND t.outcome IS NULL"
    )
    await desk.sitemap((1, ago(minutes=5)))
    assert await desk.due() == set()


async def test_the_promises_hold(desk: Desk) -> None:
    await desk.sitemap((1, ago(minutes=5)), (2, ago(minutes=6)))
    assert await desk.visit(is_changed=True) == 2
    assert await desk.broken() == {}
