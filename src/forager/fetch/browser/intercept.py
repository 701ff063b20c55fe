"""Decides which requests one page may make, and makes them. The browser sends every request here; nothing else responds
to it.

`select_action` is pure. Allowed requests are sent by `get`, which the caller builds from the client: address guard,
proxy, cookies, robots.txt and pace are handled there. Redirects are followed here, each step by `get`.
"""

import asyncio
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from forager.errors import BadUrlError, VisitError
from forager.fetch.browser.script_cache import ScriptCache
from forager.fetch.models import Fetched, ScriptRequest
from forager.fetch.origin import is_header_safe
from forager.urls.domain import domain_of, registrable
from forager.urls.resolve import resolve_links

GET_TYPES = frozenset({"script", "xhr", "fetch"})
DATA_TYPES = frozenset({"xhr", "fetch"})
"""Requests of scripts that may send data, such as a GraphQL query."""
SHOWN_TYPES = frozenset({"stylesheet", "image", "font"})
SHARED_TYPES = frozenset({"script", "stylesheet"})
MOST_POST_BYTES = 64 * 1024
"""Size of what a script may send: a query, and not an upload."""
MOST_HEADERS, MOST_HEADER_BYTES = 30, 8 * 1024
BROWSER_HEADERS = frozenset(
    [
        "host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "keep-alive", "expect",
        "cookie", "user-agent", "accept", "accept-encoding", "range", "if-none-match", "if-modified-since",
        "via", "forwarded",
    ]
)  # fmt: skip
"""Headers that our client writes, or that would change what kind of response it gets."""
MOST_REDIRECTS = 5
MOST_OPEN = 4
"""Maximum number of open requests per page."""
MOST_ASKED = 300
"""Maximum number of requests per page, allowed or not; more is an attack on the process that has to reject them."""
OURS = frozenset(
    [
        "set-cookie", "content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive", "location",
        "strict-transport-security", "report-to", "nel", "reporting-endpoints", "alt-svc", "refresh", "clear-site-data",
        "content-disposition", "accept-ch", "critical-ch", "link",
    ]
)  # fmt: skip
"""Headers that concern the client, not the page: the browser has no connection to which they could apply."""


class Get(Protocol):
    """Makes one request of a page; `script` is what its script sends."""

    def __call__(self, url: str, script: ScriptRequest | None = None, /) -> Awaitable[Fetched]: ...


class InterceptAction(StrEnum):
    PAGE = "page"
    """The page itself, which was fetched already."""
    ASK = "ask"
    EMPTY = "empty"
    """A style sheet: it loads with an empty body."""
    REFUSE = "refuse"


def select_action(
    kind: str, method: str, url: str, *, is_first: bool, is_main: bool, is_own: bool = False, is_shown: bool = False
) -> InterceptAction:
    """Returns what to do with a request; `kind` is the browser's resource type. Data may be sent to the page's own site
    only (`is_own`); what people see is loaded only for a screenshot (`is_shown`)."""
    if is_main:
        return InterceptAction.PAGE if is_first and method == "GET" else InterceptAction.REFUSE
    if not url.startswith(("http://", "https://")):
        return InterceptAction.REFUSE
    if method != "GET":
        is_data = method == "POST" and kind in DATA_TYPES and is_own
        return InterceptAction.ASK if is_data else InterceptAction.REFUSE
    if is_shown and kind in SHOWN_TYPES:
        return InterceptAction.ASK
    if kind == "stylesheet":
        return InterceptAction.EMPTY
    return InterceptAction.ASK if kind in GET_TYPES else InterceptAction.REFUSE


