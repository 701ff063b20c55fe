"""Bytes to request, answer to bytes. Pure: no socket, no clock, no site.

Strict where a client's mistake could shift the border between two requests, indifferent to the rest.
"""

import hashlib
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from functools import lru_cache
from http import HTTPStatus
from typing import NamedTuple

import brotli  # type: ignore[import-untyped]

from forager_playground.answer import Answer, refuse

try:
    from isal.isal_zlib import compress
except ImportError:  # pragma: no cover - a platform without the wheel
    from zlib import compress

MAX_HEAD_BYTES = 16 * 1024
MAX_BODY_BYTES = 1024 * 1024
SMALLEST_GZIP_BYTES = 256
GZIP_WBITS = 31
BROTLI_QUALITY = 4
"""What servers use for pages they make on request."""
REASONS = {status.value: status.phrase for status in HTTPStatus}
FIRST_DAY = datetime(2024, 1, 1, 8, tzinfo=UTC)


class BadRequestError(Exception):
    """A request that cannot be understood; the connection is closed after `answer`."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.answer = refuse(status, words)


class RequestLine(NamedTuple):
    method: str
    target: str
    is_http_1_1: bool


class Headers(NamedTuple):
    """The few headers that change an answer."""

    user_agent: str = ""
    takes_gzip: bool = False
    connection: str = ""
    if_none_match: str = ""
    if_modified_since: str = ""
    body_bytes: int = 0
    takes_brotli: bool = False

    @property
    def is_conditional(self) -> bool:
        return bool(self.if_none_match or self.if_modified_since)


class Reply(NamedTuple):
    """An answer as bytes, ready to be sent any number of times."""

    status: int
    whole: bytes
    head_bytes: int
    etag: str
    last_modified: str
    delay_s: float
    is_reset: bool
    is_stable: bool


def parse_request_line(line: bytes) -> RequestLine:
    parts = line.split(b" ")
    if len(parts) != 3 or not parts[2].startswith(b"HTTP/"):
        raise BadRequestError(400, "Bad request line")
    method, target, version = parts
    if version not in {b"HTTP/1.1", b"HTTP/1.0"}:
        raise BadRequestError(505, "HTTP version not supported")
    if method not in {b"GET", b"HEAD"}:
        raise BadRequestError(405, "Only GET and HEAD")
    return RequestLine(method.decode("ascii"), _origin_form(target), version == b"HTTP/1.1")


def _origin_form(target: bytes) -> str:
    """Clients of a proxy send the whole URL; only path and query matter here."""
    if target.startswith(b"http://"):
        target = b"/" + target[7:].partition(b"/")[2]
    if not target.startswith(b"/") or not target.isascii():
        raise BadRequestError(400, "Bad request target")
    return target.decode("ascii")


@lru_cache(maxsize=1024)
def parse_headers(block: bytes) -> Headers:
    """Cached, because a client sends the same headers with every request."""
    found: dict[str, str] = {}
    for line in block.decode("latin-1").split("\r\n") if block else ():
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise BadRequestError(400, "Bad header line")
        found[name.lower()] = value.strip()
    if "transfer-encoding" in found:
        raise BadRequestError(411, "Length required")
    accepted = found.get("accept-encoding", "")
    return Headers(
        found.get("user-agent", ""),
        _takes(accepted, "gzip"),
        found.get("connection", "").lower(),
        found.get("if-none-match", ""),
        found.get("if-modified-since", ""),
        _body_bytes(found.get("content-length", "0")),
        _takes(accepted, "br"),
    )


def _takes(accepted: str, wanted: str) -> bool:
    for coding in accepted.lower().split(","):
        name, _, quality = coding.partition(";")
        if name.strip() in {wanted, "*"}:
            return quality.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False


def _body_bytes(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise BadRequestError(400, "Bad Content-Length")
    if int(text) > MAX_BODY_BYTES:
        raise BadRequestError(413, "Too much content")
    return int(text)


def keeps_alive(line: RequestLine, headers: Headers) -> bool:
    return headers.connection != "close" if line.is_http_1_1 else headers.connection == "keep-alive"


def render(answer: Answer, *, takes_gzip: bool, takes_brotli: bool = False, is_last: bool = False) -> Reply:
    body, head = answer.body, [f"HTTP/1.1 {answer.status} {REASONS.get(answer.status, 'Unknown')}"]
    etag = last_modified = ""
    if answer.status == 200 and (answer.is_stable or answer.modified_at):
        etag, last_modified = make_validators(body, answer.modified_at)
        head += [f"ETag: {etag}", f"Last-Modified: {last_modified}"]
    if answer.content_type.startswith("text/"):
        head.append("Vary: Accept-Encoding")
        body, coding = _compress(answer, takes_gzip=takes_gzip, takes_brotli=takes_brotli)
        head += [f"Content-Encoding: {coding}"] if coding else []
    head += [f"Content-Type: {answer.content_type}", f"Content-Length: {len(body)}", "Server: forager-playground"]
    head += [f"{name}: {value}" for name, value in answer.headers]
    return _assemble(answer, head, body, etag, last_modified, is_last=is_last)


def _compress(answer: Answer, *, takes_gzip: bool, takes_brotli: bool) -> tuple[bytes, str]:
    """The body as it is sent, and the name of its coding."""
    if len(answer.body) < SMALLEST_GZIP_BYTES:
        return answer.body, ""
    if takes_brotli and answer.prefers_brotli:
        return brotli.compress(answer.body, quality=BROTLI_QUALITY), "br"
    return (compress(answer.body, 1, GZIP_WBITS), "gzip") if takes_gzip else (answer.body, "")


def _assemble(answer: Answer, head: list[str], body: bytes, etag: str, last_modified: str, *, is_last: bool) -> Reply:
    if is_last:
        head.append("Connection: close")
    start = ("\r\n".join(head) + "\r\n\r\n").encode("latin-1")
    flags = (answer.delay_s, answer.is_reset, answer.is_stable)
    return Reply(answer.status, start + body, len(start), etag, last_modified, *flags)


def make_validators(body: bytes, modified_at: datetime | None = None) -> tuple[str, str]:
    """ETag and Last-Modified; unless it is given, the latter is a moment in 2024 that changes when the page does."""
    digest = hashlib.blake2b(body, digest_size=8).digest()
    minutes = int.from_bytes(digest, "little") % (360 * 24 * 60)
    modified_at = modified_at or FIRST_DAY + timedelta(minutes=minutes)
    return f'"{digest.hex()}"', format_datetime(modified_at, usegmt=True)


def is_unchanged(reply: Reply, headers: Headers) -> bool:
    """RFC 9110: If-None-Match decides alone when it is there."""
    if not reply.etag:
        return False
    if headers.if_none_match:
        tags = [tag.strip().removeprefix("W/") for tag in headers.if_none_match.split(",")]
        return reply.etag in tags or tags == ["*"]
    return bool(headers.if_modified_since) and _is_not_older(headers.if_modified_since, reply.last_modified)


def _is_not_older(known: str, last_modified: str) -> bool:
    try:
        return parsedate_to_datetime(known) >= parsedate_to_datetime(last_modified)
    except (ValueError, TypeError):  # an unreadable date, or one without a zone, is as good as none
        return False


def render_not_modified(reply: Reply) -> bytes:
    return (
        f"HTTP/1.1 304 Not Modified\r\nETag: {reply.etag}\r\nLast-Modified: {reply.last_modified}\r\n"
        "Vary: Accept-Encoding\r\nServer: forager-playground\r\n\r\n"
    ).encode("latin-1")
