"""Outcomes become rows: tasks closed, pages and links kept, counters moved, once and only under the lease."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from tests.builders import (
    ITEMS,
    a_detailed_reading,
    a_discovery,
    a_lane,
    a_reading,
    a_success,
    a_target,
    an_order,
)
from tests.ground import Ground
from tests.writers import open_writer

from forager.accounts.identity import operator
from forager.db.database import Database
from forager.domains.store import RobotsCopy, Visits
from forager.engine.domain_queues import DomainQueues
from forager.engine.retry_policy import find_problem
from forager.engine.writer import count_visits
from forager.errors import BrokenError, ConnectError, RobotsDeniedError, StatusError
from forager.frontier.details import get_structured_data
from forager.frontier.models import DomainFailure, Lease, Outcome, OutcomeKind, Target
from forager.links.models import Selection
from forager.products.models import Listed, Product
from forager.retention.purge import purge_domain, purge_pages
from forager.retention.purge_record import PurgeOrder

pytestmark = pytest.mark.both_servers


class Desk:
    """A worker with one leased domain of three pages, all claimed, and its writer."""

    def __init__(self, ground: Ground, database: Database, run: int, worker: int, lease: Lease) -> None:
        self.ground, self.run, self.worker, self.lease, self.domain = ground, run, worker, lease, lease.domain_id
        self.written: Mapping[tuple[int, int], int] = {}
        self.held: Mapping[tuple[int, int], bool] = {}
        self.targets: list[Target] = []
        self.queues = DomainQueues(worker)
        self.writer = open_writer(database, run, queues=self.queues)

    async def write(self, *outcomes: Outcome) -> None:
        self.written, self.held = await self.writer.write(outcomes)

    async def snapshot(self) -> dict[str, list[Any]]:
        tables = ("domains", "pages", "crawl_tasks", "page_links", "run_outcomes", "run_drops", "errors")
        runs = "SELECT links_seen, pages_learned FROM runs"
        found = {table: await self.ground.conn.fetch(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in tables}
        return found | {"runs": await self.ground.conn.fetch(runs)}


@pytest.fixture
async def desk(ground: Ground, database: Database) -> Desk:
    run = await ground.a_run()
    worker = await ground.a_worker(run)
    domain = await ground.a_domain(run=run, pages=3)
    made = Desk(ground, database, run, worker, await ground.a_lease(domain, worker))
    made.targets = await ground.targets(made.lease, worker, run)
    return made


async def test_what_is_behind_a_page_that_came_nearer_while_it_was_visited_comes_nearer_too(desk: Desk) -> None:
    """Of two pages in one batch, and of one that was claimed before somebody found the shorter way."""
    far, other, near = (replace(target, depth=5) for target in desk.targets)
    await desk.ground.conn.execute("UPDATE pages SET depth = 5")
    await desk.write(a_success(far, "http://a.example/behind"), a_success(replace(near, depth=1), far.url))
    assert await depth_of(desk, "behind") == 3
    await desk.ground.conn.execute("UPDATE pages SET depth = 2 WHERE id = $1", other.page_id)
    await desk.write(a_success(other, "http://a.example/behind_other", "http://a.example/behind"))
    assert await depth_of(desk, "behind_other") == 3
    assert await depth_of(desk, "behind") == 3


async def test_only_pages_that_may_be_visited_wake_their_domain(desk: Desk) -> None:
    deepest = an_order(desk.run).run.spec.max_depth
    near, far = desk.targets[0], replace(desk.targets[1], depth=deepest)
    draft = await desk.writer.prepare([a_success(far, "http://a.example/too/deep")])
    assert draft.domains_with_new_pages == []
    draft = await desk.writer.prepare([a_success(near, "http://a.example/near")])
    assert draft.domains_with_new_pages == [desk.domain]


async def depth_of(desk: Desk, path: str) -> int:
    sql = "SELECT depth FROM pages WHERE url = $1"
    found: int = await desk.ground.conn.fetchval(sql, f"http://a.example/{path}")
    return found


async def test_details_are_written_under_the_lease_only(desk: Desk) -> None:
    """With the visit, in its transaction; results of a lost lease are refused with all that hangs on them."""
    first, second, _ = desk.targets
    late = replace(second, lease_version=second.lease_version + 1)
    await desk.write(a_success(first, reading=a_detailed_reading()), a_success(late, reading=a_detailed_reading()))
    rows = await desk.ground.conn.fetch("SELECT page_id, headline FROM page_details")
    assert [tuple(row) for row in rows] == [(first.page_id, "A lamp")]
    assert await get_structured_data(desk.ground.conn, first.page_id) == json.loads(ITEMS)


# What is written ----------------------------------------------------------------------------------------------------


async def test_a_success_closes_its_task_and_keeps_what_was_read(desk: Desk) -> None:
    target = desk.targets[0]
    reading = a_reading(title="Tea", description="Of leaves", headings="Green", text="steep briefly", language="en")
    asked_at = datetime(2026, 1, 2, tzinfo=UTC)
    await desk.write(
        a_success(
            target,
            reading=reading,
            content_type="text/html",
            etag='"1"',
            last_modified="today",
            response_time_ms=12,
            requested_at=asked_at,
        )
    )
    task = await desk.ground.task(target.task_id)
    assert (task["status"], task["outcome"], task["status_code"]) == ("completed", "success", 200)
    assert (task["response_time_ms"], task["bytes"], task["requested_at"]) == (12, 100, asked_at)
    assert (task["locked_at"], task["locked_by"]) == (None, None)
    page = await desk.ground.page(target.page_id)
    assert (page["status"], page["title"], page["description"], page["language"]) == (
        "fetched",
        "Tea",
        "Of leaves",
        "en",
    )
    assert (page["content_hash"], page["etag"], page["last_modified"]) == (bytes(16), '"1"', "today")
    assert page["fetched_at"] is not None
    words = await desk.ground.conn.fetchval("SELECT keywords_tsv::text FROM pages WHERE id = $1", target.page_id)
    assert "'tea':1A" in words
    assert "briefli" in words


async def test_a_page_that_is_not_to_be_indexed_gets_no_keywords(desk: Desk) -> None:
    await desk.write(a_success(desk.targets[0], reading=a_reading(is_noindex=True)))
    page = await desk.ground.page(desk.targets[0].page_id)
    assert (page["status"], page["keywords_tsv"]) == ("fetched", None)


@pytest.mark.parametrize("language", ["de", "zh", "xx-nonsense", None])
async def test_keywords_are_made_in_any_language(desk: Desk, language: str | None) -> None:
    await desk.write(a_success(desk.targets[0], reading=a_reading(language=language, title="Ein Haus 房子")))
    assert (await desk.ground.page(desk.targets[0].page_id))["keywords_tsv"]


async def test_links_are_learned_and_kept_in_their_order(desk: Desk) -> None:
    target = desk.targets[0]
    urls = ["http://b.example/", "http://a.example/1", "http://a.example/new"]
    await desk.write(a_success(target, *urls))
    rows = await desk.ground.conn.fetch(
        "SELECT p.url, l.position, l.domain_id FROM page_links l JOIN pages p ON p.id = l.to_page_id"
        " WHERE l.from_page_id = $1 ORDER BY l.position",
        target.page_id,
    )
    assert [tuple(row) for row in rows] == [(url, place, desk.domain) for place, url in enumerate(urls)]
    assert (await desk.ground.page(target.page_id))["links_count"] == 3
    found = await desk.ground.conn.fetchrow("SELECT * FROM domains WHERE name = 'b.example'")
    assert (found["pages_discovered"], found["frontier_size"], found["run_id"]) == (1, 1, desk.run)
    assert found["ready_at"] is not None


@pytest.mark.parametrize(
    "anchors", [[""], ["", ""], ["", "x"], ["x", ""], ["a, b", "{c}", '"d"', "\\e", "NULL", "ü 房"], ["x"] * 1000]
)
async def test_links_keep_their_words(desk: Desk, anchors: list[str]) -> None:
    links = [
        a_discovery(f"http://a.example/{number}", rel="next" if number % 2 else "a")._replace(anchor=anchor)
        for number, anchor in enumerate(anchors)
    ]
    await desk.write(a_success(desk.targets[0], selection=Selection(links)))
    rows = await desk.ground.conn.fetch("SELECT position, rel, anchor FROM page_links ORDER BY position")
    assert [tuple(row) for row in rows] == [(at, link.rel, link.anchor) for at, link in enumerate(links)]


async def test_products_of_a_list_belong_to_the_pages_it_links_to(desk: Desk) -> None:
    def listed(url: str) -> Listed:
        return Listed(url, Product("Pot", price=Decimal(5), currency="EUR", content_hash=bytes(16)))

    urls = ["http://a.example/p/1", "http://a.example/p/unknown", "http://b.example/p/2"]
    reading = a_reading(listed=tuple(map(listed, urls)))
    await desk.write(a_success(desk.targets[0], urls[0], urls[2], reading=reading))
    rows = await desk.ground.conn.fetch(
        "SELECT pr.url, p.url AS page, pr.domain_id, pr.crawl_task_id, pr.is_listed"
        " FROM products pr JOIN pages p ON p.id = pr.page_id"
    )
    assert [tuple(row) for row in rows] == [(urls[0], urls[0], desk.domain, desk.targets[0].task_id, True)]


async def test_a_page_read_again_has_the_links_of_its_newest_reading(desk: Desk) -> None:
    target = desk.targets[0]
    await desk.write(a_success(target, "http://a.example/old", "http://a.example/both"))
    task = await desk.ground.a_task(target.page_id)
    await desk.ground.conn.execute("UPDATE domains SET frontier_size = frontier_size + 1 WHERE id = $1", desk.domain)
    (again,) = [t for t in await desk.ground.targets(desk.lease, desk.worker, desk.run) if t.task_id == task]
    await desk.write(a_success(again, "http://a.example/both", "http://a.example/new"))
    rows = await desk.ground.conn.fetch(
        "SELECT p.url FROM page_links l JOIN pages p ON p.id = l.to_page_id WHERE from_page_id = $1 ORDER BY position",
        target.page_id,
    )
    assert [row["url"] for row in rows] == ["http://a.example/both", "http://a.example/new"]


async def test_a_redirect_is_fetched_without_signals_and_has_one_link(desk: Desk) -> None:
    target = desk.targets[0]
    link = a_discovery("http://a.example/there", target.depth, redirects=1, rel="redirect")
    await desk.write(Outcome(target, OutcomeKind.SUCCESS, 301, selection=Selection([link])))
    page = await desk.ground.page(target.page_id)
    assert (page["status"], page["title"], page["links_count"]) == ("fetched", None, 1)
    there = await desk.ground.conn.fetchrow("SELECT * FROM pages WHERE url LIKE '%there'")
    assert (there["depth"], there["redirects"]) == (target.depth, 1)


@pytest.mark.parametrize(
    ("outcome", "page_status", "errors"),
    [
        ((OutcomeKind.BLOCKED_4XX, 404, StatusError(404)), "gone", (1, 0)),
        ((OutcomeKind.BLOCKED_4XX, 403, StatusError(403)), "blocked", (1, 1)),
        ((OutcomeKind.BLOCKED_5XX, 500, StatusError(500)), "failed", (1, 1)),
        ((OutcomeKind.FAILED, None, ConnectError("nobody")), "failed", (1, 1)),
        ((OutcomeKind.BLOCKED_ROBOTS, None, RobotsDeniedError("no")), "blocked", (0, 0)),
        ((OutcomeKind.FAILED, 200, BrokenError("oops")), "failed", (0, 0)),
    ],
)
async def test_a_failure_says_why_and_is_blamed_on_whom_it_should(
    desk: Desk, outcome: Any, page_status: str, errors: tuple[int, int]
) -> None:
    kind, code, error = outcome
    target = desk.targets[0]
    await desk.write(Outcome(target, kind, code, error, trouble=find_problem(error)))
    task = await desk.ground.task(target.task_id)
    assert (task["status"], task["outcome"], task["status_code"]) == ("failed", kind, code)
    assert (task["error_code"], task["error_message"], task["blame"]) == (error.code, str(error), error.blame)
    assert (await desk.ground.page(target.page_id))["status"] == page_status
    domain = await desk.ground.domain(desk.domain)
    assert (domain["total_error_count"], domain["consecutive_error_count"]) == errors
    assert (domain["pages_crawled"], domain["frontier_size"]) == (0, 2)


async def test_a_retry_is_a_new_task_that_follows_the_closed_one(desk: Desk) -> None:
    target = desk.targets[0]
    await desk.write(Outcome(target, OutcomeKind.FAILED, error=ConnectError("nobody"), retry_in_s=60.0))
    closed, retry = await desk.ground.tasks(target.page_id)
    assert (closed["outcome"], retry["outcome"], retry["status"]) == ("failed", None, "pending")
    assert (retry["parent_task_id"], retry["retry_count"], retry["priority"]) == (closed["id"], 1, closed["priority"])
    assert 59 < (retry["scheduled_for"] - closed["completed_at"]).total_seconds() < 61
    assert (await desk.ground.page(target.page_id))["status"] == "queued"
    assert (await desk.ground.domain(desk.domain))["frontier_size"] == 3


async def test_a_bug_leaves_its_stack(desk: Desk) -> None:
    bug = BrokenError("ZeroDivisionError: oops")
    await desk.write(Outcome(desk.targets[0], OutcomeKind.FAILED, 200, bug, stack="in broken()"))
    row = await desk.ground.conn.fetchrow("SELECT * FROM errors")
    assert (row["task_id"], row["code"], row["stack"]) == (desk.targets[0].task_id, "broken", "in broken()")


async def test_counters_move_with_what_they_count(desk: Desk) -> None:
    one, two, three = desk.targets
    dropped = Selection([a_discovery("http://a.example/new", 2)], {"scope": 2, "trap": 1})
    await desk.write(
        a_success(one, selection=dropped),
        a_success(two, "http://a.example/new"),
        Outcome(three, OutcomeKind.BLOCKED_5XX, 500, StatusError(500), retry_in_s=60.0),
    )
    domain = await desk.ground.domain(desk.domain)
    assert (domain["pages_crawled"], domain["total_error_count"]) == (2, 1)
    assert (domain["pages_discovered"], domain["frontier_size"]) == (4, 2)
    run = await desk.ground.conn.fetchrow("SELECT * FROM runs WHERE id = $1", desk.run)
    assert (run["links_seen"], run["pages_learned"]) == (5, 1)
    rows = await desk.ground.conn.fetch("SELECT outcome::text, reason, pages FROM run_outcomes")
    assert {tuple(row) for row in rows} == {("success", "200", 2), ("blocked_5xx", "500", 1)}
    drops = await desk.ground.conn.fetch("SELECT reason, links FROM run_drops ORDER BY reason")
    assert [tuple(row) for row in drops] == [("scope", 2), ("trap", 1)]
    assert (desk.written, desk.held) == ({desk.lease.token: 3}, {desk.lease.token: True})


async def test_robots_txt_is_kept_with_the_batch(desk: Desk) -> None:
    copy = RobotsCopy(desk.domain, "http://a.example", "Allow: /", 200, None, 60.0)
    await desk.writer.write([], [copy])
    assert await desk.ground.conn.fetchval("SELECT robots_txt FROM origins") == "Allow: /"


# What is refused ----------------------------------------------------------------------------------------------------


async def test_results_of_a_lost_lease_are_refused(desk: Desk) -> None:
    """Links are learned, for they are true whoever found them; everything else stays as it was."""
    thief = await desk.ground.a_worker(desk.run)
    await desk.ground.a_lease(desk.domain, thief)
    before = await desk.snapshot()
    await desk.write(a_success(desk.targets[0]), Outcome(desk.targets[1], OutcomeKind.FAILED, error=ConnectError("x")))
    assert await desk.snapshot() == before
    assert desk.held == {}


async def test_results_under_an_older_version_are_refused_although_the_worker_is_the_same(desk: Desk) -> None:
    await desk.ground.a_lease(desk.domain, desk.worker)
    before = await desk.snapshot()
    await desk.write(a_success(desk.targets[0]))
    assert await desk.snapshot() == before


async def test_one_lost_lease_does_not_cost_the_others(desk: Desk) -> None:
    other = await desk.ground.a_domain("b.example", run=desk.run, pages=1)
    lease = await desk.ground.a_lease(other, desk.worker)
    (target,) = await desk.ground.targets(lease, desk.worker, desk.run)
    await desk.ground.a_lease(desk.domain, await desk.ground.a_worker(desk.run))
    await desk.write(a_success(desk.targets[0]), a_success(target))
    assert (await desk.ground.task(desk.targets[0].task_id))["outcome"] is None
    assert (await desk.ground.task(target.task_id))["outcome"] == "success"
    assert desk.held == {lease.token: True}


async def test_a_batch_written_twice_counts_once(desk: Desk) -> None:
    """A commit whose answer was lost is written again."""
    batch = [
        a_success(desk.targets[0], "http://a.example/new", "http://b.example/"),
        Outcome(desk.targets[1], OutcomeKind.FAILED, error=ConnectError("x"), retry_in_s=60.0),
    ]
    await desk.write(*batch)
    before = await desk.snapshot()
    await desk.write(*batch)
    assert await desk.snapshot() == before


async def test_a_shorter_way_brings_pages_into_reach(desk: Desk) -> None:
    far = await desk.ground.a_page("http://a.example/far", desk.domain, depth=9, status="fetched")
    behind = await desk.ground.a_page("http://b.example/x", await desk.ground.a_domain("b.example"), depth=10)
    await desk.ground.link(far, behind)
    await desk.ground.conn.execute("UPDATE domains SET ready_at = NULL WHERE name = 'b.example'")
    await desk.write(a_success(desk.targets[0], "http://a.example/far"))
    assert (await desk.ground.page(far))["depth"] == desk.targets[0].depth + 1
    assert (await desk.ground.page(behind))["depth"] == desk.targets[0].depth + 2
    assert await desk.ground.conn.fetchval("SELECT ready_at IS NOT NULL FROM domains WHERE name = 'b.example'")


async def test_a_shorter_way_is_noticed_also_when_memory_answers(desk: Desk) -> None:
    await desk.write(a_success(a_deep(desk.targets[0], 7), "http://a.example/far"))
    await desk.write(a_success(desk.targets[1], "http://a.example/far"))
    assert await desk.ground.conn.fetchval("SELECT depth FROM pages WHERE url LIKE '%far'") == 2


def a_deep(target: Target, depth: int) -> Target:
    return a_target(
        target.url, task=target.task_id, page=target.page_id, domain=target.domain_id, version=1, depth=depth
    )


@pytest.mark.usefixtures("server")
def test_only_the_sites_and_the_networks_faults_count_against_a_domain() -> None:
    two, one = a_target(domain=2), a_target(domain=1)
    done = [
        a_success(two),
        Outcome(two, OutcomeKind.FAILED, error=BrokenError("ours")),
        Outcome(two, OutcomeKind.BLOCKED_ROBOTS, error=RobotsDeniedError("nobody's")),
        Outcome(
            two, OutcomeKind.FAILED, error=ConnectError("theirs"), retry_in_s=1.0, trouble=DomainFailure.UNREACHABLE
        ),
        a_success(one),
    ]
    visits = count_visits(done, {})
    assert visits == {1: Visits(1, 1, 0, 0, is_new_streak=True), 2: Visits(4, 1, 1, 1, 0, 1, "unreachable", True)}
    assert list(visits) == [1, 2]


# Visited again ------------------------------------------------------------------------------------------------------


async def revisit(desk: Desk, target: Target) -> Target:
    """The page's open task, claimed again as if its time had come."""
    await desk.ground.conn.execute("UPDATE crawl_tasks SET scheduled_for = now() WHERE outcome IS NULL")
    await desk.ground.conn.execute("UPDATE pages SET fetched_at = fetched_at - interval '1 hour'")
    (found,) = await desk.ground.targets(desk.lease, desk.worker, desk.run)
    assert found.page_id == target.page_id
    return found


