"""Which domains a worker hands back, and for whom: not again and again for one who takes none."""

import pytest
from tests.ground import Ground

from forager import clock
from forager.db.database import Database
from forager.engine import lease_rebalancing
from forager.engine.lease_rebalancing import LeaseRebalancer


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of day, to be set by tests."""
    now = [1000.0]
    monkeypatch.setattr(clock, "monotonic", lambda: now[0])
    return now


async def six_and_none(ground: Ground) -> tuple[int, int, int]:
    run = await ground.a_run()
    me, other = await ground.a_worker(run), await ground.a_worker(run, pid=2)
    for number in range(6):
        await ground.a_lease(await ground.a_domain(f"d{number}.example", run=run), me)
    return run, me, other


async def test_half_of_it_goes_to_one_who_has_none_and_others_come_first(
    ground: Ground, database: Database, at: list[float]
) -> None:
    run, me, _ = await six_and_none(ground)
    share = LeaseRebalancer(database, run)
    assert not share.should_yield()
    assert len(await share.surplus(me, heard_s=60)) == 3
    assert share.should_yield()
    at[0] += lease_rebalancing.STEP_BACK_S
    assert not share.should_yield()


async def test_one_who_took_nothing_is_left_alone_for_a_while(
    ground: Ground, database: Database, at: list[float]
) -> None:
    run, me, _ = await six_and_none(ground)
    share = LeaseRebalancer(database, run)
    assert await share.surplus(me, heard_s=60)
    at[0] += lease_rebalancing.AGAIN_S - 1
    assert await share.surplus(me, heard_s=60) == []
    assert not share.should_yield()
    await ground.a_worker(run, pid=3)
    assert await share.surplus(me, heard_s=60), "another who has none is another matter"
    at[0] += 1
    assert await share.surplus(me, heard_s=60)


async def test_one_who_took_some_gets_more(ground: Ground, database: Database, at: list[float]) -> None:
    run, me, other = await six_and_none(ground)
    share = LeaseRebalancer(database, run)
    assert await share.surplus(me, heard_s=60)
    for number in range(6, 12):
        await ground.a_lease(await ground.a_domain(f"d{number}.example", run=run), me)
    await ground.a_lease(await ground.a_domain("its.example", run=run), other)
    assert len(await share.surplus(me, heard_s=60)) == 5
