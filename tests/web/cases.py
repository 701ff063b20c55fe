"""Bad servers and what has to become of a visit to each: one table, one line per case.

Each site has a bad page (`/bad`) and a good one (`/next`). The bad one ends in exactly one closed task with the outcome
named here; the good one is fetched all the same, unless the case says why it cannot be.
"""

import asyncio
import gzip
import socket
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from urllib.parse import parse_qs, urlsplit

from tests.integration.fetch.bombs import build as build_bomb
from tests.integration.fetch.raw_server import http
from tests.web.serving import NEXT, NO_FILE, Answer, Site, a_page

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
PAGE = b"<title>Bad page</title><a href=/next>next</a>"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
SUCCESS, FAILED, TIMEOUT = "success", "failed", "timeout"
BOMBS = ("gzip", "deflate", "br", "zstd", "gzip, gzip")


@dataclass(frozen=True)
class Case:
    name: str
    answer: Callable[[str], Answer | None]
    """None: the usual answer to this path."""
    outcome: str = SUCCESS
    error_code: str | None = None
    status_code: int | None = 200
    seeds: tuple[str, ...] = ("/bad", "/next")
    flags: frozenset[str] = frozenset()
    """What the page is marked with; more is no harm."""
    title: str | None = None
    is_next_fetched: bool = True
    most_requests: int = 20
    """Of pages: tries, redirects and traps included."""
    certificate: str | None = None

    def site(self) -> Site:
        return Site(self.name, self._answer, self.certificate)

    def _answer(self, path: str) -> Answer:
        if (answer := self.answer(path)) is not None:
            return answer
        return {"/next": NEXT, "/robots.txt": NO_FILE}.get(path, a_page("Page", "/next"))


# How servers misbehave -----------------------------------------------------------------------------------------------


def bad(answer: Answer) -> Callable[[str], Answer | None]:
    """Only the bad page is bad."""
    return lambda path: answer if path.startswith("/bad") else None


def robots(answer: Answer) -> Callable[[str], Answer | None]:
    return lambda path: answer if path == "/robots.txt" else None


def endless(head: bytes, piece: bytes, pause_s: float = 0.0) -> Answer:
    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return write


