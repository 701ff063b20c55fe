"""One Chromium process per worker: started when the first page needs it, replaced when it crashes or grows too large,
closed at the end.

Chromium ends with its worker: Playwright's driver depends on our pipe, Chromium on the driver's, and each exits when
its pipe closes.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from forager import clock
from forager.errors import RenderError
from forager.fetch.browser.intercept import Get, PageBudget, RequestFilter
from forager.fetch.browser.memory import family_bytes
from forager.fetch.browser.program import ARGUMENTS, NOWHERE, WITHOUT_IMAGES, can_sandbox, format_start_error
from forager.fetch.browser.script_cache import ScriptCache
from forager.fetch.browser.tab import Tab, TabResult
from forager.fetch.models import Fetched, RenderSteps
from forager.logs import log

NO_STEPS = RenderSteps()
START_S = 60.0
CLOSE_S = 10.0
REST_S = 60.0
"""Wait after a browser failed to start."""
MOST_DEATHS = 2
MOST_PAGES = 500
"""Pages per browser process; the next process starts with little memory."""
WATCH_S = 0.5
DEATH_S = 1.0
"""Time until a browser whose pages are gone is known to have exited itself."""


@dataclass(frozen=True, slots=True)
class Limits:
    pages: int = 2
    """Maximum number of pages open at once."""
    timeout_s: float = 20.0
    """Time from opening a page until its current content is taken."""
    most_html: int = 10 * 1024 * 1024
    memory_bytes: int = 1024**3
    allowance: PageBudget = field(default_factory=PageBudget)
    sandbox: bool = True
    """Whether Chromium uses its sandbox and fails to start where the sandbox does not work; as root it runs without
    one."""


class RenderedPage(NamedTuple):
    html: str
    requests: int
    wire_bytes: int
    screenshot: bytes | None = None
    """A JPEG, if one was ordered and could be taken."""


class BrowserCrashedError(Exception):
    """The browser crashed; every page in it has to be rendered by another one."""


class Browser:
    """Renders pages. Created by `open_browser`; safe to use from many tasks at once."""

    def __init__(self, program: Path, user_agent: str, limits: Limits) -> None:
        self._program = program
        self._user_agent = user_agent
        self._limits = limits
        self._seats = asyncio.Semaphore(limits.pages)
        self._starting = asyncio.Lock()
        self._processes: dict[bool, _Process] = {}
        """With images, for screenshots, and without."""
        self._may_start_at = 0.0
        self._larder = ScriptCache()
        self.pages = 0
        """Number of pages rendered or attempted so far."""

    @property
    def pid(self) -> int | None:
        return process.pid if (process := self._current) else None

    @property
    def tabs(self) -> int:
        """Returns the number of tabs that the current browser process has opened."""
        return process.tabs if (process := self._current) else 0

    @property
    def _current(self) -> "_Process | None":
        return self._processes.get(False) or self._processes.get(True)

    async def draw(self, page: Fetched, get: Get, *, site: str, steps: RenderSteps = NO_STEPS) -> RenderedPage:
        """Returns what the scripts of `page` render; `get` makes their requests. Raises RenderError."""
        async with self._seats:
            self.pages += 1
            for _ in range(MOST_DEATHS):
                process = await self._get_process(has_images=steps.screenshot)
                gate = RequestFilter(
                    page,
                    get,
                    self._limits.allowance.for_screenshot() if steps.screenshot else self._limits.allowance,
                    site=site,
                    larder=self._larder,
                    is_shown=steps.screenshot,
                )
                with suppress(BrowserCrashedError):
                    html, screenshot = await process.draw(page.url, gate, site, steps)
                    return RenderedPage(html, gate.sent, gate.wire_bytes, screenshot)
        raise RenderError(f"{MOST_DEATHS} browsers died while they had this page")

    async def close(self) -> None:
        async with self._starting:
            while self._processes:
                await self._processes.popitem()[1].close()

    async def _get_process(self, *, has_images: bool) -> "_Process":
        async with self._starting:
            process = self._processes.get(has_images)
            if process is not None and not process.is_spent:
                return process
            if clock.monotonic() < self._may_start_at:
                raise RenderError("no browser could be started a moment ago")
            if process is not None:
                del self._processes[has_images]
                await process.close_when_idle()
            try:
                async with asyncio.timeout(START_S):
                    process = await _Process.start(self._program, self._user_agent, self._limits, has_images=has_images)
            except Exception as error:
                self._may_start_at = clock.monotonic() + REST_S
                reason = "it took too long" if isinstance(error, TimeoutError) else format_start_error(error)
                log().warning("no browser", action="browser.not_started", program=str(self._program), reason=reason)
                raise RenderError(f"{self._program} could not be started: {reason}") from error
            self._processes[has_images] = process
            return process


@asynccontextmanager
async def open_browser(program: Path, *, user_agent: str, limits: Limits) -> AsyncIterator[Browser]:
    """Yields a browser. Chromium is not started before the first page."""
    browser = Browser(program, user_agent, limits)
    try:
        yield browser
    finally:
        await browser.close()


class _Process:
    """Chromium and Playwright's driver, which start and end together."""

    def __init__(self, driver: Any, chromium: Any, user_agent: str, limits: Limits) -> None:
        self._driver = driver
        self._chromium = chromium
        self._user_agent = user_agent
        self._limits = limits
        self._open = 0
        self._begun = 0
        self._idle: list[tuple[str, Tab]] = []
        """Wiped tabs with the site they belong to; the one idle for longest comes first."""
        self.tabs = 0
        """Number of tabs opened so far."""
        self._emptied = asyncio.Event()
        self._death: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._watch: asyncio.Task[None] | None = None
        self.pid = 0

    @classmethod
    async def start(cls, program: Path, user_agent: str, limits: Limits, *, has_images: bool) -> "_Process":
        from playwright.async_api import async_playwright

        sandbox = limits.sandbox and can_sandbox()
        if not sandbox:
            log().warning("browser without its sandbox", action="browser.no_sandbox", is_root=not can_sandbox())
        driver = await async_playwright().start()
        try:
            chromium = await driver.chromium.launch(
                executable_path=program,
                headless=True,
                chromium_sandbox=sandbox,
                proxy={"server": NOWHERE, "bypass": "<-loopback>"},
                args=list(ARGUMENTS if has_images else (*ARGUMENTS, WITHOUT_IMAGES)),
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
            self = cls(driver, chromium, user_agent, limits)
            chromium.on("disconnected", self._record_exit)
            session = await chromium.new_browser_cdp_session()
            told = await session.send("SystemInfo.getProcessInfo")
            self.pid = next(one["id"] for one in told["processInfo"] if one["type"] == "browser")
            self._watch = asyncio.create_task(self._keep_small())
        except BaseException:
            with suppress(Exception):
                await driver.stop()
            raise
        return self

    @property
    def is_dead(self) -> bool:
        return self._death.done()

    @property
    def is_spent(self) -> bool:
        return self.is_dead or self._begun >= MOST_PAGES

    async def draw(self, url: str, gate: RequestFilter, site: str, steps: RenderSteps) -> TabResult:
        self._open += 1
        self._begun += 1
        drawing = asyncio.create_task(self._draw(url, gate, site, steps))
        either: set[asyncio.Future[Any]] = {drawing, self._death}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not drawing.done():
                raise BrowserCrashedError
            return drawing.result()
        except (RenderError, BrowserCrashedError):
            raise
        except Exception as error:  # Playwright reports a closed target with many different messages
            await asyncio.wait({self._death}, timeout=DEATH_S)
            if self.is_dead:
                raise BrowserCrashedError from None
            raise RenderError(f"the browser gave up the page: {str(error).partition(chr(10))[0][:200]}") from error
        finally:
            drawing.cancel()
            await asyncio.wait({drawing})
            if not drawing.cancelled():
                drawing.exception()
            self._open -= 1
            self._emptied.set()

    async def _draw(self, url: str, gate: RequestFilter, site: str, steps: RenderSteps) -> TabResult:
        tab = self._take_idle(site) or await self._open_tab()
        is_reusable = False
        try:
            result = await tab.draw(url, gate, self._limits.timeout_s, steps)
            is_reusable = bool(site) and await tab.wipe(url)
            return result
        finally:
            if is_reusable:
                self._idle.append((site, tab))
            else:
                await self._close_tab(tab)
            if len(self._idle) > self._limits.pages:
                await self._close_tab(self._idle.pop(0)[1])

    def _take_idle(self, site: str) -> Tab | None:
        at = next((at for at, (of, _) in enumerate(self._idle) if of == site), None)
        return None if at is None else self._idle.pop(at)[1]

    async def _open_tab(self) -> Tab:
        """Opens a tab with its own storage, which no other site ever sees."""
        self.tabs += 1
        context = await self._chromium.new_context(
            user_agent=self._user_agent, service_workers="block", accept_downloads=False, locale="en-US"
        )
        return Tab(context, most_html=self._limits.most_html)

    async def _close_tab(self, tab: Tab) -> None:
        if not await tab.close() and not self.is_dead:
            log().warning("browser does not let go of a page", action="browser.stuck", pid=self.pid)
            self.kill()

    async def _keep_small(self) -> None:
        """Watches the memory use: a page may fill the memory before its time limit."""
        while True:
            await asyncio.sleep(WATCH_S)
            if self._open and await asyncio.to_thread(family_bytes, self.pid) > self._limits.memory_bytes:
                log().warning("browser grew too large", action="browser.too_large", pid=self.pid)
                self.kill()
                return

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        self._record_exit()

    async def close_when_idle(self) -> None:
        """Closes the browser once its pages are done."""
        while self._open and not self.is_dead:
            self._emptied.clear()
            await self._emptied.wait()
        await self.close()

    async def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        for end in (self._chromium.close, self._driver.stop):
            try:
                async with asyncio.timeout(CLOSE_S):
                    await end()
            except Exception:
                if not self.is_dead:
                    self.kill()
        self._record_exit()

    def _record_exit(self, *_: object) -> None:
        if not self._death.done():
            self._death.set_result(None)
