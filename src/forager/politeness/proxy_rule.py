"""May a proxy be dialled at this address? The same table as for sites, with one difference: an operator named it, so
that any port will do, and nobody needs to be written to."""

from collections.abc import Callable, Sequence

from forager.politeness.guard import AddressGuard

ANY_PORT = 0


def proxy_rule(allow_networks: Sequence[str]) -> Callable[[str, int], None]:
    """Raises AddressRefusedError for an address that is not public and not in the operator's own networks."""
    guard = AddressGuard(allow_networks, [ANY_PORT])
    return lambda ip, _port: guard.check_ip(ip, ANY_PORT)
