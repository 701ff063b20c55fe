"""Thirty claimants race over a thousand domains: some renew, some die, some get stuck and come back late.

No domain ever has two holders, none is left out, and nothing that comes late is taken. Who falls silent has its
heartbeat set back, and who oversleeps its leases, so that nobody waits for time: the others find it the next time they
look.
"""

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from tests.builders import a_spec, a_success, an_order
from tests.ground import Ground

from forager.db.database import Database
from forager.db.pool import close_pool, open_pool
from forager.domains import store as domains
from forager.domains.store import Keeping, Release
from forager.engine.claims import Claims
from forager.engine.recovery import free_lost
from forager.engine.transaction_retry import in_transaction
from forager.engine.writer import Writer
from forager.explain.check import check
from forager.frontier.enqueue import EnqueueResult
from forager.frontier.models import Lease, Target

pytestmark = [pytest.mark.both_servers, pytest.mark.timeout(120)]

CLAIMANTS, STURDY = 30, 10
DOMAINS = 1000
AT_ONCE = 12
BUDGET = 2
DEAD_AFTER_S = 600.0

FILL = """
INSERT INTO domains (name, parent_domain, base_url, run_id, ready_at, priority_score, pages_discovered, frontier_size)
SELECT name, name, 'http://' || name, $1, now(), n * 7919 % 1000, 1 + n % 3, 1 + n % 3
FROM (SELECT n, 'd' || n || '.example' AS name FROM generate_series(1, $2::int) n) made
"""
FILL_PAGES = """
INSERT INTO pages (domain_id, url, url_hash, depth, priority)
SELECT d.id, url, substring(sha256(convert_to(url, 'UTF8')) FOR 16), 0, 5
FROM domains d, generate_series(1, d.frontier_size) n, LATERAL (SELECT d.base_url || '/' || n AS url) made
"""
LEDGER = """
CREATE TABLE holdings (domain_id bigint, version bigint, worker bigint, began_at timestamptz DEFAULT clock_timestamp(),
                       ended_at timestamptz, PRIMARY KEY (domain_id, version));
CREATE UNIQUE INDEX one_holder ON holdings (domain_id) WHERE ended_at IS NULL;
"""
BEGIN = "INSERT INTO holdings (domain_id, version, worker) SELECT *, $3 FROM unnest($1::bigint[], $2::bigint[])"
END = "UPDATE holdings SET ended_at = clock_timestamp() WHERE worker = $1 AND ended_at IS NULL"
SILENCE = "UPDATE workers SET heartbeat_at = now() - interval '1 hour' WHERE id = $1"
EXPIRY = "UPDATE domains SET claim_expires_at = now() - interval '1 second' WHERE claimed_by = $1"
OVERLAPS = """
SELECT FROM (SELECT began_at, lag(ended_at) OVER (PARTITION BY domain_id ORDER BY version) AS before FROM holdings) h
WHERE began_at <= before
"""


@dataclass
class Race:
    """What all claimants share: the domains, the ledger of who held what, and what they tell each other."""

    database: Database
    run: int
    claims: Claims
    versions: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Domain → versions in the order in which they were given."""
    taken_over: dict[tuple[int, int], asyncio.Event] = field(default_factory=dict)
    """A stuck claimant's lease → somebody has the domain now."""
    deeds: Counter[str] = field(default_factory=Counter)

    async def execute(self, sql: str, *given: Any) -> None:
        await in_transaction(self.database, lambda conn: conn.execute(sql, *given))

    async def claim(self, worker: int) -> list[Lease]:
        leases = (await self.claims.domains(worker, AT_ONCE)).leases
        for lease in leases:
            self.versions[lease.domain_id].append(lease.version)
        if leases:
            await self.execute(BEGIN, [each.domain_id for each in leases], [each.version for each in leases], worker)
        held = {lease.domain_id for lease in leases}
        for (domain, _), event in self.taken_over.items():
            if domain in held:
                event.set()
        return leases

    async def is_over(self, worker: int) -> bool:
        """As a worker asks that holds nothing: the dead are relieved of what they hold."""
        relieve = partial(free_lost, dead_after_s=DEAD_AFTER_S, delay_s=0.0, strays_of=worker)
        freed = await in_transaction(self.database, relieve)  # apart: others count while we wait
        self.deeds["taken over"] += len(freed)
        return await self.claims.next_ready() == (False, None)


DEEDS = ("renew", "die", "get stuck")