async def test_a_recurring_page_gets_its_next_task_when_one_completes(desk: Desk) -> None:
    target = desk.targets[0]
    desk.queues.add(a_lane(desk.domain, revisit_every_s=3600.0))
    await desk.write(a_success(target, "http://a.example/x", reading=a_reading(content_hash=b"1" * 16), etag='"1"'))
    closed, following = await desk.ground.tasks(target.page_id)
    assert (following["outcome"], following["parent_task_id"], following["retry_count"]) == (None, closed["id"], 0)
    assert 3599 < (following["scheduled_for"] - closed["completed_at"]).total_seconds() < 3601
    assert (await desk.ground.page(target.page_id))["status"] == "fetched"
    domain = await desk.ground.domain(desk.domain)
    assert domain["frontier_size"] == 3, "two that were claimed and one that is new; a revisit is not in the frontier"


async def test_revisits_teach_how_often_a_page_changes(desk: Desk) -> None:
    first, link = desk.targets[0], "http://a.example/x"
    desk.queues.add(a_lane(desk.domain, revisit_every_s=3600.0))
    await desk.ground.conn.execute("UPDATE pages SET depth = 99 WHERE url LIKE '%/x'")
    await desk.write(a_success(first, reading=a_reading(content_hash=b"1" * 16), etag='"1"', last_modified="then"))
    second = await revisit(desk, first)
    assert second.past is not None
    assert (second.past.etag, second.past.last_modified, second.past.content_hash) == ('"1"', "then", b"1" * 16)
    assert (second.past.comparisons, second.past.changes) == (0, 0)
    assert second.past.watched_s == 0
    assert 3590 < second.past.since_s < 3700
    await desk.write(Outcome(second, OutcomeKind.SUCCESS, 304, is_changed=False, requested_at=None))
    page = await desk.ground.page(first.page_id)
    assert (page["comparisons"], page["changes"], page["etag"], page["title"]) == (1, 0, '"1"', "A title")
    third = await revisit(desk, first)
    await desk.write(a_success(third, link, reading=a_reading(content_hash=b"2" * 16), is_changed=True))
    page = await desk.ground.page(first.page_id)
    assert (page["comparisons"], page["changes"], page["changed_at"]) == (2, 1, page["fetched_at"])
    assert 7190 < page["watched_s"] < 7400
    assert [task["is_changed"] for task in await desk.ground.tasks(first.page_id)] == [None, False, True, None]


