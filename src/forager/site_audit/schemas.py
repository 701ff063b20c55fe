"""Site reports, as answers show them."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from forager.api.types import Row


class ReportExample(Row):
    url: str = Field(examples=["https://shop.example/gone"])
    value: str | None = Field(description="What was found: a status code, a title, a time.", examples=["404"])
    others: list[str] = Field(description="URLs that belong to it, at most five; `others` of the finding says which.")
    others_total: int


class ReportFinding(Row):
    name: str = Field(examples=["broken_links"])
    title: str = Field(examples=["Broken links"])
    severity: Literal["error", "warning", "notice"]
    advice: str
    others: str = Field(description="How the other URLs belong to an example.", examples=["linked from"])
    total: int = Field(description="How many there are in all.")
    examples: list[ReportExample]


class DepthCounts(Row):
    depth: int
    pages: int
    ok: int
    redirects: int
    client_errors: int
    server_errors: int
    failed: int
    robots: int
    waiting: int


class ComparedPage(Row):
    kind: str
    state: Literal["new", "fixed"]
    total: int
    url: str
    value: str | None
    past: str | None = Field(description="What it was then; null if it was not visited.")


class ReportDifference(Row):
    kind: Literal["broken", "redirects", "forbidden", "slow", "heavy"]
    before: int
    now: int
    new: int
    fixed: int
    new_examples: list[ComparedPage]
    fixed_examples: list[ComparedPage]


class ReportComparison(Row):
    since: datetime
    new_pages: int
    changed_pages: int
    differences: list[ReportDifference]
    not_comparable: list[str] = Field(description="What has no history, in sentences.")


class SiteReport(Row):
    site: str = Field(examples=["shop.example"])
    base_url: str = Field(examples=["https://shop.example"])
    created_at: datetime
    pages: int
    visited: int
    html: int
    first_visit_at: datetime | None
    last_visit_at: datetime | None
    findings: list[ReportFinding]
    status_by_depth: list[DepthCounts]
    notes: list[str] = Field(description="What the report cannot say, and why.")
    comparison: ReportComparison | None
