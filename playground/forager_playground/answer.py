"""What a site says to one request, before it becomes bytes on a wire. Sites make answers; the server sends them."""

from dataclasses import dataclass
from datetime import datetime

HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int = 200
    body: bytes = b""
    content_type: str = HTML
    headers: tuple[tuple[str, str], ...] = ()
    delay_s: float = 0.0
    is_reset: bool = False
    """The connection is cut instead of answering."""
    is_stable: bool = True
    """The same for every request, so the server may keep it ready."""
    prefers_brotli: bool = False
    """Compressed with brotli for clients that take it; gzip otherwise."""
    modified_at: datetime | None = None
    """Sent as Last-Modified, in whole seconds. Without it a stable page has one that is made from its body."""


def redirect(to: str, status: int = 301) -> Answer:
    body = f'<!doctype html><title>Moved</title><p>This page is at <a href="{to}">{to}</a> now.'
    return Answer(status, body.encode(), headers=(("Location", to),))


def refuse(status: int, words: str, retry_after_s: int | None = None, is_stable: bool = True) -> Answer:
    """An error page; its title is `status words`."""
    body = f"<!doctype html><html lang=en><title>{status} {words}</title><h1>{words}</h1>"
    headers = () if retry_after_s is None else (("Retry-After", str(retry_after_s)),)
    return Answer(status, body.encode(), headers=headers, is_stable=is_stable)


def missing(is_stable: bool = True) -> Answer:
    return refuse(404, "Not found", is_stable=is_stable)


def reset() -> Answer:
    return Answer(status=0, is_reset=True, is_stable=False)
