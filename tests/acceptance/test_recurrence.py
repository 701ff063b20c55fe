"""Pages that are visited again, by frequency and by refresh: what changed, what did not, what is gone, what is new.

The site is a paper whose clock stands still until it is moved, so what each visit must find is known beforehand.
"""

import urllib.request
from collections.abc import Mapping
from datetime import timedelta

import pytest
from tests.acceptance.conftest import NETWORK, OpenWeb
from tests.acceptance.stage import Forager, Web

from forager_playground import News, Visit

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

UNPACED = {"FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK}
HOUR_S = 3600
PASS_TIME = """WITH due AS (UPDATE crawl_tasks SET scheduled_for = now() WHERE outcome IS NULL RETURNING domain_id)
               UPDATE domains SET next_crawl_after = now() WHERE id IN (SELECT domain_id FROM due) RETURNING id"""
"""All that is planned is due."""
OPEN = """SELECT p.url, t.scheduled_for - now() AS waits FROM crawl_tasks t JOIN pages p ON p.id = t.page_id
          WHERE t.outcome IS NULL"""
LAST = """SELECT DISTINCT ON (p.url) p.url, t.status_code, t.is_changed, t.bytes FROM crawl_tasks t
          JOIN pages p ON p.id = t.page_id WHERE t.outcome IS NOT NULL ORDER BY p.url, t.id DESC"""
STANDING = "SELECT url, status::text, comparisons, changes FROM pages"


class Paper:
    """The site, its witness, and a copy of it in this process whose clock goes with it."""

    def __init__(self, web: Web) -> None:
        self.web = web
        (self.base, site), *_ = web.running.sites.items()
        assert isinstance(site, News)
        self.site = site
        self._read = 0

    def tick(self, by_s: int) -> None:
        with urllib.request.urlopen(f"{self.base}/_tick?by={by_s}", timeout=10) as answer:
            self.site.tick(by_s)
            assert int(answer.read()) == self.site.now_s

    def url(self, page: int) -> str:
        return f"{self.base}/p/{page}" if page else f"{self.base}/"

    def versions(self) -> dict[str, int]:
        """Of all pages that are there now."""
        pages = range(self.site.stories + 1)
        return {self.url(page): self.site.version(page) for page in pages if self.site.status_of(page) == 200}

    def news(self) -> dict[str, Visit]:
        """What was asked for since the last time; nothing twice."""
        visits = [visit for visit in self.web.visits() if not visit.target.startswith("/_")]
        fresh, self._read = visits[self._read :], len(visits)
        assert len({visit.url for visit in fresh}) == len(fresh)
        return {visit.url: visit for visit in fresh}


def test_a_recurring_site_is_visited_again_for_what_changed(forager: Forager, open_web: OpenWeb) -> None:
    paper = Paper(open_web("news=12"))
    (host,) = paper.web.hosts
    forager.start(*paper.web.urls, **UNPACED).finish()
    known = paper.versions()
    assert set(paper.news()) == set(known)
    assert forager.ask(OPEN) == []

    forager.do("domain", host, "set", "--every", "1h")
    assert_planned(forager, known)
    comparisons, changes = dict.fromkeys(known, 0), dict.fromkeys(known, 0)
    for hours in (1, 7, 30):  # the last makes two stories disappear and adds some
        paper.tick(hours * HOUR_S)
        assert forager.ask(PASS_TIME)
        forager.do("refresh", **UNPACED)
        now = paper.versions()
        changed = {url for url in known if url in now and now[url] != known[url]}
        gone = known.keys() - now.keys()
        assert_visits(paper.news(), known, now, changed)
        assert_recorded(forager, known, changed, gone)
        for url in known.keys() - gone:
            comparisons[url] += 1
            changes[url] += url in changed
        known = now
        assert_planned(forager, now)
        comparisons |= {url: 0 for url in now if url not in comparisons}
        changes |= {url: 0 for url in now if url not in changes}
    assert len(known) == 12 + 1 + 3 - 2
    standing = {row["url"]: row for row in forager.ask(STANDING)}
    assert {url: (row["comparisons"], row["changes"]) for url, row in standing.items() if row["status"] != "gone"} == {
        url: (comparisons[url], changes[url]) for url in known
    }
    assert {url for url, row in standing.items() if row["status"] == "gone"} == {paper.url(11), paper.url(12)}

    assert forager.ask(PASS_TIME)
    forager.do("refresh", **UNPACED)
    again = paper.news()
    assert set(again) == set(known), "what is gone is not asked for again"
    assert {visit.status for visit in again.values()} == {304}
    forager.check()


def assert_planned(forager: Forager, pages: Mapping[str, int]) -> None:
    """Each page that is there has its next visit an hour after the last."""
    planned = {row["url"]: row["waits"] for row in forager.ask(OPEN)}
    assert set(planned) == set(pages)
    assert timedelta(minutes=55) <= min(planned.values()) <= max(planned.values()) <= timedelta(hours=1)


def assert_visits(
    visits: Mapping[str, Visit], known: Mapping[str, int], now: Mapping[str, int], changed: set[str]
) -> None:
    """As the site saw it: all that was known, conditionally; all that is new, plainly; a 304 where nothing changed."""
    assert set(visits) == known.keys() | now.keys()
    for url, visit in visits.items():
        assert visit.is_conditional == (url in known)
        if url in known and url in now:
            assert (url, visit.status) == (url, 200 if url in changed else 304)


def assert_recorded(forager: Forager, known: Mapping[str, int], changed: set[str], gone: set[str]) -> None:
    last = {row["url"]: row for row in forager.ask(LAST)}
    for url in known:
        row = last[url]
        assert row["is_changed"] is (None if url in gone else url in changed), url
        assert (row["status_code"] == 304) == (url not in changed and url not in gone)
        assert bool(row["bytes"]) == (url in changed)


def test_a_finished_site_is_refreshed_when_its_time_comes(forager: Forager, open_web: OpenWeb) -> None:
    """Its time is the scheduler's business; then all of it is visited again, and what is new is crawled too."""
    paper = Paper(open_web("news=8"))
    (host,) = paper.web.hosts
    forager.start(*paper.web.urls, **UNPACED).finish()
    known = paper.versions()
    assert set(paper.news()) == set(known)
    paper.tick(12 * HOUR_S)
    forager.do("refresh", **UNPACED)
    assert paper.news() == {}, "it is not time yet"

    forager.ask("UPDATE domains SET next_crawl_after = now() WHERE name = $1 RETURNING id", host)
    forager.do("schedule", "run", "refresh", "--once")
    state = "SELECT status::text, next_crawl_after - now() FROM domains WHERE name = $1"
    assert forager.ask(state, host) == [("pending", None)]
    forager.do("refresh", **UNPACED)
    now = paper.versions()
    visits = paper.news()
    assert_visits(visits, known, now, {url for url in known if now[url] != known[url]})
    assert visits.keys() - known.keys() == {paper.url(9)}
    ((status, rests),) = forager.ask(state, host)
    assert status == "exhausted"
    assert timedelta(days=14, minutes=-5) <= rests <= timedelta(days=14)
    assert forager.ask(OPEN) == []
    forager.check()
