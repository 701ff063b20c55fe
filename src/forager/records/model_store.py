"""Which pages wait for a model, what it answered, and how often it was asked. Opens no transactions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from forager.db import statements
from forager.db.query import Query
from forager.db.types import Connection
from forager.records.model_client import ModelAnswer

SQL = statements.load("forager.records")
LONGEST_ERROR = 500


class WalkedPage(NamedTuple):
    """The newest visit of a page that has a text."""

    page_id: int
    url: str
    task_id: int
    is_skipped: bool
    """It is an image or a sitemap."""


class DuePage(NamedTuple):
    """A page that an extractor has not read yet."""

    page_id: int
    extractor: str
    task_id: int
    attempts: int
    domain_id: int
    url: str
    language: str | None
    body_ref: str | None
    completed_at: datetime | None
    is_deleted: bool


class ModelState(NamedTuple):
    """How it stands with the model."""

    calls_today: int
    failures: int
    paused_until: datetime | None
    pause_left_s: float
    last_error: str | None
    last_error_at: datetime | None
    after_page: int


class ModelPages(NamedTuple):
    """How far an extractor is."""

    extractor: str
    waiting: int
    done: int
    failed: int
    problem: str | None


WALK_PAGES = Query(SQL["walk_pages"], WalkedPage)
DUE_FOR_MODEL = Query(SQL["due_for_model"], DuePage)
MODEL_STATE = Query(SQL["model_state"], ModelState)
COUNT_MODEL_PAGES = Query(SQL["count_model_pages"], ModelPages)
NEVER_ASKED = ModelState(0, 0, None, 0.0, None, None, 0)


async def get_state(conn: Connection) -> ModelState:
    return await MODEL_STATE.first(conn) or NEVER_ASKED


async def count_pages(conn: Connection) -> dict[str, ModelPages]:
    return {row.extractor: row for row in await COUNT_MODEL_PAGES.fetch(conn)}


async def queue(conn: Connection, found: Sequence[tuple[int, str, int, int]]) -> int:
    """Queues pages with extractor, version and task, unless they were read; returns how many."""
    columns = [list(column) for column in zip(*found, strict=True)] if found else []
    queued: int = await conn.fetchval(SQL["queue_for_model"], *columns) if columns else 0
    return queued


async def note_page(
    conn: Connection,
    page: DuePage,
    status: str,
    *,
    version: int,
    attempts: int = 0,
    wait_s: float = 0.0,
    problem: str | None = None,
) -> None:
    """Records what became of a page."""
    told = None if problem is None else problem.replace("\0", "")[:LONGEST_ERROR]
    await conn.execute(
        SQL["note_model_page"], page.page_id, page.extractor, page.task_id, status, version, attempts, wait_s, told
    )


async def use_answer(conn: Connection, extractor: str, version: int, text_hash: str) -> list[dict[str, Any]] | None:
    """Returns what the model said of this text before."""
    found = await conn.fetchval(SQL["use_answer"], extractor, version, text_hash)
    if found is None:
        return None
    records: list[dict[str, Any]] = orjson.loads(found)
    return records


async def add_answer(conn: Connection, page: DuePage, version: int, text_hash: str, answer: ModelAnswer) -> None:
    said = orjson.dumps(answer.records).decode().replace("\\u0000", "")
    costs = answer.prompt_tokens, answer.completion_tokens, answer.took_ms
    await conn.execute(SQL["add_answer"], page.extractor, version, text_hash, page.page_id, said, *costs)
    await conn.execute(SQL["note_model_success"])


async def take_call(conn: Connection, most: int) -> bool:
    """Counts a call before it is made; returns whether it may be. A kill between both wastes one, and never exceeds
    the budget."""
    return most > 0 and await conn.fetchval(SQL["take_model_call"], most) is not None


async def note_failure(conn: Connection, why: str, pause_s: float) -> None:
    await conn.execute(SQL["note_model_failure"], why.replace("\0", "")[:LONGEST_ERROR], pause_s)
