"""Compares the schema of a database with a fresh one: what is missing, different or disabled, and how to repair it.

The fresh schema is created beside the live one in a transaction that is rolled back, so that the same server describes
both: PostgreSQL's description of an index differs between versions.
"""

from dataclasses import dataclass
from typing import Any

import asyncpg

from forager.db import migration_files, schema, statements
from forager.db.types import Connection

SQL = statements.load("forager.db", "catalog.sql")
REFERENCE = "forager_reference"
ORDER = ("column", "function", "index", "constraint", "trigger")
"""Order of repair: a trigger needs its function, a foreign key needs the index it refers to."""


@dataclass(frozen=True, slots=True)
class SchemaMismatch:
    """A part of the schema that differs from the expected one."""

    kind: str
    name: str
    trouble: str
    """`missing`, `different` or `off`."""
    statements: tuple[str, ...]
    """Statements that repair it; empty if only a backup can restore it."""

    def __str__(self) -> str:
        said = {"missing": "is missing", "different": "is not as this Forager makes it", "off": "is invalid or off"}
        return f"the {self.kind} {self.name} {said[self.trouble]}"


async def compare(connection: Connection) -> tuple[int, list[SchemaMismatch]] | None:
    """Returns the number of compared parts and the mismatches; None if the schemas cannot be compared, because the
    database has another revision or its user may not create a schema. Ignores parts that are not Forager's, such as an
    operator's index."""
    if await schema.revision_of(connection) != schema.head():
        return None
    live: str = await connection.fetchval(SQL["live_schema"])
    found = await _describe(connection, live)
    transaction = connection.transaction()
    await transaction.start()
    try:
        await connection.execute(SQL["make_reference"])
        await connection.execute(SQL["look_into"], REFERENCE)
        await connection.execute(migration_files.read_schema())
        expected = await _parts(connection)
    except asyncpg.InsufficientPrivilegeError:
        return None
    finally:
        await transaction.rollback()
    faults = [fault for key, part in expected.items() if (fault := _fault(part, found.get(key), live))]
    return len(expected), sorted(faults, key=lambda fault: (ORDER.index(fault.kind), fault.name))


async def _describe(connection: Connection, name: str) -> dict[tuple[str, str], Any]:
    async with connection.transaction():
        await connection.execute(SQL["look_into"], name)
        return await _parts(connection)


async def _parts(connection: Connection) -> dict[tuple[str, str], Any]:
    return {(row["kind"], row["name"]): row for row in await connection.fetch(SQL["describe"])}


def _fault(part: Any, found: Any, live: str) -> SchemaMismatch | None:
    """Compares two definitions. The name of the live schema is removed from both: it may also be part of another
    name."""
    make, undo, revive = part["make"], part["undo"], part["revive"]
    if found is None:
        return SchemaMismatch(part["kind"], part["name"], "missing", (make,) if make else ())
    if found["definition"].replace(f"{live}.", "") != part["definition"].replace(f"{live}.", ""):
        return SchemaMismatch(
            part["kind"], part["name"], "different", tuple(filter(None, (undo, make))) if make else ()
        )
    if not found["works"]:
        return SchemaMismatch(part["kind"], part["name"], "off", (revive,) if revive else ())
    return None
