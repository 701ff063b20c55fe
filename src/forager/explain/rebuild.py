"""Repair: counters made anew from what they count, and names spelled twice made one. Both may be run again and again.

A rebuild goes through the domains in batches, each in a transaction of its own, and leaves leased domains to their
workers, so it does not fight a running crawl. A merge moves rows between domains and wants to be alone.
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
    """Leased, or being changed by somebody just then."""
    mended: list[CorrectedValue] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Merged:
    name: str
    """The one spelling."""
    names: tuple[str, ...]
    """All the spellings there were, the eldest first."""
    pages_moved: int = 0
    pages_twice: int = 0


async def rebuild(pool: Pool, *, by: str, refresh_every_s: float | None, refused_rest_s: float) -> RebuildResult:
    """Every counter from pages and tasks; a state only where it cannot be true."""
    done = RebuildResult()
    after_id = 0
    while True:
        async with pool.acquire() as conn, conn.transaction():
            batch = await repair.next_domains(conn, after_id, BATCH)
            if not batch:
                return done
            held = await repair.lock_free_domains(conn, batch)
            await sign_moves(conn, by=by, reason_code="rebuild", reason="counted anew")
            done.mended += await repair.repair_counters(conn, held)
            done.mended += await repair.repair_states(
                conn, held, refresh_every_s=refresh_every_s, refused_rest_s=refused_rest_s
            )
        done.domains += len(held)
        done.skipped += len(batch) - len(held)
        after_id = batch[-1]


async def merge(
    pool: Pool, *, by: str, dead_after_s: float, refresh_every_s: float | None, refused_rest_s: float, is_trial: bool
) -> list[Merged]:
    """Domains whose names are the same name become one, misspelled ones are renamed. A trial only says which."""
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
    """Right name → all names in use that mean it, where they are not just that one."""
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
    """The canonical name; its scheme tells which port needs no mention. What is no name at all stays as it is."""
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
        moved, twice = await merge_domain_pages(conn, elder.id, others)
        await products.merge_domains(conn, elder.id, others)
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
