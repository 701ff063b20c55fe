"""Turns: a huge site waits for small ones, nobody starves however many arrive, limits are kept to the page, and an
operator's pause or a maintenance window ends a lease without losing what is under way."""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import pytest
from tests.ground import CHOOSE
from tests.integration.engine.stage import Stage, WatchedSite, serve

from forager.db.database import Database
from forager.engine import worker
from forager.runs.models import Scope
from forager_playground import Answer, Playground, Visit, visits_of

pytestmark = pytest.mark.timeout(90)

HUGE = "uniform-1"


def page_visits(web: Playground) -> list[Visit]:
    """In the order in which they were made."""
    pages = (visit for visit in web.log if visit.target != "/robots.txt")
    return sorted(pages, key=lambda visit: visit.started_s)


def turns(visits: Sequence[Visit]) -> list[tuple[str, int]]:
    """Site and pages. One domain at a time is worked on, so that neighbours in the log are one turn."""
    return [(site, len(list(those))) for site, those in groupby(visits, key=lambda visit: visit.site)]


def linking_to(*urls: str) -> Answer:
    links = "".join(f'<a href="{url}">there</a> ' for url in urls)
    return Answer(body=f"<!doctype html><title>Links</title><p>{links}".encode(), is_stable=False)


def number_of(path: str) -> int:
    return int(path.removeprefix("/p/")) if path != "/" else 0


# Going on -----------------------------------------------------------------------------------------------------------


async def test_what_is_learned_is_visited_before_it_is_recorded_where_it_was_found(database: Database) -> None:
    """Recording the first page ends when the second one, which it leads to, was asked for."""
    stages: list[Stage] = []
    asked_for_second = asyncio.Event()

    def hold_up(path: str, _count: int) -> Answer:
        worker = stages[0].worker
        assert worker is not None
        if path == "/":
            record = worker._write_loop._writer.record

            async def record_late(*given: Any) -> Any:
                async with asyncio.timeout(20):
                    await asked_for_second.wait()
                return await record(*given)

            worker._write_loop._writer.record = record_late  # type: ignore[method-assign, assignment]
        else:
            asked_for_second.set()
        return linking_to("/second") if path == "/" else linking_to("/")

    async with serve(WatchedSite(1, on_request=hold_up)) as web:
        stages.append(stage := await Stage.open(database, web))
        await stage.work(batch_interval_s=0.01)
        assert [visit.target for visit in page_visits(web)] == ["/", "/second"]
    assert await stage.broken_promises() == {}


# Fairness -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_domains", [1, 2])
async def test_a_huge_site_waits_for_the_small_ones(database: Database, max_domains: int) -> None:
    stages: list[Stage] = []
    huge = WatchedSite(5000, on_request=lambda _path, count: stages[0].stop.ask() if count == 41 else None)
    async with serve(huge, *(WatchedSite(5, number=number) for number in range(2, 52))) as web:
        stages.append(stage := await Stage.open(database, web))
        await stage.work(max_domains=max_domains, lease_pages=20, unpaced_concurrency=4)
        visits = page_visits(web)
    of_huge = [place for place, visit in enumerate(visits) if visit.site == HUGE]
    second_turn, third_turn = of_huge[20], of_huge[40]
    assert len([visit for visit in visits[:third_turn] if visit.site != HUGE]) == 250
    if max_domains == 1:
        first_turns = {HUGE: 20} | {f"uniform-{number}": 5 for number in range(2, 52)}
        assert sorted(turns(visits[:second_turn])) == sorted(first_turns.items())
    assert await states(stage) == {"active": 1, "exhausted": 50}
    (row,) = await stage.fetch("SELECT claimed_by, is_due, round FROM domains WHERE status = 'active'")
    assert tuple(row) == (None, True, 2)
    assert await stage.broken_promises() == {}


async def test_where_there_is_no_room_a_lease_ends_after_its_time(database: Database) -> None:
    """Nine sites and room for three: without a budget in time six wait until another has no page left."""
    async with serve(*(WatchedSite(30, number=number) for number in range(1, 10))) as web:
        stage = await Stage.open(database, web)
        await stage.work(max_domains=3, lease_budget_s=0.3, delay_s=0.05, is_unpaced=lambda _domain: False)
        visits = page_visits(web)
    first = {visit.site: place for place, visit in reversed(list(enumerate(visits)))}
    last = {visit.site: place for place, visit in enumerate(visits)}
    assert len(first) == 9
    assert max(first.values()) < min(last.values()), "each was asked before any was finished"
    assert set(stage.requests().values()) == {1}
    assert await stage.broken_promises() == {}


