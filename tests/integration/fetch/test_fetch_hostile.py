"""What broken and hostile servers send: one typed error each, in bounded time and memory."""

import asyncio
import socket
import ssl
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.fetch.raw_server import Answer, a_client, http, serve

from forager.errors import (
    BadResponseError,
    ConnectError,
    ConnectionLostError,
    TlsError,
    VisitError,
    VisitTimeoutError,
)
from forager.fetch.client import Client
from forager.fetch.connection import ResponseTimeouts

PAGE = b"<title>Hello</title>"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
IN_CHUNKS = HEAD + b"Transfer-Encoding: chunked\r\n\r\n8\r\n" + PAGE[:8] + b"\r\nc\r\n" + PAGE[8:] + b"\r\n0\r\n\r\n"


def send_and_close(data: bytes) -> Answer:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        writer.close()

    return answer


def send_and_reset(data: bytes) -> Answer:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return answer


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"no HTTP at all\r\n\r\n", id="garbage"),
        pytest.param(b"<html><body>HTTP/0.9</body></html>", id="http-0.9"),
        pytest.param(b"\x16\x03\x01\x00\x05hello", id="tls-on-plain"),
        pytest.param(b"\r\n\r\nx\r\nHTTP/1.1 200 OK\r\n\r\n", id="garbage-before-status"),
        pytest.param(b"HTTP/1.1 abc OK\r\n\r\n", id="status-no-number"),
        pytest.param(HEAD + b"Content-Length: abc\r\n\r\n" + PAGE, id="length-no-number"),
        pytest.param(HEAD + b"Content-Length: -5\r\n\r\n" + PAGE, id="length-negative"),
        pytest.param(HEAD + b"Content-Length: 5\r\nContent-Length: 20\r\n\r\n" + PAGE, id="two-lengths"),
        pytest.param(HEAD + b"bad header line\r\n\r\n" + PAGE, id="header-without-colon"),
        pytest.param(HEAD + b"X-Nul: a\x00b\r\n\r\n" + PAGE, id="nul-in-header"),
        pytest.param(HEAD + b"X-Long: " + b"x" * 70_000 + b"\r\n\r\n", id="one-header-of-70-kB"),
        pytest.param(HEAD + b"X-A: %b\r\n" % (b"x" * 700) * 100 + b"\r\n", id="70-kB-in-100-headers"),
        pytest.param(HEAD + b"X-A: b\r\n" * 10_000 + b"\r\n", id="10000-headers"),
        pytest.param(b"HTTP/1.1 200 " + b"x" * 70_000 + b"\r\n\r\n", id="long-status-line"),
    ],
)
async def test_what_is_not_http_is_a_bad_response(client: Client, data: bytes) -> None:
    async with serve(send_and_close(data)) as server:
        with pytest.raises(BadResponseError):
            await client.get(server.url())
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(HEAD + b"Content-Length: 100\r\n\r\n" + PAGE, id="short-body"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel", id="broken-off-chunk"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", id="no-last-chunk"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n", id="chunk-size-no-number"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n", id="chunk-without-end"),
        pytest.param(
            HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", id="length-and-chunks-cut"
        ),
        pytest.param(
            HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            id="length-and-chunks",
        ),
    ],
)
async def test_a_broken_message_is_never_a_clean_success(client: Client, data: bytes) -> None:
    async with serve(send_and_close(data)) as server:
        with pytest.raises((BadResponseError, ConnectionLostError)):
            await client.get(server.url())
    assert len(server.requests) == 1


async def test_a_length_that_is_too_short_is_no_clean_success(client: Client) -> None:
    for more in (b"more of the page", b"HTTP/1.1 200 OK\r\n\r\n"):
        async with serve(http(PAGE) + more) as server:
            fetched = await client.get(server.url())
        assert (fetched.body, fetched.is_truncated) == (PAGE, True)
    async with serve(http(PAGE) + b"\r\n") as server:  # a sloppy end of line is none of it
        assert not (await client.get(server.url())).is_truncated


