"""What jobs decide without a database: portions, days, budgets."""

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import forager
from forager.domains.cooldown import Adaptive
from forager.domains.page_batches import batch_by_pages
from forager.frontier.jobs import requests_per_day
from forager.runtime.schedule import JOBS
from forager.stats.days import Days, days_to_roll_up

TODAY = date(2026, 3, 1)


@dataclass(frozen=True)
class Site:
    pages: int


@given(st.lists(st.integers(0, 50).map(Site)), st.integers(1, 60), st.integers(1, 10))
def test_portions_keep_the_order_and_the_limits(sites: list[Site], most_pages: int, most_domains: int) -> None:
    found = list(batch_by_pages(sites, most_pages=most_pages, most_domains=most_domains))
    assert [site for portion in found for site in portion] == sites
    assert all(len(portion) <= most_domains for portion in found)
    assert all(len(portion) == 1 or sum(site.pages for site in portion) <= most_pages for portion in found)


def test_portions_are_as_large_as_they_may_be() -> None:
    sites = [Site(3), Site(3), Site(9), Site(1), Site(1)]
    found = batch_by_pages(sites, most_pages=6, most_domains=10)
    assert [[site.pages for site in portion] for portion in found] == [[3, 3], [9], [1, 1]]


@pytest.mark.parametrize(("days_ago", "count"), [(0, 2), (1, 2), (5, 6)])
def test_yesterday_and_today_are_always_rolled_up_and_what_was_missed(days_ago: int, count: int) -> None:
    days = list(days_to_roll_up(Days(TODAY - timedelta(days_ago), TODAY, [1])))
    assert (len(days), days[-1], days == sorted(days)) == (count, TODAY, True)


def test_without_a_visit_there_is_no_day() -> None:
    assert list(days_to_roll_up(Days(None, TODAY, []))) == []


@pytest.mark.parametrize(
    ("own", "delay_s", "general_s", "budget"),
    [(7.0, 1.0, 1.0, 7.0), (None, 10.0, 1.0, 432.0), (None, None, 2.0, 2160.0), (None, 0.0, 1.0, 43_200.0)],
)
def test_a_budget_is_the_domains_own_or_a_part_of_its_pace(
    own: float | None, delay_s: float | None, general_s: float, budget: float
) -> None:
    assert requests_per_day(Adaptive(1, 100, None, own, None, delay_s), general_s) == pytest.approx(budget)


def test_every_job_of_a_feature_is_scheduled() -> None:
    found = {f"forager.{each.parent.name}.jobs" for each in Path(forager.__path__[0]).glob("*/jobs.py")}
    found |= {
        f"forager.{each.parts[-3]}.jobs.{each.stem}" for each in Path(forager.__path__[0]).glob("*/jobs/[a-z]*.py")
    }
    assert found - {"forager.plugins.jobs"} == {type(job).__module__ for job in JOBS}
    assert len({job.name for job in JOBS}) == len(JOBS)
