"""What `forager search` says, and how it lays hits out at 80 columns."""

from datetime import UTC, datetime, timedelta

import pytest

from forager.search.commands.search import _quoted, render_hits, summarize
from forager.search.models import Hit, HitPage, Marked
from forager.search.service import SearchResult

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
HIT = Hit(
    id=1,
    url="https://shop.example/" + "a-long-folder/" * 9 + "kettle",
    domain="shop.example",
    title=Marked("Blue kettle \x1b[2J" + "very long " * 12, ((5, 11),)),
    snippet=Marked("It boils. " * 30 + "\u202ekettle", ((300, 307),)),
    language="en",
    fetched_at=NOW - timedelta(hours=3),
    score=0.5,
)


def lines(width: int | None) -> list[str]:
    return [line.plain for line in render_hits(HitPage([HIT]), NOW, width)]


def test_everything_fits_eighty_columns() -> None:
    assert max(map(len, lines(80))) <= 80
    assert lines(80)[-2] == "   en · shop.example · 3 h ago"


def test_without_a_terminal_nothing_is_cut() -> None:
    assert HIT.url in lines(None)[1]


def test_crawled_text_cannot_steer_the_terminal() -> None:
    assert not any(character in line for line in lines(80) for character in "\x1b\u202e")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("two words", '"two words"'),
        ("-two words", '-"two words"'),
        ("title:two words", 'title:"two words"'),
        ("-title:two words", '-title:"two words"'),
        ("note: two words", '"note: two words"'),
        ("site:a.example -lang:en", "site:a.example -lang:en"),
        ("tea site:a.example", "tea site:a.example"),
        ("tea OR pot", "tea OR pot"),
        ("tea", "tea"),
    ],
)
def test_quotes_that_the_shell_took_are_put_back(typed: str, meant: str) -> None:
    assert _quoted(typed) == meant


def test_matches_are_marked() -> None:
    title = next(render_hits(HitPage([HIT]), NOW, 80))
    assert [title.plain[span.start : span.end] for span in title.spans if "yellow" in str(span.style)] == ["kettle"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (SearchResult(HitPage(is_empty_query=True)), "at least one word"),
        (SearchResult(HitPage()), "No page was found for tea."),
        (
            SearchResult(HitPage([HIT], 3), "teas", is_corrected=True),
            "No page was found for tea. These have teas: 3 pages.",
        ),
        (SearchResult(HitPage([HIT], 1), "teas"), "Did you mean teas?"),
        (SearchResult(HitPage([HIT], 480_000, is_estimate=True)), "about 480,000 pages"),
        (
            SearchResult(HitPage([HIT], 9000, is_estimate=True, looked_at=1000)),
            "The likeliest 1,000 were ranked and counted",
        ),
        (SearchResult(HitPage(is_estimate=True, looked_at=5000)), "None of the likeliest 5,000 pages for tea has it."),
        (SearchResult(HitPage([HIT], 2, facets={"language": {"en": 1, "de": 1}})), "2 pages; en 1, de 1"),
        (SearchResult(HitPage([HIT], 2, next_after="7-1")), "--after 7-1"),
        (SearchResult(HitPage([HIT], 2), waiting=9000), "9,000 pages read lately cannot be found yet"),
    ],
)
def test_what_is_said(answer: SearchResult, said: str) -> None:
    assert said in "\n".join(summarize(answer, "tea"))
