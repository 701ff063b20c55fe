"""Without a contact nobody else's server is asked: not behind a redirect, by a single question or for a webhook."""

import asyncio
from pathlib import Path

from tests.listening import listening

from forager.config.loader import load
from forager.config.settings import Settings
from forager.errors import AddressBlockedError
from forager.pages.fetch_one import fetch_one
from forager.robots.commands import _check_site_robots
from forager.webhooks.delivery import call_webhooks
from forager.webhooks.store import DueCall

ELSEWHERE = "http://198.41.0.4/"
"""A public address. Nothing is sent to it: it is refused before it is dialled."""


def anonymous(home: Path) -> Settings:
    return load(
        {"home": home, "fetch.allow_networks": ("127.0.0.0/8",), "fetch.connect_timeout": 1, "fetch.timeout": 2}, {}
    )


async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    line = await reader.readline()
    while (await reader.readline()).strip():
        pass
    is_robots = b"/robots.txt" in line
    status = "404 Not Found" if is_robots else f"302 Found\r\nLocation: {ELSEWHERE}"
    writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
    await writer.drain()
    writer.close()


async def redirect_robots(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while (await reader.readline()).strip():
        pass
    head = f"HTTP/1.1 302 Found\r\nLocation: {ELSEWHERE}robots.txt\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    writer.write(head.encode())
    await writer.drain()
    writer.close()


async def test_a_redirect_of_a_page_to_somebody_else(tmp_path: Path) -> None:
    async with listening(redirect) as port:
        seen = await fetch_one(anonymous(tmp_path), f"http://127.0.0.1:{port}/")
    assert isinstance(seen.error, AddressBlockedError)
    assert "no contact is set" in str(seen.error)


async def test_a_redirect_of_robots_txt_to_somebody_else(tmp_path: Path) -> None:
    async with listening(redirect_robots) as port:
        told = await _check_site_robots(anonymous(tmp_path), "Forager", f"http://127.0.0.1:{port}/")
    assert (told["allowed"], "no contact is set" in told["error"]) == (False, True)


async def test_a_webhook_of_somebody_else(tmp_path: Path) -> None:
    [heard] = await call_webhooks(anonymous(tmp_path), [a_call(f"{ELSEWHERE}hook")])
    assert (heard.status_code, "no contact is set" in str(heard.error)) == (None, True)


def a_call(url: str) -> DueCall:
    return DueCall(id=1, kind="task", url=url, tries=0, age_s=0.0, payload="{}")
