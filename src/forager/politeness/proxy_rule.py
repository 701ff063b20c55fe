"""Decides whether a proxy address may be connected to. Uses the same table as for sites, with one difference: an
operator configured the proxy, so any port is allowed and no contact is required."""

from collections.abc import Callable, Sequence

from forager.politeness.guard import AddressGuard

ANY_PORT = 0


def proxy_rule(allow_networks: Sequence[str]) -> Callable[[str, int], None]:
    """Returns a check that raises AddressBlockedError for an address neither public nor in the operator's own
    networks."""
    guard = AddressGuard(allow_networks, [ANY_PORT])
    return lambda ip, _port: guard.check_ip(ip, ANY_PORT)
