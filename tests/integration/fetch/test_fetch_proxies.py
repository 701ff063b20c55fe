"""Requests through real proxies: which bytes go to whom, whose fault a failure is, and that the guard holds."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvloop
from tests.integration.fetch.raw_server import MAX_BYTES, Server, a_client, allow_all, http, serve
from tests.listening import listening
from tests.proxies import run_proxy

from forager.errors import AddressBlockedError, ConnectError, ConnectionLostError, ErrorSource, ProxyError, TlsError
from forager.fetch.client import Client, open_client
from forager.fetch.connect import Connector
from forager.fetch.dns import CheckAddress, GuardedResolver
from forager.fetch.pool import Pool
from forager.fetch.proxy_connector import ProxyConnector
from forager.proxies.models import Proxy

PAGE = b"<title>Hello</title>"
CERTIFICATE = Path(__file__).with_name("self_signed.pem")
PROTOCOLS = ("http", "https", "socks5")
TUNNELS = {"http": "CONNECT", "https": "CONNECT", "socks5": "SOCKS"}


@pytest.fixture(autouse=True)
def trusted_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))


@asynccontextmanager
async def serve_anything(words: bytes) -> AsyncIterator[Server]:
    """A server that says something as soon as it is called."""

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(words)
        await writer.drain()
        writer.close()

    async with listening(talk) as port:
        yield Server("127.0.0.1", port)


def tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def tls_of(protocol: str) -> ssl.SSLContext | None:
    return tls() if protocol == "https" else None


# Through -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("account", [None, ("user", "pass word:é")])
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_site_is_asked_through_a_tunnel(
    client: Client, protocol: str, scheme: str, account: tuple[str, str] | None
) -> None:
    async with (
        serve(http(PAGE), tls=tls_of(scheme)) as site,
        run_proxy(protocol, tls=tls_of(protocol), account=account) as proxy,
    ):
        url = f"{scheme}://127.0.0.1:{site.port}/a?b=c"
        answers = [await client.get(url, via=proxy.record()) for _ in range(3)]
    assert [answer.body for answer in answers] == [PAGE] * 3
    assert [(seen.verb, seen.place) for seen in proxy.seen] == [(TUNNELS[protocol], f"127.0.0.1:{site.port}")]
    assert (site.connections, len(site.requests)) == (1, 3)
    assert all(request.startswith(b"GET /a?b=c HTTP/1.1\r\n") for request in site.requests)
    assert b"roxy" not in b"".join(site.requests)


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_tunnels_stand_on_the_event_loop_of_workers(protocol: str, scheme: str) -> None:
    """TLS inside TLS and protocols that change hands are where loops differ."""

    async def ask() -> list[bytes]:
        async with (
            serve(http(PAGE), tls=tls_of(scheme)) as site,
            run_proxy(protocol, tls=tls_of(protocol), account=("user", "secret")) as proxy,
            a_client() as client,
        ):
            url = f"{scheme}://127.0.0.1:{site.port}/"
            return [(await client.get(url, via=proxy.record())).body for _ in range(2)]

    assert uvloop.run(ask()) == [PAGE] * 2


@pytest.mark.parametrize("protocol", ["http", "https"])
async def test_a_forwarding_proxy_gets_plain_http_as_a_whole(client: Client, protocol: str) -> None:
    async with (
        serve(http(PAGE)) as site,
        run_proxy(protocol, tls=tls_of(protocol), account=("user", "secret")) as proxy,
    ):
        answer = await client.get(site.url("/a?b"), via=proxy.record(is_forwarding=True))
    assert answer.body == PAGE
    assert [(seen.verb, seen.place) for seen in proxy.seen] == [("GET", site.url("/a?b"))]
    assert b"roxy" not in site.requests[0]


async def test_a_forwarding_proxy_carries_https_through_a_tunnel(client: Client) -> None:
    async with serve(http(PAGE), tls=tls()) as site, run_proxy() as proxy:
        await client.get(f"https://127.0.0.1:{site.port}/", via=proxy.record(is_forwarding=True))
    assert [seen.verb for seen in proxy.seen] == ["CONNECT"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_proxy_is_told_the_address_that_was_checked_and_no_name(client: Client, protocol: str) -> None:
    async with serve(http(PAGE)) as site, run_proxy(protocol, tls=tls_of(protocol)) as proxy:
        await client.get(f"http://localhost:{site.port}/", via=proxy.record())
    assert proxy.places == [f"127.0.0.1:{site.port}"]
    assert f"Host: localhost:{site.port}".encode() in site.requests[0]


async def test_connections_are_kept_for_each_proxy_and_for_none(client: Client) -> None:
    async with serve(http(PAGE)) as site, run_proxy(host="127.0.0.1") as one, run_proxy(host="127.0.0.2") as two:
        for _ in range(2):
            for via in (None, one.record(1), two.record(2)):
                await client.get(site.url(), via=via)
    assert (site.connections, one.calls, two.calls) == (3, 1, 1)


async def test_a_site_that_is_asked_again_after_it_hung_up_is_asked_through_the_same_proxy(client: Client) -> None:
    closing = http(PAGE, "Connection: close")
    async with serve(closing) as site, run_proxy() as proxy:
        for _ in range(2):
            assert (await client.get(site.url(), via=proxy.record())).body == PAGE
    assert proxy.places == [f"127.0.0.1:{site.port}"] * 2


# Whose fault ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_dead_proxy_is_our_fault(client: Client, protocol: str) -> None:
    async with serve(http(PAGE)) as site, run_proxy(protocol, tls=tls_of(protocol)) as proxy:
        await proxy.stop()
        with pytest.raises(ProxyError, match=r"proxy 1 \(\w+://127\.0\.0\.1:\d+\) could not be reached") as caught:
            await client.get(site.url(), via=proxy.record())
    assert (caught.value.code, caught.value.blame, caught.value.may_retry) == ("proxy_error", ErrorSource.US, True)
    assert site.connections == 0


@pytest.mark.parametrize("protocol", ["http", "socks5"])
async def test_a_proxy_that_says_nothing_is_our_fault(protocol: str) -> None:
    async with (
        serve(http(PAGE)) as site,
        run_proxy(protocol, is_mute=True) as proxy,
        a_client(connect_timeout_s=0.2) as client,
    ):
        with pytest.raises(ProxyError, match="did not answer in time"):
            await client.get(site.url(), via=proxy.record())
    assert site.connections == 0


@pytest.mark.parametrize("given", [None, ("user", "wrong")])
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_refused_account_is_our_fault_and_is_not_repeated(
    client: Client, protocol: str, given: tuple[str, str] | None
) -> None:
    async with serve(http(PAGE)) as site, run_proxy(protocol, tls=tls_of(protocol), account=("user", "right")) as proxy:
        proxy_record = Proxy(1, protocol, proxy.host, proxy.port, *(given or (None, None)))
        with pytest.raises(ProxyError, match="does not accept") as caught:
            await client.get(site.url(), via=proxy_record)
    assert "wrong" not in str(caught.value)
    assert site.connections == 0


async def test_a_refused_account_of_a_forwarding_proxy_is_no_answer_of_the_site(client: Client) -> None:
    async with serve(http(PAGE)) as site, run_proxy(account=("user", "right")) as proxy:
        with pytest.raises(ProxyError, match="does not accept"):
            await client.get(site.url(), via=Proxy(1, "http", proxy.host, proxy.port, is_forwarding=True))


@pytest.mark.parametrize(
    ("protocol", "refusal"), [("http", 403), ("http", 405), ("http", 500), ("socks5", 1), ("socks5", 2)]
)
async def test_a_refused_tunnel_is_our_fault(client: Client, protocol: str, refusal: int) -> None:
    async with serve(http(PAGE)) as site, run_proxy(protocol, refuses_with=refusal) as proxy:
        with pytest.raises(ProxyError, match="refused a tunnel"):
            await client.get(site.url(), via=proxy.record())


@pytest.mark.parametrize(("protocol", "refusal"), [("http", 502), ("http", 504), ("socks5", 4), ("socks5", 5)])
async def test_a_site_the_proxy_cannot_reach_is_not_the_proxys_fault(
    client: Client, protocol: str, refusal: int
) -> None:
    async with serve(http(PAGE)) as site, run_proxy(protocol, refuses_with=refusal) as proxy:
        with pytest.raises(ConnectError, match="could not be reached through proxy 1"):
            await client.get(site.url(), via=proxy.record())


async def test_a_site_that_is_really_away(client: Client) -> None:
    async with serve(http(PAGE)) as site:
        pass
    async with run_proxy() as proxy:
        with pytest.raises(ConnectError):
            await client.get(site.url(), via=proxy.record())
    assert proxy.places == [f"127.0.0.1:{site.port}"]


NONSENSE = {
    "speaks-first": b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    "ssh": b"SSH-2.0-x\r\n\r\n",
    "bad-code": b"HTTP/1.1 2000\r\n\r\n",
    "endless": b"x" * 20_000,
    "cut": b"\5",
}


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE)
@pytest.mark.parametrize("protocol", ["http", "socks5"])
async def test_a_proxy_that_talks_nonsense_is_our_fault(client: Client, protocol: str, answer: bytes) -> None:
    async with serve_anything(answer) as proxy:
        with pytest.raises(ProxyError):
            await client.get("http://127.0.0.1:1/", via=Proxy(1, protocol, proxy.host, proxy.port))


async def test_a_bad_certificate_of_the_site_is_the_sites_fault(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    async with serve(http(PAGE), tls=tls()) as site, run_proxy() as proxy:
        with pytest.raises(TlsError):
            await client.get(f"https://127.0.0.1:{site.port}/", via=proxy.record())
    assert site.requests == []


async def test_a_bad_certificate_of_the_proxy_is_our_fault(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    async with serve(http(PAGE)) as site, run_proxy("https", tls=tls(), account=("user", "secret")) as proxy:
        with pytest.raises(ProxyError, match="certificate"):
            await client.get(site.url(), via=proxy.record())
    assert proxy.seen == []


async def test_a_proxy_that_hangs_up_in_the_middle_loses_the_connection(client: Client) -> None:
    async with serve(http(PAGE)) as site, run_proxy() as proxy:
        await client.get(site.url(), via=proxy.record())
        await proxy.stop()
        with pytest.raises((ProxyError, ConnectionLostError)):
            await client.get(site.url(), via=proxy.record())


# The guard -----------------------------------------------------------------------------------------------------------


def refuse(ip: str, port: int) -> None:
    raise AddressBlockedError(f"{ip} is private, port {port} too")


@asynccontextmanager
async def a_guarded_client(*, sites: CheckAddress, proxies: CheckAddress) -> AsyncIterator[Client]:
    async with open_client(
        user_agent="Forager/test",
        check_address=sites,
        check_proxy=proxies,
        timeout_s=5.0,
        connect_timeout_s=5.0,
        max_bytes=MAX_BYTES,
    ) as client:
        yield client


@pytest.mark.parametrize("is_forwarding", [False, True])
@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_refused_site_is_not_asked_through_a_proxy(protocol: str, is_forwarding: bool) -> None:
    async with (
        serve(http(PAGE)) as site,
        run_proxy(protocol, tls=tls_of(protocol)) as proxy,
        a_guarded_client(sites=refuse, proxies=allow_all) as client,
    ):
        for host in ("127.0.0.1", "localhost"):
            with pytest.raises(AddressBlockedError, match="is private"):
                await client.get(f"http://{host}:{site.port}/", via=proxy.record(is_forwarding=is_forwarding))
    assert (proxy.calls, site.connections) == (0, 0)


async def test_a_refused_proxy_is_not_dialled_and_is_our_fault() -> None:
    async with (
        serve(http(PAGE)) as site,
        run_proxy() as proxy,
        a_guarded_client(sites=allow_all, proxies=refuse) as client,
    ):
        with pytest.raises(ProxyError, match=r"may not be dialled: 127\.0\.0\.1 is private"):
            await client.get(site.url(), via=proxy.record())
    assert (proxy.calls, site.connections) == (0, 0)


async def test_a_name_that_changes_its_address_does_not_lead_a_proxy_astray() -> None:
    answers: list[list[tuple[int, str]]] = [[(socket.AF_INET, "127.0.0.1")], [(socket.AF_INET, "10.0.0.1")]]
    sites = GuardedResolver(allow_all, lambda _host, _port: answers.pop(0))
    async with serve(http(PAGE, "Connection: close")) as site, run_proxy() as proxy:
        pool = Pool(ProxyConnector(Connector(sites), GuardedResolver(allow_all)), 0)
        client = Client(pool, user_agent="Forager/test", timeout_s=5.0, connect_timeout_s=5.0, max_bytes=MAX_BYTES)
        for _ in range(2):
            assert (await client.get(f"http://rebind.example:{site.port}/", via=proxy.record())).body == PAGE
        await pool.close()
    assert proxy.places == [f"127.0.0.1:{site.port}"] * 2


async def test_a_site_with_a_dead_ipv6_address_is_reached_by_its_ipv4_address() -> None:
    found: list[tuple[int, str]] = [
        (socket.AF_INET6, "100::1"),
        (socket.AF_INET, "127.0.0.9"),
        (socket.AF_INET, "127.0.0.1"),
    ]
    sites = GuardedResolver(allow_all, lambda _host, _port: found)
    async with serve(http(PAGE)) as site, run_proxy() as proxy:
        pool = Pool(ProxyConnector(Connector(sites), GuardedResolver(allow_all)), 0)
        client = Client(pool, user_agent="Forager/test", timeout_s=5.0, connect_timeout_s=5.0, max_bytes=MAX_BYTES)
        assert (await client.get(f"http://many.example:{site.port}/", via=proxy.record())).body == PAGE
        await pool.close()
    assert proxy.places == [f"127.0.0.9:{site.port}", f"127.0.0.1:{site.port}"]


# Knocking ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_knock_reaches_the_site_and_asks_it_nothing(client: Client, protocol: str) -> None:
    async with serve(http(PAGE)) as site, run_proxy(protocol, tls=tls_of(protocol)) as proxy:
        await client.check_proxy(proxy.record(), site.url())
        await client.check_proxy(proxy.record())
        async with asyncio.timeout(10):
            while proxy.calls < 2:  # noqa: ASYNC110 (it may hear of a knock after we do, and tells nobody)
                await asyncio.sleep(0.01)
    assert (proxy.calls, site.connections, site.requests) == (2, 1, [])


@pytest.mark.parametrize("url", [None, "http://127.0.0.1:1/"])
async def test_a_knock_at_a_dead_proxy(client: Client, url: str | None) -> None:
    async with run_proxy() as proxy:
        await proxy.stop()
        with pytest.raises(ProxyError):
            await client.check_proxy(proxy.record(), url)
