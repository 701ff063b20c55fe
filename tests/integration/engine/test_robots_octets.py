"""robots.txt as real servers send it: in any charset, and with a Retry-After."""

import pytest
from tests.integration.fetch.raw_server import a_client, http, serve

from forager.robots import rules as robots
from forager.robots.fetch import at_once, fetch_robots


@pytest.mark.parametrize("charset", ["utf-8", "windows-1252", "iso-8859-15", "mac_roman"])
async def test_a_rule_in_any_charset_is_obeyed(charset: str) -> None:
    path = "/café".encode(charset)
    async with serve(http(b"User-agent: *\nDisallow: " + path)) as server, a_client() as client:
        copy = await fetch_robots(client, 1, server.url("").rstrip("/"), ttl_s=60.0, turn=at_once)
    escaped = "".join(f"%{octet:02X}" if octet > 127 else chr(octet) for octet in path)
    rules = robots.parse(copy.text or "").rules_for("Forager")
    assert not rules.verdict(server.url(escaped)).allowed
    assert rules.verdict(server.url("/cafe")).allowed


async def test_a_server_that_asks_for_silence_is_asked_once() -> None:
    busy = b"HTTP/1.1 503 Busy\r\nRetry-After: 9000\r\nContent-Length: 0\r\n\r\n"
    async with serve(busy) as server, a_client() as client:
        copy = await fetch_robots(client, 1, server.url("").rstrip("/"), ttl_s=60.0, turn=at_once)
        assert len(server.requests) == 1
    assert (copy.silence_s, copy.ttl_s) == (9000.0, 9000.0)
