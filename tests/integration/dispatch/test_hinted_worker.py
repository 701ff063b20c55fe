"""A worker that hears of domains through RabbitMQ: whatever happens to messages, pages are fetched exactly once."""

import asyncio
import os
import pickle
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

import pytest
from tests.integration.dispatch.stage import becomes, leases, listening, send, work
from tests.integration.engine.stage import Stage, WatchedSite, serve
from tests.queues import Queues
from tests.wire import Wire

from forager.db.database import Database
from forager.dispatch import broker as broker_module
from forager.dispatch import celery_app, inbox
from forager.dispatch import jobs as dispatch
from forager.dispatch.broker import Broker
from forager.dispatch.message import CrawlHint
from forager.domains import store as domains
from forager.stats import store as stats
from forager.stats.processes import get_host_key, started_at

pytestmark = pytest.mark.timeout(90)
SITES = 6


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who looks for itself now and then would find by itself what it should hear of, where a test takes long."""
    monkeypatch.setattr(inbox, "PATIENCE_S", 60.0)
    monkeypatch.setattr(inbox, "OVERDUE_S", 60.0)


def sites(size: int = 5, **more: Any) -> list[WatchedSite]:
    return [WatchedSite(size, number=number, **more) for number in range(1, SITES + 1)]


async def assert_exact(stage: Stage) -> None:
    assert stage.requests() == dict.fromkeys(stage.web.answer_key.expected_success(), 1)
    assert await stage.broken_promises() == {}


async def test_a_crawl_by_hints_is_exact(database: Database, queues: Queues) -> None:
    async with serve(*sites()) as web:
        stage = await Stage.open(database, web)
        await work(stage, queues)
        await assert_exact(stage)
    assert await leases(stage) == {"claimed": SITES, "hinted": SITES, "released": SITES}
    assert {queues.depth(name) for name in queues.all()} == {0}


async def test_domains_wait_in_the_queue_while_a_worker_is_full(
    database: Database, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "HOLD_S", 0.05)
    async with serve(*sites()) as web:
        stage = await Stage.open(database, web)
        await work(stage, queues, max_domains=1)
        await assert_exact(stage)
    assert (await leases(stage))["hinted"] == SITES


async def test_doubled_and_reordered_messages_fetch_nothing_twice(
    database: Database, queues: Queues, broker: Broker
) -> None:
    async with serve(*sites()) as web:
        stage = await Stage.open(database, web)
        queues.runs.add(stage.run)
        await send(stage, broker)
        name = queues.names.crawl(stage.run, is_urgent=False)
        messages = queues.take(name)
        assert len(messages) == SITES
        queues.put_back(name, [*reversed(messages), *messages, *messages[::2], *messages[1::2]])
        await work(stage, queues)
        await assert_exact(stage)
    assert {row["version"] for row in await stage.fetch("SELECT version FROM domains")} == {2}
    assert queues.depth(queues.names.dead) == 0


async def test_stale_messages_do_nothing(database: Database, queues: Queues, broker: Broker) -> None:
    """Of domains that are done, had by somebody since, another run's, paused, or not there any more. A slow site keeps
    the worker for as long as it takes to answer for all of them."""
    slow = WatchedSite(4, number=SITES + 1)
    async with serve(*sites(3), slow) as web:
        done, rest = web.urls[:SITES], web.urls[SITES]
        stage = await Stage.open(database, web, *done)
        await work(stage, queues)
        web.log.clear()
        again = await Stage.open(database, web, rest)
        rows = await stage.fetch("SELECT id, version FROM domains ORDER BY id LIMIT $1", SITES)
        await stage.fetch("UPDATE domains SET is_active = false WHERE id = $1", rows[0]["id"])
        name = queues.names.crawl(again.run, is_urgent=False)
        await broker.look(queues.names.of_run(again.run))
        for row in rows:
            for run, version in ((again.run, 0), (again.run, row["version"]), (stage.run, row["version"])):
                queues.publish_hint(name, CrawlHint(run, row["id"], version).document())
        queues.publish_hint(name, CrawlHint(again.run, 2**62, 1).document())
        await work(again, queues, delay_s=0.4, is_unpaced=lambda _domain: False)
        assert set(stage.requests()) == {url for url in web.answer_key.expected_success() if url.startswith(rest)}
        assert {queues.depth(name) for name in queues.all()} == {0}
    assert (await leases(stage))["claimed"] == SITES + 1


async def test_a_paused_domain_is_not_claimed_although_its_message_waits(
    database: Database, queues: Queues, broker: Broker
) -> None:
    async with serve(*sites(3)) as web:
        stage = await Stage.open(database, web)
        queues.runs.add(stage.run)
        await send(stage, broker)
        await stage.fetch("UPDATE domains SET is_active = false WHERE id = (SELECT min(id) FROM domains)")
        await work(stage, queues)
        assert len(stage.requests()) == 3 * (SITES - 1)
        assert (
            await stage.fetch(
                "SELECT 1 FROM dispatched_domains o JOIN domains d ON d.id = o.domain_id WHERE NOT d.is_active"
            )
            == []
        )
        await stage.fetch("UPDATE domains SET is_active = true")
        await work(stage, queues)
        await assert_exact(stage)


POISON: list[dict[str, Any]] = [
    {"body": b"no json", "content_type": "application/json", "headers": {"task": "forager.crawl", "id": "a"}},
    {"body": b"\xff\xfe", "content_type": "application/json"},
    {"body": {"task": 7}},
    {"body": 5, "headers": {"task": "forager.crawl", "id": "b"}},
    {
        "body": [[{"v": 2, "run": 1, "domain_id": 1, "version": 1}], {}, {}],
        "headers": {"task": "forager.crawl", "id": "c"},
    },
    {
        "body": [[{"v": 1, "run": "1", "domain_id": 1, "version": 1}], {}, {}],
        "headers": {"task": "forager.crawl", "id": "d"},
    },
    {"body": [["x", "y"], None, 7], "headers": {"task": "forager.crawl", "id": "e"}},
    {"body": [[], {}, {}], "headers": {"task": "os.system", "id": "f"}},
    {
        "body": pickle.dumps([1]),
        "content_type": "application/x-python-serialize",
        "content_encoding": "binary",
        "headers": {"task": "forager.crawl", "id": "g"},
    },
]


async def test_poison_becomes_dead_letters_and_the_crawl_goes_on(
    database: Database, queues: Queues, broker: Broker
) -> None:
    async with serve(*sites()) as web:
        stage = await Stage.open(database, web)
        queues.runs.add(stage.run)
        await send(stage, broker)
        for message in POISON:
            queues.publish(queues.names.crawl(stage.run, is_urgent=False), **message)
        await work(stage, queues)
        await assert_exact(stage)
    await becomes(lambda: queues.depth(queues.names.dead) == len(POISON))  # the broker carries them on by itself
    letters = await broker.dead_letters(100)
    assert len(letters) == len(POISON)
    assert {letter.queue for letter in letters} == {queues.names.crawl(stage.run, is_urgent=False)}
    assert {letter.why for letter in letters} >= {
        "its version is 2, and only 1 is understood",
        "run is '1', and no number of a row",
        "it is application/x-python-serialize, and only JSON is read",
    }
    assert len(await broker.redrive([letters[0].id])) == 1
    assert queues.depth(letters[0].queue or "") == 1


async def test_what_was_in_hand_at_a_stop_goes_to_somebody_else(
    database: Database, queues: Queues, broker: Broker
) -> None:
    async with serve(*sites()) as web:
        stage = await Stage.open(database, web)
        async with listening(stage, queues) as consumption:
            await send(stage, broker)
            await becomes(lambda: consumption.inbox.take(SITES))
        assert queues.depth(queues.names.crawl(stage.run, is_urgent=False)) == SITES


async def test_who_stops_gives_back_what_waits_and_listens_no_more(
    database: Database, queues: Queues, broker: Broker
) -> None:
    """The rest of a stop takes as long as its slowest request: others need not wait for it."""
    async with serve(*sites()) as web:
        stage = await Stage.open(database, web)
        queue = queues.names.crawl(stage.run, is_urgent=False)
        async with listening(stage, queues) as consumption:
            await send(stage, broker)
            await becomes(lambda: len(consumption.inbox._waiting) == SITES)
            assert not any(offer.is_urgent for offer in consumption.inbox._waiting)
            consumption.inbox.close()
            await becomes(lambda: queues.depth(queue) == SITES)
            assert queues.listeners(queue) == 0


async def test_a_domain_with_a_label_is_claimed_by_a_worker_that_has_it(
    database: Database, queues: Queues, broker: Broker
) -> None:
    """One that has it is there, so the domain is offered. One that has it not gets the hint: it goes back."""
    async with serve(*sites()) as web:
        stage = await Stage.open(database, web)
        labelled = (
            "INSERT INTO domain_settings (domain_id, settings)"
            """ SELECT id, '{"worker_label": "de"}' FROM domains ORDER BY id LIMIT 2"""
        )
        await stage.fetch(labelled)
        await work(stage, queues)
        assert await stage.fetch("SELECT FROM dispatched_domains") == [], "nobody was there who could"
        pid = os.getpid()
        async with database.pool.acquire() as conn:
            busy = await stats.add_worker(
                conn, stage.run, host=get_host_key(), pid=pid, pid_started=started_at(pid), labels=["de"]
            )
        assert await send(stage, broker) == "2 domains offered"
        await work(stage, queues)
        assert len(await stage.fetch("SELECT FROM domains WHERE pages_crawled > 0")) == SITES - 2
        await becomes(lambda: queues.depth(queues.names.crawl(stage.run, is_urgent=False)) == 2)
        await stage.fetch("UPDATE workers SET status = 'stopped' WHERE id = $1", busy)
        await work(stage, queues, labels=("de",))
        await assert_exact(stage)
    rows = await stage.fetch(
        "SELECT w.labels, sum(s.amount)::int AS n FROM series_parts s JOIN workers w ON w.id = s.worker_id"
        " WHERE s.metric = 'leases' AND s.label = 'hinted' GROUP BY w.id ORDER BY w.id"
    )
    assert [(row["labels"], row["n"]) for row in rows] == [([], SITES - 2), (["de"], 2)]


async def test_hints_for_others_keep_no_idle_worker_waiting(
    database: Database, queues: Queues, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those it can use are lost; those it cannot come again and again. It sees that something is ready, and looks."""
    monkeypatch.setattr(inbox, "OVERDUE_S", 0.5)
    monkeypatch.setattr(inbox, "HOLD_S", 0.05)
    async with serve(*sites(2)) as web:
        stage = await Stage.open(database, web)
        queues.runs.add(stage.run)
        await broker.look(queues.names.of_run(stage.run))
        first = (
            await stage.fetch(
                "UPDATE domains SET worker_label = 'de' WHERE id = (SELECT min(id) FROM domains) RETURNING *"
            )
        )[0]
        hint = CrawlHint(stage.run, first["id"], first["version"])
        queues.publish_hint(queues.names.crawl(stage.run, is_urgent=False), hint.document())
        await work(stage, queues, sends=False)
        assert len(await stage.fetch("SELECT FROM domains WHERE pages_crawled > 0")) == SITES - 1


