"""Links split by memory: what it knows is answered, what it does not is asked once, at its smallest depth."""

from tests.builders import a_discovery

from forager.frontier.enqueue import sort_known
from forager.frontier.url_cache import UrlCache

URL = "http://a.example/x"


def known_at(depth: int) -> UrlCache:
    known = UrlCache(10)
    known.add(a_discovery(URL).key, page=7, depth=depth)
    return known


def test_an_unknown_link_is_to_be_asked() -> None:
    link = a_discovery(URL)
    learned, unknown = sort_known([link], UrlCache(10))
    assert (learned.page_ids, unknown) == ({}, {link.key: link})


def test_of_several_ways_to_an_unknown_page_the_shortest_is_asked() -> None:
    links = [a_discovery(URL, 3), a_discovery(URL, 1), a_discovery(URL, 2)]
    _, unknown = sort_known(links, UrlCache(10))
    assert list(unknown.values()) == [a_discovery(URL, 1)]


def test_a_known_link_is_answered() -> None:
    learned, unknown = sort_known([a_discovery(URL, 5)], known_at(2))
    assert (learned.page_ids, learned.nearer, unknown) == ({a_discovery(URL).key: 7}, {}, {})


def test_a_shorter_way_to_a_known_page_is_noticed() -> None:
    learned, _ = sort_known([a_discovery(URL, 4), a_discovery(URL, 1), a_discovery(URL, 3)], known_at(5))
    assert learned.nearer == {7: 1}
    assert learned.fresh[-1][1:] == (7, 1)
