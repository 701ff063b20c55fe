"""The answer key against real HTTP: another crawler finds exactly the pages, links, statuses and titles it promises."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator

import aiohttp
import pytest
from tests.integration.playground.walk import AGENT, walk

from forager import clock
from forager_playground import (
    DEMO_SITES,
    Playground,
    forbidden_hits,
    most_open_at_once,
    open_playground,
    requests_per_path,
)


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(headers={"User-Agent": AGENT}) as session:
        yield session


@pytest.mark.parametrize("order", [*DEMO_SITES, "uniform=2x60", "bench=1x40", "shop=300", "blog=230", "docs=200"])
async def test_a_walk_finds_what_the_key_says(order: str, session: aiohttp.ClientSession) -> None:
    async with open_playground([order]) as web:
        for key in web.answer_key.sites:
            found = await walk(session, key.start_url, key.traps)
            expected = {page.url: page for page in key.pages if page.url in web.answer_key.expected_visits()}
            assert set(found) == set(expected)
            for url, page in found.items():
                wanted = expected[url]
                assert (page.status, page.depth, page.redirect_to) == (wanted.status, wanted.depth, wanted.redirect_to)
                if page.status == 200:
                    assert (page.title, page.declared_language) == (wanted.title, wanted.declared_language)
                assert page.links == set(wanted.links)
                assert page.nofollow_links == set(wanted.nofollow_links)
        assert_log_agrees(web)


def assert_log_agrees(web: Playground) -> None:
    assert forbidden_hits(web.log, web.answer_key) == []
    counts = requests_per_path(visit for visit in web.log if visit.target != "/robots.txt")
    assert set(counts) == web.answer_key.expected_visits()
    for url, count in counts.items():
        assert count == 1 + len(web.answer_key.by_url[url].early_statuses)
    assert all(most_open_at_once(web.log, host) == 1 for host in web.hosts.values())
    assert {visit.user_agent for visit in web.log} == {AGENT}


async def test_flaky_pages_fail_as_announced_and_again_after_forgetting(session: aiohttp.ClientSession) -> None:
    async with open_playground(["flaky"]) as web:
        (key,) = web.answer_key.sites
        early = {page.url: page.early_statuses for page in key.pages if page.early_statuses}
        assert {status for statuses in early.values() for status in statuses} == {0, 429, 503}
        for _ in range(2):
            await walk(session, key.start_url, key.traps)
            seen: dict[str, list[int]] = defaultdict(list)
            for visit in web.log:
                seen[visit.url].append(visit.status)
            assert {url: tuple(seen[url]) for url in early} == {url: (*codes, 200) for url, codes in early.items()}
            web.forget()


async def test_retry_after_is_sent_with_some_refusals(session: aiohttp.ClientSession) -> None:
    async with open_playground(["flaky"]) as web:
        base_url = web.urls[0].removesuffix("/")
        waits = []
        for path, status in (("/p/2", 503), ("/p/5", 503), ("/p/8", 429)):
            async with session.get(base_url + path) as answer:
                assert answer.status == status
                waits.append(answer.headers.get("Retry-After"))
        assert waits == [None, "1", "1"]


async def test_slow_pages_take_their_time(session: aiohttp.ClientSession) -> None:
    async with open_playground(["slow"]) as web:
        async with session.get(web.urls[0]) as answer:
            assert answer.status == 200
        (visit,) = web.log
        assert visit.ended_s - visit.started_s >= 0.1


async def test_a_request_says_how_long_it_lay_unread() -> None:
    """The server's process sleeps while it comes: the kernel knows when it came."""
    async with open_playground(["uniform=1x1"]) as web:
        reader, writer = await asyncio.open_connection(*web.urls[0].removeprefix("http://").rstrip("/").split(":"))
        for asleep_s in (0.0, 0.3):
            sent_s = clock.monotonic()
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            time.sleep(asleep_s)  # noqa: ASYNC251 - nobody reads
            await reader.readuntil(b"\r\n\r\n")
            late = web.log.visits[-1]
            assert late.started_s >= sent_s + asleep_s
        assert late.late_s > 0.25
        assert late.received_s < late.started_s - 0.25
        writer.close()


async def test_pictures_come_as_pictures(session: aiohttp.ClientSession) -> None:
    async with open_playground(["gallery", "shop"]) as web:
        for url in web.urls:
            async with session.get(url + "img/3.png") as answer:
                assert answer.headers["Content-Type"] == "image/png"
                assert (await answer.read()).startswith(b"\x89PNG")
