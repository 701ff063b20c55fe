"""One page in the browser: opened, left alone until it is quiet or its time is over, taken as its scripts left it.

Opening a tab costs more than drawing a page, so a tab may draw several pages of one site, one after the other. What a
page leaves behind is wiped before the next one comes; a tab that made any trouble is not used again.
"""

import asyncio
from contextlib import suppress
from html import escape
from typing import Any

from forager.errors import RenderError
from forager.fetch.browser.intercept import RequestFilter
from forager.urls.domain import origin_of

QUIET_S = 0.4
"""Without a request; then the page has what it wanted."""
GRAB_SHARE = 0.5
"""Of a page's time: so much longer it may take to hand over what it has."""
CLOSE_S = 5.0
MOST_USES = 50
"""Pages of one tab; the next one starts small."""
WORLD = "forager"
"""Our own scripts run where those of the page cannot reach them."""
UNPROXIED = (
    "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'WebTransport',"
    " 'WebSocketStream', 'EventSource', 'SharedWorker']) delete globalThis[name];"
)
"""Ways out that a request never takes. They lead nowhere anyhow; so they are not even there."""
IDLE = "new Promise(done => requestIdleCallback(() => done(true), {timeout: 1000}))"
FORGET_SESSION = "try { sessionStorage.clear() } catch {}"
FORGET_NAME = "window.name = ''; window.name === ''"
"""What belongs to the tab, and not to the site."""
GRAB = (
    "(() => {"
    " const html = Object.getOwnPropertyDescriptor(Document.prototype, 'documentElement').get.call(document);"
    " const text = html ? html.outerHTML : '';"
    " return text.length > MOST ? text.slice(0, MOST) : text;"
    "})()"
)


class Tab:
    def __init__(self, context: Any, *, most_html: int) -> None:
        self._context = context
        self._gate: RequestFilter | None = None
        """Of the page that is being drawn; between pages nothing is answered."""
        self._most_html = most_html
        self._page: Any = None
        self._session: Any = None
        self._world: int | None = None
        self._uses = 0
        self._has_rested = False

    async def draw(self, url: str, gate: RequestFilter, timeout_s: float) -> str:
        """The HTML of the page. Raises RenderError where its scripts leave us no word."""
        self._gate, self._world, self._has_rested = gate, None, False
        self._uses += 1
        if self._page is None:
            await self._prepare()
        try:
            is_quiet = await self._wait(url, timeout_s)
            async with asyncio.timeout(timeout_s * GRAB_SHARE):
                if not is_quiet:
                    await self._stop_scripts()
                html = await self._evaluate(GRAB.replace("MOST", str(self._most_html)))
        except TimeoutError:
            raise RenderError(f"the scripts of the page did not rest within {timeout_s:g} s") from None
        if not isinstance(html, str) or not html:
            raise RenderError("the page was empty when its scripts had run")
        self._has_rested = is_quiet
        return f"<!doctype html>\n{html}{_redirect_tag(gate.led_to)}"

    async def wipe(self, url: str) -> bool:
        """Whether it is as good as new: the page at `url` is gone with all it stored, and none of its scripts runs."""
        if not self._has_rested or self._uses >= MOST_USES:
            return False
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._stop_scripts()
                await self._evaluate(FORGET_SESSION)
                self._gate = self._world = None
                await self._page.goto("about:blank", timeout=0)
                is_nameless = await self._evaluate(FORGET_NAME)
                everything = {"origin": origin_of(url), "storageTypes": "all"}
                await self._session.send("Storage.clearDataForOrigin", everything)
                await self._context.clear_cookies()
                await self._session.send("Page.resetNavigationHistory")
                await self._session.send("Emulation.setScriptExecutionDisabled", {"value": False})
        except Exception:  # whatever it is, the next page gets a tab of its own
            return False
        return is_nameless is True and len(self._context.pages) == 1

    async def close(self) -> bool:
        """Whether the browser let go of it."""
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._context.close()
        except Exception:
            return False
        return True

    async def _prepare(self) -> None:
        self._page = await self._context.new_page()
        self._session = await self._context.new_cdp_session(self._page)
        self._context.on("page", _close_page)
        await asyncio.gather(
            self._context.route("**/*", self._pass_on),
            self._context.route_web_socket("**/*", _disconnect),
            self._context.add_init_script(UNPROXIED),
        )

    async def _pass_on(self, route: Any) -> None:
        if self._gate is not None:
            await self._gate.pass_on(route, self._page.main_frame)
        else:
            with suppress(Exception):
                await route.abort("blockedbyclient")

    async def _wait(self, url: str, timeout_s: float) -> bool:
        """Whether the page came to rest by itself, in its time."""
        assert self._gate is not None
        loading = asyncio.create_task(self._load(url, self._gate))
        flooding = asyncio.create_task(self._gate.flooded.wait())
        both: set[asyncio.Task[Any]] = {loading, flooding}
        try:
            await asyncio.wait(both, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if loading.done():
                loading.result()
            return loading.done()
        finally:
            await cancel(both)

    async def _stop_scripts(self) -> None:
        """No script of the page runs from here on, not even one that has no end."""
        for order in ("Emulation.setScriptExecutionDisabled", {"value": True}), ("Runtime.terminateExecution", {}):
            await self._session.send(*order)

    async def _load(self, url: str, gate: RequestFilter) -> None:
        """A page whose scripts lead elsewhere never says that it is there: it rests when we have refused to follow."""
        going = asyncio.create_task(self._page.goto(url, wait_until="domcontentloaded", timeout=0))
        leading = asyncio.create_task(gate.led.wait())
        try:
            await asyncio.wait({going, leading}, return_when=asyncio.FIRST_COMPLETED)
            if going.done():
                going.result()
            while True:
                asked = await gate.settle(QUIET_S)
                await self._evaluate(IDLE)
                if asked == gate.asked:
                    return
        finally:
            await cancel({going, leading})

    async def _evaluate(self, expression: str) -> Any:
        if self._world is None:
            self._world = await self._open_world()
        order = {"contextId": self._world, "expression": expression, "returnByValue": True, "awaitPromise": True}
        answer = await self._session.send("Runtime.evaluate", order)
        return answer.get("result", {}).get("value")

    async def _open_world(self) -> int:
        frame = (await self._session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        made = await self._session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": WORLD})
        world: int = made["executionContextId"]
        return world


async def cancel(tasks: set[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.exception()


def _redirect_tag(url: str | None) -> str:
    """A page that sends its visitors on by a script leads there as if it had said so in its head."""
    is_web = url is not None and url.startswith(("http://", "https://"))
    return f'<meta http-equiv="refresh" content="0; url={escape(url or "")}">' if is_web else ""


async def _disconnect(socket: Any) -> None:
    await socket.close()


async def _close_page(popup: Any) -> None:
    with suppress(Exception):
        await popup.close()
