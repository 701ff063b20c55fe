"""Jobs of the scheduler, as responses show them."""

from datetime import datetime

from forager.api.types import Row


class Job(Row):
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
    job: str
    message: str
