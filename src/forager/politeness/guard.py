"""Decides whether an IP address may be connected to. Name resolution and connecting happen elsewhere; the caller must
connect to exactly the address that was checked.

The table is our own: `ipaddress.is_global` of older Python versions allows a third of these.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from forager.config.settings import Settings
from forager.errors import AddressBlockedError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# The IANA special-purpose registries, and other networks without public hosts. The first entry that contains an address
# names it, so a narrow network precedes the wide one around it.
FORBIDDEN: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "an address of this very network"),
        ("10.0.0.0/8", "a private address"),
        ("100.100.100.200/32", "a cloud metadata address"),
        ("100.64.0.0/10", "a carrier's shared address"),
        ("127.0.0.0/8", "a loopback address"),
        ("168.63.129.16/32", "a cloud metadata address"),
        ("169.254.169.254/32", "a cloud metadata address"),
        ("169.254.0.0/16", "a link-local address"),
        ("172.16.0.0/12", "a private address"),
        ("192.0.0.0/24", "an address reserved for protocols"),
        ("192.0.2.0/24", "a documentation address"),
        ("192.31.196.0/24", "an address reserved for AS112"),
        ("192.52.193.0/24", "an address reserved for multicast tunnels"),
        ("192.88.99.0/24", "a 6to4 relay address"),
        ("192.168.0.0/16", "a private address"),
        ("192.175.48.0/24", "an address reserved for AS112"),
        ("198.18.0.0/15", "a benchmarking address"),
        ("198.51.100.0/24", "a documentation address"),
        ("203.0.113.0/24", "a documentation address"),
        ("224.0.0.0/4", "a multicast address"),
        ("255.255.255.255/32", "the broadcast address"),
        ("240.0.0.0/4", "a reserved address"),
        ("::/128", "the unspecified address"),
        ("::1/128", "a loopback address"),
        ("::ffff:0:0/96", "an IPv4 address in IPv6 form"),
        ("::ffff:0:0:0/96", "an IPv4 address in IPv6 form"),
        ("::/96", "an IPv4 address in IPv6 form"),
        ("64:ff9b::/96", "a NAT64 address"),
        ("64:ff9b:1::/48", "a NAT64 address"),
        ("100::/64", "a discard address"),
        ("100:0:0:1::/64", "a dummy prefix"),
        ("2001::/32", "a Teredo address"),
        ("2001:2::/48", "a benchmarking address"),
        ("2001:10::/28", "an ORCHID address"),
        ("2001:20::/28", "an ORCHID address"),
        ("2001::/23", "an address reserved for protocols"),
        ("2001:db8::/32", "a documentation address"),
        ("2002::/16", "a 6to4 address"),
        ("2620:4f:8000::/48", "an address reserved for AS112"),
        ("3ffe::/16", "an address of the former 6bone"),
        ("3fff::/20", "a documentation address"),
        ("5f00::/16", "a segment-routing address"),
        ("fd00:ec2::254/128", "a cloud metadata address"),
        ("fd20:ce::254/128", "a cloud metadata address"),
        ("fc00::/7", "a private address"),
        ("fe80::/10", "a link-local address"),
        ("fec0::/10", "a site-local address"),
        ("ff00::/8", "a multicast address"),
    )
)
GLOBAL_UNICAST = IPv6Network("2000::/3")
"""All IPv6 space assigned to hosts; addresses outside it that are not listed above are not public either."""

NAMES = {
    "localhost": "127.0.0.1",
    "localhost.localdomain": "127.0.0.1",
    "ip6-localhost": "::1",
    "ip6-loopback": "::1",
    "metadata": "169.254.169.254",
    "metadata.google.internal": "169.254.169.254",
    "metadata.goog": "169.254.169.254",
    "instance-data": "169.254.169.254",
    "instance-data.ec2.internal": "169.254.169.254",
    "host.docker.internal": "172.17.0.1",
    "gateway.docker.internal": "172.17.0.1",
    "kubernetes.default.svc": "10.96.0.1",
}
"""Names that resolve to such an address on every machine that knows them."""
SOME_PUBLIC_ADDRESS = "1.1.1.1"
"""Stands for any resolved public address: the contact and port rules are the same for all of them."""

REMEMBERED = 16_384
"""Results cached per guard; a lookup costs about 20 µs and happens with every request."""


class AddressGuard:
    """Allows public addresses on allowed ports, and the operator's own networks on any port."""

    def __init__(
        self, allow_networks: Sequence[str], allow_ports: Sequence[int], *, is_anonymous: bool = False
    ) -> None:
        self._is_anonymous = is_anonymous
        """No contact for site owners is set: only the operator's own networks are allowed."""
        self._allowed = (tuple(allow_networks), tuple(allow_ports))
        self._networks = tuple(ip_network(network, strict=False) for network in allow_networks)
        self._ports = frozenset(allow_ports)
        self._why_not = lru_cache(maxsize=REMEMBERED)(self._look_up)

    def with_networks(self, networks: Sequence[str]) -> "AddressGuard":
        """Returns a guard that also allows these networks."""
        allowed, ports = self._allowed
        return AddressGuard((*allowed, *networks), ports, is_anonymous=self._is_anonymous)

    def check_ip(self, ip: str | Address, port: int) -> None:
        """Raises AddressBlockedError unless connecting to this address and port is allowed."""
        if reason := self._why_not(str(ip), port):
            raise AddressBlockedError(reason)

    def check_host(self, host: str, port: int) -> None:
        """Raises AddressBlockedError for a URL host that can never be connected to: a forbidden address, a name that
        always resolves to one, or any name if only the operator's own networks are allowed and none are configured."""
        ip = host_as_ip(host) or _address_of_name(host)
        if ip is not None:
            self.check_ip(ip, port)
        elif not self._networks and (reason := self._why_not(SOME_PUBLIC_ADDRESS, port)):
            raise AddressBlockedError(reason.replace(SOME_PUBLIC_ADDRESS, host))

    def check_all(self, ips: Iterable[str | Address], port: int) -> None:
        """Checks all addresses of a DNS response. One forbidden address indicates an attack or a mistake, so all are
        rejected."""
        answer = list(ips)
        if not answer:
            raise AddressBlockedError("The name has no address, so there is nothing that may be dialled.")
        for ip in answer:
            self.check_ip(ip, port)

    def _look_up(self, text: str, port: int) -> str | None:
        try:
            ip = ip_address(text)
        except ValueError:
            return f"{text[:80]!r} is no IP address."
        if isinstance(ip, IPv6Address) and ip.scope_id is not None:
            return f"{ip} is bound to one network interface; such addresses are never dialled."
        if any(ip in network for network in self._networks):
            return None
        if kind := kind_of(ip):
            return f"{ip} is {kind}; add it to fetch.allow_networks to crawl it."
        if self._is_anonymous:
            return (
                f"{ip} is a public address, and no contact is set; set FORAGER_CONTACT to crawl other people's sites."
            )
        if port not in self._ports:
            listed = ", ".join(map(str, sorted(self._ports)))
            return (
                f"Port {port} of {ip} is none of the allowed ones ({listed}); add it to fetch.allow_ports to crawl it."
            )
        return None


def kind_of(ip: Address) -> str | None:
    """Returns a description of a forbidden address; None for a public one. IPv4 addresses embedded in IPv6 are
    forbidden: there is no legitimate reason to link to them."""
    for network, kind in FORBIDDEN:
        if ip in network:
            return kind
    if isinstance(ip, IPv6Address) and ip not in GLOBAL_UNICAST:
        return "no public address"
    return None


def _address_of_name(host: str) -> Address | None:
    name = host.lower().rstrip(".")
    known = NAMES.get("localhost" if name.endswith(".localhost") else name)
    return ip_address(known) if known else None


def host_as_ip(host: str) -> Address | None:
    """Returns the IP address that a URL's host represents; None for a name. The host must come from `urls.normalize`:
    WHATWG parsing has by then converted every spelling of an IPv4 address to dotted decimals."""
    try:
        return ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def guard_from_settings(settings: Settings) -> AddressGuard:
    return AddressGuard(
        settings.fetch.allow_networks, settings.fetch.allow_ports, is_anonymous=settings.contact is None
    )
