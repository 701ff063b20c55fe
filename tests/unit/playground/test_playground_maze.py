"""The maze: its real pages against its own list, and mazes that go on for ever and lead back."""

import re

import pytest

from forager.urls.normalize import normalize
from forager_playground import DEMO_SITES, Answer, Site, make_answer_key, make_sites
from forager_playground.key import normalize_href
from forager_playground.sites import HOSTILE_SITES

HREF = re.compile(r'<a href="([^"]+)"')


def a_maze() -> Site:
    (site,) = make_sites(["maze"])
    return site


def ask(site: Site, target: str) -> Answer:
    path, _, query = target.partition("?")
    return site.answer(path, query)


def links(site: Site, target: str) -> list[str]:
    hrefs = [href.replace("&amp;", "&") for href in HREF.findall(ask(site, target).body.decode())]
    return [link for href in hrefs if (link := normalize_href(target, href))]


def test_it_is_no_part_of_the_demo() -> None:
    assert not HOSTILE_SITES.keys() & DEMO_SITES.keys()
    assert make_sites(["maze=12"])[0].pages()


def test_two_hundred_real_pages_are_few_links_from_the_start_and_differ() -> None:
    key = make_answer_key(["maze"], port=8000)
    depths = [page.depth for page in key.by_url.values()]
    assert len(depths) == 200
    assert max(depth for depth in depths if depth is not None) == 3
    assert None not in depths
    assert len({page.title for page in key.by_url.values()}) == 200
    assert all(normalize(url) == url and not key.is_trap(url) for url in key.by_url)


def test_it_answers_what_it_lists_with_or_without_a_session() -> None:
    site = a_maze()
    for page in site.pages():
        for target in (page.path, f"{page.path};jsessionid=AB", f"/(S(ab12))/{page.path[1:]}", f"{page.path}?visit=1"):
            assert (page.title or "") in ask(site, target).body.decode()


def test_all_links_lead_to_real_pages_or_into_a_trap() -> None:
    key = make_answer_key(["maze"], port=8000)
    (site,) = key.sites
    for page in a_maze().pages():
        for link in links(a_maze(), page.path):
            url = site.base_url + link
            assert url in key.by_url or key.is_trap(url), link


def test_some_real_pages_are_linked_with_a_session_only() -> None:
    site = a_maze()
    plain = {link for page in site.pages() for link in links(site, page.path)}
    hidden = [page.path for page in site.pages() if page.path not in plain]
    assert len(hidden) > 50


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        ("/calendar/2026/11", "/calendar/"),
        ("/loop/", "/loop/"),
        ("/find?q=book", "/find"),
        ("/login?next=%2F", "/login"),
        ("/same/0123abcd", "/same/"),
        ("/gone/1", "/gone/"),
        ("/p/3?visit=1", "visit="),
    ],
)
def test_every_maze_goes_on_and_most_lead_back(start: str, kind: str) -> None:
    site, seen = a_maze(), {start}
    target = start
    for _ in range(12):
        assert ask(site, target).status == 200
        fresh = [link for link in links(site, target) if kind in link and link not in seen]
        assert fresh, f"{target} leads nowhere new"
        target = fresh[-1]
        seen.add(target)
    assert "/p/1" in links(site, start)
