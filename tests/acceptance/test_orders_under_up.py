"""Under a running `forager up`: what was ordered is visited, and nothing else. The proof is the request log."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.conftest import NETWORK, OpenWeb
from tests.acceptance.instance import Instance, up
from tests.acceptance.stage import Forager, Web, until

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]
QUICK = {"FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK}
QUIET_S = 4.0
"""Visits that were not ordered would begin within this time."""
PASS_TIME = """UPDATE domains SET budget_until = now() WHERE budget_until IS NOT NULL RETURNING id"""


@pytest.fixture
def service(forager: Forager) -> Iterator[Instance]:
    with up(forager, FORAGER_POLITENESS_NO_DELAY_HOSTS=NETWORK) as instance:
        instance.become_admin()
        yield instance
        instance.stop()


def pages_asked_for(web: Web, base: str) -> list[str]:
    return [
        visit.url
        for visit in web.visits()
        if visit.url.startswith(base) and not visit.url.endswith(("/robots.txt", ".xml", ".xml.gz"))
    ]


def host_of(url: str) -> str:
    return url.removeprefix("http://").rstrip("/")


def test_one_ordered_page_is_one_visit(service: Instance, forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=2x30")
    first, second = web.urls
    forager.do("tasks", "submit", f"{first}p/1")
    service.do("POST", "/api/admin/tasks", {"url": f"{second}p/2"})
    until(lambda: len(pages_asked_for(web, "http")) >= 2, "both pages were visited")
    time.sleep(QUIET_S)
    assert pages_asked_for(web, first) == [f"{first}p/1"]
    assert pages_asked_for(web, second) == [f"{second}p/2"]
    forager.check()


def test_a_page_at_its_frequency_stays_one_page(service: Instance, forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=1x30")
    (site,) = web.urls
    forager.do("crawl", f"{site}p/1", "--scope", "page", "-q", **QUICK)
    forager.do("domain", host_of(site), "set", "--every", "2s")
    until(lambda: len(pages_asked_for(web, site)) >= 3, "it was visited again and again")
    assert set(pages_asked_for(web, site)) == {f"{site}p/1"}
    forager.check()


def test_an_order_for_the_whole_site_joins_one_for_a_page(
    service: Instance, forager: Forager, open_web: OpenWeb
) -> None:
    web = open_web("uniform=1x30")
    (site,) = web.urls
    forager.do("tasks", "submit", f"{site}p/1", "--only")
    until(lambda: len(pages_asked_for(web, site)) == 1, "the page was visited")
    forager.do("crawl", site, "-q", **QUICK)
    assert set(pages_asked_for(web, site)) >= web.key.expected_success()
    forager.do("tasks", "submit", f"{site}p/2", "--only")
    rows = json.loads(forager.do("domain", host_of(site), "settings", "--json"))
    assert {row["name"]: row["value"] for row in rows}["scope"] == "host", "an order for a page narrows nothing"
    forager.check()


def test_a_page_budget_spares_revisits_and_renews(service: Instance, forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=1x30")
    (site,) = web.urls
    forager.do("domain", host_of(site), "set", "--max-pages", "4", "--max-pages-per", "day", "--every", "2s")
    forager.do("seed", site, **QUICK)
    until(lambda: len(pages_asked_for(web, site)) >= 12, "the four pages are visited again and again")
    assert len(set(pages_asked_for(web, site))) == 4
    said = forager.do("why", f"{site}p/29") if forager.value("SELECT count(*) FROM pages") > 29 else ""
    assert not said or "of 4 pages today taken" in said
    assert forager.value("SELECT block_reason_code IS NULL AND status <> 'exhausted' FROM domains")
    assert forager.ask(PASS_TIME)
    until(lambda: len(set(pages_asked_for(web, site))) == 8, "the next day brings four more")
    forager.check()


def test_a_profile_holds_before_the_first_request(
    service: Instance, forager: Forager, open_web: OpenWeb, tmp_path: Path
) -> None:
    web = open_web("uniform=2x30")
    shop, docs = web.urls
    declared = tmp_path / "profiles.toml"
    declared.write_text(
        f'[profile.few]\ndomains = ["{host_of(shop)}"]\nmax_depth = 0\n'
        f'[profile.part]\ndomains = ["{host_of(docs)}"]\ninclude = ["*/p/1", "*/p/1?"]\nuser_agent = "Shelf/1.0"\n'
    )
    forager.do("profiles", "apply", str(declared))
    assert "no change" in forager.run("profiles", "apply", str(declared)).stderr
    forager.do("seed", shop, docs, **QUICK)
    until(lambda: len(pages_asked_for(web, docs)) > 1, "the part that was included is visited")
    time.sleep(QUIET_S)
    assert pages_asked_for(web, shop) == [shop]
    rest = set(pages_asked_for(web, docs)) - {docs}
    assert rest
    assert all("/p/1" in url for url in rest)
    rows = {row["name"]: row for row in json.loads(forager.do("domain", host_of(docs), "settings", "--json"))}
    assert rows["include"] == {"name": "include", "value": ["*/p/1", "*/p/1?"], "origin": "profile part"}
    forager.do("domain", host_of(shop), "set", "--max-depth", "10")
    until(lambda: len(set(pages_asked_for(web, shop))) > 10, "a wider depth opens the rest of the site")
    forager.check()
