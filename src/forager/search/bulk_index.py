"""Sends documents to the search server: what the outbox names, or what a new index is filled with.

One portion is one transaction: lock, number, documents as they are now, send, forget. Who sends later has a higher
number and read later, so what the server keeps of a document is the newest that was sent, however late an older one
arrives. Killed after sending, the portion is sent again, which does no harm. Killed before, likewise.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from forager.db import statements
from forager.db.types import Connection
from forager.errors import SearchServerError
from forager.logs import log
from forager.search.documents import DOCUMENTS
from forager.search.names import Names
from forager.search.server import SearchServer

SQL = statements.load("forager.search", "outbox.sql")
PORTION = 500
MOST_BYTES = 4_000_000
"""In one request; the server's own limit is 100 MB, that of some managed ones 10 MB."""
TOO_LARGE = 413
BUSY = frozenset({429, 503})
BLOCKED = "cluster_block_exception"
"""The whole index takes nothing, for a full disk mostly: no fault of the document."""
CURRENT = re.compile(r"current version \[(\d+)\]")
LEAP = 1 << 20
LONGEST_REASON = 500


class Key(NamedTuple):
    kind: str
    id: int


class Action(NamedTuple):
    """One document for one index."""

    key: Key
    build: str
    lines: bytes


@dataclass(slots=True)
class Sent:
    """What became of a portion."""

    version: int
    refused: dict[Key, str] = field(default_factory=dict)
    later: set[Key] = field(default_factory=set)
    """Those the server was too busy for."""
    missing: set[str] = field(default_factory=set)
    """Builds whose indexes are not there."""
    highest: int = 0
    """The highest number the server has where it is above ours."""


@dataclass(frozen=True, slots=True)
class Pushed:
    changes: int = 0
    """Lines of the outbox that are done."""
    refused: int = 0
    is_busy: bool = False
    """The server asks us to come later, or somebody else is sending."""
    missing: frozenset[str] = frozenset()


async def push_changes(
    conn: Connection, server: SearchServer, names: Names, *, most: int = PORTION, is_hasty: bool = False
) -> Pushed:
    """The next portion of the outbox, to every index that is searched or being made. Raises SearchServerError."""
    async with conn.transaction():
        if not await conn.fetchval(SQL["lock_server"]):
            return Pushed(is_busy=True)
        builds = [
            row["name"] for row in await conn.fetch(SQL["read_builds"]) if row["state"] != "leaving" and row["is_made"]
        ]
        rows = await conn.fetch(SQL["take_changes"], most) if builds else []
        if not rows:
            return Pushed()
        sent = await send(conn, server, names, builds, {Key(row["kind"], row["id"]) for row in rows}, is_hasty=is_hasty)
        if sent.missing:
            return Pushed(missing=frozenset(sent.missing))
        done = [row["number"] for row in rows if Key(row["kind"], row["id"]) not in sent.later]
        await conn.execute(SQL["forget_changes"], done)
        return Pushed(len(done), len(sent.refused), is_busy=bool(sent.later))


async def send(
    conn: Connection,
    server: SearchServer,
    names: Names,
    builds: Sequence[str],
    keys: Iterable[Key],
    *,
    is_hasty: bool = False,
) -> Sent:
    """Documents as they are now, inside the caller's transaction and under his lock; those that are gone are deleted
    there. Notes which ones were refused."""
    wanted = sorted(keys)
    version: int = await conn.fetchval(SQL["next_version"])
    documents = await _read(conn, wanted)
    sent = Sent(version)
    actions = [action for key in wanted for action in _actions(key, documents.get(key), names, builds, version)]
    for part in _parts(actions):
        await _send_part(server, part, sent, is_hasty=is_hasty)
    await _note(conn, wanted, sent)
    return sent


async def _read(conn: Connection, keys: Sequence[Key]) -> dict[Key, bytes]:
    found: dict[Key, bytes] = {}
    for kind, make in DOCUMENTS.items():
        ids = [key.id for key in keys if key.kind == kind]
        rows = await conn.fetch(SQL[f"{kind}_documents"], ids) if ids else []
        found |= {Key(kind, row["id"]): orjson.dumps(make(dict(row))) for row in rows}
    return found


def _actions(key: Key, document: bytes | None, names: Names, builds: Sequence[str], version: int) -> Iterator[Action]:
    for build in builds:
        about = {
            "_index": names.written(key.kind, build),
            "_id": str(key.id),
            "version": version,
            "version_type": "external",
        }
        head = orjson.dumps({"delete" if document is None else "index": about})
        yield Action(key, build, head + b"\n" if document is None else head + b"\n" + document + b"\n")


def _parts(actions: Sequence[Action]) -> Iterator[list[Action]]:
    part: list[Action] = []
    size = 0
    for action in actions:
        if part and size + len(action.lines) > MOST_BYTES:
            yield part
            part, size = [], 0
        part.append(action)
        size += len(action.lines)
    if part:
        yield part


async def _send_part(server: SearchServer, part: Sequence[Action], sent: Sent, *, is_hasty: bool) -> None:
    try:
        items = await server.bulk([action.lines for action in part], is_hasty=is_hasty)
    except SearchServerError as error:
        if error.status != TOO_LARGE:
            raise
        if len(part) == 1:
            sent.refused[part[0].key] = str(error)
            return
        for half in (part[: len(part) // 2], part[len(part) // 2 :]):
            await _send_part(server, half, sent, is_hasty=is_hasty)
        return
    for action, item in zip(part, items, strict=True):
        _classify(action, item, sent)


def _classify(action: Action, item: Mapping[str, Any], sent: Sent) -> None:
    status, trouble = item["status"], item.get("error")
    if trouble is None:  # also a document to be deleted that is not there
        return
    kind, reason = str(trouble.get("type")), str(trouble.get("reason"))
    if kind == "index_not_found_exception":
        sent.missing.add(action.build)
    elif status == 409:
        found = CURRENT.search(reason)
        sent.highest = max(sent.highest, int(found[1]) if found else sent.version + LEAP)
        sent.later.add(action.key)
    elif status in BUSY or kind == BLOCKED:
        sent.later.add(action.key)
    else:
        cause = trouble.get("caused_by") or {}
        detail = f": {cause['reason']}" if cause.get("reason") else ""
        sent.refused[action.key] = f"{kind}: {reason}{detail}"[:LONGEST_REASON]


async def _note(conn: Connection, keys: Sequence[Key], sent: Sent) -> None:
    if sent.highest:
        log().warning("search server has higher versions", action="search.versions", highest=sent.highest)
        await conn.execute(SQL["raise_versions"], sent.highest)
    taken = [key for key in keys if key not in sent.refused and key not in sent.later]
    if taken:
        await conn.execute(SQL["forget_refused"], [key.kind for key in taken], [key.id for key in taken])
    if sent.refused:
        for key, reason in sent.refused.items():
            log().warning("document refused", action="search.refused", kind=key.kind, id=key.id, reason=reason)
        refused = list(sent.refused)
        await conn.execute(
            SQL["note_refused"], [key.kind for key in refused], [key.id for key in refused], list(sent.refused.values())
        )
