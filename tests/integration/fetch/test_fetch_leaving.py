"""The moment a request leaves: after dialling, before the answer, never against the will of whoever keeps the pace."""

import asyncio
import socket
from collections.abc import Callable

import pytest
from tests.integration.fetch.raw_server import Server, a_client, http, serve

from forager.errors import AddressBlockedError, ConnectError, LeaseLostError
from forager.fetch.client import Client


def noting(server: Server) -> tuple[list[tuple[int, int]], Callable[[], None]]:
    """How many connections and requests the server had seen whenever a request left."""
    seen: list[tuple[int, int]] = []
    return seen, lambda: seen.append((server.connections, len(server.requests)))


async def test_it_is_told_once_for_each_request_and_before_the_server_sees_it(client: Client) -> None:
    async with serve(http(b"page")) as server:
        seen, on_sent = noting(server)
        await client.get(server.url(), on_sent=on_sent)
        await client.get(server.url(), on_sent=on_sent)
        assert [requests for _, requests in seen] == [0, 1]
        assert server.connections == 1


async def test_a_connection_that_is_refused_is_no_request(client: Client) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        told: list[str] = []
        with pytest.raises(ConnectError):
            await client.get(f"http://127.0.0.1:{taken.getsockname()[1]}/", on_sent=lambda: told.append("left"))
        assert told == []


async def test_a_request_that_may_not_leave_does_not(client: Client) -> None:
    def refuse() -> None:
        raise LeaseLostError("too late")

    async with serve(http(b"page")) as server:
        with pytest.raises(LeaseLostError):
            await client.get(server.url(), on_sent=refuse)
        await asyncio.wait_for(server.hung_up.wait(), 5)
        assert server.requests == []
        await client.get(server.url())
        assert (server.connections, len(server.requests)) == (2, 1)


async def test_a_request_that_has_to_be_sent_again_is_told_again(client: Client) -> None:
    answers = 0

    async def answer_once_then_hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal answers
        answers += 1
        if answers == 2:
            writer.transport.abort()
        else:
            writer.write(http(b"page"))

    async with serve(answer_once_then_hang_up) as server:
        told: list[int] = []
        await client.get(server.url())
        await client.get(server.url(), on_sent=lambda: told.append(len(server.requests)))
        assert told == [1, 2]


async def test_where_a_site_is_can_be_known_without_asking_it(client: Client) -> None:
    async with serve(http(b"page")) as server:
        assert await client.locate(server.url()) == "127.0.0.1"
        assert await client.locate(f"http://localhost:{server.port}/") in {"127.0.0.1", "::1"}
        assert server.connections == 0


async def test_a_name_nobody_knows_or_may_ask_is_nowhere() -> None:
    def refuse(_ip: str, _port: int) -> None:
        raise AddressBlockedError("not there")

    async with a_client() as client, a_client(check_address=refuse) as guarded:
        assert await client.locate("http://nobody.invalid/") is None
        assert await guarded.locate("http://127.0.0.1/") is None
