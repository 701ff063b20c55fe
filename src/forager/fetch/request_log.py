"""One log line per request, at the level debug: URL, status, milliseconds, bytes. Worker, task and domain are in the
context of the line, and credentials in the URL are masked, as in every log line."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from forager import clock
from forager.errors import VisitError
from forager.logs import is_debug, log
from forager.proxies.models import Proxy


@contextmanager
def logging_request(url: str, via: Proxy | None) -> Iterator[Callable[[int, int], None]]:
    """Logs the request that is made inside, at the level debug. The caller passes status and bytes of the response."""
    started_at = clock.monotonic()

    def answered(status: int, wire_bytes: int) -> None:
        if is_debug():
            log_response(url, status, clock.monotonic() - started_at, wire_bytes, via)

    try:
        yield answered
    except VisitError as error:
        if is_debug():
            log_failure(url, error, clock.monotonic() - started_at, via)
        raise


def log_response(url: str, status: int, took_s: float, wire_bytes: int, via: Proxy | None) -> None:
    """Logs a request that was answered; the bytes are those of the body as it was sent."""
    log().debug("request", action="fetch.response", status=status, bytes=wire_bytes, **_describe(url, took_s, via))


def log_failure(url: str, error: VisitError, took_s: float, via: Proxy | None) -> None:
    """Logs a request that was not answered, or not sent."""
    log().debug("request", action="fetch.failed", error=str(error) or error.code, **_describe(url, took_s, via))


def _describe(url: str, took_s: float, via: Proxy | None) -> dict[str, object]:
    fields: dict[str, object] = {"url": url, "ms": round(took_s * 1000)}
    return fields if via is None else fields | {"proxy": via.id}
