"""The job `dispatch`: what is due is offered once, in the right queue, and again where a queue lost it."""

from typing import Any

import pytest
from tests.ground import Ground
from tests.integration.scheduler.stage import a_context
from tests.queues import Queues
from tests.wire import Wire

from forager.config.loader import load
from forager.dispatch import broker as broker_module
from forager.dispatch import celery_app
from forager.dispatch import jobs as dispatch
from forager.dispatch.broker import Broker, open_broker
from forager.dispatch.errors import BrokerUnavailableError
from forager.dispatch.jobs import DispatchJob
from forager.dispatch.names import Names


async def offers(ground: Ground) -> dict[int, bool]:
    """Domain → whether it went to the priority queue."""
    return {row["domain_id"]: row["is_urgent"] for row in await ground.conn.fetch("SELECT * FROM dispatched_domains")}


async def send(ground: Ground, broker: Broker) -> str:
    return await DispatchJob().run(a_context(ground.conn, broker=broker))


async def a_run(ground: Ground, queues: Queues) -> int:
    run = await ground.a_run()
    queues.runs.add(run)
    return run


def depths(queues: Queues, run: int) -> tuple[int, int]:
    """Of the priority queue and of the other one."""
    urgent, others = queues.names.of_run(run)
    return queues.depth(urgent), queues.depth(others)


async def test_a_domain_is_offered_once(ground: Ground, queues: Queues, broker: Broker) -> None:
    run = await a_run(ground, queues)
    domain = await ground.a_domain(run=run, pages=2)
    assert await send(ground, broker) == "1 domain offered"
    assert await send(ground, broker) == "0 domains offered"
    assert depths(queues, run) == (0, 1)
    (message,) = queues.take(queues.names.crawl(run, is_urgent=False))
    assert message.properties["delivery_mode"] == 2
    assert message.content_type == "application/json"
    assert f'"domain_id": {domain}' in message.body
    rows = {row["queue"]: row["messages"] for row in await ground.conn.fetch("SELECT * FROM queue_depths")}
    assert set(rows) == {"priority_queue", "crawl_queue", "parse_queue", "dead_letters"}
    assert rows["crawl_queue"] == 1


async def test_the_run_that_never_ends_has_the_plain_names(ground: Ground, queues: Queues, broker: Broker) -> None:
    run = await ground.a_run()
    await ground.conn.execute("UPDATE runs SET keeper = 'standing' WHERE id = $1", run)
    await ground.a_domain(run=run, pages=1)
    await send(ground, broker)
    assert queues.depth(f"{queues.names.prefix}crawl_queue") == 1


async def test_what_is_urgent_has_a_queue_of_its_own(ground: Ground, queues: Queues, broker: Broker) -> None:
    """A task that a person ordered with priority 1 or 2, or a boost; a shallow page or a high score is not."""
    run = await a_run(ground, queues)
    seeded = await ground.a_domain("seeded.example", run=run, priority_score=5000.0)
    await ground.a_page("http://seeded.example/", seeded, priority=1)
    shallow = await ground.a_domain("shallow.example", run=run)
    await ground.a_task(await ground.a_page("http://shallow.example/", shallow), priority=2)
    ordered = await ground.a_domain("ordered.example", run=run)
    await ground.a_task(await ground.a_page("http://ordered.example/", ordered), priority=1, is_urgent=True)
    boosted = await ground.a_domain("boosted.example", run=run, pages=1, priority_boost=5.0)
    later = await ground.a_domain("later.example", run=run, pages=1)
    await ground.a_task(await ground.a_page("http://later.example/", later), due_in_s=3600, is_urgent=True)
    await send(ground, broker)
    assert await offers(ground) == {seeded: False, shallow: False, ordered: True, boosted: True, later: False}
    assert depths(queues, run) == (2, 3)


async def test_an_urgent_domain_is_offered_although_the_window_is_full(
    ground: Ground, queues: Queues, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "WINDOW", 2)
    run = await a_run(ground, queues)
    for number in range(3):
        await ground.a_domain(f"d{number}.example", run=run, pages=1)
    await send(ground, broker)
    ordered = await ground.a_domain("ordered.example", run=run)
    await ground.a_task(await ground.a_page("http://ordered.example/", ordered), is_urgent=True)
    assert await send(ground, broker) == "1 domain offered"
    assert (await offers(ground))[ordered]


