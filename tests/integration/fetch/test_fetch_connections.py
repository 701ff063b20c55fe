"""When a connection serves again, when it is closed, and where it leads."""

import asyncio
import os
import resource
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvloop
from tests.integration.fetch.raw_server import MAX_BYTES, Answer, a_client, allow_all, http, serve
from tests.integration.fetch.test_fetch_hostile import send_and_reset

from forager.engine import retry_policy
from forager.errors import (
    BadResponseError,
    ConfigurationError,
    ConnectError,
    ConnectionLostError,
    ErrorSource,
    ExhaustedError,
    VisitTimeoutError,
)
from forager.fetch import client
from forager.fetch.client import Client, open_client
from forager.fetch.connect import Connector
from forager.fetch.dns import GuardedResolver, LookUp
from forager.fetch.pool import Pool
from forager.fetch.proxy_connector import ProxyConnector

PAGE = b"<title>Hello</title>"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
CERTIFICATE = Path(__file__).with_name("self_signed.pem")


def send_in_pieces(*pieces: bytes) -> Answer:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.01)

    return answer


@asynccontextmanager
async def a_client_that_finds(look_up: LookUp) -> AsyncIterator[Client]:
    pool = Pool(ProxyConnector(Connector(GuardedResolver(allow_all, look_up))), 0)
    yield Client(pool, user_agent="Forager/test", timeout_s=20.0, connect_timeout_s=10.0, max_bytes=MAX_BYTES)
    await pool.close()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(http(PAGE), id="length"),
        pytest.param(CHUNKED + b"5\r\nhello\r\n0\r\n\r\n", id="chunks"),
        pytest.param(CHUNKED + b"5;a=b\r\nhello\r\n0\r\nX-Trailer: t\r\n\r\n", id="chunks-with-trailer"),
        pytest.param(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n", id="304-with-length"),
        pytest.param(b"HTTP/1.1 204 No Content\r\n\r\n", id="204"),
        pytest.param(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + http(PAGE), id="after-103"),
        pytest.param(send_in_pieces(http(PAGE, status="404 Gone")[:-5], PAGE[-5:]), id="body-nobody-wants"),
        pytest.param(send_in_pieces(*(bytes([byte]) for byte in http(PAGE))), id="byte-by-byte"),
    ],
)
async def test_a_message_that_ends_exactly_leaves_the_connection_usable(client: Client, answer: bytes | Answer) -> None:
    async with serve(answer) as server:
        first, second = [await client.get(server.url()) for _ in range(2)]
    assert (first.status_code, first.body) == (second.status_code, second.body)
    assert (server.connections, len(server.requests)) == (1, 2)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(http(PAGE, "Connection: close"), id="says-so"),
        pytest.param(http(PAGE).replace(b"HTTP/1.1", b"HTTP/1.0"), id="http-1.0"),
        pytest.param(http(PAGE) + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL", id="second-answer"),
        pytest.param(http(PAGE) + b"garbage", id="garbage-after-the-end"),
        pytest.param(b"HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", id="204-with-chunks"),
        pytest.param(http(b"x" * 100_000, status="404 Gone"), id="long-body-nobody-wants"),
        pytest.param(b"HTTP/1.1 404 Gone\r\n\r\nuntil the end", id="endless-body-nobody-wants"),
    ],
)
async def test_any_other_message_ends_the_connection(client: Client, answer: bytes) -> None:
    async with serve(answer) as server:
        for _ in range(2):
            assert b"EVIL" not in (await client.get(server.url())).body
        await asyncio.wait_for(server.hung_up.wait(), 10)
    assert (server.connections, len(server.requests)) == (2, 2)


async def test_an_answer_nobody_asked_for_ends_the_connection(client: Client) -> None:
    may_go_on = asyncio.Event()

    async def answer_twice(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(http(PAGE))
        await may_go_on.wait()
        writer.write(http(b"EVIL"))

    async with serve(answer_twice) as server:
        assert (await client.get(server.url())).body == PAGE
        may_go_on.set()
        await asyncio.wait_for(server.hung_up.wait(), 10)
        assert (await client.get(server.url())).body == PAGE
    assert server.connections == 2


def answer_first_request_only() -> Answer:
    """Per connection: the second request on it finds a server that hangs up."""
    served: set[asyncio.StreamWriter] = set()

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if writer in served:
            writer.close()
        served.add(writer)
        writer.write(http(PAGE))

    return answer


async def test_a_request_lost_on_a_connection_used_a_moment_ago_is_repeated_on_a_fresh_one(client: Client) -> None:
    async with serve(answer_first_request_only()) as server:
        for _ in range(2):
            assert (await client.get(server.url())).body == PAGE
    assert (server.connections, len(server.requests)) == (2, 3)


async def test_a_request_lost_on_a_connection_long_idle_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "QUICK_REUSE_S", -1.0)
    async with serve(answer_first_request_only()) as server, a_client() as asker:
        await asker.get(server.url())
        with pytest.raises(ConnectionLostError, match="without an answer"):
            await asker.get(server.url())
    assert (server.connections, len(server.requests)) == (1, 2)


async def test_a_reset_is_no_end_of_a_body(client: Client) -> None:
    async with serve(send_and_reset(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE)) as server:
        with pytest.raises(ConnectionLostError):
            await client.get(server.url())