async def silence(_writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


def cut(data: bytes) -> Answer:
    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(0.05)  # so that it is read before the connection is gone

    return write


def reset(data: bytes) -> Answer:
    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(0.05)
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return write


def html(body: str | bytes, *headers: str, content_type: str = "text/html; charset=utf-8") -> Answer:
    return http(body if isinstance(body, bytes) else body.encode(), *headers, content_type=content_type)


def packed(coding: str, body: bytes) -> Answer:
    return http(body, f"Content-Encoding: {coding}")


@cache
def bomb_of(coding: str) -> Answer:
    """Made when it is first asked for: seconds of work that only these tests need."""
    return packed(coding, build_bomb(coding))


def bomb(coding: str) -> Callable[[str], Answer | None]:
    return lambda path: bomb_of(coding) if path.startswith("/bad") else None


def status(line: str, *headers: str, body: bytes = b"") -> Answer:
    return http(body, *headers, status=line)


def redirect(location: str) -> Answer:
    return status("302 Found", f"Location: {location}")


def chain(path: str) -> Answer | None:
    """`/bad` → `/bad1` → `/bad2` → …"""
    return redirect(f"/bad{int(path[4:] or 0) + 1}") if path.startswith("/bad") else None


def growing(path: str) -> Answer | None:
    return redirect(f"{path}{'&' if '?' in path else '?'}more=1") if path.startswith("/bad") else None


def loop(path: str) -> Answer | None:
    return {"/bad": redirect("/bad-back"), "/bad-back": redirect("/bad")}.get(path)


def calendar(path: str) -> Answer | None:
    """Every day links to the day before and the day after, for ever."""
    if not path.startswith("/bad"):
        return None
    day = int(parse_qs(urlsplit(path).query).get("day", ["0"])[0])
    return a_page(f"Day {day}", f"/bad?day={day + 1}", f"/bad?day={day - 1}", "/next")


def make_session_loop() -> Callable[[str], Answer | None]:
    numbers = count(1)

    def answer(path: str) -> Answer | None:
        if not path.startswith("/bad"):
            return None
        return a_page("Session", f"/bad?PHPSESSID={next(numbers)}", f"/bad;jsessionid={next(numbers)}", "/next")

    return answer


def maze(path: str) -> Answer | None:
    """Each page has five more below it."""
    if not path.startswith("/bad"):
        return None
    return a_page("Maze", *(f"{path}/{letter}" for letter in "abcde"), "/next")


NESTED = "<div>" * 100_000
ATTRIBUTES = "<p " + " ".join(f"a{number}" for number in range(50_000)) + ">"
LINKS = "".join(f"<a href=/x/{number}>x</a>" for number in range(300_000))
SURROGATES = b"\xff\xfe" + "<title>Lone ".encode("utf-16-le") + b"\x00\xd8" + "!</title>".encode("utf-16-le")
TITLED = "<title>Still here</title>"
GZIPPED = gzip.compress(PAGE + b"<p>" + b"words of all kinds " * 500)

CASES: Sequence[Case] = (
    # time
    Case("no answer", bad(silence), TIMEOUT, "timeout", None),
    Case("slow headers", bad(endless(b"HTTP/1.1 200 OK\r\nX: ", b"x", 0.3)), TIMEOUT, "timeout", None),
    Case("one byte at a time", bad(endless(HEAD + b"Content-Length: 9999\r\n\r\n", b"x", 0.3)), TIMEOUT, "timeout",
         None),
    # size
    Case("endless body", bad(endless(HEAD + b"\r\n", b"x" * 65_536)), FAILED, "too_large", None),
    Case("endless chunks", bad(endless(CHUNKED, b"10000\r\n" + b"x" * 65_536 + b"\r\n")), FAILED, "too_large", None),
    Case("large length", bad(cut(HEAD + b"Content-Length: 99999999999\r\n\r\nx")), FAILED, "too_large", None),
    Case("gzip bomb", bomb("gzip"), FAILED, "too_large"),
    Case("deflate bomb", bomb("deflate"), FAILED, "too_large"),
    Case("brotli bomb", bomb("br"), FAILED, "too_large"),
    Case("zstd bomb", bomb("zstd"), FAILED, "too_large"),
    Case("bomb in a bomb", bomb("gzip, gzip"), FAILED, "too_large"),
    Case("four layers", bad(packed("gzip, gzip, gzip, gzip", b"x")), FAILED, "decode_error"),
    # damage
    Case("broken off gzip", bad(packed("gzip", GZIPPED[:-20])), flags=frozenset({"truncated"}), title="Bad page"),
    Case("gzip that is none", bad(packed("gzip", PAGE)), FAILED, "decode_error"),
    Case("length too long", bad(cut(HEAD + b"Content-Length: 999\r\n\r\n" + PAGE)), FAILED, "connection_lost", None),
    Case("length too short", bad(HEAD + b"Content-Length: 9\r\n\r\n" + PAGE), flags=frozenset({"truncated"})),
    Case("length and chunks", bad(HEAD + b"Content-Length: 5\r\n" + CHUNKED[len(HEAD):] + b"5\r\nhello\r\n0\r\n\r\n"),
         FAILED, "bad_response", None),
    Case("broken chunks", bad(cut(CHUNKED + b"5\r\nhelloXX0\r\n\r\n")), FAILED, "bad_response", None),
    Case("chunk size no number", bad(cut(CHUNKED + b"zz\r\nhello\r\n0\r\n\r\n")), FAILED, "bad_response", None),
    Case("no last chunk", bad(cut(CHUNKED + b"5\r\nhello\r\n")), FAILED, "connection_lost", None),
    Case("reset in the status line", bad(reset(b"HTTP/1.1 2")), FAILED, "connection_lost", None),
    Case("reset in the headers", bad(reset(HEAD)), FAILED, "connection_lost", None),
    Case("reset in the body", bad(reset(HEAD + b"Content-Length: 999\r\n\r\n" + PAGE)), FAILED, "connection_lost",
         None),
    Case("reset at once", bad(reset(b"")), FAILED, "connection_lost", None),
    # no HTTP
    Case("garbage", bad(cut(b"\x00\x01garbage\r\n\r\n")), FAILED, "bad_response", None),
    Case("garbage before the status line", bad(cut(b"x\r\nHTTP/1.1 200 OK\r\n\r\n")), FAILED, "bad_response", None),
    Case("HTTP/0.9", bad(cut(PAGE)), FAILED, "bad_response", None),
    Case("100,000 headers", bad(cut(HEAD + b"X-A: b\r\n" * 100_000 + b"\r\n")), FAILED, "bad_response", None),
    Case("1 MB in one header", bad(cut(HEAD + b"X-A: " + b"b" * 1_000_000 + b"\r\n\r\n")), FAILED, "bad_response",
         None),
    Case("NUL in a header", bad(cut(HEAD + b"X-A: a\0b\r\n\r\n" + PAGE)), FAILED, "bad_response", None),
    Case("newline in a header", bad(http(PAGE, "X-A: a\r\n Set-Cookie: b=c", "X-B: a\rb")), FAILED, "bad_response",
         None),
    Case("cookie bomb", bad(http(PAGE, *(f"Set-Cookie: c{n}={'x' * 200}" for n in range(200)))), title="Bad page"),
    # statuses without reason
    Case("204", bad(b"HTTP/1.1 204 No Content\r\n\r\n"), status_code=204),
    Case("206", bad(status("206 Part", "Content-Range: bytes 0-9/99", body=PAGE)), FAILED, "bad_response", 206),
    Case("304", bad(b"HTTP/1.1 304 Not Modified\r\n\r\n"), FAILED, "bad_response", 304),
    Case("status 999", bad(status("999 Odd")), FAILED, "bad_response", 999),
    # redirects
    Case("redirect to itself", bad(redirect("/bad")), FAILED, "too_many_redirects", 302),
    Case("redirect loop", loop, status_code=302, most_requests=6),
    Case("redirect chain", chain, status_code=302, most_requests=8),
    Case("redirect with a growing query", growing, status_code=302, most_requests=8),
    Case("redirect to a file", bad(redirect("file:///etc/passwd")), FAILED, "bad_response", 302),
    Case("redirect to the metadata", bad(redirect("http://169.254.169.254/latest/meta-data/")), status_code=302),
    Case("redirect to nowhere", bad(status("302 Found")), FAILED, "bad_response", 302),
    # robots.txt
    Case("robots of any size", robots(endless(HEAD + b"\r\n", b"User-agent: *\nDisallow: /private\n" * 500))),
    Case("robots that never answers", robots(silence), FAILED, "robots_unreachable", None, seeds=("/bad",),
         is_next_fetched=False),
    Case("robots in trouble", robots(status("503 Busy")), FAILED, "robots_unreachable", None, seeds=("/bad",),
         is_next_fetched=False),
    Case("robots to the metadata", robots(redirect("http://169.254.169.254/robots.txt")), FAILED, "address_refused",
         None, is_next_fetched=False),
    Case("robots that loops", robots(redirect("/robots.txt"))),
    Case("robots of noise", robots(http(bytes(range(256)) * 40))),
    # text
    Case("lying charset", bad(html(TITLED + "Grüße, 日本語", content_type="text/html; charset=shift_jis")),
         title="Still here"),
    Case("no charset at all", bad(html(TITLED, content_type="text/html; charset=no-such-thing")), title="Still here"),
    Case("NUL bytes", bad(html(b"<title>Still\0 here</title>\0\0<p>x\0y" + b"some words " * 20)),
         flags=frozenset({"nul"}), title="Still here"),
    Case("invalid UTF-8", bad(html(TITLED.encode() + b"\xff\xfe\x80" * 3000)), title="Still here"),
    Case("lone surrogates", bad(html(SURROGATES)), title="Lone \N{REPLACEMENT CHARACTER}!"),
    Case("a picture", bad(html(b"\x89PNG\r\n\x1a\n" + bytes(3000))), flags=frozenset({"binary"})),
    # markup
    Case("100,000 nested tags", bad(html(TITLED + NESTED)), title="Still here"),
    Case("50,000 attributes", bad(html(TITLED + ATTRIBUTES)), title="Still here"),
    Case("300,000 links", bad(html(TITLED + LINKS)), title="Still here", most_requests=90),
    Case("title of 10 MB", bad(html("<title>" + "t" * 10_000_000)), title="t" * 1000),
    # traps
    Case("calendar", calendar, title="Day 0", most_requests=90),
    Case("session ids", make_session_loop(), title="Session"),
    Case("maze", maze, title="Maze", most_requests=90),
    # certificates
    Case("wrong name", bad(b""), FAILED, "tls_error", None, seeds=("/bad",), is_next_fetched=False,
         certificate="self_signed.pem"),
    Case("expired", bad(b""), FAILED, "tls_error", None, seeds=("/bad",), is_next_fetched=False,
         certificate="expired.pem"),
)  # fmt: skip