async def test_what_is_urgent_no_longer_is_told_so_where_it_has_to_be_told_again(
    ground: Ground, queues: Queues, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await a_run(ground, queues)
    domain = await ground.a_domain(run=run, pages=1, priority_boost=1.0)
    await send(ground, broker)
    await ground.conn.execute("UPDATE domains SET priority_boost = 0 WHERE id = $1", domain)
    assert await send(ground, broker) == "0 domains offered"
    queues.wipe()
    monkeypatch.setattr(dispatch, "LOST_S", 0.0)
    assert await send(ground, broker) == "1 domain offered"
    assert depths(queues, run) == (0, 1)


async def test_an_order_moves_an_offer_that_is_out(ground: Ground, queues: Queues, broker: Broker) -> None:
    run = await a_run(ground, queues)
    domain = await ground.a_domain(run=run)
    task = await ground.a_task(await ground.a_page("http://a.example/", domain))
    await send(ground, broker)
    await ground.conn.execute("UPDATE crawl_tasks SET priority = 1, is_urgent = true WHERE id = $1", task)
    assert await send(ground, broker) == "1 domain offered"
    assert await offers(ground) == {domain: True}
    assert depths(queues, run) == (1, 1)
    assert await send(ground, broker) == "0 domains offered"


@pytest.mark.parametrize(
    "columns",
    [
        {"is_active": False},
        {"next_crawl_after": "(now() + interval '1 hour')"},
        {"ready_at": None},
        {"status": "exhausted"},
    ],
    ids=str,
)
async def test_who_may_not_be_claimed_is_not_offered(
    ground: Ground, queues: Queues, broker: Broker, columns: dict[str, Any]
) -> None:
    run = await a_run(ground, queues)
    await ground.a_domain(run=run, pages=1, **columns)
    assert await send(ground, broker) == "0 domains offered"


async def test_leased_domains_are_offered_again_when_they_are_handed_back(
    ground: Ground, queues: Queues, broker: Broker
) -> None:
    run = await a_run(ground, queues)
    domain = await ground.a_domain(run=run, pages=1)
    await send(ground, broker)
    await ground.a_lease(domain, await ground.a_worker(run))
    assert await send(ground, broker) == "0 domains offered"
    assert await offers(ground) == {}
    await ground.conn.execute(
        "UPDATE domains SET claimed_by = NULL, claim_expires_at = NULL, version = version + 1 WHERE id = $1", domain
    )
    assert await send(ground, broker) == "1 domain offered"


async def test_what_a_queue_lost_is_told_again_and_what_it_has_is_not(
    ground: Ground, queues: Queues, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await a_run(ground, queues)
    for number in range(3):
        await ground.a_domain(f"{number}.example", run=run, pages=1)
    await send(ground, broker)
    monkeypatch.setattr(dispatch, "LOST_S", 0.0)
    assert await send(ground, broker) == "0 domains offered"
    queues.wipe()
    assert await send(ground, broker) == "3 domains offered"
    assert depths(queues, run) == (0, 3)


async def test_a_queue_that_nobody_empties_does_not_grow_for_ever(
    ground: Ground, queues: Queues, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "WINDOW", 3)
    run = await a_run(ground, queues)
    for number in range(5):
        await ground.a_domain(f"{number}.example", run=run, pages=1, priority_score=number)
    assert await send(ground, broker) == "3 domains offered"
    assert await send(ground, broker) == "0 domains offered"
    best = await ground.conn.fetch(
        "SELECT d.name FROM dispatched_domains o JOIN domains d ON d.id = o.domain_id ORDER BY 1"
    )
    assert [row["name"] for row in best] == ["2.example", "3.example", "4.example"]


async def test_domains_of_one_label_keep_those_of_others_from_no_queue(
    ground: Ground, queues: Queues, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their workers are full, and their offers stay out; each label has a window of its own."""
    monkeypatch.setattr(dispatch, "WINDOW", 3)
    run = await a_run(ground, queues)
    await ground.a_worker(run, labels=["de"])
    for number in range(5):
        await ground.a_domain(f"{number}.de.example", run=run, pages=1, worker_label="de", priority_score=900)
    for number in range(5):
        await ground.a_domain(f"{number}.fr.example", run=run, pages=1, worker_label="fr")
    assert await send(ground, broker) == "3 domains offered"
    for number in range(5):
        await ground.a_domain(f"{number}.example", run=run, pages=1)
    assert await send(ground, broker) == "3 domains offered"
    assert await send(ground, broker) == "0 domains offered"
    rows = await ground.conn.fetch(
        "SELECT worker_label, count(*) AS n FROM dispatched_domains o JOIN domains d ON d.id = o.domain_id GROUP BY 1"
    )
    assert {row["worker_label"]: row["n"] for row in rows} == {"": 3, "de": 3}


async def test_messages_that_nobody_reads_any_more_count_for_every_label(
    ground: Ground, queues: Queues, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers that found their domains by themselves leave messages behind: a queue must not grow by them."""
    monkeypatch.setattr(dispatch, "WINDOW", 3)
    run = await a_run(ground, queues)
    for number in range(9):
        await ground.a_domain(f"{number}.example", run=run, pages=1)
    assert await send(ground, broker) == "3 domains offered"
    await ground.conn.execute("UPDATE domains SET version = version + 1")
    assert await send(ground, broker) == "0 domains offered"
    queues.wipe()
    assert await send(ground, broker) == "3 domains offered"


async def test_a_message_that_the_broker_refuses_does_not_count_as_told(
    ground: Ground, queues: Queues, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says so only to who asks for confirmation: a full queue answers every message with basic.nack."""
    run = await a_run(ground, queues)
    await ground.a_domain(run=run, pages=1)
    monkeypatch.setattr(broker_module, "queue_of", a_full_queue)
    with pytest.raises(BrokerUnavailableError, match="refuses messages"):
        await send(ground, broker)
    assert await offers(ground) == {}
    monkeypatch.undo()
    queues.wipe()
    assert await send(ground, broker) == "1 domain offered"


def a_full_queue(names: Names, name: str) -> Any:
    made = celery_app.queue_of(names, name)
    made.queue_arguments |= {"x-max-length": 0, "x-overflow": "reject-publish"}
    return made


async def test_without_a_broker_nothing_counts_as_offered(ground: Ground, queues: Queues, wire: Wire) -> None:
    """And it is offered when the broker is back."""
    run = await a_run(ground, queues)
    await ground.a_domain(run=run, pages=1)
    async with open_broker(wire.url, queues.names.prefix) as broker:
        wire.cut()
        with pytest.raises(BrokerUnavailableError, match="does not answer"):
            await send(ground, broker)
        assert await offers(ground) == {}
        wire.mend()
        assert await send(ground, broker) == "1 domain offered"


async def test_a_broker_that_falls_silent_is_noticed(
    ground: Ground, queues: Queues, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F5: the connection is open and nothing comes. In production each answer is waited for for 5 s."""
    run = await a_run(ground, queues)
    await ground.a_domain(run=run, pages=1)
    monkeypatch.setattr("forager.dispatch.broker.ANSWER_S", 0.3)
    monkeypatch.setattr("forager.dispatch.broker.CONNECT_S", 0.3)
    async with open_broker(wire.url, queues.names.prefix) as broker:
        await broker.look(())
        wire.hold()
        with pytest.raises(BrokerUnavailableError, match="does not answer"):
            await send(ground, broker)
        assert await offers(ground) == {}
        wire.let_go()
        assert await send(ground, broker) == "1 domain offered"


async def test_a_wrong_account_is_named(queues: Queues) -> None:
    async with open_broker("amqp://nobody:wrong@127.0.0.1:5672//", queues.names.prefix) as broker:
        with pytest.raises(BrokerUnavailableError, match="refuses the account"):
            await broker.look([])


def test_it_is_kept_only_with_a_broker() -> None:
    assert not DispatchJob().is_enabled(load({}, {}))
    assert DispatchJob().is_enabled(load({"dispatch.mode": "celery"}, {}))
