"""What a well-behaved server sends, and what we send to it."""

import asyncio
import socket

import pytest
from tests.integration.fetch.raw_server import MAX_BYTES, a_client, http, serve

from forager.errors import ConnectionLostError, TooLargeError
from forager.fetch.body_memory import FREE_BYTES, MemoryBudget, Waits
from forager.fetch.client import Client

PAGE = b"<title>Hello</title>"
ONE_READ = 256 * 1024
"""What the event loop takes from a socket at once."""


async def test_a_page_comes_with_status_headers_and_body(client: Client) -> None:
    async with serve(http(PAGE, 'ETag: "v1"', "X-Robots-Tag: noindex", "X-Robots-Tag: nofollow")) as server:
        fetched = await client.get(server.url("/a?b=%20|"))
    assert (fetched.status_code, fetched.body, fetched.wire_bytes) == (200, PAGE, len(PAGE))
    assert fetched.content_type == "text/html"
    assert fetched.headers["etag"] == '"v1"'
    assert fetched.headers["x-robots-tag"] == "noindex, nofollow"
    assert fetched.url == server.url("/a?b=%20|")
    assert not fetched.is_truncated


async def test_the_request_says_who_we_are_and_what_we_can_read(client: Client) -> None:
    async with serve(http(PAGE)) as server:
        await client.get(server.url("/a?b=%20|c"), etag='"v1"', last_modified="Tue, 01 Jul 2025 00:00:00 GMT")
    request = server.requests[0].decode()
    lines = request.split("\r\n")
    assert lines[0] == "GET /a?b=%20|c HTTP/1.1"
    assert f"Host: 127.0.0.1:{server.port}" in lines
    assert "User-Agent: Forager/test (+https://example.org)" in lines
    assert "Accept-Encoding: gzip, deflate, br, zstd" in lines
    assert 'If-None-Match: "v1"' in lines
    assert "If-Modified-Since: Tue, 01 Jul 2025 00:00:00 GMT" in lines
    assert "cookie" not in request.lower()


async def test_validators_cannot_smuggle_headers(client: Client) -> None:
    async with serve(http(PAGE)) as server:
        await client.get(server.url(), etag='"v"\r\nX-Evil: 1')
    assert b"Evil" not in server.requests[0]


async def test_userinfo_is_never_sent(client: Client) -> None:
    async with serve(http(PAGE)) as server:
        await client.get(f"http://user:secret@127.0.0.1:{server.port}/")
    assert b"uthorization" not in server.requests[0]
    assert b"secret" not in server.requests[0]


async def test_cookies_are_not_kept(client: Client) -> None:
    async with serve(http(PAGE, "Set-Cookie: a=b; Path=/")) as server:
        await client.get(server.url())
        await client.get(server.url())
    assert b"cookie" not in server.requests[1].lower()


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
async def test_a_redirect_is_an_answer(client: Client, status: str) -> None:
    async with serve(http(b"moved", "Location: /new", status=status)) as server:
        fetched = await client.get(server.url())
    assert fetched.status_code == int(status[:3])
    assert (fetched.headers["location"], fetched.body) == ("/new", b"")
    assert len(server.requests) == 1


@pytest.mark.parametrize(("status", "body"), [("204 No Content", b""), ("206 Partial Content", PAGE)])
async def test_other_successes(client: Client, status: str, body: bytes) -> None:
    async with serve(http(body, status=status)) as server:
        fetched = await client.get(server.url())
    assert (fetched.status_code, fetched.body) == (int(status[:3]), body)


