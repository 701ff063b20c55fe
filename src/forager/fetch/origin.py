"""Parses the origin of a URL and builds the request that is sent there. Pure.

URLs are already normalised. Input that could end a line early, or start another header, is rejected or left out.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from forager.errors import BadUrlError, ConnectError
from forager.fetch.models import ScriptRequest
from forager.urls.domain import domain_of

PORTS = {"http": 80, "https": 443}
KNOWN_ORIGINS = 10_000


class Origin(NamedTuple):
    """The origin a connection belongs to. `host` is an IPv6 address without its brackets, an IPv4 address, or a
    name."""

    is_tls: bool
    host: str
    port: int
    authority: str
    """As in the Host header: never with userinfo, and with a port only if it is not the scheme's own."""
    domain: str = ""
    """The domain that cookies and exceptions belong to; empty where the host is no canonical name."""
    verifies_tls: bool = True
    """Part of the key: a connection to an unverified host is never used as one to a verified host."""


def split_url(url: str) -> tuple[Origin, str]:
    """Returns the origin, and the path with its query as the request line has it. The fragment is not sent."""
    if not (url.isascii() and url.isprintable()) or " " in url:
        raise _invalid_address(url)
    start = url.find("://") + 3
    end = url.find("/", start)
    base = url if end < 0 else url[:end]
    if "?" in base or "#" in base:
        end = min(place for mark in "?#" if (place := url.find(mark, start)) >= 0)
        base = url[:end]
    target = "" if end < 0 else url[end:].partition("#")[0]
    return read_origin(base), target if target.startswith("/") else f"/{target}"


@lru_cache(maxsize=KNOWN_ORIGINS)
def read_origin(base: str) -> Origin:
    """Parses an origin; `base` is a URL without its path."""
    scheme, _, authority = base.partition("://")
    scheme = scheme.lower()
    host_and_port = authority.rpartition("@")[2]
    host, port_text = _split_port(host_and_port)
    own_port = PORTS.get(scheme)
    if own_port is None or not host or (port_text and not (port_text.isdigit() and 0 < int(port_text[:9]) < 65536)):
        raise _invalid_address(base)
    port = int(port_text or own_port)
    name = host.removeprefix("[").removesuffix("]")
    shown = host if port == own_port else f"{host}:{port}"
    return Origin(scheme == "https", name, port, shown, _domain_of(f"{scheme}://{shown}/"))


def hosts_of(domain: str) -> list[tuple[str, int]]:
    """Returns the hosts and ports of a canonical domain: with and without `www.`, and both default ports where it
    names none."""
    host, port = _split_port(domain)
    ports = [int(port)] if port else sorted(PORTS.values())
    names = [host.removeprefix("[").removesuffix("]")]
    if not host.startswith("["):
        names.append(f"www.{host}")
    return [(name, number) for name in names for number in ports]


def _domain_of(url: str) -> str:
    try:
        return domain_of(url)
    except BadUrlError:
        return ""


def _split_port(host_and_port: str) -> tuple[str, str]:
    if host_and_port.startswith("["):
        address, bracket, rest = host_and_port.partition("]")
        return (f"{address}]", rest.removeprefix(":")) if bracket and rest[:1] in {"", ":"} else ("", "")
    host, _, port = host_and_port.partition(":")
    return host, port


def build_request(
    origin: Origin, target: str, fixed: str, etag: str | None, last_modified: str | None, *, cookies: str = ""
) -> bytes:
    """Builds a GET request; `fixed` are the header lines every request has. Values that came from a server are sent
    back only if they are printable."""
    request = f"GET {target} HTTP/1.1\r\nHost: {origin.authority}\r\n{fixed}{cookies}"
    if etag and is_header_safe(etag):
        request += f"If-None-Match: {etag}\r\n"
    if last_modified and is_header_safe(last_modified):
        request += f"If-Modified-Since: {last_modified}\r\n"
    return f"{request}\r\n".encode("ascii")


def build_post(origin: Origin, target: str, fixed: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """Builds a POST request. Names and values of headers are our own, and still must not end a line."""
    if not all(is_header_safe(name) and is_header_safe(value) for name, value in headers.items()):
        raise ValueError("a header that cannot be sent")
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"POST {target} HTTP/1.1\r\nHost: {origin.authority}\r\n{fixed}{lines}Content-Length: {len(body)}\r\n\r\n"
    return head.encode("ascii") + body


def build_script_request(origin: Origin, target: str, fixed: str, script: ScriptRequest) -> bytes:
    """Builds the request of a page's script. Its headers are the page's: what cannot be sent is left out."""
    safe = {name: value for name, value in script.headers.items() if is_header_safe(name) and is_header_safe(value)}
    if script.body is not None:
        return build_post(origin, target, fixed, safe, script.body)
    lines = "".join(f"{name}: {value}\r\n" for name, value in safe.items())
    return f"GET {target} HTTP/1.1\r\nHost: {origin.authority}\r\n{fixed}{lines}\r\n".encode("ascii")


def is_header_safe(value: str) -> bool:
    return value.isascii() and value.isprintable()


def _invalid_address(url: str) -> ConnectError:
    shown = "".join(c for c in url[:200] if c.isprintable())
    return ConnectError(f"{shown} is no address that can be dialled")
