"""Renders one page in the browser: opens it, waits until it is quiet or its time is over, and takes the HTML as its
scripts left it.

Opening a tab costs more than rendering a page, so a tab may render several pages of one site, one after the other. What
a page leaves behind is wiped before the next one; a tab that caused any error is not used again.
"""

import asyncio
from contextlib import suppress
from html import escape
from typing import Any

from forager.errors import RenderError
from forager.fetch.browser.intercept import RequestFilter
from forager.urls.domain import origin_of

QUIET_S = 0.4
"""Seconds without a request after which a page counts as loaded."""
GRAB_SHARE = 0.5
"""Share of a page's time limit that it may take in addition to hand over its HTML."""
CLOSE_S = 5.0
MOST_USES = 50
"""Pages per tab; the next tab starts with little memory."""
WORLD = "forager"
"""Isolated world: our own scripts run where those of the page cannot reach them."""
UNPROXIED = (
    "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'WebTransport',"
    " 'WebSocketStream', 'EventSource', 'SharedWorker']) delete globalThis[name];"
)
"""APIs that connect by other means than the intercepted requests. Their connections fail anyway; they are removed as
well."""
IDLE = "new Promise(done => requestIdleCallback(() => done(true), {timeout: 1000}))"
FORGET_SESSION = "try { sessionStorage.clear() } catch {}"
FORGET_NAME = "window.name = ''; window.name === ''"
"""Clears what belongs to the tab and not to the site."""
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
        """Filter of the page that is being rendered; between pages no request gets a response."""
        self._most_html = most_html
        self._page: Any = None
        self._session: Any = None
        self._world: int | None = None
        self._uses = 0
        self._has_rested = False

    async def draw(self, url: str, gate: RequestFilter, timeout_s: float) -> str:
        """Returns the HTML of the page. Raises RenderError where its scripts keep us from reading it."""
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
        """Returns whether the tab is clean: the page at `url` is gone with all it stored, and none of its scripts
        runs."""
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
        except Exception:  # on any error the next page gets a new tab
            return False
        return is_nameless is True and len(self._context.pages) == 1

    async def close(self) -> bool:
        """Returns whether the browser closed the tab."""
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
        """Returns whether the page became quiet by itself within its time limit."""
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
        """Stops all scripts of the page, including one in an endless loop."""
        for order in ("Emulation.setScriptExecutionDisabled", {"value": True}), ("Runtime.terminateExecution", {}):
            await self._session.send(*order)

    async def _load(self, url: str, gate: RequestFilter) -> None:
        """Loads the page. A page whose scripts navigate elsewhere never reports that it has loaded: it counts as
        loaded when the navigation has been rejected."""
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
    """Returns a tag for the head of a page that redirects by script, so that it counts like a redirect in its HTML."""
    is_web = url is not None and url.startswith(("http://", "https://"))
    return f'<meta http-equiv="refresh" content="0; url={escape(url or "")}">' if is_web else ""


async def _disconnect(socket: Any) -> None:
    await socket.close()


async def _close_page(popup: Any) -> None:
    with suppress(Exception):
        await popup.close()
