"""Operator actions on traps: list them, and release them so that their links are followed. The CLI and the API call
these."""

from dataclasses import dataclass

from pydantic import with_config

from forager.db import statements
from forager.db.rows import RECORD, Row
from forager.db.types import Connection
from forager.domains import admin as domains
from forager.domains import store as domain_store
from forager.domains import traps as domain_traps
from forager.domains.admin import OPERATOR
from forager.domains.cooldown import sign_moves
from forager.domains.lookup import known_name
from forager.domains.status import DomainStatus
from forager.errors import NotFoundError
from forager.frontier import traps as frontier_traps
from forager.links.trap_descriptions import TRAP_WORDS

SQL = statements.load("forager.domains", "trap_list.sql")


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class Released:
    name: str
    trap: int
    rule: str
    template: str
    pages: int
    """Pages that were skipped and now wait for their first visit."""


async def list_traps(connection: Connection, name: str) -> list[Row]:
    return [dict(row) for row in await connection.fetch(SQL["list_traps"], await known_name(connection, name))]


async def release(conn: Connection, name: str, trap_id: int, *, by: str) -> Released:
    """Allows the links of this trap from the domain's next lease on, and queues the pages it skipped."""
    known = await known_name(conn, name)
    held = await domains.hold(conn, known or name)
    assert held is not None, "a domain that was just found is never removed in between"
    trap = await domain_traps.release_trap(conn, trap_id, held.id, by=by)
    if trap is None:
        raise NotFoundError(
            f"{held.name} has no trap {trap_id} that is shut. `forager domain {held.name} traps` lists them."
        )
    pages = await frontier_traps.open_pages(conn, held.id, trap.id)
    reason = f"trap {trap.id} released: {TRAP_WORDS.get(trap.rule, trap.rule)}"
    if pages:
        await sign_moves(conn, by=by, reason_code=OPERATOR, reason=reason)
        await domain_store.update_requeue_counts(conn, {held.id: pages})
        await domain_store.wake(conn, [held.id])
    if not pages or held.status is not DomainStatus.EXHAUSTED:
        await domains.note(conn, held.id, by=by, reason=reason)
    return Released(held.name, trap.id, trap.rule, trap.template, pages)