async def test_a_page_that_has_not_changed_keeps_its_links(desk: Desk) -> None:
    target = desk.targets[0]
    desk.queues.add(a_lane(desk.domain, revisit_every_s=3600.0))
    await desk.write(a_success(target, "http://a.example/1"))
    await desk.write(Outcome(await revisit(desk, target), OutcomeKind.SUCCESS, 304, is_changed=False))
    assert (await desk.ground.page(target.page_id))["links_count"] == 1
    assert await desk.ground.conn.fetchval("SELECT count(*) FROM page_links") == 1


async def test_a_page_that_became_a_redirect_has_its_one_link(desk: Desk) -> None:
    target = desk.targets[0]
    desk.queues.add(a_lane(desk.domain, revisit_every_s=3600.0))
    await desk.write(a_success(target, "http://a.example/1", "http://a.example/2"))
    again = await revisit(desk, target)
    await desk.write(Outcome(again, OutcomeKind.SUCCESS, 301, selection=Selection(dropped={"scope": 1})))
    assert (await desk.ground.page(target.page_id))["links_count"] == 0
    assert await desk.ground.conn.fetchval("SELECT count(*) FROM page_links") == 0


@pytest.mark.parametrize(("status", "page_status", "tasks", "frontier"), [(410, "gone", 2, 2), (500, "queued", 3, 3)])
async def test_a_revisit_that_fails_ends_the_recurrence_only_if_the_page_is_gone(
    desk: Desk, status: int, page_status: str, tasks: int, frontier: int
) -> None:
    target, error = desk.targets[0], StatusError(status)
    desk.queues.add(a_lane(desk.domain, revisit_every_s=3600.0))
    await desk.write(a_success(target))
    again = await revisit(desk, target)
    kind = OutcomeKind.BLOCKED_5XX if status >= 500 else OutcomeKind.BLOCKED_4XX
    await desk.write(Outcome(again, kind, status, error))
    assert (await desk.ground.page(target.page_id))["status"] == page_status
    assert len(await desk.ground.tasks(target.page_id)) == tasks
    assert (await desk.ground.domain(desk.domain))["frontier_size"] == frontier


