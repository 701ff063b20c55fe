"""A site for members on loopback: a login form with a token, sessions that end, a logout link, and a log of requests.

/            a page for all, with a link to the login
/m/…         pages for members; without a session they redirect to the form
/logout      ends the session, which a crawler must not do
/admin       403 for this member
"""

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

USER, PASSWORD = "alice", "pa55-w0rd-of-alice"


@dataclass
class MembersSite:
    pages: int = 20
    pages_per_session: int = 8
    """A session ends after this many pages."""
    password: str = PASSWORD
    host: str = "127.0.0.1"
    wall: str = "redirect"
    """What a page says without a session: redirect, form, 401."""
    robots: str = "User-agent: *\nAllow: /\n"
    log: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    logins: int = 0
    failed_logins: int = 0
    sessions: dict[str, int] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    issued: list[str] = field(default_factory=list)
    """All session ids and form tokens: none of them may be found in storage."""
    elsewhere: str = ""
    """Markup on every page for members, such as an image of another site."""
    authorization: str | None = None
    """What every request has to carry; None: nothing."""
    port: int = 0

    @property
    def domain(self) -> str:
        return f"{self.host}:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"http://{self.domain}{path}"

    def asked(self, path: str) -> int:
        return sum(found == path for _, found, _ in self.log)


FORM = """<html><head><title>Log in</title></head><body><h1>Log in</h1>
<form id="search" action="/search"><input name="q"></form>
<form method="post" action="/session"><input type="hidden" name="csrf" value="{token}">
<input name="user"><input type="password" name="pass"><input type="checkbox" name="stay" value="1" checked>
<button name="go" value="in">Log in</button></form>{more}</body></html>"""


def _handler(site: MembersSite) -> type[BaseHTTPRequestHandler]:  # noqa: C901 (a small site in one place)
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_args: object) -> None:
            pass

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            site.log.append(("GET", self.path, {name.lower(): value for name, value in self.headers.items()}))
            if site.authorization is not None:
                return self.guarded(path)
            if path == "/robots.txt":
                return self.answer(site.robots, kind="text/plain")
            if path == "/":
                links = '<a href="/m/0">Members</a> <a href="/login">Log in</a> <a href="/admin">Admin</a>'
                return self.answer(f"<h1>Welcome</h1><p>{'A page for everybody to read. ' * 20}</p>{links}")
            if path == "/login":
                return self.show_form()
            if path == "/logout":
                site.sessions.pop(self.session(), None)
                return self.answer("<h1>Bye</h1>")
            if path == "/admin":
                return self.answer("no", status=403)
            if path.startswith("/m/"):
                return self.member(int(path.removeprefix("/m/")))
            return self.answer("none", status=404)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            site.log.append(("POST", self.path, {name.lower(): value for name, value in self.headers.items()}))
            sent = {name: values[0] for name, values in parse_qs(body).items()}
            is_right = (
                sent.get("csrf") in site.tokens
                and (sent.get("user"), sent.get("pass")) == (USER, site.password)
                and (sent.get("stay"), sent.get("go")) == ("1", "in")
            )
            if not is_right:
                site.failed_logins += 1
                return self.show_form(more="<p>Wrong password</p>")
            site.logins += 1
            session = f"session-{secrets.token_hex(12)}"
            site.issued.append(session)
            site.sessions[session] = site.pages_per_session
            cookie = f"sid={session}; Path=/; HttpOnly"
            return self.answer("", status=303, headers={"Location": "/m/0", "Set-Cookie": cookie})

        def guarded(self, path: str) -> None:
            if self.headers.get("Authorization") != site.authorization:
                return self.answer("who?", status=401, headers={"WWW-Authenticate": 'Basic realm="staging"'})
            if path == "/robots.txt":
                return self.answer(site.robots, kind="text/plain")
            number = int(path.removeprefix("/m/") or 0) if path.startswith("/m/") else -1
            link = f'<a href="/m/{number + 1}">next</a>' if number + 1 < site.pages else ""
            return self.answer(f"<title>Staged {number}</title><p>{f'Words of page {number}. ' * 20}</p>{link}")

        def show_form(self, more: str = "") -> None:
            token = f"token-{secrets.token_hex(12)}"
            site.tokens.add(token)
            site.issued.append(token)
            self.answer(FORM.format(token=token, more=more))

        def member(self, number: int) -> None:
            session = self.session()
            left = site.sessions.get(session, 0)
            if left <= 0:
                site.sessions.pop(session, None)
                if site.wall == "redirect":
                    return self.answer("", status=302, headers={"Location": f"/login?next=/m/{number}"})
                if site.wall == "401":
                    return self.answer("who?", status=401)
                return self.show_form(more=f"<p>{'Only for members. ' * 80}</p>")
            site.sessions[session] = left - 1
            more = f'<a href="/m/{number + 1}">next</a>' if number + 1 < site.pages else ""
            text = f"Member page {number} with words of its own, number {number}. " * 10
            return self.answer(
                f'<title>Page {number}</title><p>{text}</p>{more} <a href="/logout">Log out</a>{site.elsewhere}'
            )

        def session(self) -> str:
            pairs = [part.strip().partition("=") for part in self.headers.get("Cookie", "").split(";")]
            return {name: value for name, _, value in pairs}.get("sid", "")

        def answer(
            self, body: str, *, status: int = 200, kind: str = "text/html", headers: dict[str, str] | None = None
        ) -> None:
            data = body.encode()
            self.send_response(status)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

    return Handler


@contextmanager
def members_site(**how: object) -> Iterator[MembersSite]:
    site = MembersSite(**how)  # type: ignore[arg-type]
    server = ThreadingHTTPServer((site.host, 0), _handler(site))
    site.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
