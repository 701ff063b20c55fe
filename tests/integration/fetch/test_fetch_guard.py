"""No connection is opened to an address the guard refuses, however the URL names it."""

import ipaddress
import socket

import pytest
from tests.integration.fetch.raw_server import a_client, http, serve

from forager.errors import AddressBlockedError, ConnectError, DnsError, VisitError, VisitTimeoutError
from forager.fetch.client import Client
from forager.fetch.connect import Connector
from forager.fetch.dns import GuardedResolver, look_up
from forager.fetch.pool import Pool
from forager.fetch.proxy_connector import ProxyConnector


def refuse_loopback(ip: str, port: int) -> None:
    if ipaddress.ip_address(ip.partition("%")[0]).is_loopback:
        raise AddressBlockedError(f"{ip}:{port} is not public")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "user@127.0.0.1"])
async def test_a_refused_address_sees_no_connection(host: str) -> None:
    async with serve(http(b"x")) as server, a_client(check_address=refuse_loopback) as client:
        with pytest.raises(AddressBlockedError, match="is not public"):
            await client.get(f"http://{host}:{server.port}/")
    assert server.connections == 0


@pytest.mark.parametrize(
    "host", ["localhost.", "2130706433", "127.1", "0x7f.1", "0177.0.0.1", "[::ffff:7f00:1]", "[::face]"]
)
async def test_odd_spellings_are_never_dialled_unchecked(host: str) -> None:
    asked: list[str] = []

    def remember_and_refuse(ip: str, port: int) -> None:
        asked.append(ip)
        raise AddressBlockedError(f"{ip}:{port} is refused")

    async with serve(http(b"x")) as server, a_client(check_address=remember_and_refuse) as client:
        with pytest.raises(VisitError):
            await client.get(f"http://{host}:{server.port}/")
    assert server.connections == 0


async def test_the_guard_is_told_the_address_and_the_port() -> None:
    asked: list[tuple[str, int]] = []
    async with serve(http(b"x")) as server, a_client(check_address=lambda ip, port: asked.append((ip, port))) as client:
        await client.get(server.url())
        await client.get(f"http://localhost:{server.port}/")
    assert ("127.0.0.1", server.port) in asked
    assert {port for _, port in asked} == {server.port}


async def test_one_refused_address_refuses_the_whole_name() -> None:
    def mixed(_: str, __: int) -> list[tuple[int, str]]:
        return [(socket.AF_INET, "192.0.2.1"), (socket.AF_INET, "127.0.0.1")]

    resolver = GuardedResolver(refuse_loopback, mixed)
    with pytest.raises(AddressBlockedError):
        await resolver.resolve("rebind.example", 80)
    resolver.close()


async def test_what_was_checked_is_what_is_dialled() -> None:
    answers: list[list[tuple[int, str]]] = [[(socket.AF_INET, "127.0.0.1")], [(socket.AF_INET, "192.0.2.1")]]
    resolver = GuardedResolver(lambda _ip, _port: None, lambda _host, _port: answers.pop(0))
    found = await resolver.resolve("pinned.example", 8080)
    assert found == ["127.0.0.1"]
    assert await resolver.resolve("pinned.example", 8080) == found
    assert len(answers) == 1
    resolver.close()


async def test_a_name_that_changes_its_address_is_dialled_where_it_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rebinding: public when it is checked, loopback a moment later. Every new answer is checked before it is used."""
    monkeypatch.setattr("forager.fetch.dns.DNS_TTL_S", 0.0)
    asked: list[str] = []

    def rebind(host: str, _port: int) -> list[tuple[int, str]]:
        asked.append(host)
        return [(socket.AF_INET, "127.0.0.1" if len(asked) > 1 else "192.0.2.1")]

    resolver = GuardedResolver(refuse_loopback, rebind)
    async with serve(http(b"x")) as server:
        pool = Pool(ProxyConnector(Connector(resolver)), 0)
        client = Client(pool, user_agent="Forager/test", timeout_s=1.0, connect_timeout_s=0.3, max_bytes=1000)
        with pytest.raises((VisitTimeoutError, ConnectError)):  # 192.0.2.1 was dialled, and nobody is there
            await client.get(f"http://rebind.example:{server.port}/")
        with pytest.raises(AddressBlockedError):
            await client.get(f"http://rebind.example:{server.port}/")
        await pool.close()
    assert server.connections == 0
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("error", "questions"),
    [
        (socket.gaierror(socket.EAI_NONAME, "no such name"), 1),
        (AddressBlockedError("not public"), 1),
        (socket.gaierror(socket.EAI_AGAIN, "try again"), 3),
    ],
)
async def test_a_name_without_an_address_is_not_asked_for_again_at_once(error: Exception, questions: int) -> None:
    asked: list[str] = []

    def fail(host: str, _port: int) -> list[tuple[int, str]]:
        asked.append(host)
        raise error

    resolver = GuardedResolver(refuse_loopback, fail)
    for _ in range(3):
        with pytest.raises(type(error)):
            await resolver.resolve("nowhere.example", 80)
    resolver.close()
    assert len(asked) == questions


async def test_the_resolver_remembers_a_bounded_number_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forager.fetch.dns.DNS_CACHE_NAMES", 3)
    asked: list[str] = []

    def note(host: str, _port: int) -> list[tuple[int, str]]:
        asked.append(host)
        return [(socket.AF_INET, "192.0.2.1")]

    resolver = GuardedResolver(refuse_loopback, note)
    for name in ("a", "b", "c", "d", "d", "c", "b", "a"):
        await resolver.resolve(name, 80)
    resolver.close()
    assert asked == ["a", "b", "c", "d", "a"]  # the oldest went, and only it is asked for again


@pytest.mark.parametrize("host", ["a" * 64 + ".invalid", "no-such-name.invalid", "a..b.invalid"])
async def test_a_name_that_does_not_resolve_is_a_dns_error(client: Client, host: str) -> None:
    with pytest.raises(DnsError):
        await client.get(f"http://{host}/")


def test_the_system_resolver_knows_localhost() -> None:
    assert (socket.AF_INET, "127.0.0.1") in look_up("localhost", 80)
