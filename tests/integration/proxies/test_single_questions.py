"""Commands that ask a site without a lease go the way its crawl goes: through its proxies, and never around them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.integration.engine.stage import Stage, WatchedSite, serve
from tests.integration.proxies.test_crawl import KEY, assign, callers, health, running

from forager.app.sitemaps import follow_sitemap
from forager.cli.tools import _check_site_robots
from forager.db import Database
from forager.errors import DatabaseUnreachableError, ProxyError
from forager.playground import Answer
from forager.seeds import Seed
from forager.settings import Settings, load

pytestmark = pytest.mark.timeout(90)
SITEMAP = b"<urlset><url><loc>http://a.example/x</loc></url></urlset>"


@asynccontextmanager
async def a_stage(database: Database) -> AsyncIterator[Stage]:
    answer = Answer(body=SITEMAP, content_type="application/xml", is_stable=False)
    site = WatchedSite(3, on_request=lambda path, _count: answer if path == "/sitemap.xml" else None)
    async with serve(site) as web:
        await database.pool.execute("DELETE FROM proxies")
        yield await Stage.open(database, web)


def settings_for(database_url: str, **more: str) -> Settings:
    given = {"allow_networks": ("127.0.0.0/8",), "delay_s": 0.0, "secret_key": (KEY,), "home": "/nowhere"}
    return load(given | {"database_url": database_url} | more, {})


async def read_sitemap(stage: Stage, settings: Settings) -> list[str]:
    place = f"{stage.web.urls[0]}sitemap.xml"
    return [found.url async for found in follow_sitemap(settings, place) if isinstance(found, Seed)]


async def test_a_sitemap_is_asked_for_through_the_pool(database: Database, database_url: str) -> None:
    async with a_stage(database) as stage, running("http", "socks5", account=("user", "secret")) as proxies:
        await assign(stage, proxies)
        assert await read_sitemap(stage, settings_for(database_url)) == ["http://a.example/x"]
        assert callers(stage) == {proxy.host for proxy in proxies}
        assert sorted(row["hour_requests"] for row in (await health(stage)).values()) == [1, 1]


async def test_robots_txt_is_asked_for_through_the_pool(database: Database, database_url: str) -> None:
    async with a_stage(database) as stage, running("http", "http") as proxies:
        await assign(stage, proxies)
        await proxies[0].stop()
        answer = await _check_site_robots(settings_for(database_url), "Forager", stage.web.urls[0])
        assert (answer["allowed"], answer["status_code"]) == (True, 200)
        assert callers(stage) == {proxies[1].host}


async def test_a_dead_pool_is_our_error_and_the_site_is_not_asked(database: Database, database_url: str) -> None:
    async with a_stage(database) as stage, running("http") as proxies:
        await assign(stage, proxies)
        await proxies[0].stop()
        for ask in (read_sitemap(stage, settings_for(database_url)), _ask_dead(stage, database_url)):
            with pytest.raises(ProxyError, match="asked through its proxies only"):
                await ask
        assert not list(stage.web.log)


async def _ask_dead(stage: Stage, database_url: str) -> object:
    return await _check_site_robots(settings_for(database_url), "Forager", stage.web.urls[0])


async def test_a_domain_without_proxies_is_asked_directly(database: Database, database_url: str) -> None:
    async with a_stage(database) as stage:
        assert await read_sitemap(stage, settings_for(database_url)) == ["http://a.example/x"]
        assert callers(stage) == {"127.0.0.1"}


async def test_who_cannot_know_the_proxies_does_not_ask(database: Database) -> None:
    async with a_stage(database) as stage:
        away = settings_for("postgresql://nobody@127.0.0.1:1/nothing")
        with pytest.raises(DatabaseUnreachableError):
            await read_sitemap(stage, away)
        assert not list(stage.web.log)
