"""The instance itself: health, duties, settings, promises, as answers show them."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from forager.api.types import Row

State = Literal["ok", "degraded", "down", "idle"]


class Part(Row):
    state: State
    detail: str = Field(examples=["PostgreSQL 18 (embedded)"])


class Health(Row):
    status: Literal["ok", "degraded", "down"]
    version: str
    parts: dict[str, Part] = Field(
        description="database, scheduler, workers, progress, disk; queue, search, redis where configured."
    )


class Setting(Row):
    name: str
    value: Any
    description: str | None


class Duty(Row):
    name: str
    every_s: float
    started_at: datetime | None
    ended_at: datetime | None
    took_s: float | None
    result: str | None
    error: str | None
    next_at: datetime | None
    times: int


class JobTriggered(Row):
    duty: str
    message: str


class Finding(Row):
    name: str
    sentence: str
    looked_at: int
    things: str
    broken: int
    examples: list[str]
    repair: str = Field(description="What puts it right; empty where nothing is broken.")


class Verdict(Row):
    promise: int
    sentence: str
    broken: int
    findings: list[Finding]


class Verdicts(Row):
    is_kept: bool
    promises: list[Verdict]


class CheckJob(Row):
    state: Literal["none", "running", "finished", "failed", "interrupted"]
    id: int | None
    started_at: datetime | None
    started_by: str | None
    has_files: bool | None
    is_deep: bool | None
    heard_at: datetime | None
    done: int = Field(description="Questions answered so far.")
    total: int
    ended_at: datetime | None
    error: str | None
    result: Verdicts | None


class Politeness(Row):
    is_clean: bool
    domains: int
    requests: int
    unpaced: int
    unproved: int
    too_early: int
    early_examples: list[dict[str, Any]]
    robots_visits: int
    robots_forbidden: int
    forbidden_examples: list[dict[str, Any]]


class AuditEntry(Row):
    id: int
    at: datetime
    who: str
    via: str
    credential_id: int | None = Field(description="Which token or session acted, as `via` says.")
    ip: str | None
    action: str
    object_kind: str | None
    object_id: str | None
    outcome: str
    details: Any
