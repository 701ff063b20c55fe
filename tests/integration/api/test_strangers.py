"""What a client may take of the API before it is known who it is: headers, time, connections. Over real sockets."""

import asyncio
import contextlib
import os
import re
import resource
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from forager.engine.stop import StopRequest
from forager.runtime.connections import MOST_LINGERING, ConnectionLimits
from forager.runtime.server import bind, serve

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
GET = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"


async def hello(scope: Any, receive: Any, send: Any) -> None:
    """An application that answers, also while a body is on its way; `/large` is longer than any buffer."""
    if scope["type"] == "lifespan":
        for _ in range(2):
            await send({"type": (await receive())["type"] + ".complete"})
        return
    body = b"x" * 50_000_000 if scope["path"] == "/large" else b"hello"
    if scope["path"] == "/read":
        while (await receive()).get("more_body"):
            pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    for start in range(0, len(body), 100_000):
        await send({"type": "http.response.body", "body": body[start : start + 100_000], "more_body": True})
    await send({"type": "http.response.body", "body": b""})


@contextlib.asynccontextmanager
async def serving(limits: ConnectionLimits) -> AsyncIterator[Callable[..., Any]]:
    """Hands out a function that connects."""
    stop = StopRequest()
    with bind("127.0.0.1", 0) as listening:
        port, opened = listening.getsockname()[1], list[Streams]()
        task = asyncio.create_task(serve(hello, listening, stop, limits=limits, on_stop=lambda: None))

        async def connect(source: str = "127.0.0.1") -> Streams:
            opened.append(await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0)))
            return opened[-1]

        try:
            async with asyncio.timeout(20):
                yield connect
        finally:
            await close(opened)
            stop.ask()
            await task


async def close(opened: list[Streams]) -> None:
    for _, writer in opened:
        writer.transport.abort()
    for _, writer in opened:
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def status_of(streams: Streams) -> int:
    """0: the connection was closed without an answer."""
    try:
        line = await streams[0].readline()
    except ConnectionError:
        return 0
    return int(line.split()[1]) if line else 0


async def until_closed(streams: Streams) -> None:
    with contextlib.suppress(ConnectionError):
        while await streams[0].read(65536):
            pass


async def ask(streams: Streams, request: bytes = GET + b"\r\n") -> int:
    streams[1].write(request)
    return await status_of(streams)


# Size ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (b"X-Long: " + b"a" * 60_000 + b"\r\n", 200),
        (b"X-Long: " + b"a" * 66_000 + b"\r\n", 431),
        (b"".join(b"X-%d: %s\r\n" % (number, b"a" * 1000) for number in range(60)), 200),
        (b"".join(b"X-%d: %s\r\n" % (number, b"a" * 1000) for number in range(70)), 431),
        (b"a:\r\n" * 20_000, 431),
    ],
    ids=["one-long", "one-too-long", "many", "too-many", "empty-ones"],
)
async def test_headers_have_a_size(lines: bytes, status: int) -> None:
    async with serving(ConnectionLimits()) as connect:
        assert await ask(await connect(), GET + lines + b"\r\n") == status


