"""What can be asked for beside words, the same on PostgreSQL and on a search server; and that whole texts are found."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.builders import a_target
from tests.integration.search.conftest import IN_POSTGRES

from forager.db.database import Database
from forager.fetch.models import Fetched
from forager.frontier import store
from forager.frontier.lexemes import Lexemes
from forager.frontier.models import Outcome, OutcomeKind
from forager.links.models import Selection
from forager.parsing import page as parser
from forager.parsing.keywords import CONFIGS, keywords_of
from forager.search.commands.search import summarize
from forager.search.models import Query
from forager.search.service import search

pytestmark = [pytest.mark.both_servers]


@pytest.fixture
async def news(library: Any) -> Any:
    def days_ago(days: int) -> datetime:
        return datetime.now(UTC) - timedelta(days=days)

    await library.add("http://a.example/tea/green-tea", "Green tea", "How to brew it.", fetched_at=days_ago(2))
    await library.add("http://a.example/tea/black", "Black tea", "Not green at all, and brewed hot.")
    await library.add("http://b.example/2025/green", "Pots", "A green pot for tea.", fetched_at=days_ago(400))
    await library.add("http://b.example/tee", "Grüner Tee", "Tee und Kannen.", language="de", fetched_at=days_ago(40))
    await library.index()
    return library


GREEN, BLACK, POT, TEE = "a.example/tea/green-tea", "a.example/tea/black", "b.example/2025/green", "b.example/tee"


async def test_a_site(news: Any) -> None:
    assert set(await news.found("tea site:a.example")) == {GREEN, BLACK}
    assert await news.found("tea site:https://www.b.example/x") == [POT]
    assert await news.found("tea -site:a.example") == [POT]
    assert set(await news.found("site:b.example")) == {POT, TEE}
    assert set(await news.found("tea site:a.example OR site:b.example")) == {GREEN, BLACK, POT}
    unknown = await news.search("tea site:zzz.example")
    assert (unknown.hits, unknown.problems) == ([], ("There is no domain zzz.example.",))
    assert await news.found("tea", domain="a.example") == await news.found("tea site:a.example")


async def test_a_language(news: Any) -> None:
    assert await news.found("tee language:de") == await news.found("tee", language="de") == [TEE]
    assert await news.found("-lang:en site:b.example") == [TEE]
    assert await news.found("tea lang:de") == []


async def test_a_title(news: Any) -> None:
    assert await news.found("title:green") == [GREEN]
    assert await news.found('title:"green tea"') == [GREEN]
    assert await news.found('title:"tea green"') == []
    assert await news.found("tea -title:tea") == [POT]
    assert set(await news.found("title:pots OR title:black")) == {POT, BLACK}


async def test_a_part_of_the_url(news: Any) -> None:
    assert await news.found("url:green-tea") == [GREEN]
    assert set(await news.found("url:a.example/tea")) == {GREEN, BLACK}
    assert await news.found("tea -url:tea") == [POT]
    assert await news.found("url:tea-green url:2025") == []
    assert await news.found("url:2025 OR url:tee lang:de") == [TEE]


async def test_a_time(news: Any) -> None:
    assert await news.found("tea since:3d") == await news.found("tea since:3d until:2100") != []
    assert set(await news.found("tea since:3d")) == {GREEN, BLACK}
    assert await news.found("tea until:90d") == [POT]
    month = f"{datetime.now(UTC) - timedelta(days=400):%Y-%m}"
    assert await news.found(f"date:{month}") == [POT]
    assert POT not in await news.found(f"tea -date:{month}")
    assert set(await news.found(f"date:{month} OR date:..2000")) == {POT}
    assert set(await news.found(f"tea date:{month}..{datetime.now(UTC):%Y-%m-%d}")) == {GREEN, BLACK, POT}
    wrong = await news.search("tea date:2026-13")
    assert wrong.problems == ("date:2026-13 has no value that is understood and was searched as words.",)


async def test_a_word_of_the_text_ranks_below_one_of_the_title_however_long_the_text(library: Any) -> None:
    filler = " ".join(f"word{number}" for number in range(3000))
    await library.add("http://a.example/late", "A long story", f"{filler} kettle")
    await library.add("http://a.example/title", "Kettle", "Short.")
    await library.add("http://a.example/often", "Other", "kettle " * 3 + filler)
    await library.index()
    assert (await library.found("kettle"))[0] == "a.example/title"


@IN_POSTGRES
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(["tea", "-", '"', "OR", "site:", "-lang:", "title:", "url:", "date:", "since:", "until:"]),
            st.text(max_size=6),
        ),
        max_size=12,
    )
)
async def test_no_text_is_an_error(news: Any, parts: list[str]) -> None:
    for glue in ("", " "):
        await news.search(glue.join(parts))
        await news.search_products(glue.join(parts))


@IN_POSTGRES
async def test_the_whole_text_is_found_up_to_the_limit_and_a_cut_is_told(library: Any, database: Database) -> None:
    """As a visit parses and records it, with the limit of a domain."""
    words = [f"filler{number}" for number in range(6000)]
    for place in (600, 1150, 4900, 5100):
        words[place - 1] = f"needle{place}"
    body = f"<title>Long</title><p>{' '.join(words[:2500])}</p><p>{' '.join(words[2500:])}</p>".encode()
    for name, limit, robots in (("whole", 5000, ""), ("short", 1000, ""), ("hidden", 5000, "noindex")):
        page = await library.add(f"http://{name}.example/", "old", "old")
        fetched = Fetched(
            f"http://{name}.example/", 200, {"content-type": "text/html", "x-robots-tag": robots}, body, len(body), 5
        )
        reading = parser.read(fetched, keyword_words=limit)
        outcome = Outcome(
            a_target(fetched.url, page=page), OutcomeKind.SUCCESS, 200, reading=reading, selection=Selection()
        )
        await store.save_signals(library.conn, [(outcome, keywords_of(reading))], CONFIGS, Lexemes())
    await library.index()
    found = {place: await library.found(f"needle{place}") for place in (600, 1150, 4900, 5100)}
    assert sorted(found[600]) == ["short.example/", "whole.example/"]
    assert found[1150] == found[4900] == ["whole.example/"]
    assert found[5100] == []
    assert [hit.is_cut for hit in (await library.search("needle4900")).hits] == [True]
    answer = await search(database.pool, Query("needle5100"))
    assert (answer.cut, answer.noindex, answer.waiting) == (2, 1, 0)
    assert "\n".join(summarize(answer, "needle5100")).startswith(
        "No page was found for needle5100 among the indexed words of the pages that were read; not looked at: "
        "the ends of 2 long pages, 1 page with noindex."
    )
