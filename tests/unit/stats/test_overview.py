"""Steps of a series, and numbers that are made from others."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.errors import NotFoundError, UsageError
from forager.stats.counters import LATENCY_LABELS, LATENCY_S
from forager.stats.overview import (
    METRICS,
    MOST_STEPS,
    PUBLIC,
    error_rate,
    find_metric,
    per_second,
    quantiles,
    resolve_step,
    success_rate,
)
from forager.stats.series import Number

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def step(span: timedelta, step_s: int | None = None) -> int:
    return resolve_step(NOW - span, NOW, NOW, step_s)


def test_a_step_fits_the_span() -> None:
    assert step(timedelta(hours=1)) == 60
    assert step(timedelta(days=1)) == 900
    assert step(timedelta(days=7)) == 3600
    assert step(timedelta(days=8)) == 86_400
    assert step(timedelta(days=1), 3600) == 3600


@pytest.mark.parametrize("step_s", [0, -60, 59, 61, 7 * 60])
def test_a_step_is_whole_minutes_of_a_day(step_s: int) -> None:
    with pytest.raises(UsageError, match="A step is a minute at least"):
        step(timedelta(hours=1), step_s)


def test_a_chart_has_an_end() -> None:
    with pytest.raises(UsageError, match=f"more than {MOST_STEPS:,} steps"):
        step(timedelta(days=7), 60)
    with pytest.raises(UsageError, match=f"more than {MOST_STEPS:,} steps"):
        step(timedelta(days=5 * 366))


def test_a_metric_nobody_knows_is_refused_with_those_it_could_be() -> None:
    with pytest.raises(NotFoundError, match=r"Did you mean .*visits"):
        find_metric("visit")


def test_derived_metrics_are_made_from_counted_ones() -> None:
    for metric in METRICS.values():
        assert all(METRICS[part].kind == "counted" for part in metric.of)
        assert bool(metric.of) == (metric.kind == "derived")


def test_rates() -> None:
    numbers = [Number("visits", "success", 60), Number("visits", "failed", 20), Number("visits", "cancelled", 99)]
    numbers += [Number("visits", "blocked_robots", 99)]
    numbers += [Number("status", "200", 60), Number("status", "404", 5), Number("status", "503", 3)]
    assert per_second(numbers, 40) == 2
    assert per_second(numbers, 0) == 0
    assert success_rate(numbers) == 0.75
    assert error_rate(numbers) == 0.1
    assert success_rate([]) is error_rate([]) is None


def test_quantiles_lie_inside_the_bucket_also_where_others_are_empty() -> None:
    assert quantiles({}) == {"p50": None, "p95": None, "p99": None}
    assert quantiles({"0.5": 10})["p50"] == 0.375
    assert quantiles({"+Inf": 3})["p99"] == LATENCY_S[-1]


@given(st.dictionaries(st.sampled_from(LATENCY_LABELS), st.integers(0, 1000)))
def test_quantiles_never_fall(buckets: dict[str, float]) -> None:
    found = quantiles(buckets)
    if any(buckets.values()):
        values = [value for value in found.values() if value is not None]
        assert len(values) == 3
        assert values == sorted(values)
        assert 0 <= values[0] <= LATENCY_S[-1]


def test_the_public_part_is_small() -> None:
    assert len(PUBLIC) == 6
