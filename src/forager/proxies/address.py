"""Parses a proxy address as an operator writes it: `http://user:password@host:port`. Pure; error messages do not
repeat rejected input."""

from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from forager.errors import UsageError

PROTOCOLS = ("http", "https", "socks5")
EXAMPLE = "write it like http://user:password@proxy.example:3128"


@dataclass(frozen=True, slots=True)
class ProxyAddress:
    protocol: str
    host: str
    port: int
    username: str | None = None
    password: str | None = field(default=None, repr=False)


def parse_address(text: str) -> ProxyAddress:
    parts = _split(text.strip())
    if parts.scheme == "socks5h":
        raise UsageError("Names are looked up here, never by a proxy: write socks5:// instead of socks5h://.")
    if parts.scheme not in PROTOCOLS:
        raise UsageError(f"{_mask(parts)} is no proxy Forager can use ({', '.join(PROTOCOLS)}): {EXAMPLE}.")
    if not parts.hostname or not _is_plain(parts.hostname):
        raise UsageError(f"{_mask(parts)} names no host: {EXAMPLE}.")
    port = _port(parts)
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise UsageError(f"{_mask(parts)} has something behind its port: {EXAMPLE}.")
    return ProxyAddress(parts.scheme, parts.hostname.rstrip("."), port, *_account(parts))


def _split(text: str) -> SplitResult:
    try:
        return urlsplit(text if "://" in text else f"http://{text}")
    except ValueError:
        raise UsageError(f"That is no address of a proxy: {EXAMPLE}.") from None


def _port(parts: SplitResult) -> int:
    try:
        port = parts.port
    except ValueError:
        port = None
    if not port:
        raise UsageError(f"{_mask(parts)} has no port: {EXAMPLE}.")
    return port


def _account(parts: SplitResult) -> tuple[str | None, str | None]:
    username = unquote(parts.username) if parts.username else None
    password = unquote(parts.password) if parts.password else None
    if password and not username:
        raise UsageError(f"{_mask(parts)} has a password and no user name: {EXAMPLE}.")
    for text in (username, password):
        if text and (len(text.encode()) > 255 or not text.isprintable()):
            raise UsageError(f"The user name or password of {_mask(parts)} is too long or holds control characters.")
    if username and ":" in username and parts.scheme != "socks5":
        raise UsageError(f"The user name of {_mask(parts)} holds a colon, which such a proxy would take for its end.")
    return username, password


def _is_plain(host: str) -> bool:
    return host.isascii() and host.isprintable() and not any(sign in host for sign in " %\\")


def _mask(parts: SplitResult) -> str:
    """Returns the address without user name and password."""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
