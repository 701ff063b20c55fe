"""What `/metrics` says: the names that were promised, readable by Prometheus' own parser, described in the docs."""

import json
import math
import re
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from forager.alerts.service import list_rules
from forager.stats.counters import LATENCY_LABELS
from forager.stats.overview import METRICS
from forager.stats.routes.prometheus import COUNTERS, Snapshot, families, render
from forager.stats.series import JobTimes, Number

ROOT = Path(__file__).parents[3]
SEVEN = {
    "crawler_pages_fetched_total",
    "crawler_pages_per_second",
    "crawler_fetch_success_rate",
    "crawler_http_status_total",
    "crawler_frontier_size",
    "crawler_robots_denials",
    "crawler_active_workers",
}


def a_snapshot(**more: Any) -> Snapshot:
    given: dict[str, Any] = {
        "totals": [
            Number("visits", "success", 90),
            Number("visits", "blocked_robots", 7),
            Number("visits", "cancelled", 2),
            Number("visits", "failed", 3),
            Number("status", "200", 90),
            Number("fetch_s", "0.1", 4),
            Number("fetch_s", "0.5", 2),
            Number("fetch_s", "+Inf", 1),
            Number("fetch_s.sum", "", 12.5),
            Number("batch_pages", "200", 1),
        ],
        "state": [Number("frontier_size", "", 12), Number("active_workers", "", 2), Number("breakers", "open", 1)],
        "recent": [Number("visits", "success", 90)],
        "recent_s": 90.0,
        "lately": [Number("visits", "success", 3), Number("visits", "failed", 1)],
        "jobs": [JobTimes("score", 3600, 12.0, False, -5.0), JobTimes("broken", 60, 5.0, True, 100.0)],
        "domains": [
            {
                "name": 'a"b\\c\n.example',
                "pages_crawled": 4,
                "total_error_count": 1,
                "frontier_size": 2,
                "pace_delay_s": 1.0,
            }
        ],
    }
    return Snapshot(**given | more)


def read(snapshot: Snapshot | None) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """By name and labels. The library's parser appends `_total` to a counter's name that has none."""
    text = render(snapshot).decode()
    return {
        (sample.name.replace("denials_total", "denials"), frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(snapshot: Snapshot | None, metric: str, **labels: str) -> float:
    return read(snapshot)[metric, frozenset(labels.items())]


def test_the_seven_are_there_by_name() -> None:
    assert {name for name, _ in read(a_snapshot())} >= SEVEN


def test_every_series_has_a_type() -> None:
    text = render(a_snapshot()).decode()
    assert "# TYPE crawler_robots_denials counter\n" in text
    assert "untyped" not in text


def test_they_mean_what_they_say() -> None:
    snapshot = a_snapshot()
    assert value(snapshot, "crawler_up") == 1
    assert value(snapshot, "crawler_pages_fetched_total") == 93
    assert value(snapshot, "crawler_pages_per_second") == 1
    assert value(snapshot, "crawler_fetch_success_rate") == 0.75
    assert value(snapshot, "crawler_http_status_total", status="200") == 90
    assert value(snapshot, "crawler_frontier_size") == 12
    assert value(snapshot, "crawler_robots_denials") == 7
    assert value(snapshot, "crawler_active_workers") == 2
    assert value(snapshot, "crawler_breakers", state="open") == 1


def test_a_rate_of_nothing_is_not_a_number() -> None:
    assert math.isnan(value(a_snapshot(lately=[]), "crawler_fetch_success_rate"))


def test_buckets_hold_all_that_was_smaller() -> None:
    snapshot = a_snapshot()
    buckets = [value(snapshot, "crawler_stage_seconds_bucket", stage="fetch", le=label) for label in LATENCY_LABELS]
    assert buckets == sorted(buckets)
    assert value(snapshot, "crawler_stage_seconds_bucket", stage="fetch", le="0.25") == 4
    assert value(snapshot, "crawler_stage_seconds_bucket", stage="fetch", le="0.5") == 6
    assert value(snapshot, "crawler_stage_seconds_count", stage="fetch") == 7
    assert value(snapshot, "crawler_stage_seconds_sum", stage="fetch") == 12.5
    assert value(snapshot, "crawler_batch_pages_count") == 1


def test_a_job_that_failed_has_no_age_of_success() -> None:
    found = read(a_snapshot())
    assert found["crawler_job_age_seconds", frozenset({("job_name", "score")})] == 12
    assert ("crawler_job_age_seconds", frozenset({("job_name", "broken")})) not in found
    assert found["crawler_job_failed", frozenset({("job_name", "broken")})] == 1
    assert found["crawler_job_late_seconds", frozenset({("job_name", "score")})] == 0


def test_without_the_database_it_says_so_and_nothing_it_does_not_know() -> None:
    assert {name for name, _ in read(None)} == {"crawler_up", "crawler_info"}
    assert value(None, "crawler_up") == 0


@given(st.text(min_size=1, max_size=40))
def test_a_name_from_the_web_cannot_break_the_format(name: str) -> None:
    domain = {"name": name, "pages_crawled": 4, "total_error_count": 0, "frontier_size": 0, "pace_delay_s": 0.0}
    text = render(a_snapshot(domains=[domain])).decode("utf-8", "surrogatepass")
    lines = [line for line in text.split("\n") if line.startswith("crawler_domain_pages_total")]
    assert len(lines) == 1
    assert lines[0].endswith("} 4.0")


# What speaks of them -------------------------------------------------------------------------------------------------


def names() -> set[str]:
    """As Prometheus stores them, but for the parts of a histogram."""
    return {family.name + ("_total" if family.type == "counter" else "") for family in families(Snapshot())}


def test_the_reference_names_each_and_no_other() -> None:
    page = (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(crawler_\w+)` \|", page, re.MULTILINE)) == names()


def test_the_reference_names_each_number_over_time() -> None:
    page = (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (counted|sampled|derived) \| (.*?) \|", page, re.MULTILINE)
    assert rows == [(metric.name, metric.kind, metric.unit) for metric in METRICS.values()]


def test_the_dashboard_asks_only_for_what_exists_and_shows_most_of_it() -> None:
    board = json.loads((ROOT / "deploy/grafana/forager.json").read_text(encoding="utf-8"))
    asked = {
        re.sub(r"_(bucket|sum|count)$", "", name) if name.startswith(("crawler_stage", "crawler_batch")) else name
        for panel in board["panels"]
        for target in panel["targets"]
        for name in re.findall(r"crawler_\w+", target["expr"])
    }
    assert asked <= names()
    assert len(asked) > 25
    assert asked >= SEVEN - {"crawler_http_status_total"}
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


def test_labels_are_few_and_named() -> None:
    assert {label for _, _, label, _ in COUNTERS} == {"outcome", "code", "reason", "how"}


def test_no_label_is_one_that_prometheus_adds_itself() -> None:
    """It renames ours, and a chart by that label shows the name of the scrape job."""
    found = [sample for family in families(a_snapshot()) for sample in family.samples]
    assert not {name for sample in found for name in sample.labels} & {"job", "instance"}
    assert any("job_name" in sample.labels for sample in found)


def test_every_rule_has_its_page_in_the_runbook_and_no_other() -> None:
    pages = {page.stem for page in (ROOT / "docs/runbook").glob("*.md")} - {"README"}
    assert pages == {rule["rule"].replace("_", "-") for rule in list_rules()}
    for page in pages:
        text = (ROOT / f"docs/runbook/{page}.md").read_text(encoding="utf-8")
        for heading in ("## What it means", "## What to look at", "## What to do"):
            assert heading in text, page
