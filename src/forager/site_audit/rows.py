"""Findings as rows of a table: one for each URL that belongs to a finding. Pure."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from forager.site_audit.models import Check, Example, SiteReport

COLUMNS = ("finding", "severity", "url", "value", "other_url")
"""`other_url` is the page that links to it, the canonical URL, the next step of a redirect, or a page with the same."""
SUMMARY_COLUMNS = ("finding", "severity", "title", "count")


def list_rows(check: Check, example: Example) -> Iterator[tuple[str | None, ...]]:
    for other in example.others or (None,):
        yield check.name, check.severity, example.url, example.value, other


def list_summary(report: SiteReport) -> Iterator[tuple[str | int, ...]]:
    for finding in report.findings:
        yield finding.name, finding.severity, finding.title, finding.total


def as_document(report: SiteReport) -> dict[str, Any]:
    """Returns a report for JSON: every row by the names of its fields."""
    found = asdict(report)
    found["status_by_depth"] = [row._asdict() for row in report.status_by_depth]
    if report.comparison is not None:
        for document, each in zip(found["comparison"]["differences"], report.comparison.differences, strict=True):
            document["new_examples"] = [row._asdict() for row in each.new_examples]
            document["fixed_examples"] = [row._asdict() for row in each.fixed_examples]
    return found
