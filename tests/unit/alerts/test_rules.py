"""What each rule calls bad, and where it begins and ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.alerts.jobs import limits_from_settings
from forager.alerts.rules import (
    RULES,
    USUAL,
    JobStatus,
    Limits,
    ParseStats,
    PoolStats,
    RuleInput,
    StaleWorkers,
    evaluate_rules,
)
from forager.alerts.watch import Level
from forager.config.loader import load
from forager.errors import ConfigurationError
from forager.storage.disk import Disk

GIGABYTE = 1024**3
SHARES = {
    "error_rate": "alerts.max_error_rate",
    "success_rate": "alerts.min_success_rate",
    "frontier_growth": "alerts.max_frontier_growth",
    "proxy_failures": "alerts.max_proxy_failure_rate",
    "parse_drop": "alerts.max_parse_drop",
    "disk_free": "alerts.min_disk_free",
}


def levels(facts: RuleInput) -> dict[tuple[str, str], Level]:
    return {(finding.rule, finding.subject): finding.level for finding in evaluate_rules(facts)}


@pytest.mark.parametrize(
    ("visits", "refused", "level"),
    [(100, 20, Level.BETWEEN), (100, 21, Level.BAD), (100, 15, None), (9, 9, None), (10, 10, Level.BAD), (0, 0, None)],
)
def test_errors_above_a_fifth_are_bad_where_there_are_enough_visits(
    visits: int, refused: int, level: Level | None
) -> None:
    assert levels(RuleInput(visits=visits, refused=refused)).get(("error_rate", "")) == level


def test_visits_that_nobody_answers_are_errors() -> None:
    assert levels(RuleInput(visits=100, refused=5, unanswered=16))["error_rate", ""] is Level.BAD


@pytest.mark.parametrize(
    ("visits", "succeeded", "level"),
    [
        (100, 49, Level.BAD),
        (100, 55, Level.BETWEEN),
        (100, 60, None),
        (9, 0, None),
        (10, 0, Level.BAD),
        (50, None, None),
    ],
)
def test_few_pages_are_bad_where_there_are_enough_visits(
    visits: int, succeeded: int | None, level: Level | None
) -> None:
    assert levels(RuleInput(visits=visits, succeeded=succeeded)).get(("success_rate", "")) == level


@pytest.mark.parametrize(
    ("samples", "level"),
    [
        ([(180, 100_000), (120, 111_000), (60, 124_000)], Level.BAD),
        ([(120, 100_000), (60, 109_000)], Level.BETWEEN),
        ([(120, 100_000), (60, 104_000)], None),
        ([(120, 100), (60, 9_000)], None),
        ([(120, 0), (60, 90_000)], None),
        ([(60, 90_000)], None),
        ([(90, 50_000), (60, 90_000)], None),
        ([], None),
    ],
)
def test_a_frontier_that_grows_by_a_tenth_a_minute_is_bad_once_it_is_large(
    samples: list[tuple[float, float]], level: Level | None
) -> None:
    assert levels(RuleInput(frontier=samples)).get(("frontier_backlog", "")) == level


def test_silent_workers_are_one_finding_for_a_machine() -> None:
    [finding] = evaluate_rules(RuleInput(workers=[StaleWorkers("box", [3, 7], 200.0)]))
    assert (finding.rule, finding.subject, finding.level, finding.value) == ("worker_silent", "box", Level.BAD, 2)
    assert "2 workers (3, 7) have given no heartbeat for 3 minutes" in finding.message


@pytest.mark.parametrize(("active", "level"), [(2, Level.BAD), (3, None)])
def test_a_pool_needs_three_proxies(active: int, level: Level | None) -> None:
    facts = RuleInput(pools=[PoolStats("a.example", active, 0, 0)])
    assert levels(facts).get(("few_proxies", "a.example")) == level


@pytest.mark.parametrize(
    ("requests", "failed", "level"), [(100, 11, Level.BAD), (100, 10, Level.BETWEEN), (100, 5, None), (19, 19, None)]
)
def test_proxies_that_fail_a_tenth_of_the_time_are_bad(requests: int, failed: int, level: Level | None) -> None:
    facts = RuleInput(pools=[PoolStats("a.example", 3, requests, failed)])
    assert levels(facts).get(("proxies_failing", "a.example")) == level


@pytest.mark.parametrize(
    ("now", "before", "level"),
    [
        ((100, 60), (100, 90), Level.BAD),
        ((100, 75), (100, 90), Level.BETWEEN),
        ((100, 85), (100, 90), None),
        ((10, 0), (100, 90), None),
    ],
)
def test_products_that_can_no_longer_be_read_are_noticed(
    now: tuple[int, int], before: tuple[int, int], level: Level | None
) -> None:
    facts = RuleInput(
        parsers=[ParseStats("a.example", *now, *before)],
        fields=[ParseStats("a.example", *now, *before, "offers", field) for field in ("price", "")],
    )
    assert levels(facts).get(("parse_drop", "a.example")) == level
    assert levels(facts).get(("coverage_drop", "a.example offers.price")) == level
    assert levels(facts).get(("coverage_drop", "a.example offers")) == level


@pytest.mark.parametrize(
    ("free", "total", "level"),
    [
        (4 * GIGABYTE, 100 * GIGABYTE, Level.BAD),
        (GIGABYTE // 2, 4 * GIGABYTE, Level.BAD),
        (6 * GIGABYTE, 100 * GIGABYTE, Level.BETWEEN),
        (50 * GIGABYTE, 100 * GIGABYTE, None),
        (0, 0, Level.BAD),
    ],
)
def test_a_disk_is_low_by_share_or_by_bytes(free: int, total: int, level: Level | None) -> None:
    assert levels(RuleInput(disks=[Disk("/data", free, total)])).get(("disk_low", "/data")) == level


def test_a_job_is_late_after_three_periods_and_five_minutes() -> None:
    jobs = [
        JobStatus("slow", 3600, 3 * 3600 + 1, None),
        JobStatus("on_time", 3600, 3600, None),
        JobStatus("quick", 1, 299, None),
        JobStatus("broken", 60, -5, "ValueError: no"),
    ]
    assert levels(RuleInput(jobs=jobs)) == {("job_late", "slow"): Level.BAD, ("job_failing", "broken"): Level.BAD}


def test_dead_letters_are_told_apart() -> None:
    assert levels(RuleInput(dead={"visits": 2, "webhooks": 0})) == {("dead_letters", "visits"): Level.BAD}


def test_documents_that_cannot_be_found_are_told_with_the_reason() -> None:
    (found,) = evaluate_rules(RuleInput(unsearchable=2, refusal="mapper_parsing_exception: too long."))
    assert (found.rule, found.level, found.value) == ("search_rejected", Level.BAD, 2)
    assert found.message == (
        "The search server would not take 2 documents; the last: mapper_parsing_exception: too long."
    )


def test_domains_that_check_their_visitors_are_named() -> None:
    (found,) = evaluate_rules(RuleInput(challenged=1, challenge="a.example: it showed it 5 times."))
    assert (found.rule, found.level, found.value) == ("challenged", Level.BAD, 1)
    assert found.message == "1 domain shows a check of visitors in place of pages; a.example: it showed it 5 times."


amounts = st.integers(0, 10**12)
odd_facts = st.builds(
    RuleInput,
    visits=st.floats(0, 1e9),
    refused=st.floats(0, 1e9),
    frontier=st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e12)), max_size=5),
    disks=st.lists(st.builds(Disk, st.just("/"), amounts, amounts), max_size=2),
    pools=st.lists(st.builds(PoolStats, st.text(max_size=5), amounts, amounts, amounts), max_size=2),
    unsearchable=amounts,
    refusal=st.text(max_size=5),
    parsers=st.lists(st.builds(ParseStats, st.text(max_size=5), amounts, amounts, amounts, amounts), max_size=2),
)


@given(odd_facts)
def test_no_number_is_too_odd(facts: RuleInput) -> None:
    for finding in evaluate_rules(facts):
        assert finding.rule in RULES
        assert finding.level is not Level.GOOD
        assert finding.message.endswith(".")


def test_the_settings_move_the_limits() -> None:
    facts = RuleInput(
        visits=100,
        refused=12,
        pools=[PoolStats("a.example", 4, 100, 3)],
        disks=[Disk("/", 20 * GIGABYTE, 100 * GIGABYTE)],
    )
    assert levels(facts) == {}
    strict = Limits(error_rate=0.1, fewest_proxies=5, proxy_failures=0.02, disk_free=0.3)
    found = {(each.rule, each.level) for each in evaluate_rules(facts, strict)}
    bad = {"error_rate", "few_proxies", "proxies_failing", "disk_low"}
    assert found == {(rule, Level.BAD) for rule in bad}


def test_every_setting_of_alerts_is_a_limit() -> None:
    limits = limits_from_settings(load(dict.fromkeys(SHARES.values(), 0.5)))
    assert all(getattr(limits, name) == 0.5 for name in SHARES)
    assert limits_from_settings(load({})) == USUAL


@pytest.mark.parametrize(("name", "value"), [("max_error_rate", 0), ("max_error_rate", 20), ("min_proxies", -1)])
def test_a_limit_that_makes_no_sense_is_refused(name: str, value: float) -> None:
    with pytest.raises(ConfigurationError, match=rf"alerts\.{name}"):
        load({f"alerts.{name}": value})
