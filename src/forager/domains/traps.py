"""One short function per statement of `traps.sql`. Opens no transactions: the caller does."""

from collections.abc import Iterable, Mapping, Sequence

from forager.db import statements
from forager.db.types import Connection
from forager.domains.models import Trap

SQL = statements.load("forager.domains", "traps.sql")

SUBDOMAINS = "subdomains"
"""The rule that a registrable domain has too many subdomains."""

Suspect = tuple[int, str, str, int, str]
"""Domain, rule, template, pages, example."""


async def traps_of(conn: Connection, domain_ids: Sequence[int]) -> list[Trap]:
    return [Trap(**row) for row in await conn.fetch(SQL["traps_of"], domain_ids)]


async def save_candidates(conn: Connection, suspects: Sequence[Suspect]) -> None:
    if suspects:
        await conn.execute(SQL["save_candidates"], *map(list, zip(*suspects, strict=True)))


async def find_traps(conn: Connection, found: Sequence[Suspect]) -> list[Trap]:
    """Marks templates as traps; returns those that are new."""
    if not found:
        return []
    return [Trap(**row) for row in await conn.fetch(SQL["find_traps"], *map(list, zip(*found, strict=True)))]


async def count_links(conn: Connection, notes: Sequence[tuple[str, str, str, int, str]]) -> None:
    """Takes domain name, rule, template, number of links and an example."""
    if notes:
        await conn.execute(SQL["count_links"], *map(list, zip(*notes, strict=True)))


async def count_subdomains(conn: Connection, parents: Iterable[str]) -> dict[str, int]:
    rows = await conn.fetch(SQL["count_subdomains"], list(parents), SUBDOMAINS)
    return {row["parent_domain"]: row["domains"] for row in rows}


async def note_subdomains(conn: Connection, refused: Mapping[str, tuple[int, str]]) -> None:
    """Takes registrable domain → the number of skipped links, and an example."""
    if refused:
        links, examples = [links for links, _ in refused.values()], [example for _, example in refused.values()]
        await conn.execute(SQL["note_subdomains"], list(refused), links, examples, SUBDOMAINS)


async def leave_out(conn: Connection, pages: Mapping[int, int]) -> None:
    if pages:
        await conn.execute(SQL["leave_out"], list(pages), list(pages.values()))


async def release_trap(conn: Connection, trap: int, domain_id: int, *, by: str) -> Trap | None:
    row = await conn.fetchrow(SQL["release_trap"], trap, domain_id, by)
    return Trap(**row) if row else None
