"""Which sitemaps and feeds that a page names are followed: those of its own site and of the crawl, in any folder."""

import pytest
from tests.builders import a_spec, a_target

from forager.links.scope import CrawlScope
from forager.links.select import Selector
from forager.parsing.models import FoundLink
from forager.runs.models import Scope

PAGE = "http://a.example/docs/index.html"


def files(*hrefs: str, **order: object) -> tuple[list[str], dict[str, int]]:
    selector = Selector(CrawlScope.of(a_spec(PAGE, **order)), max_links_per_page=100)
    links = [FoundLink(href, "", "feed_file") for href in hrefs]
    selection = selector.select_files(links, PAGE, a_target(PAGE))
    assert all(link.depth == 0 for link in selection.files)
    return [link.url for link in selection.files], dict(selection.dropped)


def test_a_file_may_be_a_packed_one_and_lie_in_another_folder() -> None:
    found = files("/sitemap.xml.gz", "feed.xml", scope=Scope.PREFIX, include=("*.html",))
    assert found == (["http://a.example/sitemap.xml.gz", "http://a.example/docs/feed.xml"], {})


def test_other_hosts_and_what_is_no_url_are_dropped_and_counted() -> None:
    assert files("http://b.example/feed", "http://[", "/feed", "/feed", PAGE) == (
        ["http://a.example/feed"],
        {"scope": 1, "bad_url": 1, "duplicate": 2},
    )


@pytest.mark.parametrize(
    ("order", "reason"), [({"scope": Scope.PAGE}, "scope"), ({"exclude": ("*/feed",)}, "excluded")]
)
def test_what_the_operator_left_out_is_not_asked_for(order: dict[str, object], reason: str) -> None:
    assert files("/feed", **order) == ([], {reason: 1})


def test_a_crawl_of_everything_takes_files_of_every_host() -> None:
    assert files("http://b.example/feed", scope=Scope.ANY) == (["http://b.example/feed"], {})
