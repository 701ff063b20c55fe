"""A login is made as a browser makes it, stays within its site, and tells why it failed."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.integration.fetch.raw_server import a_client

from forager import clock
from forager.fetch.access import build_access
from forager.fetch.client import Client
from forager.fetch.cookies import CookieJar
from forager.fetch.login import LoginConfig, LoginResult, log_in
from forager.fetch.models import Fetched

Answer = tuple[int, dict[str, str], str]
FORM = (
    '<form method="{method}" action="{action}" enctype="{kind}"><input type=hidden name=csrf value=t0k3n>'
    "<input name=user><input name=pw type=password></form>"
)
FIELDS = {"user": "alice", "pw": "s3cret"}


def a_form(method: str = "post", action: str = "/in", kind: str = "") -> str:
    return FORM.format(method=method, action=action, kind=kind)


class Site:
    def __init__(self, answer: Callable[[str, str, str, str], Answer]) -> None:
        self.answer = answer
        self.log: list[tuple[str, str, str]] = []
        self.port = 0

    @property
    def domain(self) -> str:
        return f"127.0.0.1:{self.port}"


@contextmanager
def serve_site(answer: Callable[[str, str, str, str], Answer]) -> Iterator[Site]:
    """`answer` gets method, path, body and cookies."""
    site = Site(answer)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_args: object) -> None:
            pass

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            site.log.append((self.command, self.path, body))
            status, headers, text = site.answer(self.command, self.path, body, self.headers.get("Cookie", ""))
            self.send_response(status)
            for name, value in {"Content-Type": "text/html", **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        def do_GET(self) -> None:
            self.handle_any()

        def do_POST(self) -> None:
            self.handle_any()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()


class Plain:
    """Makes the requests at once."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def get(self, url: str, *, has_secrets: bool = False) -> Fetched:
        return await self.client.get(url, cut_at=100_000, has_secrets=has_secrets)

    async def submit(self, url: str, body: bytes, *, content_type: str, referer: str) -> Fetched:
        return await self.client.submit(url, body, content_type=content_type, referer=referer, cut_at=100_000)


async def try_at(site: Site, success: str | None = None) -> LoginResult:
    jar = CookieJar()
    config = LoginConfig(f"http://{site.domain}/login", FIELDS, success)
    async with a_client() as client:
        client.enter(site.domain, access=build_access(needs_jar=True), jar=jar)
        result = await log_in(Plain(client), config, site.domain, cookie_names=lambda: jar.names(clock.now()))
    assert "s3cret" not in repr(result)
    assert "t0k3n" not in repr(result)
    return result


def members(method: str, path: str, body: str, cookies: str) -> Answer:
    """The form, the cookie it needs, and a page behind it."""
    if path == "/login":
        return 200, {"Set-Cookie": "pre=1"}, a_form()
    if path == "/in" and method == "POST":
        is_right = "csrf=t0k3n" in body and "pw=s3cret" in body and "pre=1" in cookies
        return (302, {"Location": "/home?sid=9", "Set-Cookie": "sid=9"}, "") if is_right else (200, {}, a_form())
    return 200, {}, "<p>Hello   alice, you are <b>in</b></p>"


@pytest.mark.parametrize(
    "success", [None, "url:/home*", "url:http://127.0.0.1:*/home?sid=*", "text:alice, YOU are", "cookie:sid"]
)
async def test_a_login_that_works(success: str | None) -> None:
    with serve_site(members) as site:
        result = await try_at(site, success)
    assert result.is_ok, result.problem
    assert [(step.method, step.status_code) for step in result.steps] == [("GET", 200), ("POST", 302), ("GET", 200)]
    assert result.steps[-1].url.endswith("/home?…")


@pytest.mark.parametrize("success", ["url:/account", "text:goodbye", "cookie:other"])
async def test_what_was_to_be_found_is_not(success: str) -> None:
    with serve_site(members) as site:
        result = await try_at(site, success)
    assert result.problem == f"{success!r} was not found after the form was sent"


async def test_wrong_fields_show_the_form_again() -> None:
    with serve_site(lambda *_asked: (200, {}, a_form())) as site:
        result = await try_at(site)
    assert result.problem is not None
    assert "shows the form again" in result.problem
    assert not result.is_temporary


async def test_a_get_form_and_a_multipart_form() -> None:
    for form in (a_form("get"), a_form("post", "/in", "multipart/form-data")):
        with serve_site(lambda _method, path, *_more, form=form: (200, {}, form if path == "/login" else "in")) as site:
            assert (await try_at(site)).is_ok
            method, path, body = site.log[-1]
        assert "t0k3n" in path + body
        assert "s3cret" in path + body
        assert method == ("GET" if "?" in path else "POST")


async def test_a_redirect_that_keeps_the_method_sends_the_form_again() -> None:
    def answer(method: str, path: str, body: str, _cookies: str) -> Answer:
        if path == "/login":
            return 200, {}, a_form()
        if path == "/in":
            return 307, {"Location": "/there"}, ""
        return (200, {}, "in") if method == "POST" and "pw=s3cret" in body else (400, {}, "")

    with serve_site(answer) as site:
        assert (await try_at(site)).is_ok


@pytest.mark.parametrize(
    ("form", "location", "says"),
    [
        (a_form(action="http://127.0.0.2:9/in"), "", "the form is sent to another site, 127.0.0.2:9"),
        (a_form(), "http://127.0.0.2:9/sso", "it redirects to another site, 127.0.0.2:9"),
        (a_form(action="mailto:a@b.example"), "", "no page of the web"),
        ("<form><input name=email><input name=pw type=password></form>", "", "its forms have: email, pw"),
        ("<p>nothing</p>", "", "no form"),
    ],
)
async def test_a_login_stays_within_its_site(form: str, location: str, says: str) -> None:
    def answer(_method: str, path: str, _body: str, _cookies: str) -> Answer:
        return (200, {}, form) if path == "/login" else (302, {"Location": location}, "")

    with serve_site(answer) as site:
        result = await try_at(site)
    assert result.problem is not None
    assert says in result.problem
    assert not result.is_temporary


@pytest.mark.parametrize(("status", "is_temporary"), [(503, True), (429, True), (404, False), (403, False)])
async def test_what_a_status_says(status: int, is_temporary: bool) -> None:
    with serve_site(lambda *_asked: (status, {}, "")) as site:
        result = await try_at(site)
    assert (result.problem, result.is_temporary) == (f"the page of the form answered {status}", is_temporary)


async def test_a_session_that_is_valid_sends_nothing() -> None:
    def answer(_method: str, path: str, *_more: str) -> Answer:
        return (302, {"Location": "/home"}, "") if path == "/login" else (200, {}, "in already")

    with serve_site(answer) as site:
        result = await try_at(site)
        assert result.was_logged_in
        assert {method for method, _, _ in site.log} == {"GET"}


async def test_redirects_end() -> None:
    with serve_site(lambda *_asked: (302, {"Location": "/login"}, "")) as site:
        result = await try_at(site)
    assert result.problem == "more than 8 redirects in a row"


async def test_no_answer_is_temporary() -> None:
    with serve_site(members) as site:
        pass
    result = await try_at(site)
    assert result.is_temporary
