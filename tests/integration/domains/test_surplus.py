"""Whoever has more than an even share can spare the rest, as long as somebody has next to nothing."""

from typing import Any

import pytest
from tests.ground import Ground

from forager.domains import store as domains

pytestmark = pytest.mark.both_servers


class Crew:
    """Workers of one run, each with so many domains."""

    def __init__(self, ground: Ground, run: int) -> None:
        self._ground = ground
        self._run = run
        self._domains = 0

    async def a_worker(self, held: int, *, label: str = "", score: float = 1.0, **columns: Any) -> int:
        worker = await self._ground.a_worker(self._run, **columns)
        for _ in range(held):
            self._domains += 1
            domain = await self._ground.a_domain(
                f"d{self._domains}.example", run=self._run, worker_label=label, priority_score=score
            )
            await self._ground.a_lease(domain, worker)
        return worker

    async def surplus(self, worker: int) -> tuple[list[int], dict[int, int]]:
        return await domains.find_extra_domains(self._ground.conn, worker=worker, run=self._run, heard_s=60)


@pytest.fixture
async def crew(ground: Ground) -> Crew:
    return Crew(ground, await ground.a_run())


@pytest.mark.parametrize(
    ("mine", "others", "spared", "poor"),
    [
        (6, [0], 3, [0]),
        (7, [0], 3, [0]),
        (1, [0], 0, []),
        (2, [0], 1, [0]),
        (10, [5, 0], 5, [0]),
        (5, [10, 0], 0, []),
        (9, [1], 4, [1]),
        (9, [2], 3, []),
        (3, [3, 3], 0, []),
        (40, [], 0, []),
    ],
)
async def test_how_much_can_be_spared(crew: Crew, mine: int, others: list[int], spared: int, poor: list[int]) -> None:
    me = await crew.a_worker(mine)
    crowd = [await crew.a_worker(held) for held in others]
    found, have = await crew.surplus(me)
    assert len(found) == spared
    assert have == {who: held for who, held in zip(crowd, others, strict=True) if held in poor}


@pytest.mark.parametrize(
    "why", [{"silent_s": 61}, {"status": "dead"}, {"status": "stopped"}, {"drain_asked_at": "now"}], ids=str
)
async def test_nobody_spares_for_one_who_cannot_take(crew: Crew, ground: Ground, why: dict[str, Any]) -> None:
    me, other = await crew.a_worker(6), await crew.a_worker(0)
    silent_s, status = why.get("silent_s", 0), why.get("status", "running")
    await ground.conn.execute(
        """UPDATE workers SET heartbeat_at = now() - make_interval(secs => $2), status = $3::text::worker_status,
                  drain_asked_at = CASE WHEN $4 THEN now() END WHERE id = $1""",
        other,
        float(silent_s),
        status,
        "drain_asked_at" in why,
    )
    assert await crew.surplus(me) == ([], {})


async def test_one_who_is_sent_away_spares_nothing_more(crew: Crew, ground: Ground) -> None:
    me = await crew.a_worker(6)
    await crew.a_worker(0)
    await ground.conn.execute("UPDATE workers SET drain_asked_at = now() WHERE id = $1", me)
    assert await crew.surplus(me) == ([], {})


async def test_workers_of_other_runs_have_their_own(crew: Crew, ground: Ground) -> None:
    me = await crew.a_worker(6)
    await Crew(ground, await ground.a_run()).a_worker(0)
    assert await crew.surplus(me) == ([], {})


async def test_the_least_urgent_go_and_those_with_a_label_stay(crew: Crew, ground: Ground) -> None:
    me = await crew.a_worker(4, score=5.0)
    await crew.a_worker(0)
    less_urgent = [await ground.a_domain(f"late{number}.example", priority_score=2.0) for number in range(2)]
    await ground.conn.execute(
        "UPDATE domains d SET run_id = w.run_id FROM workers w WHERE w.id = $1 AND d.id = ANY ($2::bigint[])",
        me,
        less_urgent,
    )
    for domain in less_urgent:
        await ground.a_lease(domain, me)
    labelled = await ground.a_domain("far.example", worker_label="far", priority_score=1.0)
    await ground.a_lease(labelled, me)
    found, _ = await crew.surplus(me)
    assert found[:2] == less_urgent
    assert len(found) == 3
    assert labelled not in found
