"""Cookies of one domain (RFC 6265, the part a crawler needs). Never touches the network.

A jar belongs to one domain and is used for that domain alone, so nothing a site sets reaches another one. Small by
design: a site that fills it loses its own oldest cookies. It outlives a lease as `dump` and `load` write and read it;
session cookies, which a browser deletes when it is closed, are kept for `LONGEST_SESSION_S` at most.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from forager.fetch.access import write_cookies
from forager.fetch.origin import Origin, is_header_safe

MOST_COOKIES = 50
MOST_BYTES = 8 * 1024
"""Maximum size of names and values in one jar: with more than that in one header, common servers reject the request."""
LONGEST_COOKIE = 4096
LONGEST_AGE_S = 400 * 86_400
"""The maximum that browsers allow."""
LONGEST_SESSION_S = 30 * 86_400
"""How long a cookie without an expiry is kept in storage."""
WORTH_STORING = timedelta(hours=1)
"""An expiry that moved by less is not stored again."""


@dataclass(frozen=True, slots=True)
class Cookie:
    name: str
    value: str = field(repr=False)
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
    """Cookies, oldest first; a cookie that is set again keeps its position, as RFC 6265 §5.3 requires. `repr` shows no
    values."""

    __slots__ = ("_cookies", "changes")

    def __init__(self) -> None:
        self._cookies: dict[tuple[str, str, str], Cookie] = {}
        self.changes = 0
        """Grows with each change that is worth storing."""

    def __len__(self) -> int:
        return len(self._cookies)

    def __repr__(self) -> str:
        return f"<CookieJar of {len(self._cookies)} cookies>"

    def names(self, now: datetime) -> set[str]:
        """Returns the names of cookies that have not expired."""
        return {c.name for c in self._cookies.values() if c.expires_at is None or c.expires_at > now}

    def clear(self) -> None:
        self._cookies.clear()
        self.changes += 1

    def dump(self, now: datetime) -> str:
        """Returns the cookies as text for storage, which has to be encrypted; empty if there is none."""
        last = now + timedelta(seconds=LONGEST_SESSION_S)
        rows = [
            [*_fields(cookie), (cookie.expires_at or last).timestamp(), cookie.expires_at is None]
            for cookie in self._cookies.values()
            if cookie.expires_at is None or cookie.expires_at > now
        ]
        return json.dumps(rows, separators=(",", ":")) if rows else ""

    @classmethod
    def load(cls, text: str, now: datetime) -> "CookieJar":
        """Reads what `dump` wrote; cookies that expired in between are left out."""
        jar = cls()
        for name, value, host, is_for_host_only, path, is_secure, ends, is_session in json.loads(text or "[]"):
            ends_at = datetime.fromtimestamp(ends, UTC)
            if ends_at > now:
                expires_at = None if is_session else ends_at
                jar._keep(Cookie(name, value, host, is_for_host_only, path, is_secure, expires_at), now)
        jar.changes = 0
        return jar

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
            self.changes += 1

    def line_for(self, origin: Origin, target: str, now: datetime) -> str:
        """Returns the Cookie header line for a request; empty when there is nothing to send."""
        return write_cookies(self.pairs_for(origin, target, now))

    def pairs_for(self, origin: Origin, target: str, now: datetime) -> list[tuple[str, str]]:
        """Returns names and values of the cookies for a request."""
        if not self._cookies:
            return []
        path = path_of(target)
        found = [cookie for cookie in self._cookies.values() if cookie.is_for(origin, path, now)]
        found.sort(key=lambda cookie: -len(cookie.path))
        return [(cookie.name, cookie.value) for cookie in found]

    def _keep(self, cookie: Cookie, now: datetime) -> None:
        key = cookie.name, cookie.host, cookie.path
        known = self._cookies.get(key)
        if cookie.expires_at is not None and cookie.expires_at <= now:
            self.changes += self._cookies.pop(key, None) is not None
        else:
            self._cookies[key] = cookie
            self.changes += known is None or _differs(known, cookie)


def _differs(old: Cookie, new: Cookie) -> bool:
    """Whether a cookie that was set again is worth storing: many sites move its expiry with every response."""
    if old.expires_at is None or new.expires_at is None:
        return old != new
    return _fields(old) != _fields(new) or abs(new.expires_at - old.expires_at) > WORTH_STORING


def _fields(cookie: Cookie) -> list[str | bool]:
    return [cookie.name, cookie.value, cookie.host, cookie.is_for_host_only, cookie.path, cookie.is_secure]


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
