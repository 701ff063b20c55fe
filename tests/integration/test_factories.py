"""The factories of tests: each state is what its name says, and keeps every promise."""

import inspect
from typing import Any

import pytest
from tests.factories import ENDS, DomainFactory, PageFactory, TaskFactory
from tests.ground import Ground, database_url, ground
from tests.integration.tasks.desk import broken

from forager.frontier.task_status import CLOSED, TaskStatus

__all__ = ["database_url", "ground"]
HELPERS = {"close", "find_or_add"}


def states(factory: type) -> list[str]:
    return [
        name for name, _ in inspect.getmembers(factory, inspect.isfunction) if name[0] != "_" and name not in HELPERS
    ]


@pytest.mark.parametrize("state", states(TaskFactory))
async def test_a_task_in_each_state_keeps_the_promises(ground: Ground, state: str) -> None:
    task = await getattr(ground.new_task, state)()
    other = await getattr(ground.new_task, state)("http://b.example/x")
    row, page = await ground.task(task), await ground.page((await ground.task(other))["page_id"])
    assert page["url"] == "http://b.example/x"
    assert (row["outcome"] is not None) == (TaskStatus(row["status"]) in CLOSED) == (state in ENDS)
    assert not await broken(ground.conn)


@pytest.mark.parametrize("state", ENDS)
async def test_a_closed_task_has_its_evidence(ground: Ground, state: str) -> None:
    task = await getattr(ground.new_task, state)(created_by="cli:ann")
    row, end = await ground.task(task), ENDS[state]
    assert (row["status"], row["outcome"], row["status_code"]) == (end.status, end.outcome, end.status_code)
    assert (row["error_code"], row["blame"], row["created_by"]) == (end.error_code, end.blame, "cli:ann")
    assert (await ground.page(row["page_id"]))["status"] == end.page_status


async def test_open_tasks_are_what_their_names_say(ground: Ground) -> None:
    worker = await ground.a_worker()
    locked = await ground.task(await ground.new_task.locked(worker=worker))
    assert (locked["status"], locked["locked_by"]) == ("crawling", worker)
    beside = await ground.task(await ground.new_task.locked())
    assert beside["locked_by"] == worker, "one worker holds a domain"
    scheduled = await ground.task(await ground.new_task.scheduled(in_s=7200.0))
    assert (scheduled["scheduled_for"] - scheduled["created_at"]).total_seconds() == pytest.approx(7200, abs=5)
    waiting = await ground.task(await ground.new_task.waiting(depends_on=scheduled["id"]))
    assert (waiting["status"], waiting["is_waiting"], waiting["depends_on"]) == ("paused", True, scheduled["id"])
    recurring = await ground.task(await ground.new_task.recurring(every_s=60.0))
    assert (recurring["created_by"], recurring["recrawl_count"], recurring["revisit_every_s"]) == ("revisit", 1, 60.0)
    retry = await ground.task(await ground.new_task.retry(number=2))
    assert (retry["retry_count"], retry["status"]) == (2, "pending")
    assert [row["retry_count"] for row in await ground.tasks(retry["page_id"])] == [0, 1, 2]
    assert not await broken(ground.conn)


@pytest.mark.parametrize("state", states(PageFactory))
async def test_a_page_in_each_state_keeps_the_promises(ground: Ground, state: str) -> None:
    page = await ground.page(await getattr(ground.new_page, state)(title="A lamp"))
    assert (page["status"], page["title"]) == (state, "A lamp")
    again = await ground.page(await getattr(ground.new_page, state)("http://www.b.example/x"))
    assert (await ground.domain(again["domain_id"]))["name"] == "b.example"
    assert not await broken(ground.conn)


@pytest.mark.parametrize("state", states(DomainFactory))
async def test_a_domain_in_each_state_keeps_the_promises(ground: Ground, state: str) -> None:
    made: Any = await getattr(ground.new_domain, state)()
    await getattr(ground.new_domain, state)("b.example")
    domain = await ground.domain(made.domain_id if state == "leased" else made)
    expected = {"leased": "active", "paused": "active"}.get(state, state)
    assert (domain["name"], domain["status"]) == ("a.example", expected)
    assert (domain["claimed_by"] is not None) == (state == "leased")
    assert domain["is_active"] == (state != "paused")
    assert not await broken(ground.conn)
