"""Tabs of a real Chromium draw page after page: each finds a browser that nobody used, and no site meets another."""

from itertools import count

import pytest

from forager.errors import RenderError
from forager.fetch.browser import Browser
from forager.fetch.models import Fetched, ScriptRequest

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("browser"),
    pytest.mark.asyncio(loop_scope="package"),
]
SITES = (f"http://127.88.2.{number}" for number in count(1))
"""New to the browser that all tests share. Loopback is a secure context: all stores are there."""

LEAVE = """
document.cookie = "left=1; max-age=1000";
localStorage.left = sessionStorage.left = "1";
window.name = "left";
history.pushState({left: 1}, "", "/left");
const again = () => { try { localStorage.left = sessionStorage.left = "1"; window.name = "left" } catch {} };
setInterval(again, 5);
for (const event of ["pagehide", "unload", "visibilitychange", "beforeunload"]) addEventListener(event, again);
new Worker(URL.createObjectURL(new Blob([
  "const open = indexedDB.open('late'); setInterval(() => new BroadcastChannel('c').postMessage('left'), 20)"])));
const database = new Promise(done => {
  const open = indexedDB.open("left", 1);
  open.onsuccess = open.onerror = () => done();
});
Promise.all([database, caches.open("left").then(cache => cache.put("/left", new Response("left")))])
  .then(() => document.body.append("all is left"));
"""
LOOK = """
const channel = new BroadcastChannel("c");
let heard = 0;
channel.onmessage = () => heard += 1;
(async () => {
  await new Promise(done => setTimeout(done, 200));
  const found = {
    cookie: document.cookie, local: localStorage.length, session: sessionStorage.length, name: window.name,
    history: history.length > 2, databases: (await indexedDB.databases()).length, caches: (await caches.keys()).length,
    heard, referrer: document.referrer, opener: window.opener !== null,
  };
  const told = Object.entries(found).filter(([, value]) => value);
  document.body.append("found: " + JSON.stringify(told) + ".");
})();
"""
CLEAN = "found: []."


def a_page(script: str, origin: str, path: str = "/") -> Fetched:
    body = f"<!doctype html><title>t</title><body><script>{script}</script>".encode()
    return Fetched(f"{origin}{path}", 200, {"content-type": "text/html"}, body, len(body), 1)


async def refuse(url: str, script: ScriptRequest | None = None, /) -> Fetched:
    raise RenderError(f"nobody answers {url}")


async def draw(browser: Browser, script: str, origin: str, path: str = "/") -> str:
    return (await browser.draw(a_page(script, origin, path), refuse, site=origin.rpartition("/")[2])).html


async def test_a_tab_is_used_again_and_nothing_is_left_in_it(browser: Browser) -> None:
    site, before = next(SITES), browser.tabs
    for number in range(2):
        assert "all is left" in await draw(browser, LEAVE, site, f"/{number}")
        assert CLEAN in await draw(browser, LOOK, site, f"/look/{number}")
    assert browser.tabs - before == 1


async def test_sites_have_tabs_of_their_own(browser: Browser) -> None:
    one, other, before = next(SITES), next(SITES), browser.tabs
    assert "all is left" in await draw(browser, LEAVE, one)
    assert CLEAN in await draw(browser, LOOK, other)
    assert browser.tabs - before == 2
    assert CLEAN in await draw(browser, LOOK, one)
    assert browser.tabs - before == 2


async def test_a_tab_that_made_trouble_is_not_used_again(hasty: Browser) -> None:
    site, before = next(SITES), hasty.tabs
    await draw(hasty, "document.body.append('x')", site)
    with pytest.raises(RenderError):
        await draw(hasty, "document.documentElement.remove(); for (;;) {}", site)
    assert "found" in await draw(hasty, "document.body.append('found')", site)
    assert hasty.tabs - before == 2


async def test_scripts_run_in_a_tab_that_was_wiped(browser: Browser) -> None:
    """Wiping stops all scripts; the next page's are not stopped."""
    site, before = next(SITES), browser.tabs
    for number in range(3):
        assert f"number {number}" in await draw(browser, f"document.body.append('number ' + {number})", site)
    assert browser.tabs - before == 1
