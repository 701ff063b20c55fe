"""The sites for what domains go through, over real HTTP."""

import aiohttp
import pytest
from tests.integration.playground.walk import AGENT, walk

from forager_playground import open_playground


@pytest.mark.parametrize("order", ["news", "wall", "gate", "club", "closed", "broken", "hidden"])
async def test_a_walk_finds_what_the_key_says(order: str) -> None:
    async with open_playground([order]) as web, aiohttp.ClientSession(headers={"User-Agent": AGENT}) as session:
        (key,) = web.answer_key.sites
        found = await walk(session, key.start_url, key.traps)
        assert set(found) == web.answer_key.expected_visits()
        for url, page in found.items():
            wanted = web.answer_key.by_url[url]
            assert (page.status, page.depth, page.redirect_to) == (wanted.status, wanted.depth, wanted.redirect_to)
            assert page.title == wanted.title
            assert page.links == set(wanted.links)


async def test_news_answers_304_until_the_clock_makes_it_old() -> None:
    async with open_playground(["news"]) as web, aiohttp.ClientSession() as session:
        base = web.urls[0].removesuffix("/")

        async def get(path: str, **known: str) -> tuple[int, bytes, dict[str, str]]:
            async with session.get(base + path, headers=known) as answer:
                headers = {"If-None-Match": answer.headers.get("ETag", "")}
                headers["If-Modified-Since"] = answer.headers.get("Last-Modified", "")
                return answer.status, await answer.read(), headers

        _, _, hourly = await get("/p/1")
        _, _, lasting = await get("/p/5")
        for known in (hourly, {"If-Modified-Since": hourly["If-Modified-Since"]}):
            assert (await get("/p/1", **known))[:2] == (304, b"")
        assert (await get("/_tick?by=3600"))[1] == b"3600\n"
        for known in (hourly, {"If-Modified-Since": hourly["If-Modified-Since"]}):
            status, body, _ = await get("/p/1", **known)
            assert (status, b"Edition 1" in body) == (200, True)
        assert (await get("/p/5", **lasting))[:2] == (304, b"")
        pages = [visit for visit in web.log if "_tick" not in visit.target]
        assert [visit.status for visit in pages] == [200, 200, 304, 304, 200, 200, 304]
        assert [visit.is_conditional for visit in pages] == [False, False, True, True, True, True, True]
