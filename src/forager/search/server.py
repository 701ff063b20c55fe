"""HTTP client for one search server, OpenSearch or Elasticsearch; translates its errors into one sentence.

    closed ── a search fails ──▶ open: searches skip it ── 10 s later ──▶ one search: success → closed, else → open

Indexing ignores this circuit breaker: it can wait, and it detects that the server is back.
"""

import contextlib
import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from forager import clock
from forager.config.extras import install_hint
from forager.errors import ConfigurationError, SearchServerError
from forager.logs import log

SEARCH_S = 5.0
"""Timeout for a user's search; PostgreSQL takes over after that."""
SEND_S = 20.0
"""Timeout for indexing, which holds a transaction open; index writes wait for its end."""
RESET_S = 10.0
LONGEST_REASON = 300
NDJSON = {"content-type": "application/x-ndjson"}


class SearchServer:
    def __init__(self, transport: Any, trouble: type[Exception], place: str) -> None:
        self._transport = transport
        self._trouble = trouble
        self.place = place
        """Host and port, for messages."""
        self._ask_at: float | None = None
        """While the circuit is open: when the next search may try."""

    @property
    def is_circuit_open(self) -> bool:
        return self._ask_at is not None and clock.monotonic() < self._ask_at

    async def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Sends a request for a waiting user. Raises SearchServerError."""
        if self.is_circuit_open:
            raise SearchServerError(f"The search server at {self.place} does not answer.")
        if self._ask_at is not None:
            self._ask_at = clock.monotonic() + RESET_S  # other searches fail fast until this one returns
        try:
            answer = await self.tell(method, path, body, params=params, headers=headers, timeout_s=SEARCH_S)
        except SearchServerError as error:
            if error.is_away:
                self._mark_unavailable(error)
            raise
        if self._ask_at is not None:
            self._ask_at = None
            log().info("search server is back", action="search.back")
        return answer

    async def tell(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = SEND_S,
    ) -> Any:
        """Sends a request without the circuit breaker, for background work. Raises SearchServerError."""
        given = {**(params or {}), "request_timeout": timeout_s}
        try:
            return await self._transport.perform_request(
                method, path, params=given, body=body, headers=dict(headers) if headers else None
            )
        except self._trouble as error:
            raise self._translate(error) from error
        except (OSError, TimeoutError) as error:
            raise SearchServerError(f"The search server at {self.place} does not answer ({_plain(error)}).") from error

    async def bulk(self, lines: Sequence[bytes], *, is_hasty: bool = False) -> list[dict[str, Any]]:
        """Returns the result of each action, in order. `is_hasty` is for a waiting user: documents are searchable at
        once. `require_alias` prevents the server from creating a missing index with guessed fields."""
        body, params = b"".join(lines), {"require_alias": "true"}
        if is_hasty:
            answer = await self.ask("POST", "/_bulk", body, params={**params, "refresh": "true"}, headers=NDJSON)
        else:
            answer = await self.tell("POST", "/_bulk", body, params=params, headers=NDJSON)
        with self.catch_bad_response():
            items: list[dict[str, Any]] = [next(iter(item.values())) for item in answer["items"]]
            if len(items) != len(lines) or not all(isinstance(item["status"], int) for item in items):
                raise ValueError
            return items

    @contextlib.contextmanager
    def catch_bad_response(self) -> Iterator[None]:
        """Translates unexpected responses: another service may be running at this address."""
        try:
            yield
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, StopIteration) as error:
            raise SearchServerError(f"What answers at {self.place} is no search server we know.") from error

    def _translate(self, error: Any) -> SearchServerError:
        status = getattr(error, "status_code", None)
        if not isinstance(status, int):
            reason = type(getattr(error, "info", None) or error).__name__
            return SearchServerError(f"The search server at {self.place} does not answer ({reason}).")
        reason = _reason(error)
        if status in {401, 403}:
            return SearchServerError(
                f"The search server at {self.place} refuses us ({status}): check name and password in search.url.",
                status,
                reason,
            )
        return SearchServerError(f"The search server at {self.place} answered {status}: {reason}.", status, reason)

    def _mark_unavailable(self, error: SearchServerError) -> None:
        if self._ask_at is None:
            log().warning("search server is away, PostgreSQL answers", action="search.away", error=str(error))
        self._ask_at = clock.monotonic() + RESET_S


def _reason(error: Any) -> str:
    info = getattr(error, "info", None)
    told = info.get("error") if isinstance(info, dict) else None
    if isinstance(told, dict):
        causes = told.get("root_cause") or [told]
        text = f"{causes[0].get('type')}: {causes[0].get('reason')}"
    else:
        text = str(getattr(error, "error", "")) or "no reason"
    return " ".join(text.split())[:LONGEST_REASON]


def _plain(error: Exception) -> str:
    return type(error).__name__


@dataclass(frozen=True, slots=True)
class Address:
    """The server's URL and our credentials."""

    url: str
    """Without user name and password."""
    place: str
    account: tuple[str, str] | None

    @classmethod
    def of(cls, text: str) -> "Address":
        try:
            parts = urlsplit(text)
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if not host:
            raise ConfigurationError("search.url has no host: write it like https://user:password@search.example:9200.")
        host = f"[{host}]" if ":" in host else host
        port = port or (443 if parts.scheme == "https" else 80)
        account = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
        path = parts.path.rstrip("/")
        return cls(f"{parts.scheme}://{host}:{port}{path}", f"{host}:{port}", account)


@contextlib.asynccontextmanager
async def open_server(url: str, *, ca_file: Path | None = None) -> AsyncIterator[SearchServer]:
    """Connects on the first request: an unavailable server must not prevent startup."""
    opensearch = _import_opensearch()
    address = Address.of(url)
    _check_cert_file(ca_file)
    logging.getLogger("opensearch").addHandler(logging.NullHandler())  # callers report errors themselves
    client = opensearch.AsyncOpenSearch(
        hosts=[address.url],
        connection_class=_connection_class(opensearch),
        http_auth=address.account,
        ca_certs=str(ca_file) if ca_file else None,
        verify_certs=True,
        max_retries=0,
        retry_on_timeout=False,
        pool_maxsize=8,
    )
    try:
        yield SearchServer(client.transport, opensearch.exceptions.OpenSearchException, address.place)
    finally:
        await client.close()


def _check_cert_file(ca_file: Path | None) -> None:
    if ca_file is not None and not ca_file.is_file():
        raise ConfigurationError(f"search.ca_file: there is no file {ca_file}.")


class _NoRedirectSession:
    """A session that does not follow redirects: only the settings decide which server we talk to."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def request(self, *arguments: Any, **options: Any) -> Any:
        return self._session.request(*arguments, **options, allow_redirects=False)

    async def close(self) -> None:
        await self._session.close()


def _connection_class(opensearch: Any) -> Any:
    class Connection(opensearch.AIOHttpConnection):  # type: ignore[misc]
        session: Any

        async def _create_aiohttp_session(self) -> None:
            await super()._create_aiohttp_session()
            self.session = _NoRedirectSession(self.session)

    return Connection


def _import_opensearch() -> Any:
    try:
        import opensearchpy
    except ImportError:
        raise ConfigurationError(
            "search.backend is opensearch, and its client is not installed: "
            f"{install_hint('search', 'opensearch-py[async]')}."
        ) from None
    return opensearchpy
