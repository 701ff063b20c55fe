"""Records of a site report."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "notice"]
MS_PER_S = 1000


@dataclass(frozen=True, slots=True)
class Limits:
    """What counts as too much."""

    title_characters: int = 60
    response_ms: int = 1000
    bytes: int = 1_000_000
    depth: int = 4


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Check:
    """One kind of finding: the statement of its name finds it."""

    name: str
    title: str
    severity: Severity
    advice: str
    """Why it matters and what to do, in one sentence."""
    others: str = ""
    """What the further URLs of a finding are; empty: it has none."""
    limit: str = ""
    """The field of `Limits` it is measured by."""
    is_grouped: bool = False
    """Whether a finding stands for several pages, as one title does."""


class FindingRow(NamedTuple):
    """One finding, as every statement returns it; `total` is the number of all findings of the check."""

    total: int
    url: str
    value: str | None
    others: list[str] | None
    others_total: int


class DepthRow(NamedTuple):
    """Pages at one distance from the seeds, by the result of their newest visit."""

    depth: int
    pages: int
    ok: int
    redirects: int
    client_errors: int
    server_errors: int
    failed: int
    robots: int
    waiting: int


class SiteRow(NamedTuple):
    """What is known of a site as a whole."""

    id: int
    name: str
    base_url: str
    stores_links: bool
    links_since: datetime | None
    pages: int
    visited: int
    html: int
    first_visit_at: datetime | None
    last_visit_at: datetime | None
    sitemaps: int
    is_indexed: bool


class ComparedRow(NamedTuple):
    """A page of which one kind of finding appeared, disappeared or stayed."""

    kind: str
    state: str
    total: int
    url: str
    value: str | None
    past: str | None


class SinceRow(NamedTuple):
    """What else happened to the pages of a site since a moment."""

    new_pages: int
    changed_pages: int
    first_visit_at: datetime | None


@dataclass(frozen=True, slots=True)
class Example:
    """One finding of a check."""

    url: str
    value: str | None
    others: Sequence[str]
    others_total: int


@dataclass(frozen=True, slots=True)
class Finding:
    """The findings of one check: their number, and the first of them."""

    name: str
    title: str
    severity: Severity
    advice: str
    others: str
    total: int
    examples: Sequence[Example]


@dataclass(frozen=True, slots=True)
class Difference:
    """Of one kind: how many pages have it now and had it then, and which are new or fixed."""

    kind: str
    before: int
    now: int
    new: int
    fixed: int
    new_examples: Sequence[ComparedRow]
    fixed_examples: Sequence[ComparedRow]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed since a moment."""

    since: datetime
    new_pages: int
    changed_pages: int
    differences: Sequence[Difference]
    not_comparable: Sequence[str]
    """What has no history, in sentences."""


@dataclass(frozen=True, slots=True)
class SiteReport:
    """The report of one site."""

    site: str
    base_url: str
    created_at: datetime
    pages: int
    visited: int
    html: int
    first_visit_at: datetime | None
    last_visit_at: datetime | None
    findings: Sequence[Finding]
    """Of every check, the worst first; those that found nothing have no examples."""
    status_by_depth: Sequence[DepthRow]
    notes: Sequence[str]
    """What the report cannot say, and why."""
    comparison: Comparison | None = None
