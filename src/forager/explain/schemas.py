"""Checks and the politeness proof, as responses show them."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from forager.api.types import Row
from forager.explain.check import Finding


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
    robots_overridden: int = Field(description="Visits that robots.txt forbids and an operator ordered.")
    overrides: list[dict[str, Any]] = Field(description="These orders: domain, time, who and why.")