def select_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Returns the headers of a script's request that are the script's own, and not the browser's: those of an API, such
    as its key, the type of what is sent and of what is expected."""
    found = {
        name: value
        for name, value in headers.items()
        if name.lower() not in BROWSER_HEADERS and not name.lower().startswith(("sec-", "proxy-", "x-forwarded"))
    }
    if len(found) > MOST_HEADERS or sum(len(name) + len(value) for name, value in found.items()) > MOST_HEADER_BYTES:
        return {}
    return found


@dataclass(frozen=True, slots=True)
class PageBudget:
    """Limits of one page."""

    requests: int = 60
    wire_bytes: int = 20 * 1024 * 1024

    def for_screenshot(self) -> "PageBudget":
        """Returns the limits of a page whose images and styles are loaded too."""
        return PageBudget(3 * self.requests, self.wire_bytes)


def is_same_site(url: str, page_url: str) -> bool:
    """Returns whether both URLs have the same registrable domain and port."""
    try:
        return registrable(domain_of(url)) == registrable(domain_of(page_url))
    except BadUrlError:
        return False


def redirect_script(script: ScriptRequest, status_code: int, *, is_own: bool) -> ScriptRequest | None:
    """Returns what is sent to the target of a redirect: nothing to another site, and a body only where the status says
    that the method stays (307, 308)."""
    if not is_own:
        return None
    return script if script.body is None or status_code in {307, 308} else ScriptRequest(script.headers)


class RequestFilter:
    """Handles the requests of one page and counts those it lets through."""

    def __init__(
        self,
        page: Fetched,
        get: Get,
        allowance: PageBudget,
        *,
        site: str = "",
        larder: ScriptCache | None = None,
        is_shown: bool = False,
    ) -> None:
        self._page = page
        self._get = get
        self._allowance = allowance
        self._site = site
        self._larder = larder
        self._is_shown = is_shown
        """Whether style sheets and images are loaded, for a screenshot."""
        self.may_lead = True
        """Whether a navigation of the page's scripts counts as where the page leads; not after a click of ours."""
        self._turns = asyncio.Semaphore(MOST_OPEN)
        self._open = 0
        self._stirred = asyncio.Event()
        self._has_begun = False
        self.flooded = asyncio.Event()
        """Set when the page exceeds its number of requests."""
        self.asked = 0
        """Number of requests the page has made so far, including rejected ones."""
        self.led_to: str | None = None
        """The URL to which the page's scripts tried to navigate."""
        self.led = asyncio.Event()
        self.sent = 0
        self.wire_bytes = 0

    async def pass_on(self, route: Any, main_frame: Any) -> None:
        """Handles a Playwright route. On any error the browser is notified that there is no response."""
        self.asked += 1
        if self.asked > MOST_ASKED:
            self.flooded.set()
            with suppress(Exception):  # its page may be closed
                await route.abort("blockedbyclient")
            return
        self._open += 1
        self._notify()
        try:
            await self._handle_route(route, main_frame)
        except Exception:  # the page or the browser is closed: no response is expected
            return
        finally:
            self._open -= 1
            self._notify()

    async def settle(self, quiet_s: float) -> int:
        """Returns when no request was open or arrived for `quiet_s` seconds; returns the number of requests until
        then."""
        while True:
            self._stirred.clear()
            if self._open:
                await self._stirred.wait()
                continue
            try:
                async with asyncio.timeout(quiet_s):
                    await self._stirred.wait()
            except TimeoutError:
                return self.asked

    async def _handle_route(self, route: Any, main_frame: Any) -> None:
        request = route.request
        is_main = request.is_navigation_request() and request.frame == main_frame
        kind, url = request.resource_type, request.url
        is_own = is_same_site(url, self._page.url)
        action = select_action(
            kind,
            request.method,
            url,
            is_first=not self._has_begun,
            is_main=is_main,
            is_own=is_own,
            is_shown=self._is_shown,
        )
        match action:
            case InterceptAction.PAGE:
                self._has_begun = True
                await self._send_response(route, self._page)
            case InterceptAction.EMPTY:
                await route.fulfill(status=200, headers={"content-type": "text/css"}, body="")
            case InterceptAction.ASK:
                script = self._script_of(request) if is_own and kind in DATA_TYPES else None
                fetched = await self._fetch(url.partition("#")[0], script, is_shared=kind in SHARED_TYPES)
                if fetched is None:
                    await route.abort("blockedbyclient")
                else:
                    await self._send_response(route, fetched, allows=request.headers.get("origin"))
            case InterceptAction.REFUSE if is_main:
                if self.may_lead:
                    self.led_to = url
                await route.abort("aborted")  # the page does not navigate
                self.led.set()
            case InterceptAction.REFUSE:
                await route.abort("blockedbyclient")

    @staticmethod
    def _script_of(request: Any) -> ScriptRequest:
        body = (request.post_data_buffer or b"") if request.method == "POST" else None
        return ScriptRequest(select_headers(request.headers), body)

    async def _fetch(self, url: str, script: ScriptRequest | None, *, is_shared: bool) -> Fetched | None:
        if script is not None and len(script.body or b"") > MOST_POST_BYTES:
            return None
        larder = self._larder if is_shared else None
        if larder and (kept := larder.take(self._site, url)):
            return kept
        async with self._turns:
            try:
                fetched = await self._follow(url, script)
            except VisitError:
                return None
        if fetched is not None and larder:
            larder.keep(self._site, url, fetched)
        return fetched

    async def _follow(self, url: str, script: ScriptRequest | None = None) -> Fetched | None:
        for _ in range(MOST_REDIRECTS + 1):
            if self.sent >= self._allowance.requests or self.wire_bytes >= self._allowance.wire_bytes:
                return None
            self.sent += 1
            fetched = await (self._get(url) if script is None else self._get(url, script))
            self.wire_bytes += fetched.wire_bytes
            if not 300 <= fetched.status_code < 400 or fetched.status_code == 304:
                return fetched
            place = resolve_links(url, [fetched.headers.get("location", "")])[0]
            if place is None:
                return None
            if script is not None:
                script = redirect_script(script, fetched.status_code, is_own=is_same_site(place, self._page.url))
            url = place
        return None

    async def _send_response(self, route: Any, fetched: Fetched, allows: str | None = None) -> None:
        headers = {name: value for name, value in fetched.headers.items() if name not in OURS and is_header_safe(value)}
        if allows and "access-control-allow-origin" not in headers:
            headers["access-control-allow-origin"] = allows  # we send no Origin, so servers do not set it
        await route.fulfill(status=fetched.status_code, headers=headers, body=fetched.body)

    def _notify(self) -> None:
        self._stirred.set()
