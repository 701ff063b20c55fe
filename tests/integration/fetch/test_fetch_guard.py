"""No connection is opened to an address the guard refuses, however the URL names it."""

import ipaddress
import socket

import pytest
from tests.integration.fetch.raw_server import a_client, http, serve

from forager.errors import AddressRefusedError, DnsError, VisitError
from forager.fetch import Client
from forager.fetch.dial import GuardedResolver, look_up


def refuse_loopback(ip: str, port: int) -> None:
    if ipaddress.ip_address(ip.partition("%")[0]).is_loopback:
        raise AddressRefusedError(f"{ip}:{port} is not public")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "user@127.0.0.1"])
async def test_a_refused_address_sees_no_connection(host: str) -> None:
    async with serve(http(b"x")) as server, a_client(check_address=refuse_loopback) as client:
        with pytest.raises(AddressRefusedError, match="is not public"):
            await client.get(f"http://{host}:{server.port}/")
    assert server.connections == 0


@pytest.mark.parametrize(
    "host", ["localhost.", "2130706433", "127.1", "0x7f.1", "0177.0.0.1", "[::ffff:7f00:1]", "[::face]"]
)
async def test_odd_spellings_are_never_dialled_unchecked(host: str) -> None:
    asked: list[str] = []

    def remember_and_refuse(ip: str, port: int) -> None:
        asked.append(ip)
        raise AddressRefusedError(f"{ip}:{port} is refused")

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
    with pytest.raises(AddressRefusedError):
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


@pytest.mark.parametrize("host", ["a" * 64 + ".invalid", "no-such-name.invalid", "a..b.invalid"])
async def test_a_name_that_does_not_resolve_is_a_dns_error(client: Client, host: str) -> None:
    with pytest.raises(DnsError):
        await client.get(f"http://{host}/")


def test_the_system_resolver_knows_localhost() -> None:
    assert (socket.AF_INET, "127.0.0.1") in look_up("localhost", 80)