async def test_workers_of_one_number_record_each_page_once(
    database: Database, queues: Queues, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """F10, at its worst: one that asks the database takes itself for the one that hears. It knows nothing of the leases
    in its name and hands them back as strays; what the other has fetched and not written is refused by their version,
    since the worker's number is the same. It writes nothing before some of it was taken away."""
    add, numbers, has_begun = stats.add_worker, [], asyncio.Event()
    hold, hears, is_taken = domains.hold_leases, ContextVar("hears", default=False), asyncio.Event()

    async def always_the_first(conn: Any, *given: Any, **more: Any) -> int:
        numbers.append(await add(conn, *given, **more))
        first: int = numbers[0]
        return first

    async def once_one_is_taken(conn: Any, leases: Iterable[tuple[int, int]], *, worker: int) -> Any:
        wanted = set(leases)
        while hears.get() and wanted and not is_taken.is_set():
            rows = await conn.fetch("SELECT id, version FROM domains")
            if wanted - {(row["id"], row["version"]) for row in rows}:
                is_taken.set()
            await asyncio.sleep(0.02)
        return await hold(conn, wanted, worker=worker)

    async def hear(stage: Stage) -> None:
        hears.set(True)
        await work(stage, queues, batch_interval_s=1, delay_s=0.02)

    monkeypatch.setattr(stats, "add_worker", always_the_first)
    monkeypatch.setattr(domains, "hold_leases", once_one_is_taken)
    async with serve(*sites(6, on_request=lambda _path, _count: has_begun.set())) as web:
        stage = await Stage.open(database, web)
        twin = Stage(database, web, stage.spec, stage.run)
        hearing = asyncio.create_task(hear(stage))
        await asyncio.wait_for(has_begun.wait(), 30)
        await asyncio.gather(hearing, twin.work(delay_s=0.02))
        assert len(numbers) == 2
        await stage.fetch("UPDATE workers SET status = 'stopped' WHERE id = $1", numbers[1])
        assert set(stage.requests()) == web.answer_key.expected_success()
        assert await stage.broken_promises() == {}
    said = capsys.readouterr()
    assert "late results refused" in said.out + said.err
    rows = await stage.fetch("SELECT count(*) AS n FROM crawl_tasks WHERE outcome IS NOT NULL GROUP BY page_id")
    assert {row["n"] for row in rows} == {1}


# Without the broker, and without whoever sends ------------------------------------------------------------------------


async def test_a_worker_nobody_sends_hints_to_looks_for_itself(
    database: Database, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "OVERDUE_S", 0.3)
    async with serve(*sites()) as web:
        stage = await Stage.open(database, web)
        await work(stage, queues, sends=False)
        await assert_exact(stage)
    assert "hinted" not in await leases(stage)


async def test_a_worker_without_a_broker_works_from_the_database(
    database: Database, queues: Queues, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "GRACE_S", 0.1)
    wire.cut()
    async with serve(*sites()) as web:
        stage = await Stage.open(database, web)
        await work(stage, queues, url=wire.url)
        await assert_exact(stage)
    assert "hinted" not in await leases(stage)


async def test_a_connection_that_is_cut_in_the_middle(
    database: Database, queues: Queues, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut after a third, mended after two thirds; leases end early, so that many more hints are needed."""
    seen = 0

    def cut() -> None:
        monkeypatch.setattr(inbox, "GRACE_S", 0.1)
        wire.cut()

    acts: dict[int, Callable[[], None]] = {15: cut, 40: wire.mend}

    def count(_path: str, _count: int) -> None:
        nonlocal seen
        seen += 1
        if act := acts.get(seen):
            act()

    async with serve(*sites(10, on_request=count)) as web:
        stage = await Stage.open(database, web)
        await work(stage, queues, url=wire.url, lease_pages=3, delay_s=0.01)
        await assert_exact(stage)
    told = await leases(stage)
    assert 0 < told["hinted"] < told["claimed"]


async def test_queues_that_are_wiped_in_the_middle(
    database: Database, queues: Queues, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "LOST_S", 0.2)
    seen = 0

    def count(_path: str, _count: int) -> None:
        nonlocal seen
        seen += 1
        if seen in {10, 30}:
            queues.wipe()

    async with serve(*sites(10, on_request=count)) as web:
        stage = await Stage.open(database, web)
        queues.runs.add(stage.run)
        await work(stage, queues, lease_pages=3)
        await assert_exact(stage)
    assert (await leases(stage))["hinted"] > SITES


async def test_a_queue_that_somebody_made_otherwise_is_told_of_and_tried_again(
    database: Database,
    queues: Queues,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """RabbitMQ closes the channel, as it does where a message waits for its answer too long: Celery goes on."""
    monkeypatch.setattr(inbox, "GRACE_S", 0.0)
    monkeypatch.setattr("forager.dispatch.consumer.AGAIN_S", 0.1)
    async with serve(*sites(1)) as web:
        stage = await Stage.open(database, web)
        with queues.connection.channel() as channel:
            channel.queue_declare(queues.names.crawl(stage.run, is_urgent=False), durable=False, auto_delete=False)
        said = ""
        async with listening(stage, queues) as consumption:
            while "PRECONDITION_FAILED" not in said:
                await asyncio.sleep(0.05)
                said += "".join(capsys.readouterr())
            assert consumption.inbox.is_away
            queues.wipe()
            await becomes(lambda: consumption.inbox._is_near)
    assert "Celery" not in said


async def test_a_broker_that_falls_silent_is_noticed(
    database: Database, queues: Queues, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection stays open and nothing comes: by its heartbeats, 5 s apart in production and 1 s here."""
    monkeypatch.setattr(celery_app, "HEARTBEAT_S", 1)
    monkeypatch.setattr(inbox, "GRACE_S", 0.0)
    async with serve(*sites()) as web:
        stage = await Stage.open(database, web)
        async with listening(stage, queues, wire.url) as consumption:
            await becomes(lambda: consumption.inbox._is_near)
            wire.hold()
            await becomes(lambda: consumption.inbox.is_away)
            wire.let_go()


async def test_a_broker_that_falls_silent_in_the_middle(
    database: Database, queues: Queues, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F5: the connections stay open, and the crawl goes on without; the last page lets them go, so that all is over."""
    monkeypatch.setattr(celery_app, "HEARTBEAT_S", 1)
    monkeypatch.setattr(broker_module, "ANSWER_S", 0.5)
    monkeypatch.setattr(broker_module, "CONNECT_S", 0.5)
    monkeypatch.setattr(inbox, "GRACE_S", 1.0)
    acts: dict[int, Callable[[], None]] = {10: wire.hold, 6 * SITES: wire.let_go}
    seen = 0

    def count(_path: str, _count: int) -> None:
        nonlocal seen
        seen += 1
        if act := acts.get(seen):
            act()

    async with serve(*sites(6, on_request=count)) as web:
        stage = await Stage.open(database, web)
        await work(stage, queues, url=wire.url, lease_pages=3)
        await assert_exact(stage)
    told = await leases(stage)
    assert 0 < told["hinted"] < told["claimed"]
