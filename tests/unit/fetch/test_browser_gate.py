"""What a page in the browser may ask for, what it may spend, and what pages share. No browser runs here."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forager.errors import AddressBlockedError
from forager.fetch.browser import find_chromium, find_missing_dependency
from forager.fetch.browser.intercept import (
    MOST_ASKED,
    InterceptAction,
    PageBudget,
    RequestFilter,
    is_same_site,
    redirect_script,
    select_action,
    select_headers,
)
from forager.fetch.browser.memory import family_bytes
from forager.fetch.browser.script_cache import KEPT_S, ScriptCache
from forager.fetch.models import Fetched, ScriptRequest

URL = "https://app.example/"


@pytest.mark.parametrize(
    ("kind", "method", "url", "expected"),
    [
        ("script", "GET", URL, InterceptAction.ASK),
        ("xhr", "GET", URL, InterceptAction.ASK),
        ("fetch", "GET", URL, InterceptAction.ASK),
        ("stylesheet", "GET", URL, InterceptAction.EMPTY),
        ("fetch", "POST", URL, InterceptAction.REFUSE),
        ("fetch", "GET", "file:///etc/passwd", InterceptAction.REFUSE),
        ("fetch", "GET", "ws://app.example/", InterceptAction.REFUSE),
        *(
            (kind, "GET", URL, InterceptAction.REFUSE)
            for kind in ("image", "media", "font", "document", "websocket", "ping")
        ),
        *(
            (kind, "GET", URL, InterceptAction.REFUSE)
            for kind in ("eventsource", "manifest", "other", "texttrack", "new kind")
        ),
    ],
)
def test_scripts_and_data_are_asked_for_and_nothing_else(
    kind: str, method: str, url: str, expected: InterceptAction
) -> None:
    assert select_action(kind, method, url, is_first=False, is_main=False) is expected


@pytest.mark.parametrize(
    ("kind", "method", "is_own", "expected"),
    [
        ("fetch", "POST", True, InterceptAction.ASK),
        ("xhr", "POST", True, InterceptAction.ASK),
        ("fetch", "POST", False, InterceptAction.REFUSE),
        ("fetch", "PUT", True, InterceptAction.REFUSE),
        ("fetch", "DELETE", True, InterceptAction.REFUSE),
        ("document", "POST", True, InterceptAction.REFUSE),
        ("ping", "POST", True, InterceptAction.REFUSE),
    ],
)
def test_data_is_sent_to_the_own_site_only(kind: str, method: str, is_own: bool, expected: InterceptAction) -> None:
    assert select_action(kind, method, URL, is_first=False, is_main=False, is_own=is_own) is expected


def test_what_people_see_is_loaded_for_a_screenshot() -> None:
    for kind in ("image", "stylesheet", "font"):
        assert select_action(kind, "GET", URL, is_first=False, is_main=False, is_shown=True) is InterceptAction.ASK


def test_the_own_site_has_the_same_registrable_domain_and_port() -> None:
    page = "https://www.shop.example/x"
    assert is_same_site("https://api.shop.example/graphql", page)
    assert not is_same_site("https://shop.other.example/", page)
    assert not is_same_site("https://api.shop.example:8443/", page)
    assert not is_same_site("https://user.github.io/", "https://other.github.io/")
    assert not is_same_site("data:text/plain,x", page)


def test_only_headers_of_scripts_are_sent() -> None:
    headers = {
        "x-api-key": "k",
        "authorization": "Bearer t",
        "cookie": "a=1",
        "user-agent": "Chromium",
        "sec-fetch-mode": "cors",
        "accept-encoding": "gzip",
        "host": "x",
    }
    assert select_headers(headers) == {"x-api-key": "k", "authorization": "Bearer t"}
    assert select_headers({"x": "y" * 10_000}) == {}


def test_a_redirect_takes_a_body_along_only_where_it_says_so() -> None:
    sent = ScriptRequest({"x": "1"}, b"body")
    assert redirect_script(sent, 302, is_own=True) == ScriptRequest({"x": "1"})
    assert redirect_script(sent, 307, is_own=True) == sent
    assert redirect_script(sent, 307, is_own=False) is None


def test_the_page_is_given_once_and_goes_nowhere_else() -> None:
    assert select_action("document", "GET", URL, is_first=True, is_main=True) is InterceptAction.PAGE
    assert select_action("document", "GET", URL, is_first=False, is_main=True) is InterceptAction.REFUSE
    assert select_action("document", "POST", URL, is_first=True, is_main=True) is InterceptAction.REFUSE


class Request:
    def __init__(self, url: str, kind: str = "fetch", method: str = "GET", *, is_page: bool = False) -> None:
        self.url, self.resource_type, self.method = url, kind, method
        self.headers = {"origin": "https://app.example"}
        self.frame = "main"
        self.post_data_buffer: bytes | None = None
        self._is_page = is_page

    def is_navigation_request(self) -> bool:
        return self._is_page


class Route:
    """What the browser hears."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.heard: dict[str, Any] = {}

    async def fulfill(self, **answer: Any) -> None:
        self.heard = answer

    async def abort(self, reason: str) -> None:
        self.heard = {"abort": reason}


def an_answer(url: str, status: int = 200, body: bytes = b"{}", **headers: str) -> Fetched:
    return Fetched(url, status, {name.replace("_", "-"): value for name, value in headers.items()}, body, len(body), 1)


