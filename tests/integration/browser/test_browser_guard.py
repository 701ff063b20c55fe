"""A page in a real Chromium asks for what it must not have: everything comes to our gate, and nothing gets past it."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio
from tests.listening import listening

from forager.engine.rendering import Renderer, RenderOptions
from forager.errors import RenderError
from forager.fetch.browser import Browser, Limits, open_browser
from forager.fetch.client import open_client
from forager.fetch.models import Fetched, Rendering, ScriptRequest
from forager.politeness.guard import AddressGuard
from forager.robots.rules import parse

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("browser"),
    pytest.mark.asyncio(loop_scope="package"),
]
PAGE_HOST, OTHER_HOST, FORBIDDEN_HOST = "127.88.1.1", "127.88.1.2", "127.89.0.1"


class Canary:
    """A server that answers, and remembers who asked for what; also for bytes that are no HTTP, and for datagrams."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.connections = 0
        self.datagrams = 0
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while line := await reader.readline():
                target = line.split()[1].decode() if line.startswith(b"GET") else repr(line)
                self.asked.append(target)
                while (await reader.readline()).strip():
                    pass
                body = b'{"said": "canary"}'
                head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
                writer.write(head.encode() + body)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


class Ear(asyncio.DatagramProtocol):
    def __init__(self, canary: Canary) -> None:
        self._canary = canary

    def datagram_received(self, data: bytes, addr: object) -> None:
        self._canary.datagrams += 1


@pytest_asyncio.fixture(loop_scope="package")
async def canary() -> AsyncIterator[Canary]:
    """On every address of loopback, at one port."""
    bird = Canary()
    async with listening(bird.serve, "0.0.0.0") as bird.port:
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: Ear(bird), local_addr=("0.0.0.0", bird.port)
        )
        yield bird
        transport.close()


@pytest_asyncio.fixture(loop_scope="package")
async def renderer(browser: Browser) -> AsyncIterator[Renderer]:
    guard = AddressGuard(("127.88.0.0/16",), (80, 443))
    async with open_client(
        user_agent="Forager/test",
        check_address=guard.check_ip,
        timeout_s=30,
        connect_timeout_s=30,
        max_bytes=1_000_000,
    ) as client:
        yield Renderer(client, browser)


def a_page(script: str, port: int = 80) -> Fetched:
    body = f'<!doctype html><title>t</title><p id="out">plain</p><script>{script}</script>'.encode()
    return Fetched(f"http://{PAGE_HOST}:{port}/", 200, {"content-type": "text/html"}, body, len(body), 1)


async def draw(renderer: Renderer, page: Fetched, robots: str = "") -> str:
    drawn = await renderer.draw(page, RenderOptions(Rendering.ALWAYS, parse(robots).rules_for("Forager")))
    assert drawn is not None
    return drawn.page.body.decode()


TRY_ALL = """
const out = document.getElementById("out");
const tell = target => fetch(target).then(r => r.text()).then(t => target + " said " + t, () => target + " refused");
const tries = [TARGETS].map(tell);
Promise.all(tries).then(all => out.innerText = all.join("\\n"));
"""


async def test_the_guard_holds_inside_the_browser(renderer: Renderer, canary: Canary) -> None:
    targets = [
        "http://169.254.169.254/latest/meta-data/",
        "http://localhost:5432/",
        f"http://{FORBIDDEN_HOST}:{canary.port}/inside",
        f"http://127.0.0.1:{canary.port}/inside",
        f"http://[::1]:{canary.port}/inside",
        "file:///etc/passwd",
        "ftp://127.88.1.1/",
        "chrome://version",
        f"http://{OTHER_HOST}:{canary.port}/allowed",
    ]
    html = await draw(renderer, a_page(TRY_ALL.replace("TARGETS", ",".join(map(repr, targets))), canary.port))
    assert html.count("refused") >= len(targets) - 1, html
    assert f"{OTHER_HOST}:{canary.port}/allowed said" in html
    assert "root:" not in html
    assert canary.asked == ["/allowed"]


