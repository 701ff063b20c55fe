"""Makes one request per call and returns one `Fetched` or raises one typed error. Follows no redirects.

Everything a server can do to us is bounded: time here and in `connection.py`, header size and body size in
`response.py`, decompressed size in `decode.py`, cookies in `cookies.py`, total memory in `body_memory.py`.
"""

import weakref
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple

from forager import clock
from forager.errors import ConfigurationError, ConnectionLostError
from forager.fetch.access import NO_ACCESS, SiteAccess, mask_request, mask_response, write_cookies
from forager.fetch.body_memory import FREE_BYTES, MemoryBudget
from forager.fetch.connect import Connector
from forager.fetch.connection import Connection, ResponseTimeouts
from forager.fetch.cookies import CookieJar
from forager.fetch.decode import ACCEPTED, decode, decode_beginning
from forager.fetch.dns import CheckAddress, GuardedResolver
from forager.fetch.documents import PDF_TYPES
from forager.fetch.models import BodyCoding, Fetched, RawHeads, ScriptRequest
from forager.fetch.network_probe import NetworkProbe
from forager.fetch.origin import (
    Origin,
    build_post,
    build_request,
    build_script_request,
    hosts_of,
    is_header_safe,
    split_url,
)
from forager.fetch.pool import Pool
from forager.fetch.proxy_connector import ProxyConnector, forwards
from forager.fetch.request_log import logging_request
from forager.fetch.response import ResponseReader, Sniff
from forager.fetch.tunnel import authorization, proxy_auth_error
from forager.proxies.models import Proxy

ACCEPT = "text/html,application/xhtml+xml;q=0.9,text/plain;q=0.5,*/*;q=0.1"
ACCEPT_IMAGES = "image/*,*/*;q=0.1"
ACCEPT_SITEMAPS = "application/xml,text/xml,application/rss+xml,application/atom+xml,application/feed+json,*/*;q=0.5"
PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml", "text/plain", ""})
LINKING_TYPES = frozenset(
    [
        "text/xml", "application/xml", "application/rss+xml", "application/atom+xml", "application/rdf+xml",
        "application/json", "application/feed+json", "application/gzip", "application/x-gzip",
    ]
)  # fmt: skip
"""Content types of feeds and sitemaps."""
QUICK_REUSE_S = 0.5