async def test_bytes_after_the_body_do_not_reach_the_next_answer(client: Client) -> None:
    async with serve(http(PAGE) + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL") as server:
        for _ in range(3):
            assert (await client.get(server.url())).body == PAGE


@pytest.mark.parametrize("end", [send_and_close, send_and_reset])
@pytest.mark.parametrize("answer", [http(PAGE), IN_CHUNKS], ids=["length", "chunks"])
async def test_a_connection_lost_at_every_offset_is_one_error(
    client: Client, answer: bytes, end: Callable[[bytes], Answer]
) -> None:
    for offset in range(len(answer)):
        async with serve(end(answer[:offset])) as server:
            with pytest.raises((ConnectionLostError, BadResponseError)):
                await client.get(server.url())
        assert len(server.requests) == 1, offset


async def test_a_refused_port_is_a_connect_error(client: Client) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(ConnectError, match=r"127\.0\.0\.1"):
            await client.get(f"http://127.0.0.1:{taken.getsockname()[1]}/")


def drip(start: bytes = b"", drop: bytes = b"H", pause_s: float = 0.02) -> Answer:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(drop)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return answer


async def stall(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


LONG = HEAD + b"Content-Length: 900000\r\n\r\n"
HASTE = ResponseTimeouts(first_byte_s=0.2, stall_s=0.2, slowest_bytes_per_s=2000)


async def test_a_stall_before_the_headers_ends_by_the_deadline() -> None:
    async with serve(stall) as server, a_client(timeout_s=0.3) as client:
        with pytest.raises(VisitTimeoutError, match="longer than a request may take"):
            await client.get(server.url())


@pytest.mark.parametrize("start", [b"", LONG])
async def test_a_slow_drip_ends_by_the_deadline(start: bytes) -> None:
    async with serve(drip(start)) as server, a_client(timeout_s=0.4) as client:
        with pytest.raises((VisitTimeoutError, BadResponseError)):
            await client.get(server.url())


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param(stall, r"sent nothing for 0\.2 s", id="no-first-byte"),
        pytest.param(drip(b"HTTP/1.1 200 OK\r\nX-A: "), "slower than an answer may come", id="slow-headers"),
        pytest.param(drip(LONG), "slower than an answer may come", id="slow-body"),
        pytest.param(drip(LONG, b"", 9.0), "sent 0 bytes in", id="stall-in-the-body"),
    ],
)
async def test_a_server_that_hardly_answers_is_given_up_long_before_the_deadline(answer: Answer, why: str) -> None:
    started_at = time.monotonic()
    async with serve(answer) as server, a_client(timeout_s=60.0, patience=HASTE) as client:
        with pytest.raises(VisitTimeoutError, match=why):
            await client.get(server.url())
    assert time.monotonic() - started_at < 20


async def test_a_slow_answer_that_keeps_the_rate_is_waited_for() -> None:
    body = b"x" * 20_000

    async def trickle(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Length: %d\r\n\r\n" % len(body))
        for start in range(0, len(body), 1000):
            writer.write(body[start : start + 1000])
            await asyncio.sleep(0.03)

    patience = ResponseTimeouts(first_byte_s=0.2, stall_s=0.2, slowest_bytes_per_s=500)
    async with serve(trickle) as server, a_client(patience=patience) as client:
        assert (await client.get(server.url())).body == body


async def test_a_cancelled_request_is_cancelled(client: Client) -> None:
    asked = asyncio.Event()

    async def wait(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
        asked.set()
        await asyncio.Event().wait()

    async with serve(wait) as server:
        task = asyncio.create_task(client.get(server.url()))
        await asyncio.wait_for(asked.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_certificate_nobody_signed_is_a_tls_error(client: Client) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).with_name("self_signed.pem"))
    async with serve(http(PAGE), tls=context) as server:
        with pytest.raises(TlsError, match="certificate"):
            await client.get(f"https://localhost:{server.port}/")
    assert server.requests == []


async def test_https_to_a_plain_server_is_a_typed_error(client: Client) -> None:
    def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    listener = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with listener:
        with pytest.raises((TlsError, ConnectError, ConnectionLostError)):
            await client.get(f"https://127.0.0.1:{listener.sockets[0].getsockname()[1]}/")


async def test_after_every_failure_the_client_still_works(client: Client) -> None:
    async with serve(send_and_reset(HEAD)) as bad, serve(http(PAGE)) as good:
        for _ in range(10):
            with pytest.raises(VisitError):
                await client.get(bad.url())
            assert (await client.get(good.url())).body == PAGE
