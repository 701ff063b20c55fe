"""Pages are found by what they say: all words, phrases, exclusions, languages, filters, page by page."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.integration.search.conftest import IN_POSTGRES

from forager import clock
from forager.db.database import Database
from forager.parsing.words import to_words
from forager.search import postgres
from forager.search.models import Query
from forager.search.service import search

pytestmark = pytest.mark.both_servers


@pytest.fixture
async def shop(library: Any) -> Any:
    await library.add("http://a.example/", "A shop", "The shop sells kettles and pots for tea.", depth=0)
    await library.add("http://a.example/blue", "Blue kettle", "A kettle in blue. It boils water fast.")
    await library.add("http://a.example/red", "Red pot", "A pot for a red kettle. The blue one is sold.")
    await library.add("http://b.example/haus", "Häuser am See", "Viele schöne Häuser stehen am Ufer.", language="de")
    await library.add("http://b.example/br", "Chaleira azul", "As chaleiras são azuis.", language="pt-BR")
    await library.add("http://c.example/cs", "Modrá konvice", "Konvice je modrá a krásná.", language="cs")
    await library.index()
    return library


async def test_all_words_are_wanted_and_the_title_weighs_most(shop: Any) -> None:
    assert await shop.found("kettle") == ["a.example/blue", "a.example/", "a.example/red"]
    assert await shop.found("blue kettle") == ["a.example/blue", "a.example/red"]
    assert await shop.found("blue kettle unheard") == []


async def test_quotes_minus_and_or(shop: Any) -> None:
    assert await shop.found('"red kettle"') == ["a.example/red"]
    assert await shop.found('"kettle red"') == []
    assert await shop.found("kettle -blue") == ["a.example/"]
    assert await shop.found('kettle -"red kettle"') == ["a.example/blue", "a.example/"]
    assert sorted(await shop.found("boils OR ufer")) == ["a.example/blue", "b.example/haus"]


async def test_each_language_has_its_stems_without_being_named(shop: Any) -> None:
    assert await shop.found("haus") == ["b.example/haus"]
    assert await shop.found("chaleiras") == ["b.example/br"]
    assert await shop.found("konvice") == ["c.example/cs"]


async def test_a_language_finds_its_regions_and_nothing_else(shop: Any) -> None:
    assert await shop.found("azul", language="pt") == ["b.example/br"]
    assert await shop.found("azul", language="pt-br") == ["b.example/br"]
    assert await shop.found("kettle", language="de") == []
    assert await shop.found("kettle", language="xx") == []


async def test_a_domain_narrows_it(shop: Any) -> None:
    assert await shop.found("haus", domain="b.example") == ["b.example/haus"]
    assert await shop.found("haus", domain="a.example") == []
    assert await shop.found("haus", domain="unknown.example") == []


async def test_since_means_new_or_changed_since(library: Any) -> None:
    await library.add("http://a.example/old", "Old tea", "tea", fetched_at="(now() - interval '30 days')")
    await library.add("http://a.example/new", "New tea", "tea")
    await library.index()
    assert await library.found("tea", since=clock.now() - timedelta(days=7)) == ["a.example/new"]
    assert len(await library.found("tea", since=clock.now() - timedelta(days=90))) == 2
    assert await library.found("tea", since=clock.now() + timedelta(days=2)) == []


async def test_hits_tell_what_a_person_wants_to_see(shop: Any) -> None:
    page = await shop.search("kettles")
    first = page.hits[0]
    assert (first.domain, first.language) == ("a.example", "en")
    assert first.title.text == "Blue kettle"
    assert [first.title.text[start:end] for start, end in first.title.matches] == ["kettle"]
    assert "kettle" in {first.snippet.text[start:end] for start, end in first.snippet.matches}
    assert page.total == 3
    assert page.facets == {"language": {"en": 3}, "domain": {"a.example": 3}}


async def test_words_too_common_to_be_kept_are_said_to_be_so(shop: Any) -> None:
    english = await shop.search("the", language="en")
    assert english.is_empty_query
    assert (await shop.search("-kettle")).is_empty_query
    assert (await shop.search("")).is_empty_query
    assert not (await shop.search("unheard")).is_empty_query


async def test_pages_of_hits_follow_each_other_without_gap(library: Any) -> None:
    for number in range(25):
        await library.add(f"http://a.example/{number}", f"Tea {number}", "tea " * (1 + number % 5))
    await library.index()
    seen: list[str] = []
    after = None
    while True:
        page = await library.search("tea", limit=10, after=after)
        seen += [hit.url for hit in page.hits]
        if (after := page.next_after) is None:
            break
    assert len(seen) == len(set(seen)) == 25
    assert (await library.search("tea", limit=25)).next_after is None


@IN_POSTGRES
async def test_of_very_many_the_best_are_ranked_and_the_rest_is_guessed(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        await library.add(f"http://a.example/{number}", f"Page {number}", "tea", depth=4)
    await library.add("http://a.example/deep", "All about tea", "much", depth=4)
    await library.add("http://a.example/home", "Home", "tea", depth=0)
    await library.index()
    await library.conn.execute("ANALYZE indexed_pages")
    monkeypatch.setattr(postgres, "MOST_CANDIDATES", 5)
    monkeypatch.setattr(postgres, "FEW", 0)
    page = await library.search("tea", limit=2)
    assert [hit.url for hit in page.hits] == ["http://a.example/deep", "http://a.example/home"]
    assert (page.is_estimate, page.looked_at) == (True, 5)
    assert page.total > 5
    assert sum(page.facets["language"].values()) == 5


async def test_a_page_that_has_the_word_in_title_and_text_counts_once(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        await library.add(f"http://a.example/{number}", f"Tea {number}", "all about tea")
    await library.index()
    monkeypatch.setattr(postgres, "MOST_CANDIDATES", 5)
    page = await library.search("tea")
    assert (page.total, page.is_estimate, page.looked_at) == (3, False, None)


@IN_POSTGRES
async def test_words_in_a_row_that_were_not_looked_for_everywhere_are_told(
    library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(8):
        await library.add(f"http://a.example/{number}", f"Page {number}", "green pots, black tea", depth=1)
    await library.add("http://a.example/deep", "Deep", "cups, tea pots", depth=4)
    await library.index()
    monkeypatch.setattr(postgres, "MOST_CANDIDATES", 5)
    monkeypatch.setattr(postgres, "FEW", 0)
    page = await library.search('"tea pots"')
    assert (page.hits, page.total, page.is_estimate, page.looked_at) == ([], 0, True, 5)
    monkeypatch.setattr(postgres, "MOST_CANDIDATES", 10)
    assert (await library.search('"tea pots"')).total == 1


async def test_pages_that_are_gone_are_not_shown(shop: Any) -> None:
    await shop.conn.execute("UPDATE pages SET status = 'gone' WHERE url = 'http://a.example/blue'")
    assert "a.example/blue" not in await shop.found("kettle")


async def test_misspelled_words_are_corrected(shop: Any) -> None:
    assert await shop.correct("blue keetle") == "blue kettle"
    assert await shop.correct("hauser") == "häuser"
    assert await shop.correct("kettle") is None
    assert await shop.correct("qqqqqqqqq") is None


HOSTILE = [
    "'; DROP TABLE pages; --",
    '"' * 999,
    "-" * 999,
    "((((" * 500,
    "& | ! <-> :* \\ '' \\'",
    " ".join(f"word{n}" for n in range(10_000)),
    "x" * 100_000,
    "\0",
    "a\0b",
    "\ud800 kettle",
    "𝕜𝕖𝕥𝕥𝕝𝕖 " * 500,
    "=d1 =cenglish =t0",
    "kettle:* & !",
    '"a "b "c" d" e"',
    "\u202e\u0000\uffff",
    "http://a.example/?q='\"",
]


@pytest.mark.parametrize("words", HOSTILE, ids=range(len(HOSTILE)))
async def test_hostile_queries_are_answered(shop: Any, words: str) -> None:
    await shop.search(words)
    await shop.search(words, language="en", domain="a.example", after=words[:50])
    await shop.correct(words)
    assert await shop.conn.fetchval("SELECT count(*) FROM pages") == 6


async def test_marks_cannot_be_asked_for(shop: Any) -> None:
    assert await shop.found("=d1") == []
    assert await shop.found("=cenglish") == []


async def test_any_text_is_answered(shop: Any) -> None:
    loop_search: Callable[[str], Any] = shop.search
    texts = st.text(max_size=60) | st.text(alphabet="ab\"'\\&|!<->():*-= \0OR", max_size=60)
    samples: list[str] = []

    @settings(max_examples=150, suppress_health_check=list(HealthCheck), deadline=None, database=None)
    @given(texts)
    def gather(text: str) -> None:
        samples.append(text)

    gather()
    for text in samples:
        await loop_search(text)


@pytest.mark.parametrize(
    ("words", "is_found"), [("天気", True), ("東京", True), ("天気 東京", True), ("京天", False), ('"今日"', True)]
)
async def test_scripts_without_spaces_are_found_by_their_parts(
    library: Any, database: Database, words: str, is_found: bool
) -> None:
    await library.add("http://a.example/jp", to_words("東京都の天気予報"), to_words("今日は晴れです。"), language="ja")
    await library.index()
    await library.tell_server()
    answer = await search(database.pool, Query(words), elsewhere=library.elsewhere)
    assert answer.note is None
    assert [hit.url for hit in answer.page.hits] == (["http://a.example/jp"] if is_found else [])