def is_page(content_type: str) -> bool:
    """Returns whether a body of this type is worth reading; one without a type may be a page."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind in PAGE_TYPES or kind in LINKING_TYPES


def is_page_or_document(content_type: str) -> bool:
    """Returns whether a body of this type is worth reading where PDF files are read too."""
    return content_type.partition(";")[0].strip().lower() in PDF_TYPES or is_page(content_type)


def accepts_any_type(_content_type: str) -> bool:
    """Accepts every content type. Used for images: the bytes identify a file more reliably than its type."""
    return True


def _ignore_sent() -> None:
    """Does nothing: only a caller that keeps a pace needs to know when a request is sent."""


def _tell(on_sent: Callable[[], None], connection: Connection) -> None:
    """Notifies the caller that the request is about to be sent; the caller may still stop it by raising."""
    try:
        on_sent()
    except BaseException:
        connection.close()
        raise


@asynccontextmanager
async def open_client(
    *,
    user_agent: str,
    check_address: CheckAddress,
    timeout_s: float,
    connect_timeout_s: float,
    max_bytes: int,
    max_connections: int = 0,
    check_proxy: CheckAddress | None = None,
    patience: ResponseTimeouts = ResponseTimeouts(),  # noqa: B008 (a tuple, never changed)
    keeps_cookies: bool = True,
) -> AsyncIterator["Client"]:
    """Yields a client. `max_connections` 0 means no limit; the caller then bounds the number of requests.

    `check_proxy` is the address rule for proxies; without it the rule for sites applies to them.
    """
    if not is_header_safe(user_agent):
        raise ConfigurationError(
            f"{user_agent!a} cannot be sent as User-Agent: use printable ASCII in contact and fetch.user_agent"
        )
    proxies = GuardedResolver(check_proxy) if check_proxy else None
    resolver = GuardedResolver(check_address)
    pool = Pool(ProxyConnector(Connector(resolver), proxies), max_connections)
    try:
        yield Client(
            pool,
            resolver=resolver,
            user_agent=user_agent,
            timeout_s=timeout_s,
            connect_timeout_s=connect_timeout_s,
            max_bytes=max_bytes,
            patience=patience,
            keeps_cookies=keeps_cookies,
        )
    finally:
        await pool.close()


class _Addressed(NamedTuple):
    """A request before it is built: where it goes, and what it carries."""

    origin: Origin
    target: str
    fixed: str
    """Its header lines but those of the connection and the cache."""
    cookies: str
    jar: CookieJar | None
    access: SiteAccess


class Client:
    """HTTP client, created by `open_client`; safe to use from many tasks at once."""

    def __init__(
        self,
        pool: Pool,
        *,
        resolver: GuardedResolver | None = None,
        user_agent: str,
        timeout_s: float,
        connect_timeout_s: float,
        max_bytes: int,
        patience: ResponseTimeouts = ResponseTimeouts(),  # noqa: B008 (a tuple, never changed)
        keeps_cookies: bool = True,
    ) -> None:
        self._pool = pool
        self._resolver = resolver
        self.network = NetworkProbe(resolver) if resolver is not None else None
        """Detects whether our own network works; None where this cannot be determined."""
        self._user_agent = user_agent
        self._fixed_headers = self._headers(ACCEPT)
        self._timeout_s = timeout_s
        self._connect_timeout_s = connect_timeout_s
        self._max_bytes = max_bytes
        self._patience = patience
        self._room = MemoryBudget()
        self._keeps_cookies = keeps_cookies
        self._jars: dict[str, CookieJar] = {}
        self._access: dict[str, SiteAccess] = {}
        """What the requests of domains carry, for domains that have settings of their own."""
        self._seen_tls: set[str] = set()
        """Of these domains, those that answered over TLS: their secrets are not sent over plain http any more."""
        self._ruled: set[str] = set()
        """Domains that have their own address rule."""
        self._unverified: set[str] = set()
        """Domains whose certificates are not verified, by the operator's choice."""

    def _headers(self, accept: str) -> str:
        return f"User-Agent: {self._user_agent}\r\nAccept: {accept}\r\nAccept-Encoding: {ACCEPTED}\r\n"

    def enter(
        self,
        domain: str,
        *,
        verifies_tls: bool = True,
        check_address: CheckAddress | None = None,
        access: SiteAccess = NO_ACCESS,
        jar: CookieJar | None = None,
    ) -> None:
        """Starts a lease: until `leave`, this domain has its own cookie jar, a new one unless one is given, its own
        address rule, if one is given, and its own headers and authentication."""
        if check_address is not None:
            self._set_rule(domain, check_address)
            self._ruled.add(domain)
        if self._keeps_cookies or access.needs_jar:
            self._jars[domain] = CookieJar() if jar is None else jar
        if access is not NO_ACCESS:
            self._access[domain] = access
        if verifies_tls:
            self._unverified.discard(domain)
        else:
            self._unverified.add(domain)

    def leave(self, domain: str) -> None:
        self._jars.pop(domain, None)
        self._access.pop(domain, None)
        self._seen_tls.discard(domain)
        self._unverified.discard(domain)
        if domain in self._ruled:
            self._ruled.discard(domain)
            self._set_rule(domain, None)

    def jar_of(self, domain: str) -> CookieJar | None:
        """Returns the cookies of a domain under lease; None where none are kept."""
        return self._jars.get(domain)

    def _set_rule(self, domain: str, check_address: CheckAddress | None) -> None:
        if self._resolver is not None:
            for host, port in hosts_of(domain):
                self._resolver.set_rule(host, port, check_address)

    async def get(
        self,
        url: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        read_body: Callable[[str], bool] = is_page,
        cut_at: int | None = None,
        most_bytes: int | None = None,
        accept: str = ACCEPT,
        on_sent: Callable[[], None] = _ignore_sent,
        via: Proxy | None = None,
        keeps_raw: bool = False,
        sends_cookies: bool = True,
        decompresses: bool = True,
        sniff: Sniff | None = None,
        read_error: Callable[[int], bool] | None = None,
        script: ScriptRequest | None = None,
        has_secrets: bool = False,
    ) -> Fetched:
        """Fetches `url`, which is already normalised. A body longer than `cut_at` is cut there; without `cut_at`, a
        body longer than `most_bytes`, or else than the client's limit, is an error.

        `on_sent` is called when the request is sent: after connecting, and twice where it had to be sent again. If it
        raises, the request is not sent. `via` is the proxy to use. With `keeps_raw` the heads of request and response
        are returned as they were sent, without passwords: those of a proxy are left out, secrets of the site are
        masked. Without `sends_cookies` the request carries neither the domain's cookies nor what was set for it.
        Without `decompresses` a compressed body is returned as it was sent, with its `coding`. With `has_secrets` the
        query of the URL is not logged. `sniff` decides about bodies of a type that `read_body` declines. `read_error`
        says of which error statuses the first 64 KiB of the body are returned; they are never an error of their own.
        `script` is the request of a page's script; a POST is sent on a new connection and never twice.
        """
        started_at = clock.monotonic()
        may_cut, limit = cut_at is not None, cut_at or most_bytes or self._max_bytes
        asked = self._address(url, accept, as_site=sends_cookies)
        origin, target, cookies = asked.origin, asked.target, asked.cookies
        place, fixed = target, asked.fixed
        is_forwarded = via is not None and forwards(origin, via)
        if via is not None and is_forwarded:
            place, fixed = f"http://{origin.authority}{target}", fixed + authorization(via)
        request = build_request(origin, place, fixed, etag, last_modified, cookies=cookies)
        if script is not None:
            request = build_script_request(origin, place, fixed + cookies, script)

        def make_reader() -> ResponseReader:
            return ResponseReader(
                origin.authority, read_body, limit, may_cut=may_cut, sniff=sniff, read_error=read_error
            )

        may_repeat = script is None or script.body is None
        with logging_request(url.partition("?")[0] if has_secrets else url, via) as logged:
            async with self._pool.slot(self._connect_timeout_s):
                answer = await self._exchange(
                    origin, request, make_reader, started_at, on_sent, via=via, may_repeat=may_repeat
                )
            logged(answer.status_code, len(answer.body))
        if via is not None and is_forwarded and answer.status_code == 407:
            raise proxy_auth_error(via)
        has_new_cookie = self._take_cookies(asked, answer)
        coding, wire_bytes = answer.headers.get("content-encoding", ""), len(answer.body)
        leaves_coding = bool(coding and wire_bytes) and not (decompresses or may_cut or answer.status_code >= 400)
        if answer.status_code >= 400:
            body, is_broken = decode_beginning(answer.take_body(), coding), False
        elif leaves_coding:
            body, is_broken = answer.take_body(), False
        else:
            wire = answer.body if coding else answer.take_body()
            body, is_broken = decode(wire, coding, limit, may_cut=may_cut)
        raw = None
        if keeps_raw:
            head = build_request(origin, target, asked.fixed, etag, last_modified, cookies=cookies)
            raw = RawHeads(head, answer.raw_headers)
            if asked.access.has_secrets:
                raw = RawHeads(mask_request(head), mask_response(answer.raw_headers))
        fetched = Fetched(
            url,
            answer.status_code,
            answer.headers,
            body,
            wire_bytes=wire_bytes,
            response_time_ms=round((clock.monotonic() - started_at) * 1000),
            is_truncated=answer.is_cut or is_broken,
            has_new_cookie=has_new_cookie,
            raw=raw,
            coding=BodyCoding(coding, limit) if leaves_coding else None,
        )
        if len(body) > FREE_BYTES:
            self._room.keep(len(body))
            weakref.finalize(fetched, self._room.free, len(body))
        return fetched

    def _address(self, url: str, accept: str, *, as_site: bool) -> "_Addressed":
        """Returns where a request goes and what it carries. Only requests made for the site itself carry its cookies
        and what an operator set for it: not those that a page of another site causes."""
        origin, target = split_url(url)
        domain = origin.domain
        if domain in self._unverified:
            origin = origin._replace(verifies_tls=False)
        access = self._access.get(domain) if as_site else None
        jar = self._jars.get(domain) if as_site else None
        if access is None:
            cookies = jar.line_for(origin, target, clock.now()) if jar else ""
            fixed = self._fixed_headers if accept is ACCEPT else self._headers(accept)
            return _Addressed(origin, target, fixed, cookies, jar, NO_ACCESS)
        with_secrets = access.sends_secrets(origin, has_seen_tls=domain in self._seen_tls)
        fixed = access.header_lines(self._user_agent, accept, ACCEPTED, with_secrets=with_secrets)
        kept = jar.pairs_for(origin, target, clock.now()) if jar else []
        cookies = access.cookie_line(kept) if with_secrets else write_cookies(kept)
        return _Addressed(origin, target, fixed, cookies, jar, access)

    def _take_cookies(self, asked: "_Addressed", answer: ResponseReader) -> bool:
        """Stores the cookies of a response; returns whether the same request would carry others now."""
        if asked.origin.is_tls and asked.access is not NO_ACCESS:
            self._seen_tls.add(asked.origin.domain)
        if asked.jar is None or not answer.set_cookies:
            return False
        before = asked.jar.line_for(asked.origin, asked.target, clock.now())
        asked.jar.take(answer.set_cookies, asked.origin, asked.target, clock.now())
        return asked.jar.line_for(asked.origin, asked.target, clock.now()) != before

    async def submit(
        self,
        url: str,
        body: bytes,
        *,
        content_type: str,
        referer: str,
        cut_at: int,
        on_sent: Callable[[], None] = _ignore_sent,
        via: Proxy | None = None,
    ) -> Fetched:
        """Sends a form to its site, with its cookies and headers, on a new connection and never twice. Follows no
        redirect. `referer` is the page of the form, whose origin is sent too: many sites check both."""
        started_at = clock.monotonic()
        asked = self._address(url, ACCEPT, as_site=True)
        origin, target = asked.origin, asked.target
        page = split_url(referer)[0]
        headers = {
            "Content-Type": content_type,
            "Origin": f"{'https' if page.is_tls else 'http'}://{page.authority}",
            "Referer": referer.partition("#")[0],
        }
        place, fixed = target, asked.fixed + asked.cookies
        if via is not None and forwards(origin, via):
            place, fixed = f"http://{origin.authority}{target}", fixed + authorization(via)
        request = build_post(origin, place, fixed, headers, body)
        reader = ResponseReader(origin.authority, is_page, cut_at, may_cut=True)
        async with self._pool.slot(self._connect_timeout_s):
            ends_at = started_at + self._timeout_s
            fresh = await self._pool.dial(origin, min(self._connect_timeout_s, self._timeout_s), via)
            try:
                _tell(on_sent, fresh)
                await fresh.ask(request, reader, ends_at - clock.monotonic(), self._patience, self._room)
            finally:
                fresh.close()
        if via is not None and forwards(origin, via) and reader.status_code == 407:
            raise proxy_auth_error(via)
        self._take_cookies(asked, reader)
        wire_bytes, coding = len(reader.body), reader.headers.get("content-encoding", "")
        body, is_broken = decode(reader.body, coding, cut_at, may_cut=True)
        return Fetched(
            url,
            reader.status_code,
            reader.headers,
            body,
            wire_bytes=wire_bytes,
            response_time_ms=round((clock.monotonic() - started_at) * 1000),
            is_truncated=reader.is_cut or is_broken,
        )

    async def post(
        self,
        url: str,
        body: bytes,
        *,
        headers: Mapping[str, str],
        cut_at: int,
        read_error: Callable[[int], bool] | None = None,
    ) -> Fetched:
        """Sends one request on a new connection, never twice and without cookies; reads at most `cut_at` bytes of
        the response, which stay encoded. `read_error` says of which error statuses the beginning of the body is
        kept."""
        started_at = clock.monotonic()
        origin, target = split_url(url)
        request = build_post(origin, target, self._headers("*/*"), headers, body)
        reader = ResponseReader(origin.authority, accepts_any_type, cut_at, may_cut=True, read_error=read_error)
        async with self._pool.slot(self._connect_timeout_s):
            ends_at = started_at + self._timeout_s
            fresh = await self._pool.dial(origin, min(self._connect_timeout_s, self._timeout_s), None)
            try:
                await fresh.ask(request, reader, ends_at - clock.monotonic(), self._patience, self._room)
            finally:
                fresh.close()
        took_ms = round((clock.monotonic() - started_at) * 1000)
        return Fetched(
            url, reader.status_code, reader.headers, reader.take_body(), wire_bytes=0, response_time_ms=took_ms
        )

    async def locate(self, url: str) -> str | None:
        """Returns the address a request would be sent to; None where there is none, or none that is allowed."""
        return await self._pool.locate(split_url(url)[0], self._connect_timeout_s)

    async def check_proxy(self, via: Proxy, url: str | None = None) -> None:
        """Raises unless a proxy can be reached and, through it, the site of `url`, to which no request is sent."""
        if url is None:
            await self._pool.check_proxy(via, self._connect_timeout_s)
        else:
            connection = await self._pool.dial(split_url(url)[0], self._connect_timeout_s, via)
            connection.close()

    async def _exchange(
        self,
        origin: Origin,
        request: bytes,
        make_reader: Callable[[], ResponseReader],
        started_at: float,
        on_sent: Callable[[], None],
        *,
        via: Proxy | None,
        may_repeat: bool = True,
    ) -> ResponseReader:
        """Sends the request. Repeats it only where the server was just closing a recently used connection; otherwise
        the server has seen the request, and a second one would break the pace."""
        ends_at = started_at + self._timeout_s
        kept = self._pool.take(origin, via) if may_repeat else None
        if kept is not None:
            reader = make_reader()
            may_ask_again = clock.monotonic() - kept.taken_at <= QUICK_REUSE_S
            try:
                return await self._send(kept, request, reader, ends_at, on_sent)
            except ConnectionLostError:
                if reader.has_begun or not may_ask_again:
                    raise
        wait_s = min(self._connect_timeout_s, ends_at - clock.monotonic())
        fresh = await self._pool.dial(origin, wait_s, via)
        return await self._send(fresh, request, make_reader(), ends_at, on_sent)

    async def _send(
        self,
        connection: Connection,
        request: bytes,
        reader: ResponseReader,
        ends_at: float,
        on_sent: Callable[[], None],
    ) -> ResponseReader:
        connection.taken_at = now = clock.monotonic()
        if connection.is_open:
            _tell(on_sent, connection)
        await connection.ask(request, reader, ends_at - now, self._patience, self._room)
        self._pool.give_back(connection)
        return reader
