"""The server against clients that are fast, slow, rude or broken."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from forager.errors import UsageError
from forager_playground import Playground, open_playground
from forager_playground.answer import Answer
from forager_playground.site import ALLOW_ALL, SitePage


class Echo:
    """A site that says what it was asked; `/late/…` after a moment, `/big` at length."""

    name = "echo"
    robots: str | None = ALLOW_ALL
    traps: tuple[str, ...] = ()

    def pages(self) -> Iterator[SitePage]:
        return iter([SitePage("/")])

    def answer(self, path: str, query: str) -> Answer:
        size = 1_000_000 if path == "/big" else 1
        return Answer(body=f"{path}?{query}".encode() * size, delay_s=0.05 if path.startswith("/late") else 0.0)


@asynccontextmanager
async def dial(web: Playground) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    address, _, port = next(iter(web.hosts.values())).partition(":")
    reader, writer = await asyncio.open_connection(address, int(port))
    try:
        yield reader, writer
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def read_reply(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    status, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return int(status.split()[1]), headers, await reader.readexactly(int(headers["content-length"]))


def request(target: str, *headers: str, method: str = "GET") -> bytes:
    return "\r\n".join([f"{method} {target} HTTP/1.1", "Host: x", *headers, "", ""]).encode()


@pytest.fixture
async def web() -> AsyncIterator[Playground]:
    async with open_playground([Echo()]) as web:
        yield web


async def test_pipelined_answers_come_in_order_also_when_some_are_late(web: Playground) -> None:
    targets = ["/a", "/late/b", "/c", "/late/d", "/e"]
    async with dial(web) as (reader, writer):
        writer.write(b"".join(map(request, targets)))
        bodies = [(await read_reply(reader))[2] for _ in targets]
    assert bodies == [f"{target}?".encode() for target in targets]
    assert len({visit.connection for visit in web.log}) == 1


async def test_a_request_may_come_byte_by_byte(web: Playground) -> None:
    async with dial(web) as (reader, writer):
        for byte in request("/slowly?q=1"):
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0)
        assert (await read_reply(reader))[2] == b"/slowly?q=1"


async def test_thousands_of_requests_fit_in_one_connection(web: Playground) -> None:
    async with dial(web) as (reader, writer):
        writer.write(request("/a") * 5000)
        for _ in range(5000):
            assert (await read_reply(reader))[0] == 200
    assert len(web.log) == 5000


async def test_a_client_that_does_not_read_costs_no_memory(web: Playground) -> None:
    """20 answers of 5 MB are asked for; the server makes the next one only when the last was taken."""
    async with dial(web) as (reader, writer), dial(web) as (other_reader, other_writer):
        writer.write(request("/big") * 20)
        await writer.drain()
        other_writer.write(request("/a"))
        assert (await read_reply(other_reader))[0] == 200  # by now the first client's requests were seen
        assert sum(visit.target == "/big" for visit in web.log) < 20
        for _ in range(20):
            assert len((await read_reply(reader))[2]) == 5_000_000


async def test_a_client_that_pipelines_without_end_is_held_back(web: Playground) -> None:
    async with dial(web) as (reader, writer):
        flood = request("/late/x") + request("/a") * 20_000
        writer.write(flood)
        for _ in range(20_001):
            assert (await read_reply(reader))[0] == 200


async def test_head_has_the_length_but_no_body(web: Playground) -> None:
    async with dial(web) as (reader, writer):
        writer.write(request("/abc", method="HEAD") + request("/def"))
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"Content-Length: 5\r\n" in head
        assert (await read_reply(reader))[2] == b"/def?"


async def test_a_body_is_skipped(web: Playground) -> None:
    async with dial(web) as (reader, writer):
        writer.write(
            request("/a", "Content-Length: 30") + b"GET /evil HTTP/1.1\r\nX: y\r\n\r\n" + b"!!" + request("/b")
        )
        assert [(await read_reply(reader))[2] for _ in range(2)] == [b"/a?", b"/b?"]


async def test_connection_close_is_kept(web: Playground) -> None:
    async with dial(web) as (reader, writer):
        writer.write(request("/a", "Connection: close"))
        _, headers, _ = await read_reply(reader)
        assert headers["connection"] == "close"
        assert await reader.read() == b""


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"hello\r\n\r\n", 400),
        (b"\x00" * 20_000, 431),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 20_000, 431),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5_000 + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET / HTTP/3.0\r\n\r\n", 505),
        (b"DELETE / HTTP/1.1\r\n\r\n", 405),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        (b"GET / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 413),
    ],
)
async def test_rude_requests_get_one_answer_and_the_others_go_on(web: Playground, sent: bytes, status: int) -> None:
    async with dial(web) as (rude_reader, rude_writer), dial(web) as (reader, writer):
        rude_writer.write(sent)
        code, headers, _ = await read_reply(rude_reader)
        assert (code, headers["connection"]) == (status, "close")
        assert await rude_reader.read() == b""
        writer.write(request("/fine"))
        assert (await read_reply(reader))[2] == b"/fine?"
    assert [visit.status for visit in web.log] == [status, 200]


async def test_half_a_request_times_out() -> None:
    async with open_playground([Echo()], idle_timeout_s=0.3) as web, dial(web) as (reader, writer):
        writer.write(b"GET /never HTTP/1.1\r\nHost:")
        assert (await read_reply(reader))[0] == 408
        assert await reader.read() == b""


async def test_an_idle_connection_is_closed() -> None:
    async with open_playground([Echo()], idle_timeout_s=0.3) as web, dial(web) as (reader, writer):
        writer.write(request("/a"))
        assert (await read_reply(reader))[0] == 200
        assert await reader.read() == b""


async def test_a_late_answer_is_not_idleness() -> None:
    async with open_playground([Echo()], idle_timeout_s=0.01) as web, dial(web) as (reader, writer):
        writer.write(request("/late/a"))
        assert (await read_reply(reader))[0] == 200


async def test_a_client_that_leaves_before_the_answer_is_noted(web: Playground) -> None:
    async with dial(web) as (_, writer):
        writer.write(request("/late/gone"))
        await writer.drain()
        writer.transport.abort()
    async with dial(web) as (reader, writer):
        writer.write(request("/late/here"))
        assert (await read_reply(reader))[0] == 200
    assert {(visit.target, visit.status) for visit in web.log} == {("/late/gone", 0), ("/late/here", 200)}


async def test_a_cut_connection_is_a_real_reset() -> None:
    async with open_playground(["flaky"]) as web, dial(web) as (reader, writer):
        writer.write(request("/p/11"))
        with pytest.raises(ConnectionResetError):
            await read_reply(reader)
        (visit,) = web.log
        assert (visit.target, visit.status) == ("/p/11", 0)


async def test_gzip_and_plain_carry_the_same_page() -> None:
    async with open_playground(["bench=1x3"]) as web, dial(web) as (reader, writer):
        writer.write(request("/p/1") + request("/p/1", "Accept-Encoding: gzip"))
        (_, _, plain), (_, headers, packed) = [await read_reply(reader) for _ in range(2)]
    assert headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed) == plain
    assert 40_000 < len(plain) < 54_000
    assert len(packed) < len(plain) / 4


@pytest.mark.parametrize("target", ["/", "/p/3"])
async def test_an_unchanged_page_is_304(target: str) -> None:
    async with open_playground(["uniform=1x5"]) as web, aiohttp.ClientSession() as session:
        url = web.urls[0].removesuffix("/") + target
        async with session.get(url) as answer:
            etag, modified = answer.headers["ETag"], answer.headers["Last-Modified"]
        for headers in ({"If-None-Match": etag}, {"If-Modified-Since": modified}):
            async with session.get(url, headers=headers) as answer:
                assert (answer.status, await answer.read()) == (304, b"")
        async with session.get(url, headers={"If-None-Match": '"other"'}) as answer:
            assert answer.status == 200
        assert [visit.status for visit in web.log] == [200, 304, 304, 200]


async def test_two_hundred_sites_share_one_port() -> None:
    async with open_playground(["uniform=200x2"], host_base="127.0.1.1") as web, aiohttp.ClientSession() as session:
        assert len(web.urls) == len(set(web.urls)) == 200
        assert web.networks[0] == "127.0.1.1/32"
        for url in (web.urls[0], web.urls[-1]):
            async with session.get(url) as answer:
                assert answer.status == 200


async def test_a_taken_port_is_one_sentence() -> None:
    async with open_playground(["uniform=2x2"]) as web:
        port = int(web.urls[0].rpartition(":")[2].strip("/"))
        with pytest.raises(UsageError, match=f"Port {port} cannot be used"):
            async with open_playground(["uniform=1x2"], port=port):
                pass  # pragma: no cover


async def test_without_more_addresses_there_are_more_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    from forager_playground import listen

    monkeypatch.setattr(listen, "_can_bind", lambda _: False)  # as on macOS
    async with open_playground(["uniform=3x2"]) as web, aiohttp.ClientSession() as session:
        assert web.networks == ("127.0.0.1/32",)
        assert len(set(web.urls)) == 3
        for url, page in web.answer_key.by_url.items():
            async with session.get(url) as answer:
                assert page.title is not None
                assert page.title in await answer.text()
