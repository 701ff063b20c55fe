"""Response schemas of tasks, runs and workers."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from forager.api.paging import Order
from forager.api.types import Row

TaskStatus = Literal["pending", "crawling", "completed", "failed", "paused", "cancelled"]
Outcome = Literal["success", "failed", "timeout", "blocked_robots", "blocked_4xx", "blocked_5xx", "cancelled"]
TaskKind = Literal["page", "image"]
RunStatus = Literal["running", "finished", "stopped", "failed"]


class TaskRow(Row):
    id: int = Field(examples=[90210])
    page_id: int
    url: str = Field(examples=["https://shop.example/lamp"])
    domain: str
    run_id: int | None
    status: TaskStatus
    outcome: Outcome | None = Field(description="Null while it is open.")
    status_code: int | None
    error_code: str | None
    error_message: str | None
    blame: str | None
    retry_count: int
    parent_task_id: int | None
    priority: int
    created_by: str
    created_at: datetime
    updated_at: datetime = Field(description="When it last changed: claimed, given back, paused, rescheduled, closed.")
    scheduled_for: datetime
    locked_by: int | None
    locked_at: datetime | None
    requested_at: datetime | None
    completed_at: datetime | None
    response_time_ms: int | None
    bytes: int | None
    is_changed: bool | None
    proxy_id: int | None
    has_body: bool = Field(description="Whether its body is stored, so that it can be read again.")


NEWEST_TASKS = Order(("id",), ("int",), hidden=("batch_id", "kind"))


class RunRow(Row):
    id: int
    status: RunStatus
    spec: dict[str, Any] = Field(description="The order as it was given.")
    max_pages: int | None
    max_pages_per_domain: int | None
    max_depth: int
    started_at: datetime
    ended_at: datetime | None
    links_seen: int
    pages_learned: int
    created_by: str
    pages_done: int
    pages_ok: int
    bytes: int


class Run(Row):
    """A run at this moment."""

    run_id: int
    status: RunStatus
    spec: dict[str, Any]
    created_by: str
    started_at: datetime
    ended_at: datetime | None
    elapsed_s: float
    workers: int
    pages_done: int
    pages_ok: int
    frontier: int
    wire_bytes: int
    links_seen: int
    pages_learned: int
    outcomes: list[dict[str, Any]]
    drops: dict[str, int] = Field(description="Links it saw and left out, by reason.")
    domains: list[dict[str, Any]]
    domain_states: dict[str, int]
    last_url: str | None
    last_status_code: int | None
    last_response_time_ms: int | None
    pause: str | None = Field(description="Why a worker of it is paused for a fault of our own; it resumes by itself.")


class Ordered(Row):
    run: int | None = Field(description="Null in a dry run.")
    seeds: list[str] = Field(description="Normalised.")
    visited: list[str] = Field(description="Seeds that were read before: a run does not visit them again.")
    waiting: int = Field(description="Pages that waited in the domains of the seeds before the order.")
    dry_run: bool


class Stopping(Row):
    run: int
    message: str


class CurrentTask(Row):
    task_id: int
    url: str
    domain: str
    locked_at: datetime = Field(description="Since when the worker holds it.")


class WorkerRow(Row):
    id: int
    run_id: int | None
    status: Literal["running", "stopped", "dead"]
    host: str
    pid: int
    started_at: datetime
    heartbeat_at: datetime
    ended_at: datetime | None
    labels: list[str] = Field(description="What it offers to domains that want a label.")
    drain_asked_at: datetime | None = Field(description="Since then it takes nothing new, and ends when it is done.")
    pause_reason: str | None = Field(
        description="The fault of our own for which it starts no requests, such as `no_parser`, `store_unavailable`, "
        "`network_down` or `database_unavailable`; it resumes by itself."
    )
    pause_detail: str | None
    paused_since: datetime | None
    is_silent: bool
    domains: int
    tasks: int = Field(description="Tasks that it holds now: in its queues, or under way.")
    current: list[CurrentTask] = Field(description="Up to ten of them, those held longest first.")


class WorkerDrained(Row):
    worker: int
    run_id: int | None
    host: str
    pid: int
    drain_asked_at: datetime
    message: str


class Claim(Row):
    worker: int
    run_id: int | None
    host: str | None
    pid: int | None
    domains: int
    earliest_expiry: datetime
    expired: int
    heartbeat_at: datetime | None
    is_lost: bool


class WaitingDomains(Row):
    status: str
    domains: int
    due: int


class Claims(Row):
    workers: list[Claim]
    held: int
    expired: int
    stuck: int
    waiting: list[WaitingDomains]


class TaskState(Row):
    """A task after an order: where it stands, and whether the order changed that."""

    task_id: int
    url: str
    domain: str
    status: TaskStatus
    priority: int
    scheduled_for: datetime
    scheduled_at: datetime = Field(description="The same moment, by its other name.")
    retry_count: int
    was_changed: bool
    message: str


class BulkResult(Row):
    """What a bulk order did, or would do."""

    verb: str
    count: int
    tasks: list[TaskState]
    dry_run: bool
    is_all: bool = Field(description="False: there may be more, and the same order goes on with them.")


class Submitted(Row):
    batch_id: int | None
    batch: str | None
    new: int
    tasks: list[TaskState]


class Visit(Row):
    id: int
    status: TaskStatus
    outcome: Outcome | None
    status_code: int | None
    error_code: str | None
    error_message: str | None
    retry_count: int
    parent_task_id: int | None
    created_by: str
    created_at: datetime
    scheduled_for: datetime
    requested_at: datetime | None
    completed_at: datetime | None
    response_time_ms: int | None


class TaskOrder(Row):
    verb: str
    from_status: TaskStatus | None
    to_status: TaskStatus
    ordered_at: datetime
    ordered_by: str
    reason: str | None


class Redirect(Row):
    is_onward: bool = Field(
        description="True: the task was sent on to this page; false: this page sends to the task's."
    )
    page_id: int
    url: str


class Task(Row):
    """One task, with the other visits of its page and what people ordered for it."""

    id: int
    page_id: int
    url: str
    domain: str
    status: TaskStatus
    outcome: Outcome | None
    priority: int
    retry_count: int
    max_retries: int | None
    recrawl_count: int
    is_recurring: bool | None
    revisit_every_s: float | None
    parent_task_id: int | None
    depends_on: int | None
    is_waiting: bool
    run_id: int | None
    batch_id: int | None
    batch: str | None
    created_by: str
    created_at: datetime
    updated_at: datetime = Field(description="When it last changed: claimed, given back, paused, rescheduled, closed.")
    scheduled_for: datetime
    locked_by: int | None
    locked_at: datetime | None
    requested_at: datetime | None
    completed_at: datetime | None
    status_code: int | None
    error_code: str | None
    error_message: str | None
    blame: str | None
    response_time_ms: int | None
    bytes: int | None
    is_changed: bool | None
    proxy_id: int | None
    body_ref: str | None
    page_status: str
    domain_status: str
    domain_is_active: bool
    webhook_url: str | None
    webhook_tries: int | None
    webhook_delivered_at: datetime | None
    webhook_died_at: datetime | None
    webhook_next_try_at: datetime | None
    webhook_error: str | None
    fingerprint: str | None = Field(description="Of its failure, as GET /api/errors has it.", examples=["3f9a12bc44d0"])
    stack: str | None = Field(description="Where in our code, if it is a bug of ours.")
    redirects: list[Redirect] = Field(description="As far as links are stored.")
    history: list[Visit]
    orders: list[TaskOrder]


class Batch(Row):
    id: int
    name: str
    created_by: str
    created_at: datetime
    pages: int
    open: int
    paused: int
    completed: int
    failed: int
    cancelled: int
    last_at: datetime | None


class Reread(Row):
    """A stored body that was read again."""

    task_id: int
    status: TaskStatus
    pages: int
    changed: int = Field(description="Pages of which something is read differently now.")
    message: str
