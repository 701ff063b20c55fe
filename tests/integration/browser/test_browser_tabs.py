"""Tabs of a real Chromium draw page after page: each finds a browser that nobody used, and no site meets another."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from forager.errors import RenderError
from forager.fetch.browser import Browser, Limits, open_browser
from forager.records import Fetched

pytestmark = [pytest.mark.timeout(300), pytest.mark.xdist_group("browser")]
A, B = "http://127.88.2.1", "http://127.88.2.2"
"""Loopback is a secure context: all stores are there."""

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


@pytest.fixture
async def browser(chromium: Path) -> AsyncIterator[Browser]:
    async with open_browser(chromium, user_agent="Forager/test", limits=Limits(timeout_s=60)) as opened:
        yield opened


def a_page(script: str, origin: str = A, path: str = "/") -> Fetched:
    body = f"<!doctype html><title>t</title><body><script>{script}</script>".encode()
    return Fetched(f"{origin}{path}", 200, {"content-type": "text/html"}, body, len(body), 1)


async def refuse(url: str) -> Fetched:
    raise RenderError(f"nobody answers {url}")


async def draw(browser: Browser, script: str, origin: str = A, path: str = "/") -> str:
    return (await browser.draw(a_page(script, origin, path), refuse, site=origin.rpartition("/")[2])).html


async def test_a_tab_is_used_again_and_nothing_is_left_in_it(browser: Browser) -> None:
    for number in range(2):
        assert "all is left" in await draw(browser, LEAVE, path=f"/{number}")
        assert CLEAN in await draw(browser, LOOK, path=f"/look/{number}")
    assert browser.tabs == 1


async def test_sites_have_tabs_of_their_own(browser: Browser) -> None:
    assert "all is left" in await draw(browser, LEAVE)
    assert CLEAN in await draw(browser, LOOK, B)
    assert browser.tabs == 2
    assert CLEAN in await draw(browser, LOOK)
    assert browser.tabs == 2


async def test_a_tab_that_made_trouble_is_not_used_again(chromium: Path) -> None:
    async with open_browser(chromium, user_agent="Forager/test", limits=Limits(timeout_s=3)) as browser:
        await draw(browser, "document.body.append('x')")
        with pytest.raises(RenderError):
            await draw(browser, "document.documentElement.remove(); for (;;) {}")
        assert "found" in await draw(browser, "document.body.append('found')")
        assert browser.tabs == 2


async def test_scripts_run_in_a_tab_that_was_wiped(browser: Browser) -> None:
    """Wiping stops all scripts; the next page's are not stopped."""
    for number in range(3):
        assert f"number {number}" in await draw(browser, f"document.body.append('number ' + {number})")
    assert browser.tabs == 1
