"""The text of a page, and what changed in it between two visits."""

import asyncio
import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection
from forager.errors import NotFoundError
from forager.parsing.markdown_formats import TextFormat, convert
from forager.storage.text import Bodies, load_text

SQL = statements.load("forager.pages", "text.sql")
MOST_LINES = 5_000
"""Of each side of a diff; comparing takes time in proportion to their product where nothing is alike."""
MOST_DIFF_LINES = 20_000
AROUND = 3


class StoredText(NamedTuple):
    """A visit whose text is stored, or can be made from its body."""

    task_id: int
    url: str
    body_ref: str
    completed_at: datetime
    is_deleted: bool


class _Kept(NamedTuple):
    url: str
    domain: str
    content_policy: str | None
    is_visited: bool


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of one visit."""

    visit: StoredText
    text: str


FIND_TEXT = Query(SQL["find_text"], StoredText)
KEPT_OF = Query(SQL["kept_of"], _Kept)


async def find_text(conn: Connection, page: int, *, task: int | None = None, default_policy: str) -> StoredText:
    """Returns the visit whose text is wanted: the newest with one, or this one. Raises NotFoundError, which says how to
    change that."""
    found = await FIND_TEXT.fetch(conn, page, task)
    if found and not found[0].is_deleted:
        return found[0]
    kept = await KEPT_OF.fetch(conn, page)
    if not kept:
        raise NotFoundError(f"There is no page {page}.")
    raise NotFoundError(_explain_missing(kept[0], task, default_policy, is_deleted=bool(found)))


def _explain_missing(page: _Kept, task: int | None, default_policy: str, *, is_deleted: bool) -> str:
    what = f"{page.url}" if task is None else f"{page.url} at task {task}"
    if is_deleted:
        return f"The text of {what} was deleted when its time was over (`retention.bodies`)."
    if not page.is_visited:
        return f"{what} was not visited yet; `forager why {page.url}` says when it will be."
    policy = page.content_policy or default_policy
    if task is None and policy != "signals":
        return f"No text of {what} is stored: it was not visited since the content policy became {policy!r}."
    return (
        f"No text of {what} is stored: the content policy is {policy!r}. "
        f"`forager domain {page.domain} set --keep text` keeps it from the next visit on."
    )


async def load(store: Bodies, visit: StoredText) -> str:
    """Returns the text as Markdown. Raises StoreError if its file cannot be loaded."""
    return await asyncio.to_thread(load_text, store, visit.body_ref, visit.url)


async def load_as(store: Bodies, visit: StoredText, form: TextFormat) -> str:
    return await asyncio.to_thread(lambda: convert(load_text(store, visit.body_ref, visit.url), form))


async def compare(store: Bodies, old: StoredText, new: StoredText, form: TextFormat) -> str:
    """Returns a unified diff of two visits; empty if they say the same."""
    if old.body_ref == new.body_ref:
        return ""
    before, after = await asyncio.gather(load_as(store, old, form), load_as(store, new, form))
    return await asyncio.to_thread(diff, before, after, (_label(old), _label(new)))


def diff(old: str, new: str, labels: tuple[str, str]) -> str:
    """Returns a unified diff of the first thousands of lines."""
    lines = difflib.unified_diff(_lines(old), _lines(new), *labels, n=AROUND, lineterm="")
    changed = list(islice(lines, MOST_DIFF_LINES + 1))
    if len(changed) > MOST_DIFF_LINES:
        changed[MOST_DIFF_LINES:] = [r"\ The diff is longer; the rest is left out."]
    return "\n".join([*changed, ""]) if changed else ""


def _lines(text: str) -> Sequence[str]:
    lines = text.split("\n")
    return lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], r"\ The rest is not compared."]


def _label(visit: StoredText) -> str:
    return f"task {visit.task_id}, {visit.completed_at:%Y-%m-%d %H:%M} UTC"
