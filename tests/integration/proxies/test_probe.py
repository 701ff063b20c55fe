"""What failures switched off is tried again, by really dialling it, and comes back when it works."""

from collections.abc import Sequence

import pytest
from tests.integration.fetch.raw_server import http, serve
from tests.integration.proxies.stand import BROKEN, THROUGH, Stand
from tests.integration.scheduler.stage import a_context
from tests.proxies import RealProxy, run_proxy

from forager.config.cipher import PasswordCipher
from forager.config.loader import load
from forager.config.settings import Settings
from forager.proxies import store
from forager.proxies.jobs import ProbeProxiesJob
from forager.proxies.probe import probe
from forager.proxies.store import ProbeResult, ProbeRow

KEY, OTHER_KEY = "8f2c1de07b94a6350d7ecb15f93a42e8", "c41b0e7a9d5286f3e70b18d4a6f25c93"
NOW = "UPDATE {} SET probe_at = now() - interval '1 second' WHERE probe_at IS NOT NULL"


def local(**more: object) -> Settings:
    return load({"fetch.allow_networks": "127.0.0.0/8", "fetch.connect_timeout": 2.0} | more, {})


async def hasten(stand: Stand) -> None:
    for table in ("proxies", "domain_proxies"):
        await stand.conn.execute(NOW.format(table))


async def add(stand: Stand, proxy: RealProxy) -> int:
    name, password = proxy.account or (None, None)
    sealed = PasswordCipher([KEY]).encrypt(password) if password else None
    return await stand.a_proxy(
        protocol=proxy.protocol, host=proxy.host, port=proxy.port, username=name, sealed_password=sealed
    )


@pytest.mark.parametrize("protocol", ["http", "socks5"])
async def test_a_proxy_that_works_again_comes_back(stand: Stand, protocol: str) -> None:
    async with serve(http(b"x")) as site, run_proxy(protocol, account=("user", "secret")) as proxy:
        domain = await stand.ground.a_domain("site.example", base_url=site.url("").rstrip("/"))
        identity = await add(stand, proxy)
        await stand.a_pool(domain, identity)
        await stand.use(domain, identity, *[BROKEN] * 10)
        context = a_context(stand.conn, local(secret_key=KEY))
        assert await ProbeProxiesJob().run(context) == "0 proxies tried, 0 back"
        await hasten(stand)
        assert await ProbeProxiesJob().run(context) == "1 proxy tried, 1 back"
        assert (await stand.proxy(identity))["is_active"]
        assert not (await stand.pair(domain, identity))["is_active"]
        assert await ProbeProxiesJob().run(context) == "1 proxy tried, 1 back"
        assert (await stand.pair(domain, identity))["is_active"]
    assert (site.connections, site.requests) == (2, [])
    row = await stand.proxy(identity)
    assert (row["probe_at"], row["consecutive_failures"], row["failures"]) == (None, 0, 10)


async def test_one_that_is_still_dead_waits_longer_each_time(stand: Stand) -> None:
    async with run_proxy() as proxy:
        await proxy.stop()
    domain, identity = await stand.ground.a_domain(), await add(stand, proxy)
    await stand.a_pool(domain, identity)
    await stand.use(domain, identity, *[BROKEN] * 10)
    waits: list[int] = []
    for _ in range(3):
        await hasten(stand)
        await ProbeProxiesJob().run(a_context(stand.conn, local()))
        waits.append(
            await stand.conn.fetchval("SELECT round(EXTRACT(EPOCH FROM probe_at - now()) / 60)::int FROM proxies")
        )
    assert waits == [10, 20, 40]
    row = await stand.proxy(identity)
    assert (row["is_active"], row["failed_probes"]) == (False, 3)
    assert "could not be reached" in row["last_error"]


async def test_a_proxy_at_a_forbidden_address_is_not_dialled(stand: Stand) -> None:
    async with run_proxy() as proxy:
        await add(stand, proxy)
        [probed] = await probe(load({}, {}), await store.find_for_probe(stand.conn, None))
        assert proxy.calls == 0
    assert probed.error
    assert "may not be dialled: 127.0.0.1 is a loopback address" in probed.error


@pytest.mark.parametrize(
    ("key", "words"), [(None, "no secret_key is set"), ("c41b0e7a9d5286f3e70b18d4a6f25c93", "cannot be read with")]
)
async def test_a_password_that_cannot_be_opened_is_a_sentence(stand: Stand, key: str | None, words: str) -> None:
    async with run_proxy(account=("user", "secret")) as proxy:
        await add(stand, proxy)
        [probed] = await probe(local(secret_key=key), await store.find_for_probe(stand.conn, None))
        assert proxy.calls == 0
    assert words in (probed.error or "")


async def test_what_a_person_switched_off_is_left_alone(stand: Stand) -> None:
    domain, identity = await stand.ground.a_domain(), await stand.a_proxy(is_active=False)
    await stand.a_pool(domain, identity, is_active=False)
    assert await store.find_probes(stand.conn, 10) == []
    all_good = [ProbeResult(row, None) for row in await store.find_for_probe(stand.conn, None)]
    await store.end_probes(stand.conn, all_good)
    assert not (await stand.proxy(identity))["is_active"]


async def test_sites_that_must_be_left_alone_are_not_knocked_at(stand: Stand) -> None:
    paused = await stand.ground.a_domain("paused.example", is_active=False)
    blocked = await stand.ground.a_domain("blocked.example")
    await stand.conn.execute(
        "UPDATE domains SET status = 'blocked', block_reason_code = 'forbidden' WHERE id = $1", blocked
    )
    identity = await stand.a_proxy()
    await stand.a_pool(paused, identity)
    await stand.a_pool(blocked, identity)
    for domain in (paused, blocked):
        await stand.use(domain, identity, *[BROKEN] * 5)
    await hasten(stand)
    [row] = await store.find_probes(stand.conn, 10)
    assert (row.domain_id, row.url) == (None, None)


async def test_a_pair_waits_until_its_proxy_works(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    domain, identity = await stand.ground.a_domain(), await stand.a_proxy()
    await stand.a_pool(domain, identity)
    await stand.use(domain, identity, *[BROKEN] * 10)
    await hasten(stand)
    asked: list[ProbeRow] = []

    async def remember(_settings: Settings, rows: Sequence[ProbeRow]) -> list[ProbeResult]:
        asked.extend(rows)
        return [ProbeResult(row, "no") for row in rows]

    monkeypatch.setattr("forager.proxies.jobs.probe", remember)
    await ProbeProxiesJob().run(a_context(stand.conn))
    assert [row.domain_id for row in asked] == [None]
    assert asked[0].url == "http://a.example"


async def test_a_success_on_the_way_makes_a_vain_probe_harmless(stand: Stand) -> None:
    """A worker was faster: what it learned stays."""
    domain, identity = await stand.ground.a_domain(), await stand.a_proxy()
    await stand.a_pool(domain, identity)
    await stand.use(domain, identity, *[BROKEN] * 10)
    await hasten(stand)
    found = await store.find_probes(stand.conn, 10)
    await stand.use(domain, identity, THROUGH)
    await store.end_probes(stand.conn, [ProbeResult(row, "too late") for row in found])
    assert (await stand.proxy(identity))["is_active"]
