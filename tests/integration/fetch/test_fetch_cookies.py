"""Cookies live as long as a lease and never leave their domain."""

import pytest
from tests.integration.fetch.raw_server import Server, a_client, http, serve

from forager.fetch.client import Client

ANSWER = http(b"x", "Set-Cookie: sid=1; Path=/", "Set-Cookie: day=Thu; Expires=Thu, 01 Jan 2099 00:00:00 GMT")


def cookies_of(server: Server) -> list[str]:
    """What came with each request."""
    found = []
    for request in server.requests:
        lines = [line for line in request.decode().split("\r\n") if line.startswith("Cookie: ")]
        found.append(lines[0].removeprefix("Cookie: ") if lines else "")
    return found


async def test_a_jar_lives_from_enter_to_leave(client: Client) -> None:
    async with serve(ANSWER) as server:
        domain = f"127.0.0.1:{server.port}"
        await client.get(server.url())
        client.enter(domain)
        for _ in range(2):
            await client.get(server.url())
        client.leave(domain)
        await client.get(server.url())
        client.enter(domain)
        await client.get(server.url())
    assert cookies_of(server) == ["", "", "sid=1; day=Thu", "", ""]


async def test_no_cookie_reaches_another_domain(client: Client) -> None:
    async with serve(ANSWER) as one, serve(http(b"x")) as other, serve(http(b"x"), host="127.0.0.2") as third:
        for server in (one, other, third):
            client.enter(f"{server.host}:{server.port}")
        for server in (one, other, third, one):
            await client.get(server.url())
    assert cookies_of(one)[-1] == "sid=1; day=Thu"
    assert cookies_of(other) == cookies_of(third) == [""]


async def test_cookies_can_be_switched_off() -> None:
    async with serve(ANSWER) as server, a_client(keeps_cookies=False) as client:
        client.enter(f"127.0.0.1:{server.port}")
        for _ in range(2):
            await client.get(server.url())
    assert cookies_of(server) == ["", ""]


@pytest.mark.parametrize("status", ["302 Found", "404 Not Found", "500 Oops"])
async def test_any_answer_may_set_cookies(client: Client, status: str) -> None:
    async with serve(http(b"", "Set-Cookie: a=1", status=status)) as server:
        client.enter(f"127.0.0.1:{server.port}")
        for _ in range(2):
            await client.get(server.url())
    assert cookies_of(server) == ["", "a=1"]


async def test_a_bomb_of_cookies_does_not_grow_the_request(client: Client) -> None:
    bomb = http(b"x", *(f"Set-Cookie: c{number}={'x' * 200}" for number in range(200)))
    async with serve(bomb) as server:
        client.enter(f"127.0.0.1:{server.port}")
        for _ in range(3):
            await client.get(server.url())
    assert max(map(len, server.requests)) < 10_000