async def test_a_request_line_has_a_size() -> None:
    async with serving(ConnectionLimits()) as connect:
        assert await ask(await connect(), b"GET /?" + b"q" * 70_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n") == 431


@pytest.mark.parametrize(
    "start",
    [
        GET + b"X-Endless: ",
        GET,
        b"GET /",
        b"POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: ",
        b"POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;extension=",
    ],
    ids=["value", "lines", "path", "trailer", "chunk-extension"],
)
async def test_headers_that_do_not_end_are_cut_off(start: bytes) -> None:
    """Whether in one value, in many, or behind a body: what was read of it stays small."""
    async with serving(ConnectionLimits()) as connect:
        reader, writer = await connect()
        writer.write(start)
        sent = 0
        piece = b"X: y\r\n" * 10_000 if start == GET else b"a" * 60_000
        with contextlib.suppress(ConnectionError):
            while sent < 100_000_000 and not reader.at_eof():
                writer.write(piece)
                await writer.drain()
                sent += len(piece)
                await asyncio.sleep(0)
        assert sent < 100_000_000


async def test_a_connection_goes_on_after_many_requests() -> None:
    """Each request has the limit for itself."""
    async with serving(ConnectionLimits(head_bytes=2000)) as connect:
        reader, writer = await connect()
        for _ in range(20):
            assert await ask((reader, writer), GET + b"X-Some: " + b"a" * 1000 + b"\r\n\r\n") == 200
            await reader.readuntil(b"\r\n\r\nhello")


# Time ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [b"", b"GET /hea", GET, GET + b"X-Half: a"], ids=["none", "path", "line", "value"])
async def test_half_a_request_is_given_up(start: bytes) -> None:
    async with serving(ConnectionLimits(head_s=0.3)) as connect:
        streams = await connect()
        streams[1].write(start)
        assert await status_of(streams) == (408 if start else 0)
        await until_closed(streams)


async def test_bytes_that_trickle_do_not_lengthen_it() -> None:
    async with serving(ConnectionLimits(head_s=0.5)) as connect:
        streams = await connect()
        streams[1].write(GET + b"X-Slow: ")
        answer = asyncio.create_task(status_of(streams))
        while not answer.done():
            streams[1].write(b"a")
            await asyncio.sleep(0.05)
        assert await answer == 408


async def test_the_second_request_of_a_connection_has_a_deadline_too() -> None:
    async with serving(ConnectionLimits(head_s=0.3)) as connect:
        reader, writer = await connect()
        assert await ask((reader, writer)) == 200
        await reader.readuntil(b"\r\n\r\nhello")
        assert await ask((reader, writer), b"GET /hea") == 408


async def test_the_rest_of_a_body_that_no_route_wanted_has_a_deadline() -> None:
    async with serving(ConnectionLimits(head_s=0.3)) as connect:
        reader, writer = await connect()
        assert await ask((reader, writer), b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n") == 200
        await reader.readuntil(b"hello")
        await until_closed((reader, writer))


async def test_a_client_that_does_not_read_is_cut_off() -> None:
    async with serving(ConnectionLimits(write_s=0.3)) as connect:
        reader, writer = await connect()
        writer.transport.pause_reading()
        writer.write(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        await asyncio.sleep(1.0)
        writer.transport.resume_reading()
        size = 0
        with contextlib.suppress(ConnectionError):
            while piece := await reader.read(1_000_000):
                size += len(piece)
        assert size < 50_000_000


async def test_a_client_that_reads_slowly_gets_all_of_it() -> None:
    async with serving(ConnectionLimits(write_s=0.2, write_bytes=1000)) as connect:
        reader, writer = await connect()
        writer.write(b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        size = 0
        while piece := await reader.read(2_000_000):
            size += len(piece)
            await asyncio.sleep(0.01)
        assert size > 50_000_000


# Connections ---------------------------------------------------------------------------------------------------------


async def test_the_longest_idle_connection_of_an_address_makes_room() -> None:
    async with serving(ConnectionLimits(per_address=5)) as connect:
        idle = [await connect() for _ in range(5)]
        other = await connect("127.0.0.2")
        assert await ask(await connect()) == 200
        await until_closed(idle[0])
        assert await ask(other) == 200
        assert await ask(idle[4]) == 200


async def test_without_an_idle_connection_the_new_one_is_turned_away() -> None:
    async with serving(ConnectionLimits(in_all=3, per_address=3)) as connect:
        for _ in range(3):
            _, writer = await connect()
            writer.write(b"POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
        await asyncio.sleep(0.2)
        streams = await connect("127.0.0.3")
        assert await status_of(streams) == 503
        assert b"\r\nRetry-After: " in await streams[0].readuntil(b"\r\n\r\n")


async def test_a_flood_of_new_connections_takes_few_handles() -> None:
    async with serving(ConnectionLimits(in_all=3, per_address=3)) as connect:
        busy = [await connect() for _ in range(3)]
        for _, writer in busy:
            writer.write(b"POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
        await asyncio.sleep(0.2)
        rejected = [await connect("127.0.0.3") for _ in range(MOST_LINGERING + 20)]
        answers = await asyncio.gather(*map(first_line, rejected))
        assert answers.count(b"HTTP/1.1 503 Service Unavailable\r\n") == MOST_LINGERING
        assert answers.count(b"") == 20
        await close(rejected)
        await asyncio.sleep(0.2)
        assert await status_of(await connect("127.0.0.3")) == 503, "the places of those that left are free again"


async def first_line(streams: Streams) -> bytes:
    """What a client reads; nothing where it was cut off."""
    try:
        return await streams[0].readline()
    except ConnectionError:
        return b""


async def test_connections_of_a_trusted_proxy_are_not_counted_by_address() -> None:
    async with serving(ConnectionLimits(per_address=3, trusted=("127.0.0.0/24",))) as connect:
        opened = [await connect() for _ in range(10)]
        assert [await ask(each) for each in opened] == [200] * 10


async def test_more_half_open_connections_than_file_handles_leave_the_api_up(database_url: str, tmp_path: Path) -> None:
    environ = {**os.environ, "FORAGER_DATABASE_URL": database_url, "FORAGER_HOME": str(tmp_path)}
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", 'ulimit -n 1024; exec "$0" "$@"'),
        *(sys.executable, "-m", "forager", "api", "--port", "0"),
        env=environ,
        stderr=asyncio.subprocess.PIPE,
    )
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    opened: list[Streams] = []
    try:
        assert process.stderr is not None
        line = (await asyncio.wait_for(process.stderr.readline(), 30)).decode()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        assert found, line
        port = int(found[1])
        for _ in range(1100):
            streams = await asyncio.open_connection("127.0.0.1", port)
            streams[1].write(b"GET /hea")
            opened.append(streams)
        for _ in range(5):
            opened.append(await asyncio.open_connection("127.0.0.1", port))
            assert await ask(opened[-1]) == 200
        async with asyncio.timeout(20):
            while b"too many connections of one address" not in await process.stderr.readline():
                pass
    finally:
        process.kill()
        await close(opened)
        await process.communicate()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