@pytest.mark.parametrize(
    ("start", "again"),
    [
        pytest.param(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", id="interim-answers"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX-Endless: ", b"x" * 1000, id="header"),
        pytest.param(CHUNKED + b"1\r\na\r\n0\r\nX-Endless: ", b"x" * 1000, id="trailer"),
        pytest.param(CHUNKED + b"1;", b"x" * 1000, id="chunk-extension"),
        pytest.param(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n", b"x", id="101"
        ),
        pytest.param(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", b"x", id="transfer-coding"),
        pytest.param(b"HTTP/1.1 099 Low\r\n\r\n", b"x", id="status-below-100"),
    ],
)
async def test_what_never_becomes_an_answer_is_given_up(client: Client, start: bytes, again: bytes) -> None:
    async def pour(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(again)
            await writer.drain()
            await asyncio.sleep(0)

    async with serve(pour) as server:
        with pytest.raises(BadResponseError):
            await client.get(server.url())
        await asyncio.wait_for(server.hung_up.wait(), 10)


async def test_a_body_nobody_wants_cannot_delay_its_answer_past_the_deadline() -> None:
    async def stall(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(http(PAGE, status="404 Gone")[:-1])
        await asyncio.Event().wait()

    async with serve(stall) as server, a_client(timeout_s=0.3) as client:
        assert (await client.get(server.url())).status_code == 404


async def test_a_cancelled_request_closes_its_connection(client: Client) -> None:
    asked = asyncio.Event()

    async def stall(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.readexactly(1)

    async with serve(stall) as server:
        task = asyncio.create_task(client.get(server.url()))
        await asyncio.wait_for(asked.wait(), 10)
        task.cancel()
        await asyncio.wait_for(server.hung_up.wait(), 10)
    assert task.cancelled()


async def test_no_connection_outlives_the_client() -> None:
    async with serve(http(PAGE)) as server:
        async with a_client() as client:
            await asyncio.gather(*(client.get(server.url()) for _ in range(5)))
        await asyncio.wait_for(server.hung_up.wait(), 10)


async def test_no_more_connections_than_allowed() -> None:
    async with (
        serve(http(PAGE)) as server,
        open_client(
            user_agent="Forager/test",
            check_address=allow_all,
            timeout_s=20.0,
            connect_timeout_s=10.0,
            max_bytes=MAX_BYTES,
            max_connections=2,
        ) as client,
    ):
        await asyncio.gather(*(client.get(server.url()) for _ in range(20)))
    assert server.connections == 2


async def test_a_name_leads_to_the_address_that_was_checked() -> None:
    answers: list[list[tuple[int, str]]] = [[(socket.AF_INET, "127.0.0.1")], [(socket.AF_INET, "192.0.2.1")]]
    async with (
        serve(http(PAGE, "Connection: close")) as server,
        a_client_that_finds(lambda *_: answers.pop(0)) as client,
    ):
        for _ in range(3):
            await client.get(f"http://pinned.example:{server.port}/")
    assert len(answers) == 1
    assert all(f"Host: pinned.example:{server.port}".encode() in request for request in server.requests)


async def test_a_dead_address_does_not_hide_the_living_one() -> None:
    addresses: list[tuple[int, str]] = [(socket.AF_INET, "127.0.0.9"), (socket.AF_INET, "127.0.0.1")]
    async with serve(http(PAGE)) as server, a_client_that_finds(lambda *_: addresses) as client:
        assert (await client.get(f"http://two.example:{server.port}/")).body == PAGE


async def test_a_trusted_certificate_makes_a_secure_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    asked: list[str] = []
    context.sni_callback = lambda _socket, name, _context: asked.append(name)
    async with serve(http(PAGE), tls=context) as server, a_client() as client:
        for _ in range(3):
            assert (await client.get(f"https://localhost:{server.port}/")).body == PAGE
    assert (server.connections, asked) == (1, ["localhost"])


@pytest.mark.parametrize(
    "url", ["ftp://a.example/", "http:///x", "http://a.example:0/", "http://a.example/a b", "http://ü/"]
)
async def test_what_is_no_address_is_not_dialled(client: Client, url: str) -> None:
    with pytest.raises(ConnectError, match="no address"):
        await client.get(url)


@pytest.mark.parametrize("user_agent", ["Forager (+ü)", "Forager\r\nX-Evil: 1"])
async def test_a_user_agent_that_cannot_be_sent_is_refused_at_once(user_agent: str) -> None:
    opening = open_client(
        user_agent=user_agent, check_address=allow_all, timeout_s=1.0, connect_timeout_s=1.0, max_bytes=MAX_BYTES
    )
    with pytest.raises(ConfigurationError, match="printable ASCII"):
        await opening.__aenter__()


def test_the_faster_loop_gives_the_same_answers() -> None:
    async def ask() -> None:
        async with serve(http(PAGE)) as server, a_client(timeout_s=0.5) as client:
            answers = await asyncio.gather(*(client.get(server.url()) for _ in range(20)))
            assert {answer.body for answer in answers} == {PAGE}
        async with serve(send_in_pieces(b"HTTP/1.1 200 OK\r\n")) as server, a_client(timeout_s=0.2) as client:
            with pytest.raises(VisitTimeoutError):
                await client.get(server.url())

    uvloop.run(ask())


async def test_a_machine_that_is_out_of_files_is_no_fault_of_the_site() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with serve(http(b"hello")) as server, a_client() as client:
        os.close(free := os.dup(0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
        try:
            with pytest.raises(ExhaustedError, match="this machine could not dial") as caught:
                await client.get(server.url())
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert (caught.value.blame, retry_policy.find_problem(caught.value)) == (ErrorSource.US, None)
        assert (await client.get(server.url())).body == b"hello"
