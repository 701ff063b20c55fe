"""Stored versions of pages: what a version is, whether it differs from the one before, its body, and what changed.

Reading bodies blocks, so it runs in threads; every interface (CLI, API) uses these functions.
"""

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from forager.captures.diff import Diff, lines_of, unified
from forager.captures.models import BodyState, Capture, Change, Version
from forager.errors import BodyGoneError, StoreError, UsageError
from forager.parsing.charset import to_text
from forager.storage.body_reader import BodyInfo, BodyReader, OpenBody

AT_ONCE = 8
"""Bodies that are read at once: from a bucket each takes a round trip or two."""
LARGEST_COMPARED = 4 * 1024 * 1024
NOT_THERE = {"missing": BodyState.MISSING, "damaged": BodyState.DAMAGED}
TEXT_TYPES = ("text/", "application/json", "application/xml", "application/javascript", "application/ecmascript")
SNIFFED_BYTES = 8192


class Described(NamedTuple):
    """A capture, and what its body says; None with the reason if it cannot be read."""

    capture: Capture
    info: BodyInfo | None
    state: BodyState


class Comparison(NamedTuple):
    """What changed from one version of a page to another."""

    old: Capture
    new: Capture
    diff: Diff


async def describe(reader: BodyReader, captures: Sequence[Capture]) -> list[Described]:
    """Returns what the bodies of captures say. A body that several visits confirmed is read once."""
    refs = dict.fromkeys(capture.body_ref for capture in captures if not capture.is_pruned)
    found = await asyncio.to_thread(_describe_all, reader, list(refs))
    return [
        Described(capture, None, BodyState.PRUNED)
        if capture.is_pruned
        else Described(capture, *found[capture.body_ref])
        for capture in captures
    ]


def _describe_all(reader: BodyReader, refs: Iterable[str]) -> dict[str, tuple[BodyInfo | None, BodyState]]:
    refs = list(refs)
    if len(refs) < 2:
        return {ref: _describe(reader, ref) for ref in refs}
    with ThreadPoolExecutor(min(AT_ONCE, len(refs)), thread_name_prefix="captures") as threads:
        return dict(zip(refs, threads.map(lambda ref: _describe(reader, ref), refs), strict=True))


def _describe(reader: BodyReader, ref: str) -> tuple[BodyInfo | None, BodyState]:
    try:
        return reader.describe(ref), BodyState.STORED
    except StoreError as error:
        return None, NOT_THERE.get(error.reason, BodyState.UNKNOWN)


async def describe_versions(reader: BodyReader, captures: Sequence[Capture], limit: int) -> list[Version]:
    """Returns versions of one page, newest first. `captures` has one more than `limit`, if there is one: the last
    version shown is compared with it."""
    described = await describe(reader, captures)
    older: list[Described | None] = [*described[1:], None]
    return [_version(each, before) for each, before in zip(described, older, strict=False)][:limit]


def _version(each: Described, before: Described | None) -> Version:
    capture, info = each.capture, each.info
    return Version(
        task_id=capture.task_id,
        fetched_at=capture.fetched_at,
        kind=capture.kind,
        state=each.state,
        status_code=capture.status_code,
        content_type=info.content_type if info else None,
        content_hash=info.digest if info else None,
        size_bytes=info.size_bytes if info else None,
        stored_bytes=info.stored_bytes if info else None,
        change=_change(each, before),
        is_archived=capture.is_archived,
    )


def _change(each: Described, before: Described | None) -> Change | None:
    """Compares the bodies, where both are there; else the content, as the visit did."""
    if before is None:
        return Change.FIRST
    if each.capture.body_ref == before.capture.body_ref:
        return Change.SAME
    if each.info and before.info:
        return Change.SAME if each.info.digest == before.info.digest else Change.CHANGED
    if each.capture.is_changed is None:
        return None
    return Change.CHANGED if each.capture.is_changed else Change.SAME


async def open_body(reader: BodyReader, capture: Capture) -> OpenBody:
    """Opens the body of a version. Raises BodyGoneError if its file is not there, and StoreError if it is damaged or
    the store is away."""
    try:
        return await asyncio.to_thread(reader.open, capture.body_ref)
    except StoreError as error:
        if error.reason == "missing":
            raise BodyGoneError(
                f"The body of task {capture.task_id} is not in the store; `forager check` explains."
            ) from None
        raise


async def compare(reader: BodyReader, old: Capture, new: Capture) -> Comparison:
    """Compares two versions line by line. Raises UsageError if one is no text, or too large."""
    sides = [await open_body(reader, each) for each in (old, new)]
    return Comparison(old, new, await asyncio.to_thread(_compare, sides, (old, new)))


def _compare(sides: Sequence[OpenBody], captures: Sequence[Capture]) -> Diff:
    lines = []
    for body, capture in zip(sides, captures, strict=True):
        if body.info.size_bytes > LARGEST_COMPARED:
            raise UsageError(
                f"The body of task {capture.task_id} has {body.info.size_bytes:,} bytes; up to"
                f" {LARGEST_COMPARED:,} are compared. `forager body {capture.task_id} -o FILE` writes it."
            )
        content = body.read(LARGEST_COMPARED)
        if not is_text(content, body.info.content_type):
            raise UsageError(f"The body of task {capture.task_id} is no text: {body.info.content_type or 'unknown'}.")
        text, _ = to_text(content, body.info.content_type)
        lines.append(lines_of(text))
    names = [f"{capture.url} {capture.fetched_at:%Y-%m-%dT%H:%M:%SZ} task {capture.task_id}" for capture in captures]
    return unified(lines[0], lines[1], names[0], names[1])


def is_text(start: bytes, content_type: str) -> bool:
    """Returns whether a body is text: by its type, and where that says nothing by its first bytes."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind.startswith(TEXT_TYPES) or kind.endswith(("+xml", "+json")):
        return True
    return kind in {"", "application/octet-stream"} and b"\0" not in start[:SNIFFED_BYTES]
