"""Decides which domains are crawled without a delay: only those an operator listed, by host, host:port, address or
network.

Robots rules, budgets and the address guard still apply to them.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from forager.politeness.guard import host_as_ip

DEFAULT_PORTS = frozenset({"80", "443"})
"""A canonical domain never includes these ports, so `shop.example:80` means `shop.example`."""


def has_no_delay(
    domain: str, unpaced_hosts: Sequence[str], addresses: Iterable[str | IPv4Address | IPv6Address] = ()
) -> bool:
    """Whether a canonical domain (`host` or `host:port`) is exempt: by its name, by its own address, or because all
    addresses it resolved to are exempt. One exempt address among others is not enough."""
    if not unpaced_hosts:
        return False
    names, networks = _sort_entries(tuple(unpaced_hosts))
    host, port = _split(domain)
    if _join(host, port) in names or host in names:
        return True
    own = host_as_ip(host)
    ips = [own] if own else [ip_address(str(ip)) for ip in addresses]
    return bool(ips) and all(any(ip in network for network in networks) for ip in ips)


@lru_cache(maxsize=16)
def _sort_entries(entries: tuple[str, ...]) -> tuple[frozenset[str], tuple[IPv4Network | IPv6Network, ...]]:
    names, networks = set(), []
    for entry in entries:
        try:
            networks.append(ip_network(entry.strip(), strict=False))
        except ValueError:
            names.add(_join(*_split(entry)))
    return frozenset(names), tuple(networks)


def _split(entry: str) -> tuple[str, str]:
    """Returns host and port as text; the port of a bracketed address follows the bracket."""
    text = entry.strip().lower()
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or (text.startswith("[") and not host.endswith("]")):
        host, port = text, ""
    return host.rstrip(".").removeprefix("www."), "" if port in DEFAULT_PORTS else port


def _join(host: str, port: str) -> str:
    return f"{host}:{port}" if port else host
