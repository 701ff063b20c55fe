"""What the requests of one domain carry beside the request itself: user agent, language, headers, cookies and
authentication, as an operator set them.

The client asks for it by the domain of each request, so nothing of it reaches another domain. Secrets are sent over
plain http only while the domain is not known to serve https. Shown in full nowhere: `repr` and `mask_request` leave
values out.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forager.errors import ConfigurationError
from forager.fetch.origin import Origin, is_header_safe

MASK = "***"
NOT_MASKED = frozenset({"host", "user-agent", "accept", "accept-encoding", "accept-language"})
CLIENT_HEADERS = frozenset({"host", "accept-encoding", "content-length", "cookie", "user-agent", "accept-language"})
"""Headers that have a setting of their own, or that only the client can write."""


@dataclass(frozen=True, slots=True, repr=False)
class SiteAccess:
    """What an operator set for the requests of one domain."""

    user_agent: str | None = None
    accept_language: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)
    authorization: str | None = None
    """The value of the Authorization header."""
    needs_jar: bool = False
    """Cookies are kept even where the instance keeps none: a login is one."""
    is_tls_only: bool = False
    """The domain serves https: secrets are not sent over plain http."""

    def __repr__(self) -> str:
        return f"<SiteAccess of {len(self.headers)} headers and {len(self.cookies)} cookies>"

    @property
    def has_secrets(self) -> bool:
        return bool(self.headers or self.cookies or self.authorization or self.needs_jar)

    def sends_secrets(self, origin: Origin, *, has_seen_tls: bool = False) -> bool:
        """Returns whether headers, cookies and authentication go to this origin."""
        return origin.is_tls or not (self.is_tls_only or has_seen_tls)

    def header_lines(self, user_agent: str, accept: str, encodings: str, *, with_secrets: bool) -> str:
        """Returns the header lines of every request to the domain. A header of the operator replaces ours."""
        fixed = {"User-Agent": self.user_agent or user_agent, "Accept": accept, "Accept-Encoding": encodings}
        if self.accept_language:
            fixed["Accept-Language"] = self.accept_language
        if with_secrets:
            if self.authorization:
                fixed["Authorization"] = self.authorization
            for name, value in self.headers.items():
                fixed = {ours: text for ours, text in fixed.items() if ours.lower() != name.lower()} | {name: value}
        return "".join(f"{name}: {value}\r\n" for name, value in fixed.items())

    def cookie_line(self, kept: Sequence[tuple[str, str]]) -> str:
        """Returns the Cookie header line: what the operator set, and what the site set, which wins."""
        known = {name for name, _ in kept}
        pairs = [(name, value) for name, value in self.cookies.items() if name not in known]
        return write_cookies([*pairs, *kept])


NO_ACCESS = SiteAccess()


def build_access(
    *,
    user_agent: str | None = None,
    accept_language: str | None = None,
    headers: Mapping[str, str] | None = None,
    cookies: Mapping[str, str] | None = None,
    username: str | None = None,
    password: str | None = None,
    token: str | None = None,
    needs_jar: bool = False,
    is_tls_only: bool = False,
) -> SiteAccess:
    """Builds the access of a domain from its settings. User-Agent, Accept-Language and Cookie among the headers count
    as those settings."""
    sent: dict[str, str] = {}
    named = {name.lower(): value for name, value in (headers or {}).items()}
    for name, value in (headers or {}).items():
        if not (is_header_safe(name) and is_header_safe(value)):
            raise ConfigurationError(f"The header {name!a} has characters that cannot be sent.")
        if name.lower() not in CLIENT_HEADERS:
            sent[name] = value
    return SiteAccess(
        user_agent or named.get("user-agent"),
        accept_language or named.get("accept-language"),
        sent,
        {**_split_cookies(named.get("cookie", "")), **(cookies or {})},
        authorization_of(username, password, token),
        needs_jar,
        is_tls_only,
    )


def authorization_of(username: str | None, password: str | None, token: str | None) -> str | None:
    """Returns the Authorization header: a bearer token, or else HTTP Basic."""
    if token:
        return f"Bearer {token.strip()}"
    if username is None and password is None:
        return None
    pair = f"{username or ''}:{password or ''}".encode()
    return f"Basic {base64.b64encode(pair).decode('ascii')}"


def write_cookies(pairs: Sequence[tuple[str, str]]) -> str:
    return f"Cookie: {'; '.join(f'{name}={value}' for name, value in pairs)}\r\n" if pairs else ""


def mask_request(head: bytes) -> bytes:
    """Returns a request's head as it may be stored: values of headers that may hold secrets are replaced."""
    first, *lines = head.split(b"\r\n")
    return b"\r\n".join([first, *map(_mask_line, lines)])


def mask_response(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Returns a response's headers as they may be stored: of cookies the names and attributes stay."""
    return [(name, _mask_cookie(value)) if name.lower() == b"set-cookie" else (name, value) for name, value in headers]


def _mask_line(line: bytes) -> bytes:
    name, colon, value = line.partition(b":")
    lower = name.decode("latin-1").strip().lower()
    if not colon or lower in NOT_MASKED or lower.startswith("if-"):
        return line
    if lower == "cookie":
        pairs = [pair.partition(b"=")[0].strip() + b"=" + MASK.encode() for pair in value.split(b";")]
        return b"Cookie: " + b"; ".join(pairs)
    return name + b": " + MASK.encode()


def _mask_cookie(value: bytes) -> bytes:
    pair, semicolon, rest = value.partition(b";")
    name, _, _ = pair.partition(b"=")
    return name + b"=" + MASK.encode() + semicolon + rest


def _split_cookies(text: str) -> dict[str, str]:
    pairs = [part.strip().partition("=") for part in text.split(";") if "=" in part]
    return {name.strip(): value.strip() for name, _, value in pairs if name.strip()}
