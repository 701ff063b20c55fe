"""Health in the database: what requests teach is added up, switches off, and is the same in any batches."""

import asyncio
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.integration.proxies.stand import BROKEN, NOT_THROUGH, THROUGH, Stand

from forager.proxies import admin as operate
from forager.proxies import store
from forager.proxies.models import Proxy, ProxyResult, ProxyUse
from forager.proxies.rotation import Member, ProxyState, note

BATCHES = st.lists(
    st.lists(st.tuples(st.sampled_from(ProxyResult), st.integers(0, 5000)), min_size=1, max_size=7), max_size=5
)


async def test_what_a_batch_taught_is_written_for_the_proxy_and_the_pair(stand: Stand) -> None:
    domain, proxy = await stand.ground.a_domain(), await stand.a_proxy()
    await stand.a_pool(domain, proxy)
    await stand.use(domain, proxy, THROUGH, ms=100)
    await stand.use(domain, proxy, THROUGH, ms=200)
    await stand.use(domain, proxy, NOT_THROUGH, BROKEN, error="it hung up")
    row, pair = await stand.proxy(proxy), await stand.pair(domain, proxy)
    assert (row["successes"], row["failures"], row["consecutive_failures"]) == (2, 1, 1)
    assert (pair["successes"], pair["failures"], pair["consecutive_failures"]) == (2, 2, 2)
    assert row["avg_response_time_ms"] == pair["avg_response_time_ms"] == pytest.approx(120.0)
    assert row["last_success_at"] < row["last_failure_at"] == row["last_used_at"] == pair["last_used_at"]
    assert (row["last_error"], row["hour_requests"]) == ("it hung up", 4)
    assert row["is_active"]
    assert pair["is_active"]


async def test_a_pair_is_off_at_five_and_a_proxy_at_ten_failures_in_a_row(stand: Stand) -> None:
    here, there = await stand.ground.a_domain("a.example"), await stand.ground.a_domain("b.example")
    proxy = await stand.a_proxy()
    await stand.a_pool(here, proxy)
    await stand.a_pool(there, proxy)
    await stand.use(here, proxy, *[BROKEN] * 4)
    assert (await stand.pair(here, proxy))["is_active"]
    await stand.use(here, proxy, BROKEN)
    pair = await stand.pair(here, proxy)
    assert (pair["is_active"], pair["probe_at"] is not None) == (False, True)
    assert (await stand.proxy(proxy))["is_active"]
    await stand.use(there, proxy, *[BROKEN] * 5)
    row = await stand.proxy(proxy)
    assert (row["is_active"], row["consecutive_failures"], row["failures"]) == (False, 10, 10)
    wait = await stand.conn.fetchval("SELECT EXTRACT(EPOCH FROM probe_at - now())::float8 FROM proxies")
    assert 290 < wait <= 300


async def test_a_success_in_between_starts_anew(stand: Stand) -> None:
    domain, proxy = await stand.ground.a_domain(), await stand.a_proxy()
    await stand.a_pool(domain, proxy)
    await stand.use(domain, proxy, *[BROKEN] * 4)
    await stand.use(domain, proxy, THROUGH, *[BROKEN] * 4, ms=1)
    pair = await stand.pair(domain, proxy)
    assert (pair["is_active"], pair["consecutive_failures"], pair["failures"]) == (True, 4, 8)


async def test_a_late_success_switches_on_what_failures_switched_off(stand: Stand) -> None:
    domain, proxy = await stand.ground.a_domain(), await stand.a_proxy()
    await stand.a_pool(domain, proxy)
    await stand.use(domain, proxy, *[BROKEN] * 10)
    await stand.use(domain, proxy, THROUGH)
    for row in (await stand.proxy(proxy), await stand.pair(domain, proxy)):
        assert (row["is_active"], row["probe_at"], row["consecutive_failures"]) == (True, None, 0)


async def test_a_success_does_not_switch_on_what_a_person_switched_off(stand: Stand) -> None:
    domain, proxy = await stand.ground.a_domain(), await stand.a_proxy(is_active=False)
    await stand.a_pool(domain, proxy, is_active=False)
    await stand.use(domain, proxy, THROUGH)
    await stand.use(domain, proxy, *[BROKEN] * 10)
    for row in (await stand.proxy(proxy), await stand.pair(domain, proxy)):
        assert (row["is_active"], row["probe_at"]) == (False, None)


