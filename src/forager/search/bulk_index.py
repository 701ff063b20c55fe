"""Sends documents to the search server: those listed in the outbox, or those that fill a new index.

One batch is one transaction: lock, take a version number, read the current documents, send, delete from the outbox. A
later batch has a higher version and newer data, so the server keeps the newest version of a document even if an older
one arrives late. After a kill, before or after sending, the batch is sent again, which is harmless.
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
"""Per request; the server's own limit is 100 MB, that of some managed services 10 MB."""
TOO_LARGE = 413
BUSY = frozenset({429, 503})
BLOCKED = "cluster_block_exception"
"""The index rejects all writes, usually because of a full disk: not the document's fault."""
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
    """The result of sending one batch."""

    version: int
    refused: dict[Key, str] = field(default_factory=dict)
    later: set[Key] = field(default_factory=set)
    """Documents to retry because the server was too busy."""
    missing: set[str] = field(default_factory=set)
    """Builds whose indexes do not exist on the server."""
    highest: int = 0
    """The highest version on the server if it is above ours."""


@dataclass(frozen=True, slots=True)
class Pushed:
    changes: int = 0
    """Outbox rows that are done."""
    refused: int = 0
    is_busy: bool = False
    """The server asked us to retry later, or another process is sending."""
    missing: frozenset[str] = frozenset()


async def push_changes(
    conn: Connection, server: SearchServer, names: Names, *, most: int = PORTION, is_hasty: bool = False
) -> Pushed:
    """Sends the next batch of the outbox to every index that is live or being built. Raises SearchServerError."""
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
    """Sends the current documents inside the caller's transaction and under its lock; deletes documents that no
    longer exist. Records which ones were rejected."""
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
    if trouble is None:  # also when a document to be deleted does not exist
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