async def test_not_modified_has_no_body(client: Client) -> None:
    async with serve(b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\nContent-Length: 500\r\n\r\n') as server:
        fetched = await client.get(server.url(), etag='"v1"')
    assert (fetched.status_code, fetched.body) == (304, b"")


async def test_an_error_status_is_an_answer_whose_body_nobody_reads(client: Client) -> None:
    async with serve(http(b"\x1f\x8bno gzip", "Content-Encoding: gzip", "Retry-After: 7", status="503 Busy")) as server:
        fetched = await client.get(server.url())
    assert (fetched.status_code, fetched.headers["retry-after"], fetched.body) == (503, "7", b"")


async def test_connections_are_kept_and_used_again(client: Client) -> None:
    async with serve(http(PAGE)) as server:
        for _ in range(5):
            await client.get(server.url())
    assert (server.connections, len(server.requests)) == (1, 5)


async def test_a_body_we_do_not_read_is_not_downloaded(client: Client) -> None:
    async def pour(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 100000000000\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    async with serve(pour) as server:
        fetched = await client.get(server.url())
        await asyncio.wait_for(server.hung_up.wait(), 10)
    assert (fetched.status_code, fetched.body, fetched.wire_bytes) == (200, b"", 0)
    assert fetched.content_type == "video/mp4"


async def test_the_caller_decides_what_is_read(client: Client) -> None:
    async with serve(http(b"User-agent: *", content_type="application/octet-stream")) as server:
        assert (await client.get(server.url())).body == b""
        assert (await client.get(server.url(), read_body=lambda _: True)).body == b"User-agent: *"


async def test_a_body_without_a_type_is_read(client: Client) -> None:
    async with serve(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n" + PAGE) as server:
        assert (await client.get(server.url())).body == PAGE


async def test_a_body_until_the_connection_ends(client: Client) -> None:
    async def old_style(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE)
        await writer.drain()
        writer.close()

    async with serve(old_style) as server:
        assert (await client.get(server.url())).body == PAGE


async def test_headers_in_latin_1_are_text(client: Client) -> None:
    async with serve(http(b"", "Location: /caf\xe9", status="301 Moved")) as server:
        fetched = await client.get(server.url())
    assert fetched.headers["location"] == "/caf\xe9"


async def test_a_long_body_can_be_cut_instead_of_refused(client: Client) -> None:
    async with serve(http(b"x" * 300_000, content_type="text/plain")) as server:
        fetched = await client.get(server.url(), cut_at=1000)
    assert (fetched.body, fetched.is_truncated) == (b"x" * 1000, True)


async def test_a_body_over_the_limit_is_too_large(client: Client) -> None:
    async with serve(http(b"x" * (MAX_BYTES + 1))) as server:
        with pytest.raises(TooLargeError):
            await client.get(server.url())


async def test_an_endless_body_ends_at_the_limit(client: Client) -> None:
    sent = 0

    async def pour(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            sent += 65536
            await writer.drain()

    async with serve(pour) as server:
        with pytest.raises(TooLargeError):
            await client.get(server.url())
        await asyncio.wait_for(server.hung_up.wait(), 10)
    assert sent < 100 * MAX_BYTES


async def test_a_connection_the_server_closed_while_idle_is_no_failure(client: Client) -> None:
    async def answer_and_close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(http(PAGE))
        await writer.drain()
        writer.close()

    async with serve(answer_and_close) as server:
        for _ in range(20):
            assert (await client.get(server.url())).status_code == 200
    assert server.connections >= 20


async def test_a_server_that_hangs_up_on_a_fresh_connection_is_asked_once(client: Client) -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with serve(hang_up) as server:
        with pytest.raises(ConnectionLostError):
            await client.get(server.url())
    assert len(server.requests) == 1


async def test_ipv6(client: Client) -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    async with serve(http(PAGE), host="::1") as server:
        assert (await client.get(server.url())).body == PAGE


async def test_a_name_is_resolved_and_keeps_its_host_header(client: Client) -> None:
    async with serve(http(PAGE)) as server:
        await client.get(f"http://localhost:{server.port}/")
    assert f"Host: localhost:{server.port}".encode() in server.requests[0]


async def test_many_requests_at_once() -> None:
    async with serve(http(PAGE)) as server, a_client() as client:
        answers = await asyncio.gather(*(client.get(server.url(f"/{i}")) for i in range(50)))
    assert [answer.url for answer in answers] == [server.url(f"/{i}") for i in range(50)]


async def test_the_time_a_body_waits_for_room_of_ours_is_not_the_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    room, body = MemoryBudget(100_000), b"x" * 3_000_000
    room.keep(200_000)
    async with serve(http(body)) as server, a_client(timeout_s=0.5, max_bytes=5_000_000) as client:
        monkeypatch.setattr(client, "_room", room)
        getting = asyncio.create_task(client.get(server.url()))
        await asyncio.wait({getting}, timeout=1.2)
        assert not getting.done()
        room.free(200_000)
        assert (await getting).body == body


async def test_many_large_bodies_share_a_bounded_room(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    room = MemoryBudget(2_000_000)
    held: list[int] = []
    grow = room.update_size

    def note(connection: Waits, size: int) -> None:
        grow(connection, size)
        held.append(room._held_bytes)

    monkeypatch.setattr(room, "update_size", note)
    monkeypatch.setattr(client, "_room", room)
    body = b"x" * 900_000
    async with serve(http(body)) as server:

        async def get_and_let_go() -> int:
            return len((await client.get(server.url())).body)

        assert await asyncio.gather(*(get_and_let_go() for _ in range(40))) == [len(body)] * 40
    assert max(held) < 2_000_000 + 40 * (FREE_BYTES + ONE_READ)
    assert room._held_bytes == 0
