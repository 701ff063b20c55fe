"""The scope of a run whose seeds are too many to be listed in its config: the domains it has taken; for the continuous
run, all known domains."""

from array import array

from forager.db.database import Database
from forager.db.types import Connection
from forager.domains import store as domains
from forager.engine.transaction_retry import in_transaction
from forager.links.name_set import MutableNameSet, NameSet, hash_name
from forager.links.scope import CrawlScope
from forager.runs.models import RunSpec, Scope


async def read_reach(database: Database, run: int, spec: RunSpec) -> CrawlScope:
    if spec.is_standing:
        return CrawlScope.of(spec, domains=await in_transaction(database, _read_known))
    if not spec.is_long or spec.scope is Scope.ANY:
        return CrawlScope.of(spec)
    is_wide = spec.scope is Scope.DOMAIN

    async def read_names(conn: Connection) -> NameSet:
        hashes = array("Q")
        async for name, parent in domains.stream_names(conn, run):
            hashes.append(hash_name(parent if is_wide else name))
        return NameSet(hashes)

    names = await in_transaction(database, read_names)
    return CrawlScope.of(spec, parents=names) if is_wide else CrawlScope.of(spec, domains=names)


async def _read_known(conn: Connection) -> MutableNameSet:
    hashes, up_to = array("Q"), 0
    async for up_to, name in domains.stream_known_names(conn, 0):  # noqa: B007 (the last one counts)
        hashes.append(hash_name(name))
    return MutableNameSet(NameSet(hashes), up_to)
