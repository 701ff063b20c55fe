"""The table of moves in Python is the table in the database, and the database refuses every other move."""

import asyncpg
import pytest
from tests.ground import Ground

from forager.frontier.task_status import CLOSED, MOVES, TaskStatus, can_transition

pytestmark = pytest.mark.both_servers
OUTCOMES = {TaskStatus.COMPLETED: "success", TaskStatus.FAILED: "failed", TaskStatus.CANCELLED: "cancelled"}


async def test_both_tables_are_the_same(conn: asyncpg.Connection) -> None:
    rows = await conn.fetch("SELECT from_status::text, to_status::text FROM task_transitions")
    assert {tuple(row) for row in rows} == {(now, then) for now, after in MOVES.items() for then in after}


async def test_the_states_are_the_same(conn: asyncpg.Connection) -> None:
    assert set(await conn.fetchval("SELECT enum_range(NULL::task_status)::text[]")) == set(TaskStatus)


async def test_the_database_refuses_every_other_move(ground: Ground) -> None:
    domain = await ground.a_domain()
    for now in TaskStatus:
        for then in TaskStatus:
            page = await ground.a_page(f"http://a.example/{now}/{then}", domain)
            is_allowed = can_transition(now, then) or (now is then and now not in CLOSED)
            assert await moves(ground, page, now, then) == is_allowed, (now, then)


async def moves(ground: Ground, page: int, now: TaskStatus, then: TaskStatus) -> bool:
    task = await ground.conn.fetchval(
        "INSERT INTO crawl_tasks (page_id, domain_id, status, outcome, completed_at)"
        " SELECT id, domain_id, $2::text::task_status, $3::text::task_outcome, CASE WHEN $3 IS NOT NULL THEN now() END"
        " FROM pages WHERE id = $1 RETURNING id",
        page,
        now,
        OUTCOMES.get(now),
    )
    try:
        await ground.conn.execute(
            "UPDATE crawl_tasks SET status = $2::text::task_status, outcome = $3::text::task_outcome,"
            " completed_at = CASE WHEN $3 IS NOT NULL THEN now() END WHERE id = $1",
            task,
            then,
            OUTCOMES.get(then),
        )
    except asyncpg.CheckViolationError as error:
        words = f"a task cannot move from {now} to {then}", f"task {task} is closed: history does not change"
        return str(error) not in words
    return True
