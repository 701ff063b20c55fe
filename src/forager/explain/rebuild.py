"""Repair: rebuilds counters from the rows they count, and merges domains whose names are spelled differently. Both are
idempotent.

A rebuild processes domains in batches, each in a separate transaction, and leaves leased domains to their workers, so
it does not conflict with a running crawl. A merge moves rows between domains and must run alone.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from forager.db.types import Connection, Pool
from forager.domains import admin, repair
from forager.domains.cooldown import sign_moves
from forager.domains.repair import CorrectedValue, Named
from forager.domains.service import release_tasks
from forager.domains.store import find_domains
from forager.errors import BadUrlError, UsageError
from forager.frontier.merge import merge_domain_pages
from forager.images import store as images
from forager.products import store as products
from forager.proxies import admin as proxies
from forager.records import store as records
from forager.stats import store as stats
from forager.urls.domain import domain_of
from forager.urls.normalize import normalize
from forager.workers.queries import SQL

BATCH = 500
NAMES_AT_ONCE = 10_000


@dataclass(slots=True)
class RebuildResult:
    domains: int = 0
    skipped: int = 0
    """Domains that are leased, or were being changed by another process."""
    mended: list[CorrectedValue] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Merged:
    name: str
    """The canonical spelling."""
    names: tuple[str, ...]
    """All spellings that were found, the oldest first."""
    pages_moved: int = 0
    pages_twice: int = 0


async def rebuild(pool: Pool, *, by: str, refresh_every_s: float | None, refused_rest_s: float) -> RebuildResult:
    """Rebuilds every counter from pages and tasks; changes a state only if it cannot be correct."""
    done = RebuildResult()
    after_id = 0
    while True:
        async with pool.acquire() as conn, conn.transaction():
            batch = await repair.next_domains(conn, after_id, BATCH)
            if not batch:
                return done
            held = await repair.lock_free_domains(conn, batch)
            await sign_moves(conn, by=by, reason_code="rebuild", reason="recounted")
            done.mended += await repair.repair_counters(conn, held)
            done.mended += await repair.repair_urgency(conn, held)
            done.mended += await repair.repair_states(
                conn, held, refresh_every_s=refresh_every_s, refused_rest_s=refused_rest_s
            )
        done.domains += len(held)
        done.skipped += len(batch) - len(held)
        after_id = batch[-1]


async def merge(
    pool: Pool, *, by: str, dead_after_s: float, refresh_every_s: float | None, refused_rest_s: float, is_trial: bool
) -> list[Merged]:
    """Merges domains whose names are equivalent and renames misspelled ones. A dry run only lists them."""
    async with pool.acquire() as conn:
        groups = await find_bad_names(conn)
        if is_trial or not groups:
            return [Merged(name, tuple(names)) for name, names in groups.items()]
        if await conn.fetchval(SQL["count_workers"], dead_after_s):
            raise UsageError("Workers are running, and a merge moves what they hold; stop the crawl first.")
        merged = []
        for name, names in groups.items():
            async with conn.transaction():
                made = await _merge(conn, name, names, by=by)
                elder = await repair.hold_for_merge(conn, [name])
                ids = [row.id for row in elder]
                await repair.repair_counters(conn, ids)
                await repair.repair_states(conn, ids, refresh_every_s=refresh_every_s, refused_rest_s=refused_rest_s)
                merged.append(made)
        return merged


async def find_bad_names(conn: Connection) -> dict[str, list[str]]:
    """Returns canonical name → all names in use that mean it, unless that is the only one."""
    wrong: defaultdict[str, list[str]] = defaultdict(list)
    after_id = 0
    while batch := await repair.name_domains(conn, after_id, NAMES_AT_ONCE):
        for domain in batch:
            right = normalize_name(domain.name, domain.base_url)
            if right != domain.name:
                wrong[right].append(domain.name)
        after_id = batch[-1].id
    known = await find_domains(conn, wrong)
    return {name: [*([name] if name in known else []), *names] for name, names in sorted(wrong.items())}


def normalize_name(name: str, base_url: str) -> str:
    """Returns the canonical name; the scheme determines which port is omitted. An invalid name is returned
    unchanged."""
    try:
        return domain_of(normalize(f"{_scheme(base_url)}://{name}"))
    except BadUrlError:
        return name


async def _merge(conn: Connection, name: str, names: Sequence[str], *, by: str) -> Merged:
    rows = sorted(await repair.hold_for_merge(conn, names), key=lambda row: (row.first_seen_at, row.id))
    elder, others = rows[0], [row.id for row in rows[1:]]
    reason = _describe_merge(elder, rows[1:], name)
    await sign_moves(conn, by=by, reason_code="merge", reason=reason)
    for row in rows:
        await release_tasks(conn, row.id)
    moved, twice = 0, 0
    if others:
        await images.merge_domains(conn, elder.id, others)
        await products.move_duplicates(conn, [elder.id, *others])
        await records.drop_duplicates(conn, [elder.id, *others])
        moved, twice = await merge_domain_pages(conn, elder.id, others)
        await products.merge_domains(conn, elder.id, others)
        await records.merge_domains(conn, elder.id, others)
        await stats.move_days(conn, elder.id, others)
        await proxies.move_pools(conn, elder.id, others)
        await repair.merge(conn, elder.id, others)
    if elder.name != name:
        await repair.rename(conn, elder.id, name, f"{_scheme(elder.base_url)}://{name}")
    await admin.note(conn, elder.id, by=by, reason=reason, code="merge")
    return Merged(name, tuple(row.name for row in rows), moved, twice)


def _describe_merge(elder: Named, others: Sequence[Named], name: str) -> str:
    renamed = [f"renamed from {elder.name}"] if elder.name != name else []
    merged = [f"merged with {', '.join(row.name for row in others)}"] if others else []
    return " and ".join([*renamed, *merged])


def _scheme(url: str) -> str:
    return "https" if url.startswith("https:") else "http"
