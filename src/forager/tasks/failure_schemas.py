"""Response schemas of failures."""

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from forager.api.paging import Next
from forager.api.types import Row

Category = Literal["network", "site", "robots", "parse", "validation", "us"]


class Pattern(Row):
    """Failures that are one problem."""

    fingerprint: str = Field(examples=["3f9a12bc44d0"])
    category: Category
    code: str = Field(examples=["timeout"])
    blame: str
    shape: str = Field(description="The message, without what differs.")
    failures: int
    domains: int
    first_at: datetime
    last_at: datetime
    sample: str
    sample_task: int | None


class Categories(Row):
    network: int
    site: int
    robots: int = Field(description="What a robots.txt forbids: no failures.")
    parse: int
    validation: int
    us: int


class DayOfFailures(Row):
    day: date
    failures: int
    domains: int


class DomainOfFailures(Row):
    domain: str
    failures: int
    last_at: datetime


class ErrorPattern(Row):
    """One problem: what, since when, where, day by day."""

    pattern: Pattern
    days: list[DayOfFailures]
    domains: list[DomainOfFailures]
    sample_url: str | None
    stack: str | None = Field(description="The trace of one failure, where it is a bug of ours.")


class DeadTask(Row):
    task_id: int
    url: str
    domain: str
    category: Category
    code: str
    status_code: int | None
    message: str | None
    blame: str
    died_at: datetime
    retry_count: int
    fingerprint: str


class DeadWebhook(Row):
    id: int
    kind: str
    task_id: int | None
    url: str
    created_at: datetime
    died_at: datetime
    tries: int
    status_code: int | None
    error: str | None


class DeadLetters(Row):
    tasks: list[DeadTask]
    webhooks: list[DeadWebhook]
    next: Next


class Redriven(Row):
    fingerprint: str | None
    count: int
    tasks: list[int]
    webhooks: int = Field(description="Calls that were given up and are made again.")
    dry_run: bool