async def test_where_nobody_waits_no_lease_ends_before_its_site(database: Database) -> None:
    async with serve(*(WatchedSite(20, number=number) for number in range(1, 4))) as web:
        stage = await Stage.open(database, web)
        await stage.work(max_domains=3, lease_budget_s=0.1, delay_s=0.03, is_unpaced=lambda _domain: False)
    assert {row["version"] for row in await stage.fetch("SELECT version FROM domains")} == {2}
    assert await stage.broken_promises() == {}


async def test_new_domains_come_after_those_who_wait_and_before_the_next_but_one_turn_of_a_huge_site(
    database: Database,
) -> None:
    """Every page of the huge site leads to a newcomer, and every newcomer to another one. All of them had their turns
    three turns of the huge site after its last page that leads to one; in which order its pages come is chance."""
    stages: list[Stage] = []
    newcomers = 24
    leading, last = set(range(newcomers)), [0]

    def huge_page(path: str, count: int) -> Answer | None:
        number = number_of(path)
        if leading:
            leading.discard(number)
            last.append(count)
        if count == max(52, -(-last[-1] // 4) * 4 + 12):
            stages[0].stop.ask()
        links = [f"/p/{2 * number + 1}", f"/p/{2 * number + 2}"]
        return linking_to(*links, *(urls[number : number + 1] if number < newcomers else []))

    def first_page(number: int, path: str) -> Answer | None:
        return linking_to("/p/1", "/p/2", urls[newcomers + number]) if path == "/" else None

    first = [
        WatchedSite(3, number=20 + n, on_request=lambda path, _count, n=n: first_page(n, path))  # type: ignore[misc]
        for n in range(newcomers)
    ]
    second = [WatchedSite(3, number=20 + n) for n in range(newcomers, 2 * newcomers)]
    seeds = [WatchedSite(3, number=n) for n in range(2, 7)]
    async with serve(WatchedSite(5000, on_request=huge_page), *seeds, *first, *second) as web:
        urls = web.urls[6:]
        stages.append(stage := await Stage.open(database, web, *web.urls[:6], scope=Scope.ANY))
        await stage.work(max_domains=1, lease_pages=4, unpaced_concurrency=1)
        taken = turns(page_visits(web))
        found_by_huge = {f"uniform-{20 + number_of(v.target)}": v for v in page_visits(web) if v.site == HUGE}
    sites = [site for site, _ in taken]
    assert sorted(sites[:6]) == sorted([HUGE, *(site.name for site in seeds)])
    assert all(pages % 4 == 0 for site, pages in taken if site == HUGE)  # of neighbours there may be several turns
    assert all(sites.count(site.name) == 1 for site in [*seeds, *first, *second])
    for site in first:
        found = found_by_huge[site.name]
        later = [v for v in visits_of(web.log, found.host, with_robots=False) if v.started_s > found.started_s]
        first_visit = visits_of(web.log, web.hosts[site.name], with_robots=False)[0]
        between = sum(visit.started_s < first_visit.started_s for visit in later)
        assert between < 4 + 4, f"{between} pages of the huge site came before {site.name}"
    assert await stage.broken_promises() == {}


async def test_two_sites_that_keep_each_other_busy_do_not_starve_a_third(database: Database) -> None:
    """One new page a turn is enough to be claimed again at once, unless a turn is a turn however short it was."""

    def ping(path: str, _count: int) -> Answer:
        number = number_of(path)
        return linking_to(f"{pong_url}p/{number + 1}" if number < 30 else "/", patient_url)

    def pong(path: str, _count: int) -> Answer:
        return linking_to(f"{ping_url}p/{number_of(path)}")

    sites = WatchedSite(99, on_request=ping), WatchedSite(99, 2, on_request=pong), WatchedSite(3, 3)
    async with serve(*sites) as web:
        ping_url, pong_url, patient_url = web.urls
        stage = await Stage.open(database, web, ping_url, scope=Scope.ANY, max_depth=100)
        await stage.work(max_domains=1)
        taken = turns(page_visits(web))
    assert len(taken) > 50
    assert ("uniform-3", 3) in taken[:5]
    assert await stage.broken_promises() == {}


async def test_a_lease_that_is_claimed_while_a_heartbeat_is_under_way_is_not_taken_for_lost(database: Database) -> None:
    """The heartbeat asked before the claim was committed, and hears nothing of it."""
    stages: list[Stage] = []
    asked, asked_before, beaten, claimed = (asyncio.Event() for _ in range(4))

    def overlap(_path: str, _count: int) -> None:
        """The next claim is asked for before a heartbeat, committed after it, and answered before it is evaluated."""
        worker = stages[0].worker
        assert worker is not None
        claim, begin_beat, go_on_with_beat = worker._claims.domains, worker._read_clock, worker._refresh_pools

        async def claim_late(*given: Any) -> Any:
            asked.set()
            await beaten.wait()
            found = await claim(*given)
            claimed.set()
            return found

        async def begin() -> None:
            if asked.is_set():
                asked_before.set()
            await begin_beat()

        async def go_on() -> None:
            await go_on_with_beat()
            if asked_before.is_set():
                beaten.set()
                await claimed.wait()
                await asyncio.sleep(0.05)  # the queue is opened

        worker._claims.domains = claim_late  # type: ignore[method-assign, assignment]
        worker._read_clock, worker._refresh_pools = begin, go_on  # type: ignore[method-assign]

    second = WatchedSite(9, number=2)
    async with serve(WatchedSite(1, on_request=overlap), second) as web:
        stages.append(stage := await Stage.open(database, web))
        await stage.work(max_domains=1, heartbeat_s=0.2)
        assert claimed.is_set()
        assert set(stage.requests().values()) == {1}
    assert await stage.fetch("SELECT FROM domains WHERE version > 2") == []
    assert await stage.broken_promises() == {}


async def test_what_is_recorded_while_a_claim_is_under_way_is_found_in_the_same_turn(database: Database) -> None:
    """The claim saw less than there is: the queue is not dry."""
    stages: list[Stage] = []

    def overtake(path: str, count: int) -> Answer:
        """A claim that finds nothing is answered when the slow page, which brings another one, is recorded."""
        worker = stages[0].worker
        assert worker is not None
        if count == 1:
            claim, recorded, written = worker._claims.targets, worker._leases.apply_recorded, asyncio.Event()

            async def answer_late(*given: Any) -> Any:
                written.clear()
                if not (found := await claim(*given)):
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(1):
                            await written.wait()
                return found

            def tell(*given: Any) -> None:
                recorded(*given)
                written.set()

            worker._claims.targets = answer_late  # type: ignore[method-assign, assignment]
            worker._leases.apply_recorded = tell  # type: ignore[method-assign, assignment]
        return {
            "/": linking_to("/quick", "/slow"),
            "/slow": replace(linking_to("/last"), delay_s=0.3),
        }.get(path, linking_to("/"))

    async with serve(WatchedSite(1, on_request=overtake), WatchedSite(2, number=2)) as web:
        stages.append(stage := await Stage.open(database, web))
        await stage.work(max_domains=1, unpaced_concurrency=2, batch_interval_s=0.01)
        taken = turns(page_visits(web))
    assert sorted(taken) == [(HUGE, 4), ("uniform-2", 2)]
    assert await stage.broken_promises() == {}


async def test_where_no_other_domain_is_ready_nobody_asks_for_one_at_every_step(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that feeds its queues dozens of times a second asks for domains a few times; a lease that is handed back
    makes it ask at once."""
    monkeypatch.setattr(worker, "CLAIM_EVERY_S", 3600.0)
    stages: list[Stage] = []
    asked: list[tuple[int, int]] = []

    def watch(_path: str, count: int) -> None:
        busy = stages[0].worker
        if count > 1 or busy is None:
            return
        claim = busy._claims.domains

        async def claim_and_tell(*given: Any) -> Any:
            queues = len(busy._queues)
            found = await claim(*given)
            asked.append((queues, len(found.leases)))
            return found

        monkeypatch.setattr(busy._claims, "domains", claim_and_tell)

    sites = WatchedSite(20, on_request=watch), WatchedSite(60, number=2), WatchedSite(5, number=3)
    async with serve(*sites) as web:
        stages.append(stage := await Stage.open(database, web))
        await stage.work(max_domains=2, batch_pages=1, unpaced_concurrency=1)
        assert len(stage.requests()) == 85
    in_vain = [queues for queues, found in asked if queues and not found]
    assert (1, 1) in asked or (0, 1) in asked  # the third came when the first was handed back
    assert len(in_vain) <= 2
    assert await stage.broken_promises() == {}


# Limits -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("own", "of_run", "expected"), [(7, None, 7), (None, 7, 7), (4, 9, 4), (9, 4, 4)])
@pytest.mark.parametrize("lease_pages", [None, 2])
async def test_the_smaller_limit_is_kept_to_the_page_and_begins_anew_with_a_run(
    database: Database, own: int | None, of_run: int | None, expected: int, lease_pages: int | None
) -> None:
    async with serve(WatchedSite(40), WatchedSite(40, number=2)) as web:
        for run in (1, 2):
            stage = await Stage.open(database, web, max_pages_per_domain=of_run)
            await stage.fetch(CHOOSE, None, json.dumps({"max_pages": own}))
            await asyncio.gather(*(stage.work(workers=2, lease_pages=lease_pages) for _ in range(2)))
            asked = [len(visits_of(web.log, host, with_robots=False)) for host in web.hosts.values()]
            assert asked == [run * expected] * 2
            rows = await stage.fetch("SELECT run_pages, status::text, claimed_by FROM domains")
            assert {tuple(row) for row in rows} == {(expected, "active", None)}
            assert max(stage.requests().values()) == 1
    assert await stage.broken_promises() == {}


# Pauses -------------------------------------------------------------------------------------------------------------

PAUSE = "UPDATE domains SET is_active = false", "UPDATE domains SET is_active = true"
AN_HOUR_AROUND = """UPDATE domains SET maintenance_start = (now() AT TIME ZONE 'UTC')::time - interval '1 hour',
                                       maintenance_end = (now() AT TIME ZONE 'UTC')::time + interval '1 hour'"""
WINDOW = AN_HOUR_AROUND, "UPDATE domains SET maintenance_start = NULL, maintenance_end = NULL"


@pytest.mark.parametrize(("close", "reopen"), [PAUSE, WINDOW], ids=["pause", "window"])
@pytest.mark.parametrize("told_by", ["heartbeat", "batch"])
async def test_a_closed_domain_finishes_what_is_in_flight_and_nothing_more(
    database: Database, close: str, reopen: str, told_by: str
) -> None:
    """Answers come late, so that requests are open when the queue hears of it."""
    reached, begun = asyncio.Event(), Counter[str]()
    heartbeat_s = 0.05 if told_by == "heartbeat" else 20.0

    def slow(path: str, count: int) -> Answer | None:
        if count == 1:
            count_visits(stage, begun)
        if count == 20:
            reached.set()
        return linking_to(f"{path}0", f"{path}1") if count < 20 else Answer(delay_s=0.3, is_stable=False, body=b"Late")

    site = WatchedSite(1, on_request=slow)
    async with serve(site) as web:
        stage = await Stage.open(database, web, f"{web.urls[0]}x", scope=Scope.HOST)
        working = asyncio.create_task(stage.work(heartbeat_s=heartbeat_s, batch_interval_s=0.01, longest_wait_s=1.0))
        await reached.wait()
        await stage.fetch(close)
        assert stage.worker is not None
        while not any(queue.closing for queue in stage.worker._queues):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        in_all = 1 + begun["visits"]  # not those the server has met: some may be on their way to it
        await working
        assert site.requests == in_all
        assert await stage.urls("status = 'fetched'") == set(stage.requests())
        (row,) = await stage.fetch("SELECT claimed_by, status::text, frontier_size > 0 AS has_more FROM domains")
        assert tuple(row) == (None, "active", True)
        assert await stage.fetch("SELECT FROM crawl_tasks WHERE locked_at IS NOT NULL") == []
        assert await stage.broken_promises() == {}

        await stage.work()
        assert site.requests == in_all
        await stage.fetch(reopen)
        await stage.work()
        assert set(stage.requests().values()) == {1}
    assert await states(stage) == {"exhausted": 1}
    assert await stage.broken_promises() == {}


def count_visits(stage: Stage, begun: Counter[str]) -> None:
    """Those that begin from now on."""
    assert stage.worker is not None
    traffic = stage.worker._dispatcher
    visit = traffic._visit

    def begin(*given: Any) -> Any:
        begun["visits"] += 1
        return visit(*given)

    traffic._visit = begin  # type: ignore[method-assign, assignment]


# Stops --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["domains", "targets", "release"])
async def test_a_stop_in_the_middle_of_a_step_leaves_no_lease_behind(database: Database, step: str) -> None:
    stages: list[Stage] = []

    def stop_in_its_step(_path: str, count: int) -> None:
        worker = stages[0].worker
        if count == 3 and worker is not None:
            take_step = getattr(worker._claims, step)

            async def ask_and_take(*given: Any) -> Any:
                stages[0].stop.ask()
                return await take_step(*given)

            setattr(worker._claims, step, ask_and_take)

    async with serve(WatchedSite(4, on_request=stop_in_its_step), *(WatchedSite(4, number=n) for n in (2, 3))) as web:
        stages.append(stage := await Stage.open(database, web))
        await stage.work(max_domains=2)
        assert stage.stop.asked
        assert await stage.fetch("SELECT FROM domains WHERE claimed_by IS NOT NULL") == []
        assert await stage.fetch("SELECT FROM crawl_tasks WHERE locked_at IS NOT NULL") == []
        assert await stage.broken_promises() == {}
        await stage.work()
        assert stage.requests() == dict.fromkeys(web.answer_key.expected_success(), 1)
    assert await stage.broken_promises() == {}


async def states(stage: Stage) -> dict[str, int]:
    rows = await stage.fetch("SELECT status::text, count(*) AS domains FROM domains GROUP BY status")
    return {row["status"]: row["domains"] for row in rows}