def a_gate(get: Any, allowance: PageBudget = PageBudget(), larder: ScriptCache | None = None) -> RequestFilter:  # noqa: B008
    page = an_answer(
        URL, body=b"<p>", content_type="text/html", set_cookie="a=b", refresh="0", link="</x>; rel=preload"
    )
    return RequestFilter(page, get, allowance, site="app.example", larder=larder)


async def ask(gate: RequestFilter, url: str, kind: str = "fetch", **more: Any) -> dict[str, Any]:
    route = Route(Request(url, kind, **more))
    await gate.pass_on(route, "main")
    return route.heard


async def test_headers_that_are_for_clients_stay_with_us() -> None:
    heard = await ask(a_gate(None), URL, "document", is_page=True)
    assert heard == {"status": 200, "headers": {"content-type": "text/html"}, "body": b"<p>"}


async def test_requests_and_bytes_are_counted_redirects_too() -> None:
    async def get(url: str, script: ScriptRequest | None = None) -> Fetched:
        return an_answer(url, 302, location=f"{url}x") if len(url) < 30 else an_answer(url, body=b"x" * 100)

    gate = a_gate(get, PageBudget(requests=7, wire_bytes=1000))
    assert (await ask(gate, "https://app.example/aaaaaaa"))["body"] == b"x" * 100
    assert gate.sent == 4
    assert await ask(gate, "https://app.example/a") == {"abort": "blockedbyclient"}
    assert gate.sent == 7
    assert await ask(gate, "https://app.example/" + "a" * 20) == {"abort": "blockedbyclient"}
    assert gate.asked == 3


async def test_endless_redirects_end() -> None:
    async def get(url: str, script: ScriptRequest | None = None) -> Fetched:
        return an_answer(url, 302, location=f"{url}x")

    gate = a_gate(get)
    assert await ask(gate, URL) == {"abort": "blockedbyclient"}
    assert gate.sent == 6


async def test_what_is_refused_is_no_answer() -> None:
    async def get(url: str, script: ScriptRequest | None = None) -> Fetched:
        raise AddressBlockedError("no")

    assert await ask(a_gate(get), URL) == {"abort": "blockedbyclient"}


async def test_a_page_asks_few_at_once() -> None:
    is_open, most = 0, 0

    async def get(url: str, script: ScriptRequest | None = None) -> Fetched:
        nonlocal is_open, most
        is_open += 1
        most = max(most, is_open)
        await asyncio.sleep(0)
        is_open -= 1
        return an_answer(url)

    gate = a_gate(get)
    await asyncio.gather(*(ask(gate, f"{URL}{number}") for number in range(20)))
    assert most == 4


async def test_scripts_are_shared_by_pages_of_a_site_and_data_is_not() -> None:
    asked: list[str] = []

    async def get(url: str, script: ScriptRequest | None = None) -> Fetched:
        asked.append(url)
        return an_answer(url, content_type="text/javascript")

    larder = ScriptCache()
    for _ in range(2):
        gate = a_gate(get, larder=larder)
        await ask(gate, f"{URL}app.js", "script")
        await ask(gate, f"{URL}data", "fetch")
    assert asked == [f"{URL}app.js", f"{URL}data", f"{URL}data"]


def test_the_larder_forgets() -> None:
    now = 0.0
    larder = ScriptCache(most_bytes=100, now=lambda: now)
    small = an_answer(URL, body=b"x" * 20)
    for number in range(7):
        larder.keep("a", f"{URL}{number}", small)
    assert [number for number in range(7) if larder.take("a", f"{URL}{number}")] == [2, 3, 4, 5, 6]
    assert larder.take("b", f"{URL}6") is None
    larder.keep("a", "big", replace(small, body=b"x" * 50))
    larder.keep("a", "secret", replace(small, headers={"cache-control": "no-store"}))
    larder.keep("a", "missing", replace(small, status_code=404))
    assert not any(larder.take("a", url) for url in ("big", "secret", "missing"))
    now = KEPT_S
    assert larder.take("a", f"{URL}6") is None


def test_what_is_missing_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert find_chromium(tmp_path / "none") is None
    monkeypatch.setattr("shutil.which", lambda _name: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: object())
    assert "apt-get install chromium" in (find_missing_dependency() or "")
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert "'.[browser]'" in (find_missing_dependency() or "")


def test_the_shell_is_preferred_and_any_chromium_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("google-chrome", "chromium", "chromium-headless-shell"):
        (tmp_path / name).touch(mode=0o755)
        assert find_chromium() == tmp_path / name
    assert find_chromium(tmp_path / "chromium") == tmp_path / "chromium", "the one that was named"


def test_memory_is_that_of_the_whole_family() -> None:
    assert family_bytes(1 << 30) == 0


async def test_a_page_that_asks_without_end_is_told_apart() -> None:
    async def get(url: str, script: ScriptRequest | None = None) -> Fetched:
        return an_answer(url)

    gate = a_gate(get)
    for number in range(MOST_ASKED):
        await ask(gate, f"{URL}{number}", "image")
    assert not gate.flooded.is_set()
    assert await ask(gate, URL) == {"abort": "blockedbyclient"}
    assert gate.flooded.is_set()
    assert gate.sent == 0
