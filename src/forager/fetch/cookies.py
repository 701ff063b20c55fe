"""Cookies of one domain for the duration of its lease (RFC 6265, the part a crawler needs). Never touches the network.

A jar belongs to one domain and is used for that domain alone, so nothing a site sets reaches another one. Small by
design: a site that fills it loses its own oldest cookies.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from forager.fetch.origin import Origin, is_header_safe

MOST_COOKIES = 50
MOST_BYTES = 8 * 1024
"""Maximum size of names and values in one jar: with more than that in one header, common servers reject the request."""
LONGEST_COOKIE = 4096
LONGEST_AGE_S = 400 * 86_400
"""The maximum that browsers allow; no lease lasts that long."""


@dataclass(frozen=True, slots=True)
class Cookie:
    name: str
    value: str
    host: str
    is_for_host_only: bool
    path: str
    is_secure: bool
    expires_at: datetime | None
    """None: the cookie lasts as long as the jar."""

    @property
    def size(self) -> int:
        return len(self.name) + len(self.value)

    def is_for(self, origin: Origin, path: str, now: datetime) -> bool:
        if self.expires_at is not None and self.expires_at <= now:
            return False
        is_host = origin.host == self.host or (not self.is_for_host_only and is_inside(origin.host, self.host))
        return is_host and (origin.is_tls or not self.is_secure) and is_under(path, self.path)


class CookieJar:
    """Cookies, oldest first; a cookie that is set again keeps its position, as RFC 6265 §5.3 requires."""

    __slots__ = ("_cookies",)

    def __init__(self) -> None:
        self._cookies: dict[tuple[str, str, str], Cookie] = {}

    def __len__(self) -> int:
        return len(self._cookies)

    @property
    def size(self) -> int:
        return sum(cookie.size for cookie in self._cookies.values())

    def take(self, lines: Sequence[str], origin: Origin, target: str, now: datetime) -> None:
        """Stores cookies; `lines` are the values of Set-Cookie headers. Malformed cookies and those not for this
        host are ignored."""
        for line in lines:
            if cookie := read_cookie(line, origin, target, now):
                self._keep(cookie, now)
        while len(self._cookies) > MOST_COOKIES or self.size > MOST_BYTES:
            del self._cookies[next(iter(self._cookies))]

    def line_for(self, origin: Origin, target: str, now: datetime) -> str:
        """Returns the Cookie header line for a request; empty when there is nothing to send."""
        if not self._cookies:
            return ""
        path = path_of(target)
        found = [cookie for cookie in self._cookies.values() if cookie.is_for(origin, path, now)]
        if not found:
            return ""
        found.sort(key=lambda cookie: -len(cookie.path))
        return f"Cookie: {'; '.join(f'{cookie.name}={cookie.value}' for cookie in found)}\r\n"

    def _keep(self, cookie: Cookie, now: datetime) -> None:
        key = cookie.name, cookie.host, cookie.path
        if cookie.expires_at is not None and cookie.expires_at <= now:
            self._cookies.pop(key, None)
        else:
            self._cookies[key] = cookie


def read_cookie(line: str, origin: Origin, target: str, now: datetime) -> Cookie | None:
    pair, *rest = line.split(";")
    name, equals, value = (part.strip() for part in pair.partition("="))
    if not (equals and name and len(name) + len(value) <= LONGEST_COOKIE and is_header_safe(name + value)):
        return None
    attributes = {key.strip().lower(): text.strip() for key, _, text in (part.partition("=") for part in rest)}
    domain = attributes.get("domain", "").removeprefix(".").lower()
    if domain and origin.host != domain and not is_inside(origin.host, domain):
        return None
    site = site_of(origin)
    if domain and domain != site and not is_inside(domain, site):
        domain = site  # wider than the jar, such as a public suffix
    is_secure = "secure" in attributes
    if is_secure and not origin.is_tls:
        return None
    path = attributes.get("path", "")
    return Cookie(
        name=name,
        value=value,
        host=domain or origin.host,
        is_for_host_only=not domain,
        path=path if path.startswith("/") else folder_of(path_of(target)),
        is_secure=is_secure,
        expires_at=_end_of(attributes, now),
    )


def site_of(origin: Origin) -> str:
    """Returns the host the jar belongs to: without `www.` and port."""
    return origin.host if origin.domain.startswith("[") else origin.domain.partition(":")[0] or origin.host


def is_inside(host: str, domain: str) -> bool:
    """Implements domain matching of RFC 6265 §5.1.3; an IP address matches only itself."""
    return host.endswith(f".{domain}") and not host.rpartition(".")[2].isdigit()


def is_under(path: str, folder: str) -> bool:
    return path == folder or (path.startswith(folder) and (folder.endswith("/") or path[len(folder)] == "/"))


def folder_of(path: str) -> str:
    return path[: path.rfind("/")] or "/"


def path_of(target: str) -> str:
    return target.partition("?")[0]


def _end_of(attributes: dict[str, str], now: datetime) -> datetime | None:
    """Returns when a cookie expires. Max-Age takes precedence over Expires; invalid values are ignored."""
    age = attributes.get("max-age", "")
    if age.removeprefix("-").isdecimal() and age.isascii():
        seconds = -1 if age.startswith("-") else int(age[:10])
        return now + timedelta(seconds=min(seconds, LONGEST_AGE_S))
    try:
        moment = parsedate_to_datetime(attributes.get("expires", ""))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