class Claimant:
    """A worker without its network. It may die, or get stuck, and goes on under a new number, as a worker does."""

    def __init__(self, race: Race, number: int) -> None:
        self.race = race
        self.is_sturdy = number < STURDY
        self.chance = random.Random(number)
        self.first_deed = [] if self.is_sturdy else [DEEDS[number % len(DEEDS)]]
        """So that whoever is quick and whoever is not, each of them happens."""
        self.worker = 0
        order = an_order(race.run)
        self.writer = Writer(
            race.database, order, worker=lambda: self.worker, queues={}, on_recorded=lambda _written, _held: None
        )

    async def run(self) -> None:
        await self.register()
        while True:
            leases = await self.race.claim(self.worker)
            if leases:
                await self.hold(leases)
            elif await self.race.is_over(self.worker):
                return
            else:
                await asyncio.sleep(0.01)  # others hold what is left

    async def register(self) -> None:
        self.worker = await in_transaction(self.race.database, lambda conn: Ground(conn).a_worker(self.race.run))

    async def hold(self, leases: Sequence[Lease]) -> None:
        targets = await self.race.claims.targets(self.worker, [(lease, BUDGET) for lease in leases])
        deed = self.first_deed or self.chance.choices(
            ["work", *DEEDS], [8, 4, 0, 0] if self.is_sturdy else [6, 4, 1, 1]
        )
        self.first_deed = []
        self.race.deeds[deed[0]] += 1
        match deed:
            case ["work"]:
                await self.work(leases, targets)
            case ["renew"]:
                renew = partial(domains.renew_leases, worker=self.worker, lease_s=60.0)
                assert set(await in_transaction(self.race.database, renew)) == {lease.token for lease in leases}
                await self.work(leases, targets)
            case ["die"]:
                await self.stop_working(SILENCE)
                await self.register()
            case _:
                await self.come_back_late(leases, targets)

    async def work(self, leases: Sequence[Lease], targets: Sequence[Target]) -> None:
        held = await self.record(targets)
        assert held == {target.token for target in targets}
        await self.race.execute(END, self.worker)
        await self.release(leases)

    async def record(self, targets: Sequence[Target]) -> set[tuple[int, int]]:
        outcomes = [a_success(target) for target in targets]
        return set(
            await in_transaction(
                self.race.database, lambda conn: self.writer.record(conn, outcomes, (), EnqueueResult())
            )
        )

    async def release(self, leases: Sequence[Lease]) -> None:
        await self.race.claims.release(self.worker, [Release(lease, wait_s=0.0, is_spent=True) for lease in leases])

    async def stop_working(self, how: str) -> None:
        await self.race.execute(END, self.worker)
        await self.race.execute(how, self.worker)

    async def come_back_late(self, leases: Sequence[Lease], targets: Sequence[Target]) -> None:
        """When others work on its domains: it has results, and wants to hand its leases back. Buried meanwhile, or
        with nothing but its leases lost: then it goes on under its number."""
        events = {lease.token: asyncio.Event() for lease in leases}
        self.race.taken_over |= events
        is_buried = self.chance.random() < 0.5
        await self.stop_working(SILENCE if is_buried else EXPIRY)
        await asyncio.gather(*(event.wait() for event in events.values()))
        assert await self.record(targets) == set()
        await self.release(leases)
        renew = partial(domains.renew_leases, worker=self.worker, lease_s=60.0)
        assert await in_transaction(self.race.database, renew) == {}
        self.race.deeds["late results"] += len(targets)
        if is_buried:
            await self.register()


@pytest.fixture
async def race(ground: Ground, database_url: str) -> AsyncIterator[Race]:
    pool = await open_pool(database_url, size=CLAIMANTS, application="forager test")
    database = Database(pool, "a test's database", is_embedded=False, dsn=database_url)
    run = await ground.a_run()
    await ground.conn.execute(FILL, run, DOMAINS)
    await ground.conn.execute(FILL_PAGES)
    await ground.conn.execute(LEDGER)
    claims = Claims(database, run=run, spec=a_spec(), workers=CLAIMANTS, lease_s=60.0, keeping=Keeping())
    yield Race(database, run, claims)
    await close_pool(pool)
    await ground.conn.execute("DROP TABLE holdings")


async def test_thirty_claimants_race_over_a_thousand_domains(race: Race, ground: Ground) -> None:
    async with asyncio.TaskGroup() as together:
        for number in range(CLAIMANTS):
            together.create_task(Claimant(race, number).run())

    missed = [deed for deed in ("renew", "die", "get stuck", "taken over", "late results") if not race.deeds[deed]]
    assert missed == [], race.deeds
    assert await ground.conn.fetch(OVERLAPS) == []
    assert len(race.versions) == DOMAINS
    assert all(earlier < later for given in race.versions.values() for earlier, later in pairwise(given))

    states = await ground.conn.fetch("SELECT status::text, claimed_by, frontier_size FROM domains")
    assert {tuple(row) for row in states} == {("exhausted", None, 0)}
    visits = await ground.conn.fetch(
        "SELECT DISTINCT count(*) FROM crawl_tasks WHERE outcome = 'success' GROUP BY page_id"
    )
    assert [row["count"] for row in visits] == [1]
    assert await ground.conn.fetchval("SELECT count(*) FROM pages WHERE status <> 'fetched'") == 0
    assert [finding for verdict in await check(ground.conn) for finding in verdict.findings if finding.broken] == []


async def test_the_best_come_first_round_by_round(race: Race, ground: Ground) -> None:
    """One claimant alone. Who has more than its budget comes again, after all the others had their turn."""
    alone = Claims(
        race.database, run=race.run, spec=a_spec(), workers=1, lease_s=60.0, keeping=Keeping(is_scored=False)
    )
    claimant = Claimant(race, 0)
    await claimant.register()
    scores = dict(await ground.conn.fetch("SELECT id, priority_score FROM domains"))
    batches: list[set[int]] = []
    while leases := (await alone.domains(claimant.worker, 200)).leases:
        batches.append({lease.domain_id for lease in leases})
        await claimant.record(await alone.targets(claimant.worker, [(lease, BUDGET) for lease in leases]))
        await alone.release(claimant.worker, [Release(lease, wait_s=0.0, is_spent=True) for lease in leases])
    first = sorted(scores, key=lambda domain: (-scores[domain], domain))
    big = await ground.conn.fetch("SELECT id FROM domains WHERE pages_discovered > $1 ORDER BY id", BUDGET)
    order = [*first, *(row["id"] for row in big)]  # handed back without a score: in the order they were met
    assert batches == [set(order[start : start + 200]) for start in range(0, len(order), 200)]
