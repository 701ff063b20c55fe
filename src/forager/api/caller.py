"""Determines where a request comes from: its address, whether it uses TLS, from which site. Pure.

The headers of a reverse proxy are trusted only if the settings name it; from any other peer they are ignored.
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
    """Neither `Sec-Fetch-Site` nor `Origin` is present: no browser sends a change like that; a program may."""


@dataclass(frozen=True, slots=True)
class Caller:
    ip: str
    is_secure: bool
    """Whether the browser's side of the connection has to be treated as TLS: all but plain HTTP within this machine."""

    @property
    def cookie_name(self) -> str:
        return SECURE_COOKIE if self.is_secure else PLAIN_COOKIE

    @property
    def subject(self) -> str:
        """The subject that its requests count against: for IPv6 the /64, which is what one household gets."""
        return _subject(self.ip)


def read_networks(texts: Sequence[str]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)


def read_caller(peer: str | None, scheme: str, headers: Headers, trusted: Sequence[Network]) -> Caller:
    """Builds the caller. `peer` is the connected address; None is a Unix socket, so this machine."""
    ip = _normalize_ip(peer or LOCAL)
    if trusted and _is_in(ip, trusted):
        ip = _find_client_ip(_all(headers, "x-forwarded-for"), ip, trusted)
        scheme = (_all(headers, "x-forwarded-proto") or [scheme])[-1].lower()
    is_within = ip_of(ip).is_loopback and host_of(headers.get("host", "")) in LOOPBACK_HOSTS
    return Caller(ip, scheme == "https" or not is_within)


def is_tls(scope: MutableMapping[str, Any], public_url: str | None, trusted: Sequence[Network]) -> bool:
    """Returns whether the browser uses TLS, to us or to a trusted proxy: the request's address is the public one, which
    is https, or a trusted proxy reports it."""
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
    """Returns whether the browser uses TLS on the default port, 443. TLS on another port says nothing about the rest of
    the host, whose other ports may be plain HTTP."""
    if not is_tls(scope, public_url, trusted):
        return False
    told = Headers(scope=scope).get("host", "")
    is_public = public_url is not None and public_url.lower().startswith("https://")
    public = urlsplit(public_url or "").netloc if is_public else told
    if host_of(told) == host_of(public):  # the proxy may forward the host without the port, or with ours
        told = public
    return {_port_of(told), _port_of(public)} <= {None, 443}


def find_unknown_host(
    scope: MutableMapping[str, Any], public_url: str | None, trusted: Sequence[Network]
) -> str | None:
    """Returns the host of a request to an API on loopback if clients should not know it by that name: a page whose name
    was made to resolve to this address (DNS rebinding) would count as the same site. Addresses and names of this
    machine are accepted. Programs with a token may use any name, since no page has a token; so may health probes, which
    reveal nothing. A browser can be made to send other kinds of authorization, and sends the page's `Origin` with a
    change."""
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
    """Returns the names of this machine; on Debian they resolve to 127.0.1.1."""
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
    """Returns the values of all headers of that name, in order: a proxy may append its own after a forged one."""
    return [each.strip() for line in headers.getlist(name) for each in line.split(",") if each.strip()]


def site_of(headers: Mapping[str, str], public_url: str | None) -> Site:
    """Returns whether one of our own pages sends this. Browsers report it with every change; pages cannot forge it."""
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
    """Parses an address. Never fails: invalid text becomes an address that is not trusted."""
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
    """Returns the first address from the right that is not a trusted proxy: any value left of it may be forged."""
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
    """Returns host and port, without the scheme's default port. Ignores the scheme: a proxy may add the TLS."""
    try:
        parts = urlsplit(url)
        port, host = parts.port, (parts.hostname or "").lower()
    except ValueError:
        return ""
    if not host:
        return ""
    return host if port is None or port in {80, 443} else f"{host}:{port}"
