"""A worker that is sent away takes nothing new, finishes what is open, hands back what it held and ends."""

import asyncio
from typing import Any

import pytest
from tests.ground import Ground
from tests.integration.engine.stage import Stage, WatchedSite, serve

from forager.db.database import Database
from forager.engine import signals
from forager.errors import ConflictError, NotFoundError
from forager.workers import service as workers


async def test_it_hands_back_what_it_held_and_another_goes_on(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals, "EVERY_S", 0.05)
    is_busy = asyncio.Event()

    def notice(_path: str, count: int) -> None:
        if count == 4:
            is_busy.set()

    async with serve(WatchedSite(60, on_request=notice), WatchedSite(60, number=2)) as web:
        stage = await Stage.open(database, web)
        begun = asyncio.create_task(stage.work(delay_s=0.05, is_unpaced=lambda _domain: False))
        await asyncio.wait_for(is_busy.wait(), 10)
        async with database.pool.acquire() as conn:
            worker = await conn.fetchval("SELECT id FROM workers")
            (sent,) = await workers.drain_workers(conn, worker=worker)
            assert (sent.worker, sent.run_id) == (worker, stage.run)
        await asyncio.wait_for(begun, 10)
        asked = len(stage.requests())
        assert 4 <= asked < 120
        (row,) = await stage.fetch("SELECT status::text AS status, drain_asked_at IS NOT NULL AS is_sent FROM workers")
        assert tuple(row) == ("stopped", True)
        assert await stage.fetch("SELECT id FROM domains WHERE claimed_by IS NOT NULL") == []
        assert await stage.fetch("SELECT id FROM crawl_tasks WHERE locked_at IS NOT NULL") == []
        assert await stage.broken_promises() == {}
        await stage.work()
        assert stage.requests() == dict.fromkeys(web.answer_key.expected_success(), 1)


@pytest.fixture
async def two_machines(ground: Ground) -> dict[str, Any]:
    run = await ground.a_run()
    return {
        "run": run,
        "here": [await ground.a_worker(run, host="here/boot/pid", pid=pid) for pid in (1, 2)],
        "there": await ground.a_worker(run, host="there/boot/pid"),
        "gone": await ground.a_worker(run, host="here/boot/pid", status="dead"),
    }


async def test_all_of_a_machine(ground: Ground, two_machines: dict[str, Any]) -> None:
    sent = await workers.drain_workers(ground.conn, host="here")
    assert [each.worker for each in sent] == two_machines["here"]
    told = await ground.conn.fetch("SELECT id FROM workers WHERE drain_asked_at IS NOT NULL ORDER BY id")
    assert [row["id"] for row in told] == two_machines["here"]


async def test_asking_twice_changes_nothing(ground: Ground, two_machines: dict[str, Any]) -> None:
    (first,) = await workers.drain_workers(ground.conn, worker=two_machines["there"])
    assert await workers.drain_workers(ground.conn, worker=two_machines["there"]) == [first]


async def test_who_does_not_run_cannot_be_sent_away(ground: Ground, two_machines: dict[str, Any]) -> None:
    with pytest.raises(NotFoundError, match="No worker runs on 'nowhere'"):
        await workers.drain_workers(ground.conn, host="nowhere")
    with pytest.raises(NotFoundError, match="There is no worker 999999"):
        await workers.drain_workers(ground.conn, worker=999_999)
    with pytest.raises(ConflictError, match="does not run: it is dead"):
        await workers.drain_workers(ground.conn, worker=two_machines["gone"])
