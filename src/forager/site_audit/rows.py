"""Findings as rows of a table: one for each URL that belongs to a finding. Pure."""

from collections.abc import Iterator

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
