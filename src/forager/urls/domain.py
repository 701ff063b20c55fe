"""Determines the domain of a URL. A domain identifies a site: `www.` and default ports do not make a different one,
sub-domains and other ports do."""

import re
from functools import cache, lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING

from forager.errors import BadUrlError
from forager.urls.normalize import normalize

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

PLAIN_ORIGIN = re.compile(r"https?://(?:[a-z0-9-]{1,63}\.)+[a-z]{1,63}")
"""Matches an origin whose host is in plain DNS form: nothing to decode, and its last label rules out an IP address."""
LONGEST_PLAIN_ORIGIN = 250
"""A DNS name has up to 253 characters."""
LONGEST_ORIGIN = 270
"""`https://`, a full DNS name and a port. Longer strings are never cached, which bounds the cache's memory."""


def domain_of(url: str, *, strip_subdomains: bool = False) -> str:
    """Returns the canonical domain: `https://www.Shop.example:8443/x` → `shop.example:8443`."""
    end = url.find("/", 8)
    domain = _known_domain(url[:end]) if 8 < end < LONGEST_ORIGIN else None
    if domain is None:
        domain = _strip_www(origin_of(url).partition("://")[2])
    return registrable(domain) if strip_subdomains else domain


def origin_of(url: str) -> str:
    """Returns scheme, host and non-default port: the unit that has one robots.txt."""
    end = url.find("/", 8)
    if 8 < end < LONGEST_ORIGIN and is_canonical_origin(url[:end]):
        return url[:end]
    normal = normalize(url)
    return normal[: normal.index("/", 8)]


def domain_of_origin(origin: str) -> str | None:
    """Returns the canonical domain of an origin already in normalised form; None for others. Not cached: for many
    origins that are looked up once each."""
    return _strip_www(origin.partition("://")[2]) if _is_canonical(origin) else None


_known_domain = lru_cache(maxsize=8192)(domain_of_origin)


def _is_canonical(origin: str) -> bool:
    """Whether a URL that starts with `origin` and a slash keeps exactly these characters when normalised."""
    if PLAIN_ORIGIN.fullmatch(origin) and "xn--" not in origin and len(origin) < LONGEST_PLAIN_ORIGIN:
        return True
    try:
        return normalize(origin + "/") == origin + "/"
    except BadUrlError:
        return False


is_canonical_origin = lru_cache(maxsize=8192)(_is_canonical)


@lru_cache(maxsize=8192)
def registrable(name: str) -> str:
    """Returns the public suffix plus one label, with the port. IP addresses, single labels and bare suffixes are
    returned as is."""
    host, colon, port = _split_port(name)
    if is_address(host):
        return name
    short: str | None = _public_suffixes().privatesuffix(host)
    return (short or host) + colon + port


def is_address(host: str) -> bool:
    """Whether a canonical host is an IP literal; names never end in a numeric label (WHATWG)."""
    if host.startswith("["):
        return True
    if not host[-1:].isdigit():
        return False
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _strip_www(name: str) -> str:
    """Removes the leading `www` label, but only if a name with a dot remains: `www.com` is a domain of its own."""
    rest = name.removeprefix("www.")
    return rest if "." in rest else name


def _split_port(name: str) -> tuple[str, str, str]:
    if name.startswith("["):
        host, bracket, port = name.partition("]")
        return host + bracket, port[:1], port[1:]
    return name.partition(":")


@cache
def _public_suffixes() -> "PublicSuffixList":
    """Loads the list on first use, because loading takes 50 ms."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
