"""Renders one page in the browser: opens it, waits until it is quiet or its time is over, and takes the HTML as its
scripts left it.

Opening a tab costs more than rendering a page, so a tab may render several pages of one site, one after the other. What
a page leaves behind is wiped before the next one; a tab that caused any error is not used again.
"""

import asyncio
import base64
from contextlib import suppress
from html import escape
from typing import Any, NamedTuple

from forager.errors import RenderError
from forager.fetch.browser import scripts
from forager.fetch.browser.intercept import RequestFilter
from forager.fetch.models import RenderSteps
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
SCROLL_QUIET_S = 0.6
"""The same after a scroll: lists that grow wait a moment for the scrolling to end."""
CLICK_WAIT_S = 1.0
"""Time that an element to be clicked may take to appear."""
SCREENSHOT_S = 10.0
MOST_SCREENSHOT_PX = 8000
"""Height of a screenshot; what is below is not in it."""
SCREENSHOT_QUALITY = 70


class TabResult(NamedTuple):
    html: str
    screenshot: bytes | None


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
        self._steps = RenderSteps()

    async def draw(self, url: str, gate: RequestFilter, timeout_s: float, steps: RenderSteps) -> TabResult:
        """Returns the HTML of the page. Raises RenderError where its scripts keep us from reading it."""
        self._steps = steps
        self._gate, self._world, self._has_rested = gate, None, False
        self._uses += 1
        if self._page is None:
            await self._prepare()
        try:
            is_quiet = await self._wait(url, timeout_s)
            async with asyncio.timeout(timeout_s * GRAB_SHARE):
                if not is_quiet:
                    await self._stop_scripts()
                html = await self._evaluate(scripts.grab(self._most_html))
        except TimeoutError:
            raise RenderError(f"the scripts of the page did not rest within {timeout_s:g} s") from None
        if not isinstance(html, str) or not html:
            raise RenderError("the page was empty when its scripts had run")
        self._has_rested = is_quiet
        picture = await self._take_screenshot() if steps.screenshot else None
        return TabResult(f"<!doctype html>\n{html}{_redirect_tag(gate.led_to)}", picture)

    async def wipe(self, url: str) -> bool:
        """Returns whether the tab is clean: the page at `url` is gone with all it stored, and none of its scripts
        runs."""
        if not self._has_rested or self._uses >= MOST_USES:
            return False
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._stop_scripts()
                await self._evaluate(scripts.FORGET_SESSION)
                self._gate = self._world = None
                await self._page.goto("about:blank", timeout=0)
                is_nameless = await self._evaluate(scripts.FORGET_NAME)
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
            await self._settle(gate, QUIET_S)
            await self._take_steps(gate, self._steps)
        finally:
            await cancel({going, leading})

    async def _settle(self, gate: RequestFilter, quiet_s: float) -> None:
        """Returns when the page makes no request and does nothing else."""
        while True:
            asked = await gate.settle(quiet_s)
            await self._evaluate(scripts.IDLE)
            if asked == gate.asked:
                return

    async def _take_steps(self, gate: RequestFilter, steps: RenderSteps) -> None:
        """Does what was ordered for the page, in this order: wait, click, scroll, wait again for what that changed."""
        if steps == RenderSteps() or gate.led_to is not None:
            return
        gate.may_lead = False
        if steps.wait_for:
            await self._wait_for(steps.wait_for)
            await self._settle(gate, QUIET_S)
        for selector in steps.click:
            await self._click(selector)
            await self._settle(gate, QUIET_S)
        await self._scroll(gate, steps.scroll)
        if steps.wait_for and (steps.click or steps.scroll):
            await self._wait_for(steps.wait_for)

    async def _wait_for(self, selector: str) -> None:
        if await self._evaluate(scripts.wait_for(selector)) == "invalid":
            raise RenderError(f"{selector[:100]!r} is no CSS selector")

    async def _click(self, selector: str) -> None:
        """Clicks an element; one that does not appear is skipped: a consent dialog is there on the first page only."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLICK_WAIT_S):
                await self._wait_for(selector)
        await self._evaluate(scripts.click(selector))

    async def _scroll(self, gate: RequestFilter, times: int) -> None:
        height = 0
        for _ in range(times):
            asked = gate.asked
            before, height = height, await self._evaluate(scripts.SCROLL)
            await self._evaluate(scripts.HEIGHT_NOW)
            await self._settle(gate, SCROLL_QUIET_S)
            if before == height and gate.asked == asked:
                return

    async def _take_screenshot(self) -> bytes | None:
        """Returns a JPEG of the page; None if that fails: the page is read all the same."""
        with suppress(Exception):
            async with asyncio.timeout(SCREENSHOT_S):
                size = await self._session.send("Page.getLayoutMetrics")
                box = size["cssContentSize"]
                clip = {
                    "x": 0,
                    "y": 0,
                    "width": box["width"],
                    "height": min(box["height"], MOST_SCREENSHOT_PX),
                    "scale": 1,
                }
                order = {"format": "jpeg", "quality": SCREENSHOT_QUALITY, "captureBeyondViewport": True, "clip": clip}
                return base64.b64decode((await self._session.send("Page.captureScreenshot", order))["data"])
        return None

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
