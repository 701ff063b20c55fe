"""The address guard as the workers of the continuous run have it, for processes that only ask what it would say."""

from forager.db.types import Connection
from forager.politeness.guard import AddressGuard
from forager.stats import store as stats


async def guard_of_workers(conn: Connection, guard: AddressGuard) -> AddressGuard:
    """Returns a guard that allows what the own settings allow, and the networks that `forager up` was started with."""
    networks = await stats.continuous_networks(conn)
    return guard.with_networks(networks) if networks else guard
