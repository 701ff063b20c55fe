"""The imagined web and its crawl: sizes add up, the pace is the crawl's own, limits bind where they should."""

import time

import pytest

from forager.app.scale import costs
from forager.app.scale.course import ClusterLimits, Crawl, SimulationResult
from forager.app.scale.forecast import Machines, foresee
from forager.app.scale.tempo import interval_s
from forager.app.scale.web import Kind, SimulatedWeb, WebPlan, generate_web, share_pages
from forager.settings import load

SETTINGS = load({}, {})
FAST = Kind(1.0, 0.1)
PLENTY = 1e9


def crawl(
    sizes: list[int],
    fleet: ClusterLimits | None = None,
    *,
    turn: int | None = 10,
    interval: float = 1.0,
    until_s: float = 1e9,
) -> SimulationResult:
    web = SimulatedWeb(sizes, [FAST] * len(sizes))
    whole = fleet or ClusterLimits(1000, PLENTY, PLENTY, PLENTY)
    return Crawl(web, {FAST: interval}, [0.0] * len(sizes), whole, turn_pages=turn).run(until_s)


@pytest.mark.parametrize(("domains", "pages", "skew"), [(1, 1, 0.0), (10, 1000, 0.0), (1000, 54_321, 0.9), (7, 7, 2.0)])
def test_every_page_belongs_to_a_domain(domains: int, pages: int, skew: float) -> None:
    sizes = share_pages(domains, pages, skew)
    assert (len(sizes), sum(sizes), min(sizes) >= 1) == (domains, pages, True)
    assert sizes == sorted(sizes, reverse=True)


def test_the_same_seed_is_the_same_web() -> None:
    plan = WebPlan(500, 5000)
    assert generate_web(plan) == generate_web(plan)
    assert generate_web(plan) != generate_web(WebPlan(500, 5000, seed=2))
    slow = sum(kind.delay_s == 10.0 for kind in generate_web(plan).kinds)
    assert 5 <= slow <= 60


def test_the_interval_is_the_delay_where_answers_are_fast() -> None:
    assert interval_s(FAST, max_in_flight=5, is_adaptive=False) == pytest.approx(1.0, rel=0.01)
    assert interval_s(FAST, max_in_flight=5, is_adaptive=True) >= 1.0


def test_open_requests_decide_where_answers_are_slow() -> None:
    """Five open at once that take ten seconds each: one in two seconds, whatever the delay."""
    found = interval_s(Kind(0.1, 10.0), max_in_flight=5, is_adaptive=False)
    assert found == pytest.approx(2.0, rel=0.25)


def test_politeness_decides_where_nothing_else_does() -> None:
    course = crawl([100] * 20)
    assert course.pages == 2000
    assert course.pages_per_s == pytest.approx(20.0)
    assert course.seconds == pytest.approx(100.0)
    assert set(course.limits_s) == {"pace"}


@pytest.mark.parametrize(
    ("fleet", "limit", "rate"),
    [
        (ClusterLimits(5, PLENTY, PLENTY, PLENTY), "queues", 5.0),
        (ClusterLimits(1000, 1.0, PLENTY, PLENTY), "requests", 10.0),
        (ClusterLimits(1000, PLENTY, 4.0, PLENTY), "workers", 4.0),
        (ClusterLimits(1000, PLENTY, PLENTY, 2.0), "database", 2.0),
    ],
)
def test_what_is_short_decides(fleet: ClusterLimits, limit: str, rate: float) -> None:
    course = crawl([1000] * 20, fleet)
    assert max(course.limits_s, key=course.limits_s.__getitem__) == limit
    assert course.most_pages_per_s == pytest.approx(rate)
    assert course.pages == 20_000


def test_a_huge_domain_does_not_keep_the_others_waiting() -> None:
    """One queue: with a page budget the small ones come after one turn of the huge one, without it after all of it."""
    alone = ClusterLimits(1, PLENTY, PLENTY, PLENTY)
    sizes = [10_000, *[1] * 50]
    assert crawl(sizes, alone, until_s=61).turns == 51
    assert crawl(sizes, alone, turn=None, until_s=61).turns == 0


def test_it_stops_when_its_time_is_over() -> None:
    course = crawl([1000] * 10, until_s=50.0)
    assert (course.seconds, course.pages) == (50.0, 500)


def test_more_workers_write_smaller_batches() -> None:
    plan = WebPlan(200, 20_000, skew=0, response_s=0.1)
    web = generate_web(plan)
    few, many = (
        foresee(plan, web, [0.0] * 200, Machines(number), SETTINGS, until_s=1e9).database for number in (1, 32)
    )
    assert few["pages_per_batch"] > many["pages_per_batch"]
    assert few["statements_per_page"] < many["statements_per_page"]
    assert few["wal_bytes_per_s"] == pytest.approx(many["wal_bytes_per_s"])


def test_money_is_cores_and_what_is_stored() -> None:
    plan = WebPlan(100, 36_000, skew=0, response_s=0.01, slow_share=0)
    free = Machines(1, core_hour=0.0, gb_month=0.0)
    dear = Machines(1, database_cores=2, core_hour=1.0, gb_month=1.0)
    web = generate_web(plan)
    assert foresee(plan, web, [0.0] * 100, free, SETTINGS, until_s=1e9).money["total"] == 0
    money = foresee(plan, web, [0.0] * 100, dear, SETTINGS, until_s=1e9).money
    assert money["database"] == pytest.approx(2 * money["workers"])
    assert money["storage_a_month"] == pytest.approx(36_000 * costs.PAGE_BYTES / 1e9)


def test_ten_thousand_domains_take_a_moment() -> None:
    plan = WebPlan(10_000, 10_000_000)
    began = time.process_time()
    assert foresee(plan, generate_web(plan), [0.0] * 10_000, Machines(4), SETTINGS, until_s=1e9).is_done
    assert time.process_time() - began < 6.0
