"""Builds an index on the search server from PostgreSQL, and replaces the live index with it.

              fill, batch by batch             switch the alias          the next one is live
    building ──────────────────────────▶ filled ───────────────▶ live ─────────────────────▶ leaving ──▶ gone

While it is filled, the outbox sends changes to both indexes, so it is never behind the one it replaces. Each step is
recorded after it is done and is idempotent: after a kill, the next process resumes there.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg

from forager import clock
from forager.db import statements
from forager.db.types import Connection
from forager.errors import ConfigurationError, ForagerError, SearchServerError
from forager.logs import log
from forager.search.bulk_index import Key, send
from forager.search.mapping import KINDS, PLURALS, describe
from forager.search.names import Names
from forager.search.server import SearchServer

SQL = statements.load("forager.search", "outbox.sql")
PORTION = 500
NOT_FOUND = 404


@dataclass(frozen=True, slots=True)
class Build:
    name: str
    owner: str
    state: str
    is_made: bool
    pages_until: int
    products_until: int
    is_filled: bool


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one step."""

    documents: int = 0
    is_live: bool = False
    """The new index is live now."""
    is_busy: bool = False
    """The server asked us to retry later, or another process is sending."""
    is_idle: bool = False
    """No index is being built."""


async def read_builds(conn: Connection) -> list[Build]:
    return [
        Build(
            row["name"],
            row["owner"],
            row["state"],
            row["is_made"],
            row["pages_until"],
            row["products_until"],
            row["is_filled"],
        )
        for row in await conn.fetch(SQL["read_builds"])
    ]


async def has_live(conn: Connection) -> bool:
    found: bool = await conn.fetchval(SQL["has_live"])
    return found


async def begin(conn: Connection) -> None:
    """Starts building a new index unless one is being built. Once this is committed every change is recorded, and
    the documents that fill the index are read later."""
    async with conn.transaction():
        if not await conn.fetchval(SQL["is_followed"]):
            await _follow(conn, is_on=True)
        await conn.execute(SQL["begin_build"], f"{clock.now():%Y%m%d%H%M%S}-{secrets.token_hex(3)}")


async def _follow(conn: Connection, *, is_on: bool) -> None:
    await conn.execute(SQL["wait_briefly"])
    try:
        await conn.execute(SQL["follow"], is_on)
    except asyncpg.LockNotAvailableError:
        raise ForagerError(
            "The tables of pages are held by a transaction that lasts: try again when it is over."
        ) from None
    except asyncpg.InsufficientPrivilegeError:
        raise ConfigurationError(
            "Noting changes for the search server needs the account that owns Forager's tables: as that one, once, "
            "`forager reindex`."
        ) from None


async def drop_builds(conn: Connection, names: Sequence[str]) -> None:
    """Marks builds whose indexes are missing or no longer wanted; the next step deletes them."""
    for name in names:
        await conn.execute(SQL["give_up_build"], name)


async def find_missing(conn: Connection, server: SearchServer, names: Names) -> list[str]:
    """Returns builds that should be on the server but are missing or not behind the searched alias, because they
    were deleted there."""
    missing = []
    for build in await read_builds(conn):
        if not build.is_made or build.state == "leaving":
            continue
        for kind in KINDS:
            is_there = await _indexes_of(server, names.written(kind, build.name))
            is_searched = names.index(kind, build.name) in await _indexes_of(server, names.searched(kind))
            if not is_there or (build.state == "live" and not is_searched):
                missing.append(build.name)
                break
    return missing


async def take_step(conn: Connection, server: SearchServer, names: Names, *, most: int = PORTION) -> Step:
    """Runs the next step of the current build. Raises SearchServerError and ConfigurationError."""
    async with conn.transaction():
        if not await conn.fetchval(SQL["lock_server"]):
            return Step(is_busy=True)
        building = next((build for build in await read_builds(conn) if build.state == "building"), None)
        if building is None:
            return Step(is_idle=True)
        if not building.is_made:
            await _make(conn, server, names, building)
            return Step()
        if not building.is_filled:
            return await _fill(conn, server, names, building, most)
        await _switch(conn, server, names, building)
        return Step(is_live=True)