async def test_evidence_of_the_pace_is_kept(desk: Desk) -> None:
    moments = tuple(datetime(2026, 1, 2, 3, 4, second, 5, tzinfo=UTC) for second in (1, 2, 3))
    await desk.write(
        a_success(desk.targets[0], pace_ms=1000, requested_at=moments[2], earlier_requests=moments[:2]),
        a_success(desk.targets[1], pace_ms=0, requested_at=moments[0]),
    )
    task = await desk.ground.task(desk.targets[0].task_id)
    assert (task["pace_ms"], tuple(task["earlier_requests"]), task["requested_at"]) == (1000, moments[:2], moments[2])
    assert (await desk.ground.task(desk.targets[1].task_id))["earlier_requests"] is None
    copy = RobotsCopy(desk.domain, "http://a.example", None, 404, None, 60.0, requests=moments, pace_ms=7)
    await desk.writer.write([], [copy])
    rows = await desk.ground.conn.fetch("SELECT * FROM robots_requests ORDER BY requested_at")
    assert [(row["requested_at"], row["pace_ms"]) for row in rows] == [(moment, 7) for moment in moments]


# Pages that are deleted meanwhile -----------------------------------------------------------------------------------

PURGE = PurgeOrder(operator("cli:test"), "test", is_trial=False, dead_after_s=60.0)


