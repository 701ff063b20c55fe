"""What a request says about where it comes from: its address, whether over TLS, from which site. Pure.

A proxy in front is believed only where the settings name it; from anybody else its headers mean nothing.
"""

import ipaddress
import socket
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from forager.accounts.credentials import TOKEN_PREFIX

LOCAL = "127.0.0.1"
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
MOST_HOPS = 20
PLAIN_COOKIE, SECURE_COOKIE = "forager_session", "__Host-forager_session"

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Site(StrEnum):
    SAME = "same"
    FOREIGN = "foreign"
    UNTOLD = "untold"
    """No browser sends a change like that; a program may."""


@dataclass(frozen=True, slots=True)
class Caller:
    ip: str
    is_secure: bool
    """Whether the browser's side of the connection must be taken to be TLS: all but plain HTTP within this machine."""

    @property
    def cookie_name(self) -> str:
        return SECURE_COOKIE if self.is_secure else PLAIN_COOKIE

    @property
    def subject(self) -> str:
        """Whom its requests count against: of IPv6 the /64, which is what one household gets."""
        return _subject(self.ip)


def read_networks(texts: Sequence[str]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)


def read_caller(peer: str | None, scheme: str, headers: Headers, trusted: Sequence[Network]) -> Caller:
    """`peer` is who connected to us; None: through a Unix socket, so from this machine."""
    ip = _normalize_ip(peer or LOCAL)
    if trusted and _is_in(ip, trusted):
        ip = _find_client_ip(_all(headers, "x-forwarded-for"), ip, trusted)
        scheme = (_all(headers, "x-forwarded-proto") or [scheme])[-1].lower()
    is_within = ip_of(ip).is_loopback and host_of(headers.get("host", "")) in LOOPBACK_HOSTS
    return Caller(ip, scheme == "https" or not is_within)


def is_tls(scope: MutableMapping[str, Any], public_url: str | None, trusted: Sequence[Network]) -> bool:
    """Whether the browser speaks TLS, to us or to a proxy that we believe: the address is the public one, which is
    https, or a trusted proxy says so."""
    if scope["scheme"] == "https":
        return True
    is_public = public_url is not None and public_url.lower().startswith("https://")
    if not is_public and not trusted:
        return False
    headers = Headers(scope=scope)
    if is_public and host_of(headers.get("host", "")) == host_of(urlsplit(public_url or "").netloc):
        return True
    told = _all(headers, "x-forwarded-proto")
    return bool(told) and told[-1].lower() == "https" and _is_in(_peer(scope), trusted)


def is_tls_for_host(scope: MutableMapping[str, Any], public_url: str | None, trusted: Sequence[Network]) -> bool:
    """Whether the browser speaks TLS on its own port, 443. On another one it says nothing about the rest of the host,
    whose other ports may be plain HTTP."""
    if not is_tls(scope, public_url, trusted):
        return False
    told = Headers(scope=scope).get("host", "")
    is_public = public_url is not None and public_url.lower().startswith("https://")
    public = urlsplit(public_url or "").netloc if is_public else told
    if host_of(told) == host_of(public):  # the proxy may pass the name on without the port, or with ours
        told = public
    return {_port_of(told), _port_of(public)} <= {None, 443}


def find_unknown_host(
    scope: MutableMapping[str, Any], public_url: str | None, trusted: Sequence[Network]
) -> str | None:
    """The name a request came to, if no client of an API on loopback should know it by that name: a page whose name was
    made to point here (DNS rebinding) would be of the same site as we. Addresses and names of this machine are fine.
    Programs with a token may use any name, since no page has one; so may probes, which learn nothing. A browser can be
    made to send other kinds of authorization, and names the page (`Origin`) where it sends a change."""
    server = scope.get("server") or ("", None)
    if not ip_of(server[0]).is_loopback or scope["path"] == "/health":
        return None
    headers = Headers(scope=scope)
    host = host_of(headers.get("host", ""))
    if _is_program(headers) or _is_own_name(host) or _is_in(_peer(scope), trusted):
        return None
    return None if public_url is not None and host == host_of(urlsplit(public_url).netloc) else host


def _is_program(headers: Headers) -> bool:
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and secret.strip().startswith(TOKEN_PREFIX) and "origin" not in headers


def _is_own_name(host: str) -> bool:
    return (
        host in {"", *LOOPBACK_HOSTS} or host in _get_host_names() or host.endswith(".localhost") or _is_address(host)
    )


@cache
def _get_host_names() -> frozenset[str]:
    """What this machine calls itself; Debian has it point at 127.0.1.1."""
    name = socket.gethostname().lower()
    return frozenset({name, name.partition(".")[0]})


@lru_cache(maxsize=4096)
def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _peer(scope: MutableMapping[str, Any]) -> str:
    client = scope.get("client")
    return _normalize_ip(client[0] if client else LOCAL)


def _all(headers: Headers, name: str) -> list[str]:
    """Of all headers of that name, in order: a proxy may add a line of its own behind one that a stranger sent."""
    return [each.strip() for line in headers.getlist(name) for each in line.split(",") if each.strip()]


def site_of(headers: Mapping[str, str], public_url: str | None) -> Site:
    """Whether a page of ours sends this. Browsers tell with every change, and pages cannot forge it."""
    told = headers.get("sec-fetch-site")
    if told is not None and told != "same-origin":
        return Site.FOREIGN
    origin = headers.get("origin")
    if origin is None:
        return Site.SAME if told else Site.UNTOLD
    ours = {_netloc(f"//{headers.get('host', '')}"), _netloc(public_url or "")} - {""}
    return Site.SAME if _netloc(origin) in ours else Site.FOREIGN


@lru_cache(maxsize=4096)
def host_of(netloc: str) -> str:
    try:
        return (urlsplit(f"//{netloc}").hostname or "").lower()
    except ValueError:
        return ""


def _port_of(netloc: str) -> int | None:
    try:
        return urlsplit(f"//{netloc}").port
    except ValueError:
        return 0


@lru_cache(maxsize=4096)
def ip_of(text: str) -> Address:
    """Never fails: what is no address is taken for one nobody trusts."""
    try:
        found = ipaddress.ip_address(text.strip().strip("[]"))
    except ValueError:
        return ipaddress.IPv4Address(0)
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


def _normalize_ip(text: str) -> str:
    return str(ip_of(text))


def _is_in(ip: str, networks: Sequence[Network]) -> bool:
    return any(ip_of(ip) in network for network in networks)


def _find_client_ip(hops: Sequence[str], peer: str, trusted: Sequence[Network]) -> str:
    """From the right, the first address that is no trusted proxy: whatever stands left of it may be invented."""
    ip = peer
    for hop in reversed(hops[-MOST_HOPS:]):
        ip = _normalize_ip(_without_port(hop))
        if not _is_in(ip, trusted):
            break
    return ip


def _without_port(hop: str) -> str:
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


@lru_cache(maxsize=4096)
def _subject(text: str) -> str:
    ip = ip_of(text)
    if isinstance(ip, ipaddress.IPv6Address):
        return f"ip:{ipaddress.ip_network((ip, 64), strict=False)}"
    return f"ip:{ip}"


def _netloc(url: str) -> str:
    """Host and port, the scheme's own port left out. The scheme itself does not count: a proxy may add the TLS."""
    try:
        parts = urlsplit(url)
        port, host = parts.port, (parts.hostname or "").lower()
    except ValueError:
        return ""
    if not host:
        return ""
    return host if port is None or port in {80, 443} else f"{host}:{port}"