async def _make(conn: Connection, server: SearchServer, names: Names, build: Build) -> None:
    for kind in KINDS:
        await _reject_foreign(server, names, kind, build.owner)
        body = describe(kind, owner=build.owner, writers=names.written(kind, build.name))
        try:
            await server.tell("PUT", f"/{names.index(kind, build.name)}", body)
        except SearchServerError as error:
            if "already_exists" not in error.reason:
                raise
    await conn.execute(SQL["note_made"], build.name)


async def _fill(conn: Connection, server: SearchServer, names: Names, build: Build, most: int) -> Step:
    for kind, until in (("page", build.pages_until), ("product", build.products_until)):
        plural = PLURALS[kind]
        rows = await conn.fetch(SQL[f"next_{plural}"], until, most)
        if not rows:
            continue
        sent = await send(conn, server, names, [build.name], [Key(kind, row["id"]) for row in rows])
        if sent.missing:
            await drop_builds(conn, [build.name])
            return Step()
        if sent.later:
            return Step(is_busy=True)
        await conn.execute(SQL[f"note_filled_{plural}"], build.name, rows[-1]["id"])
        return Step(len(rows))
    await conn.execute(SQL["note_filled"], build.name)
    return Step()


async def _switch(conn: Connection, server: SearchServer, names: Names, build: Build) -> None:
    """Switches the aliases of both kinds in one request, so that there is always a searchable index."""
    new = ",".join(names.index(kind, build.name) for kind in KINDS)
    await server.tell("POST", f"/{new}/_refresh")
    actions: list[dict[str, Any]] = []
    for kind in KINDS:
        alias, index = names.searched(kind), names.index(kind, build.name)
        await _reject_foreign(server, names, kind, build.owner)
        olds = [old for old in await _indexes_of(server, alias) if old != index]
        actions += [{"remove": {"index": old, "alias": alias}} for old in olds]
        actions.append({"add": {"index": index, "alias": alias}})
    await server.tell("POST", "/_aliases", {"actions": actions})
    await conn.execute(SQL["let_leave"])
    await conn.execute(SQL["go_live"], build.name)
    log().info("search index switched", action="search.switched", build=build.name)


async def prune(conn: Connection, server: SearchServer, names: Names) -> int:
    """Deletes indexes that are no longer wanted; returns the number of builds deleted."""
    gone = 0
    async with conn.transaction():
        if not await conn.fetchval(SQL["lock_server"]):
            return 0
        for build in await read_builds(conn):
            if build.state == "leaving":
                await _delete(server, names, build.name)
                await conn.execute(SQL["forget_build"], build.name)
                gone += 1
    return gone


async def switch_off(conn: Connection, server: SearchServer | None, names: Names) -> None:
    """Switches back to PostgreSQL: changes are no longer recorded, and the indexes are deleted, later if no server
    is available now."""
    async with conn.transaction():
        await _follow(conn, is_on=False)
        await conn.execute(SQL["forget_all_changes"])
        await drop_builds(conn, [build.name for build in await read_builds(conn)])
    if server is not None:
        await prune(conn, server, names)


async def _delete(server: SearchServer, names: Names, build: str) -> None:
    for kind in KINDS:
        try:
            await server.tell("DELETE", f"/{names.index(kind, build)}")
        except SearchServerError as error:
            if error.status != NOT_FOUND:
                raise


async def _indexes_of(server: SearchServer, alias: str) -> list[str]:
    try:
        return list(await server.tell("GET", f"/_alias/{alias}"))
    except SearchServerError as error:
        if error.status == NOT_FOUND:
            return []
        raise


async def _reject_foreign(server: SearchServer, names: Names, kind: str, owner: str) -> None:
    """Rejects an index of another instance: two instances with one prefix would keep taking the index from each
    other."""
    alias = names.searched(kind)
    for index in await _indexes_of(server, alias):
        answer = await server.tell("GET", f"/{index}/_mapping")
        meta = answer[index]["mappings"].get("_meta") or {}
        if meta.get("forager") != owner:
            raise ConfigurationError(
                f"{alias} on the search server at {server.place} belongs to somebody else: give this Forager another "
                "search.index_prefix."
            )
