"""Sitemaps over HTTP: fetched politely, through redirects and one level of index, whatever the server does."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from tests.integration.fetch.raw_server import Server, http, serve

from forager.config.loader import load
from forager.config.settings import Settings
from forager.seeds import sitemap_fetch as sitemaps
from forager.seeds.found import BadLine, Seed
from forager_playground.server import measure_delay_s

LOOPBACK = load({"fetch.allow_networks": ("127.0.0.0/8",), "politeness.delay": 0.0, "home": "/nowhere"}, {})
NOT_FOUND = http(b"", status="404 Not Found")


@asynccontextmanager
async def a_site(pages: Mapping[str, bytes]) -> AsyncIterator[Server]:
    """Answers by path; what it has no answer for is not found."""

    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(pages.get(asked(server)[-1], NOT_FOUND))
        await writer.drain()

    async with serve(answer) as server:
        yield server


def asked(server: Server) -> list[str]:
    return [request.split()[1].decode() for request in server.requests]


async def follow(server: Server, path: str = "/sitemap.xml", settings: Settings = LOOPBACK) -> list[Seed | BadLine]:
    return [found async for found in sitemaps.follow_sitemap(settings, server.url(path))]


def urls(found: list[Seed | BadLine]) -> list[str]:
    return [item.url for item in found if isinstance(item, Seed)]


def reasons(found: list[Seed | BadLine]) -> list[str]:
    return [item.why for item in found if isinstance(item, BadLine)]


def urlset(*places: str) -> bytes:
    return f"<urlset>{''.join(f'<url><loc>{place}</loc></url>' for place in places)}</urlset>".encode()


def index(*places: str) -> bytes:
    entries = "".join(f"<sitemap><loc>{place}</loc></sitemap>" for place in places)
    return f"<sitemapindex>{entries}</sitemapindex>".encode()


async def test_a_sitemap_plain_and_compressed() -> None:
    body = urlset("https://a.example/", "https://a.example/x")
    pages = {"/sitemap.xml": http(body), "/sitemap.xml.gz": http(gzip.compress(body), content_type="application/gzip")}
    async with a_site(pages) as server:
        for path in pages:
            assert urls(await follow(server, path)) == ["https://a.example/", "https://a.example/x"]
        assert asked(server) == ["/robots.txt", "/sitemap.xml", "/robots.txt", "/sitemap.xml.gz"]


async def test_an_index_is_followed_one_level_and_a_bad_sitemap_does_not_end_it() -> None:
    pages: dict[str, bytes] = {}
    async with a_site(pages) as server:
        names = ("/1.xml", "/missing.xml", "/deep.xml", "/broken.xml", "/2.xml")
        pages["/sitemap.xml"] = http(index(*map(server.url, names)))
        pages["/1.xml"] = http(urlset("https://a.example/1"))
        pages["/deep.xml"] = http(index(server.url("/deeper.xml")))
        pages["/broken.xml"] = http(b"<urlset><url>")
        pages["/2.xml"] = http(urlset("https://a.example/2", "::"))
        found = await follow(server)
        assert urls(found) == ["https://a.example/1", "https://a.example/2"]
        missing, deep, broken, no_url = reasons(found)
        assert "missing.xml could not be fetched: the server answered 404." in missing
        assert "index of an index" in deep
        assert "is no XML" in broken
        assert "/broken.xml" in broken
        assert "/2.xml" in no_url
        assert asked(server) == ["/robots.txt", "/sitemap.xml", *names]


async def test_robots_txt_is_obeyed_also_behind_a_redirect() -> None:
    rules = http(b"User-agent: *\nDisallow: /private/\n", content_type="text/plain")
    pages = {
        "/robots.txt": rules,
        "/private/sitemap.xml": http(urlset("https://a.example/")),
        "/sitemap.xml": http(b"", "Location: /private/sitemap.xml", status="301 Moved"),
    }
    async with a_site(pages) as server:
        for path in ("/private/sitemap.xml", "/sitemap.xml"):
            (why,) = reasons(await follow(server, path))
            assert "robots.txt forbids" in why
            assert "Disallow: /private/, line 2" in why
        assert "/private/sitemap.xml" not in asked(server)


async def test_without_robots_txt_nothing_is_asked() -> None:
    async with a_site({"/robots.txt": http(b"", status="503 Busy"), "/sitemap.xml": http(urlset())}) as server:
        (why,) = reasons(await follow(server))
        assert "robots.txt could not be had (the server answered 503)" in why
        assert asked(server) == ["/robots.txt"]


async def test_the_address_guard_is_asked() -> None:
    async with a_site({}) as server:
        (why,) = reasons(await follow(server, settings=load({"home": "/nowhere"}, {})))
        assert "loopback" in why
        assert server.requests == []


async def test_redirects_end() -> None:
    async with a_site({"/sitemap.xml": http(b"", "Location: /sitemap.xml", status="302 Found")}) as server:
        (why,) = reasons(await follow(server))
        assert "more than 5 redirects" in why
        assert len(asked(server)) == 7


async def test_requests_keep_their_distance() -> None:
    """The pace is that of the settings, or what robots.txt asks for if that is more."""
    moments: list[float] = []
    loop = asyncio.get_running_loop()

    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        moments.append(loop.time() - measure_delay_s(writer.transport))
        is_robots = asked(server)[-1] == "/robots.txt"
        writer.write(http(b"User-agent: *\nCrawl-delay: 0.3\n" if is_robots else urlset("https://a.example/")))
        await writer.drain()

    async with serve(answer) as server:
        assert urls(await follow(server, settings=LOOPBACK.replace(politeness_delay=0.1))) == ["https://a.example/"]
    assert moments[1] - moments[0] >= 0.29


async def test_only_so_many_sitemaps_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MOST_SITEMAPS", 2)
    pages: dict[str, bytes] = {}
    async with a_site(pages) as server:
        pages["/sitemap.xml"] = http(index(*(server.url(f"/{number}.xml") for number in range(5))))
        assert reasons(await follow(server))[-1] == "only the first 2 of 5 sitemaps are followed."
        assert asked(server) == ["/robots.txt", "/sitemap.xml", "/0.xml", "/1.xml"]
