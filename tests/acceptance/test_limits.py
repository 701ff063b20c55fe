"""How far a crawl goes: pages in all and per domain, depth, scope, patterns. Exactly so far; the next run goes on."""

from collections import Counter

import pytest
from tests.acceptance.conftest import HOST_BASE, NETWORK, OpenWeb
from tests.acceptance.linked import serve_linked
from tests.acceptance.stage import Forager

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

LIMIT_REACHED = 15
UNPACED = {"FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK}


def test_a_limit_of_pages_is_met_exactly(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=3x20")
    limited = (*web.urls, "--max-pages", "17", "-o", "out.jsonl")
    assert forager.start(*limited, "--workers", "2", **UNPACED).wait() == LIMIT_REACHED
    assert web.count() == len(forager.rows()) == 17
    assert forager.start(*limited, **UNPACED).wait() == LIMIT_REACHED
    assert web.count() == len(forager.rows()) == 34
    forager.start(*web.urls, "-o", "out.jsonl", **UNPACED).finish()
    assert forager.pages() == web.key.expected_success()
    assert web.repeated() == {}
    forager.check()


def test_a_limit_of_pages_per_domain_is_met_exactly(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=4x20")
    crawl = forager.start(*web.urls, "--max-pages-per-domain", "7", "--workers", "2", **UNPACED)
    assert crawl.wait() == LIMIT_REACHED
    assert Counter(visit.host for visit in web.visits()) == dict.fromkeys(web.hosts, 7)
    assert forager.start(*web.urls, **UNPACED).wait() == LIMIT_REACHED, "the limit is remembered for each site"
    forager.start(*web.urls, "--set", "max_pages=none", "-o", "out.jsonl", **UNPACED).finish()
    assert forager.pages() == web.key.expected_success()
    assert set(web.repeated()) <= set(web.urls)
    forager.check()


def test_a_depth_is_the_number_of_links_from_a_seed(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=2x40")
    depths = {url: page.depth for url, page in web.key.by_url.items()}
    assert set(depths.values()) > {0, 1, 2}
    for depth in (1, 2):
        crawl = forager.start(*web.urls, "--depth", str(depth), "-o", "out.jsonl", **UNPACED)
        crawl.finish(LIMIT_REACHED)
        assert f"left out by --depth {depth}." in crawl.said
        written = {row["url"] for row in forager.rows()}
        assert written == {url for url, found in depths.items() if found is not None and found <= depth}
        assert set(web.requests()) == written
    assert set(web.repeated()) == set(web.urls), "a seed that a person names is asked whether it changed"
    forager.check()


DOCS = {"a:/docs/", "a:/docs/one", "a:/docs/two"}
DEEP = {"a:/docs/deep/three", "a:/docs/deep/four"}
SITE_A = {"a:/", *DOCS, *DEEP, "a:/blog/x", "a:/blog/y"}
OTHERS = {"b:/", "b:/b1", "c:/", "c:/c1", "c:/c2"}


@pytest.mark.parametrize(
    ("seed", "flags", "reached"),
    [
        ("a:/docs/one", ["--scope", "page"], {"a:/docs/one"}),
        ("a:/docs/", ["--scope", "prefix"], DOCS | DEEP),
        ("a:/", ["--scope", "host"], SITE_A),
        ("a:/", ["--scope", "domain"], SITE_A),
        ("a:/", ["--scope", "any"], SITE_A | OTHERS),
        ("a:/", ["--scope", "any", "--depth", "1"], {"a:/", "a:/docs/", "a:/blog/x", "b:/"}),
        ("a:/", ["--include", "*/docs/*", "--exclude", "*/deep/*"], {"a:/", *DOCS}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_crawl_stays_in_its_reach(forager: Forager, seed: str, flags: list[str], reached: set[str]) -> None:
    with serve_linked(HOST_BASE) as (web, bases):

        def address(name: str) -> str:
            site, _, path = name.partition(":")
            return bases[site] + path

        crawl = forager.start(address(seed), *flags, "-o", "out.jsonl", **UNPACED)
        crawl.finish(LIMIT_REACHED if "--depth" in flags else 0)
        expected = {address(name) for name in reached}
        assert forager.pages() == expected
        asked = Counter(visit.url for visit in web.log if visit.target != "/robots.txt")
        assert asked == dict.fromkeys(expected, 1)
        forager.check()