async def test_the_hour_begins_anew_when_it_is_over(stand: Stand) -> None:
    domain, proxy = await stand.ground.a_domain(), await stand.a_proxy()
    await stand.a_pool(domain, proxy)
    await stand.use(domain, proxy, THROUGH, THROUGH)
    [standing] = await stand.use(domain, proxy, THROUGH)
    assert (standing.hour_requests, 3590 < standing.hour_left_s <= 3600) == (3, True)
    await stand.conn.execute("UPDATE proxies SET hour_began_at = now() - interval '61 minutes'")
    [standing] = await stand.use(domain, proxy, THROUGH)
    assert standing.hour_requests == 1


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=BATCHES)
def test_rows_do_not_depend_on_how_uses_were_batched(
    batches: list[list[tuple[ProxyResult, int]]], database_url: str
) -> None:
    """What the database makes of batches is what memory makes of one use after the other."""

    async def compare() -> None:
        conn = await asyncpg.connect(database_url)
        try:
            async with _undone(conn):
                await _compare(conn, batches)
        finally:
            await conn.close()

    asyncio.run(compare())


class _undone:  # noqa: N801
    def __init__(self, conn: Any) -> None:
        self._work = conn.transaction()

    async def __aenter__(self) -> None:
        await self._work.start()

    async def __aexit__(self, *_what: object) -> None:
        await self._work.rollback()


async def _compare(conn: Any, batches: list[list[tuple[ProxyResult, int]]]) -> None:
    domain = await conn.fetchval(
        "INSERT INTO domains (name, parent_domain, base_url) VALUES ('h.example', '', '') RETURNING id"
    )
    proxy = await conn.fetchval("INSERT INTO proxies (host, port) VALUES ('h', 1) RETURNING id")
    await conn.execute("INSERT INTO domain_proxies (domain_id, proxy_id) VALUES ($1, $2)", domain, proxy)
    now = await conn.fetchval("SELECT now()")
    member = Member(ProxyState(Proxy(proxy, "http", "h", 1)))
    successes = failures = 0
    for batch in batches:
        uses = [ProxyUse(domain, proxy, now, passage, ms, "x") for passage, ms in batch]
        await store.count_uses(conn, uses)
        for passage, ms in batch:
            note(member, passage, ms)
            successes += passage is ProxyResult.THROUGH
            failures += passage is ProxyResult.BROKEN
    row = await conn.fetchrow("SELECT * FROM proxies WHERE id = $1", proxy)
    pair = await conn.fetchrow("SELECT * FROM domain_proxies WHERE proxy_id = $1", proxy)
    assert (row["successes"], row["failures"]) == (successes, failures)
    assert (row["consecutive_failures"], pair["consecutive_failures"]) == (member.standing.failures, member.failures)
    assert pair["avg_response_time_ms"] == (None if member.average_ms is None else pytest.approx(member.average_ms))


async def test_workers_that_share_proxies_do_not_deadlock(stand: Stand, pool: asyncpg.Pool) -> None:
    domains = [await stand.ground.a_domain(f"d{number}.example") for number in range(4)]
    proxies = [await stand.a_proxy(number) for number in range(1, 9)]
    for domain in domains:
        await stand.a_pool(domain, *proxies)
    now = await stand.conn.fetchval("SELECT now()")

    async def write(domain: int) -> None:
        for _ in range(20):
            ordered = proxies if domain % 2 else proxies[::-1]
            async with pool.acquire() as conn, conn.transaction():
                await store.count_uses(conn, [ProxyUse(domain, proxy, now, THROUGH, 1) for proxy in ordered])

    await asyncio.gather(*map(write, domains))
    assert {row["successes"] for row in await stand.conn.fetch("SELECT successes FROM proxies")} == {80}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE proxies SET probe_at = now()",
        "UPDATE proxies SET protocol = 'ftp'",
        "UPDATE proxies SET port = 0",
        "UPDATE proxies SET country_code = 'de'",
        "UPDATE proxies SET sealed_password = 'x'",
        "UPDATE domain_proxies SET probe_at = now()",
        "UPDATE domain_proxies SET priority = 11",
    ],
)
async def test_the_database_refuses_nonsense(stand: Stand, change: str) -> None:
    await stand.a_pool(await stand.ground.a_domain(), await stand.a_proxy())
    with pytest.raises(asyncpg.CheckViolationError):
        await stand.conn.execute(change)


async def test_domains_that_become_one_keep_their_proxies(stand: Stand) -> None:
    elder, other, third = [await stand.ground.a_domain(name) for name in ("a.example", "b.example", "c.example")]
    one, two = await stand.a_proxy(1), await stand.a_proxy(2)
    await stand.a_pool(elder, one, priority=7)
    await stand.a_pool(other, one, two, priority=3)
    await stand.a_pool(third, two, priority=2)
    await operate.move_pools(stand.conn, elder, [other, third])
    rows = await stand.conn.fetch("SELECT proxy_id, priority FROM domain_proxies WHERE domain_id = $1", elder)
    assert {tuple(row) for row in rows} == {(one, 7), (two, 2)}