async def test_a_purged_page_that_a_link_leads_to_again_is_new(desk: Desk) -> None:
    """Also for a writer that remembers it, and its domain, from before."""
    first, second, third = desk.targets
    await desk.write(a_success(first, "http://b.example/x", "http://b.example/y"))
    old = set(await ids_of(desk, "b.example"))
    await purge_domain(desk.ground.conn, "b.example", PURGE)
    await desk.write(a_success(second, "http://b.example/x", "http://c.example/"))
    await desk.write(a_success(third, "http://b.example/x", "http://b.example/y"))
    new = await ids_of(desk, "b.example")
    assert len(new) == 2
    assert not old & set(new)
    assert await dangling(desk) == 0


async def test_a_link_to_a_page_that_was_purged_before_the_record_counts_as_dropped(desk: Desk) -> None:
    [target, *_] = desk.targets
    draft = await desk.writer.prepare([a_success(target, "http://b.example/x", "http://b.example/y")])
    await purge_pages(desk.ground.conn, "b.example", "/x", PURGE)
    await desk.writer.record(draft, ())
    assert await dangling(desk) == 0
    links = await desk.ground.conn.fetchval("SELECT count(*) FROM page_links WHERE from_page_id = $1", target.page_id)
    dropped = await desk.ground.conn.fetch("SELECT reason, links FROM run_drops WHERE run_id = $1", desk.run)
    assert (links, [tuple(row) for row in dropped]) == (1, [("purged", 1)])


async def ids_of(desk: Desk, name: str) -> list[int]:
    sql = "SELECT p.id FROM pages p JOIN domains d ON d.id = p.domain_id WHERE d.name = $1"
    return [row["id"] for row in await desk.ground.conn.fetch(sql, name)]


async def dangling(desk: Desk) -> int:
    sql = "SELECT count(*) FROM page_links l WHERE NOT EXISTS (SELECT FROM pages p WHERE p.id = l.to_page_id)"
    found: int = await desk.ground.conn.fetchval(sql)
    return found
