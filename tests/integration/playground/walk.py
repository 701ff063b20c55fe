"""A tiny breadth-first crawler, written apart from Forager's own: what it finds must be what the answer key says."""

import re
from collections import deque
from dataclasses import dataclass, field

import aiohttp
from ada_url import join_url
from protego import Protego
from turbohtml import Element, parse

from forager.urls.normalize import normalize

AGENT = "Forager"
BINARY = (".png", ".jpg", ".zip")
MOST_TRIES = 4


@dataclass
class Found:
    status: int
    depth: int
    title: str | None = None
    declared_language: str | None = None
    links: set[str] = field(default_factory=set)
    nofollow_links: set[str] = field(default_factory=set)
    redirect_to: str | None = None


async def walk(session: aiohttp.ClientSession, start_url: str, traps: tuple[str, ...]) -> dict[str, Found]:
    """Every URL a polite crawler visits from here, staying on the host and out of the traps."""
    base_url = start_url.removesuffix("/")
    robots = await read_robots(session, base_url)
    found: dict[str, Found] = {}
    waiting = deque([(start_url, 0)])
    while waiting:
        url, depth = waiting.popleft()
        path = url.removeprefix(base_url)
        is_trap = any(re.search(trap, path) for trap in traps)
        if url in found or is_trap or path.endswith(BINARY) or not robots.can_fetch(url, AGENT):
            continue
        page = found[url] = await visit(session, url, depth)
        if page.redirect_to:
            waiting.appendleft((page.redirect_to, depth))
        waiting.extend((link, depth + 1) for link in sorted(page.links))
    return found


async def read_robots(session: aiohttp.ClientSession, base_url: str) -> Protego:
    async with session.get(base_url + "/robots.txt") as answer:
        return Protego.parse(await answer.text() if answer.status == 200 else "")


async def visit(session: aiohttp.ClientSession, url: str, depth: int) -> Found:
    for _ in range(MOST_TRIES):
        try:
            async with session.get(url, allow_redirects=False) as answer:
                found = read(url, depth, answer.status, dict(answer.headers), await answer.text())
        except aiohttp.ClientConnectionError:
            continue
        if found.status not in {429, 503}:
            return found
    raise AssertionError(f"{url} did not recover")


def read(url: str, depth: int, status: int, headers: dict[str, str], html: str) -> Found:
    found = Found(status, depth)
    if 300 <= status < 400:
        found.redirect_to = normalize(join_url(url, headers["Location"]))
    if status != 200:
        return found
    if html.startswith("%PDF-"):
        found.title = html.partition("/Title(")[2].partition(")")[0]
        return found
    tree = parse(html)
    found.title = tree.select("title")[0].text
    found.declared_language = tree.select("html")[0].attr("lang")
    meta = tree.select_one('meta[name="robots"]')
    is_nofollow = "nofollow" in headers.get("X-Robots-Tag", "") + (meta.attr("content") or "" if meta else "")
    for node in tree.select('a[href], link[rel="canonical"], link[rel="alternate"]'):
        keep_link(found, url, node, is_nofollow=is_nofollow)
    return found


def keep_link(found: Found, url: str, node: Element, *, is_nofollow: bool) -> None:
    target = join_url(url, node.attr("href") or "")
    if target.startswith("http") and target.split("/")[2] == url.split("/")[2]:
        is_kept_out = is_nofollow or "nofollow" in (node.attr("rel") or "")
        (found.nofollow_links if is_kept_out else found.links).add(normalize(target))