async def test_a_redirect_inside_the_page_meets_the_guard_too(renderer: Renderer, canary: Canary) -> None:
    async def lead_astray(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        where = f"http://{FORBIDDEN_HOST}:{canary.port}/inside"
        writer.write(
            f"HTTP/1.1 302 Found\r\nLocation: {where}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
        )
        await writer.drain()
        writer.close()

    async with listening(lead_astray, OTHER_HOST) as port:
        html = await draw(renderer, a_page(TRY_ALL.replace("TARGETS", f"'http://{OTHER_HOST}:{port}/'")))
    assert "refused" in html
    assert canary.asked == []


WAYS_OUT = """
const out = document.getElementById("out"), host = "HOST:PORT", at = "http://" + host;
const note = text => out.append(text + "\\n");
const add = (name, what) => document.body.append(Object.assign(document.createElement(name), what));
const call = () => {
  const line = new RTCPeerConnection({iceServers: [{urls: "stun:" + host}]});
  line.createDataChannel("x");
  line.createOffer().then(offer => line.setLocalDescription(offer));
};
const send = () => {
  add("form", {method: "POST", action: at + "/post", id: "form"});
  document.getElementById("form").submit();
};
const load = () => {
  add("a", {href: at + "/file.zip", download: "x", id: "file"});
  document.getElementById("file").click();
};
for (const make of [
  () => new WebSocket("ws://" + host + "/ws"),
  () => new EventSource(at + "/events"),
  () => navigator.sendBeacon(at + "/beacon", "x"),
  () => navigator.serviceWorker.register("/sw.js").catch(() => 0),
  () => window.open(at + "/popup"),
  () => { new Image().src = at + "/image.png"; },
  () => add("iframe", {src: at + "/frame"}),
  () => add("link", {rel: "prefetch", href: at + "/prefetch"}),
  () => add("link", {rel: "preconnect", href: at}),
  () => add("link", {rel: "stylesheet", href: at + "/style.css"}),
  () => add("video", {src: at + "/video.mp4"}),
  () => fetch(at + "/post", {method: "POST", body: "x"}).catch(() => 0),
  () => new Worker(URL.createObjectURL(new Blob(["new WebSocket('ws://" + host + "/worker')"]))),
  () => new WebTransport("https://" + host + "/wt"),
  call, send, load,
]) { try { make(); } catch (error) { note(String(error)); } }
alert("stop"); confirm("stop"); prompt("stop");
note("all tried");
"""


async def test_chromium_itself_opens_no_connection(renderer: Renderer, canary: Canary) -> None:
    """The host is one the guard allows: nothing but the missing way keeps these requests from leaving."""
    script = WAYS_OUT.replace("HOST", OTHER_HOST).replace("PORT", str(canary.port))
    html = await draw(renderer, a_page(script, canary.port))
    assert "all tried" in html
    assert (canary.asked, canary.connections, canary.datagrams) == ([], 0, 0)


async def test_robots_txt_is_kept_by_scripts_of_its_own_origin(renderer: Renderer, canary: Canary) -> None:
    targets = f"'/open', '/closed', 'http://{OTHER_HOST}:{canary.port}/closed'"
    page = a_page(TRY_ALL.replace("TARGETS", targets), canary.port)
    html = await draw(renderer, page, "User-agent: *\nDisallow: /closed\n")
    assert "/open said" in html
    assert "/closed refused" in html
    assert sorted(canary.asked) == ["/closed", "/open"], "another origin's rules are not ours to know"


async def test_a_page_has_so_many_requests_and_no_more(renderer: Renderer, canary: Canary) -> None:
    script = "for (let i = 0; i < 200; i++) fetch('/' + i).catch(() => 0)"
    await draw(renderer, a_page(script, canary.port))
    assert len(canary.asked) == Limits().allowance.requests


async def test_a_page_that_leads_elsewhere_by_script_stays_and_says_where_to(renderer: Renderer) -> None:
    html = await draw(renderer, a_page("location.href = '/next?a=1&b=2'"))
    assert "plain" in html
    assert f'<meta http-equiv="refresh" content="0; url=http://{PAGE_HOST}/next?a=1&amp;b=2">' in html


async def test_endless_scripts_are_cut_and_the_next_page_is_drawn(hasty: Browser) -> None:
    async def nothing(url: str, script: ScriptRequest | None = None, /) -> Fetched:
        raise RenderError(url)

    endless = a_page("while (true) {}")
    assert "plain" in (await hasty.draw(endless, nothing, site="a")).html
    flood = a_page("while (true) fetch('/again').catch(() => 0)")
    with suppress(RenderError):
        assert "plain" in (await hasty.draw(flood, nothing, site="a")).html
    restless = a_page("setInterval(() => fetch('/again').catch(() => 0), 100)")
    assert "plain" in (await hasty.draw(restless, nothing, site="a")).html
    assert "plain" in (await hasty.draw(a_page(""), nothing, site="a")).html


async def test_a_browser_that_dies_is_replaced_and_the_page_drawn_again(browser: Browser) -> None:
    pids: list[int] = []

    async def kill_once(url: str, script: ScriptRequest | None = None, /) -> Fetched:
        assert browser.pid
        if not pids:
            os.kill(browser.pid, signal.SIGKILL)
        pids.append(browser.pid)
        return Fetched(url, 200, {"content-type": "text/plain"}, b"answer", 6, 1)

    page = a_page("fetch('/x').then(r => r.text()).then(t => out.innerText = t)")
    assert '<p id="out">answer</p>' in (await browser.draw(page, kill_once, site="a")).html
    assert len(set(pids)) == 2


async def test_a_page_that_fills_memory_costs_the_browser_not_the_machine(chromium: Path) -> None:
    async def nothing(url: str, script: ScriptRequest | None = None, /) -> Fetched:
        raise RenderError(url)

    limits = Limits(timeout_s=120, memory_bytes=1)
    async with open_browser(chromium, user_agent="t", limits=limits) as browser:
        with pytest.raises(RenderError, match="died"):
            await browser.draw(a_page("while (true) {}"), nothing, site="a")


async def test_a_browser_that_does_not_start_is_not_tried_for_every_page(tmp_path: Path, chromium: Path) -> None:
    counter = tmp_path / "starts"
    broken = tmp_path / "chromium"
    broken.write_text(f"#!/bin/sh\necho x >> {counter}\nexit 1\n")
    broken.chmod(0o755)

    async def nothing(url: str, script: ScriptRequest | None = None, /) -> Fetched:
        raise RenderError(url)

    async with open_browser(broken, user_agent="t", limits=Limits()) as browser:
        for _ in range(3):
            with pytest.raises(RenderError, match="start"):
                await browser.draw(a_page(""), nothing, site="a")
    assert counter.read_text().count("x") == 1
