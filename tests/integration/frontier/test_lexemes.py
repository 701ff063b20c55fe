"""What is put together from remembered words is what PostgreSQL makes of the whole text, to the letter."""

import asyncio
from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.builders import a_reading, a_target
from tests.conftest import in_thread
from tests.ground import Ground
from tests.unit.parsing.pages import TEXTS

from forager.db.pool import close, connect
from forager.frontier import lexemes, store
from forager.frontier.lexemes import Lexemes
from forager.frontier.models import Outcome, OutcomeKind
from forager.parsing.keywords import CONFIGS, keywords_of
from forager.parsing.models import Keywords

BY_POSTGRES = """
SELECT setweight(to_tsvector(c.config, n.title), 'A') || setweight(to_tsvector(c.config, n.headings), 'B')
    || setweight(to_tsvector(c.config, n.description), 'C') || to_tsvector(c.config, n.words)
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) WITH ORDINALITY
     AS n (config, title, headings, description, words, nr), CAST(n.config AS regconfig) AS c (config)
ORDER BY nr
"""
ODD = (
    *(
        "the",
        "houses",
        "running",
        "e-mail",
        "well-known-thing",
        "http://a.example/x?y=1",
        "a@b.example",
        "a.example/b/c.html",
    ),
    *(
        "3.14",
        "-1e-5",
        "+7",
        "v1.2.3",
        "7777777",
        "x7777777",
        "it's",
        "O''Brien",
        "back\\slash",
        "'",
        "\\",
        "''",
        "&amp;",
        "&#65;",
    ),
    *(
        "--",
        "...",
        "$%&",
        "(word)",
        '"word"',
        "/usr/lib",
        "~user",
        "a_b",
        "über",
        "“quoted”",
        "naïve",
        "東京",
        "ПРИВЕТ",
        "İstanbul",
    ),
    *(
        "",
        "\t",
        "a\nb",
        "x" * 50,
        "x" * 2100,
        ":1A",
        "1:2",
        "*",
        "!",
        "C++",
        "AT&T",
        "5>3",
        "a-",
        "-a",
        "--a--b",
        "9th",
        "ﬁ",
    ),
)
AROUND = st.text("(\"'“„‘«,.;:!?)”’»…-/&<", max_size=3)
"""Signs, of which most change nothing."""
WORDS = st.one_of(
    st.sampled_from(ODD),
    st.builds(
        "".join, st.tuples(AROUND, st.sampled_from(["The", "HOUSES", "running", "http", "amp", "Häuser"]), AROUND)
    ),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
)
PIECE = st.lists(WORDS, max_size=12).map(" ".join)
PAGES = st.lists(
    st.tuples(
        st.sampled_from(["simple", *sorted(set(CONFIGS.values()))]), st.builds(Keywords, PIECE, PIECE, PIECE, PIECE)
    ),
    min_size=1,
    max_size=6,
)


async def by_postgres(conn: Any, pages: Sequence[tuple[str, Keywords]]) -> list[str]:
    rows = await conn.fetch(
        BY_POSTGRES, [config for config, _ in pages], *zip(*[words for _, words in pages], strict=True)
    )
    return [row[0] for row in rows]


async def spelled(conn: Any, memory: Lexemes, pages: Sequence[tuple[str, Keywords]]) -> list[str | None]:
    vectors = await memory.build_tsvectors(conn, pages)
    return [each if each is None else await conn.fetchval("SELECT $1::tsvector", each) for each in vectors]


@pytest.mark.both_servers
def test_whatever_the_words(database_url: str) -> None:
    async def open_one() -> Any:
        return await connect(database_url, application="test")

    conn, memory, lock = in_thread(open_one()), Lexemes(), asyncio.Lock()

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(PAGES)
    @example([("english", Keywords("the", "of the", "houses", "the the"))])
    def compare(pages: list[tuple[str, Keywords]]) -> None:
        async def ask() -> None:
            async with lock:
                wanted = await by_postgres(conn, pages)
                made = await spelled(conn, memory, pages)
            for (_, words), want, text in zip(pages, wanted, made, strict=True):
                if text is None:
                    assert any("<" in piece or not piece[:1].isalnum() for piece in words)
                else:
                    assert text == want

        in_thread(ask())

    try:
        compare()
    finally:
        in_thread(close(conn))


@pytest.mark.parametrize("language", sorted(TEXTS))
async def test_texts_of_many_languages(ground: Ground, language: str) -> None:
    words = keywords_of(
        a_reading(title=TEXTS[language][:60], headings="", description="", text=TEXTS[language], language=language)
    )
    assert words is not None
    pages, memory = [(CONFIGS.get(language, "simple"), words)], Lexemes()
    wanted = await by_postgres(ground.conn, pages)
    assert await spelled(ground.conn, memory, pages) == wanted
    assert await spelled(ground.conn, memory, pages) == wanted, "from memory, too"


async def test_each_word_is_asked_for_once(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def note(conn: Any, texts: Sequence[lexemes.Text], answers: Any) -> None:
        asked.extend(word for text in texts for word in text.words)
        await ask(conn, texts, answers)

    ask = lexemes.query_lexemes
    monkeypatch.setattr(lexemes, "query_lexemes", note)
    memory = Lexemes()
    for text in ("red green red", "green blue", "red " + "x" * 41, "x" * 41):
        await memory.build_tsvectors(ground.conn, [("english", Keywords("red", "green", "blue", text))])
    assert asked == ["red", "green", "blue", "x" * 41, "x" * 41], "long ones are not remembered"
    await memory.build_tsvectors(ground.conn, [("german", Keywords("red", "red", "red", "red"))])
    assert asked[5:] == ["red"], "another language has other lexemes"


@pytest.mark.both_servers
async def test_no_sign_that_is_left_out_would_change_a_word(ground: Ground) -> None:
    """All of them, also those that are two words: `tea..` has a lexeme of dots."""
    before = ["".join(signs) for count in range(3) for signs in product("(\"'", repeat=count)]
    behind = ["".join(signs) for count in range(4) for signs in product(",.;:!?)\"'", repeat=count)]
    words = [f"{first}{word}{last}" for first in before for word in ("tea", "http") for last in behind]
    same = "SELECT to_tsvector('simple', ' ' || n.word || ' 7') = to_tsvector('simple', ' ' || n.core || ' 7')"
    rows = await ground.conn.fetch(
        f"{same} FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS n (word, core, nr) ORDER BY n.nr",
        words,
        [lexemes.core_of(word) or word for word in words],
    )
    assert [word for word, (is_same,) in zip(words, rows, strict=True) if not is_same] == []


async def test_signs_and_capitals_make_no_other_word(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def note(conn: Any, texts: Sequence[lexemes.Text], answers: Any) -> None:
        asked.extend(word for text in texts for word in text.words)
        await ask(conn, texts, answers)

    ask = lexemes.query_lexemes
    monkeypatch.setattr(lexemes, "query_lexemes", note)
    pages, memory = [("english", Keywords("Houses", "houses, (HOUSES)", "houses:", "house-s (Houses.)"))], Lexemes()
    wanted = await by_postgres(ground.conn, pages)
    assert await spelled(ground.conn, memory, pages) == wanted
    assert asked == ["houses", "house-s"]


@pytest.mark.parametrize("word", ["7770000", "7770001"])
async def test_words_that_hide_the_marks_are_asked_for_alone(ground: Ground, word: str) -> None:
    words = " ".join(f"e-{number} {word}" for number in range(3))
    pages = [("english", Keywords("", "", "", words))]
    assert await spelled(ground.conn, Lexemes(), pages) == await by_postgres(ground.conn, pages)


async def test_what_is_used_is_not_forgotten(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexemes, "REMEMBERED", 10)
    memory, pages = Lexemes(), [("english", Keywords("houses", "", "", ""))]
    wanted = await by_postgres(ground.conn, pages)
    for number in range(8):
        many = " ".join(f"w{number}x{each}" for each in range(6))
        await memory.build_tsvectors(ground.conn, [("english", Keywords(many, "", "", ""))])
        assert await spelled(ground.conn, memory, pages) == wanted
    assert sum(len(words) for half in (memory._young, memory._old) for words in half.values()) < 40


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a <b c> d", id="a tag goes over spaces"),
        pytest.param("~user of", id="a sign at the beginning"),
        pytest.param("word " * 65_536, id="too many"),
    ],
)
async def test_what_is_left_to_postgres(ground: Ground, text: str) -> None:
    page = await ground.a_page("http://a.example/1", await ground.a_domain())
    words = Keywords("title", "", "", text)
    assert await Lexemes().build_tsvectors(ground.conn, [("english", words)]) == [None]
    reading = a_reading(language="en")
    outcome = Outcome(a_target("http://a.example/1", page=page), OutcomeKind.SUCCESS, 200, reading=reading)
    await store.save_signals(ground.conn, [(outcome, words)], CONFIGS, Lexemes())
    (wanted,) = await by_postgres(ground.conn, [("english", words)])
    assert (await ground.page(page))["keywords_tsv"] == wanted


@pytest.mark.parametrize(
    "keywords",
    [
        pytest.param(Keywords("word", "word other", "", "word " * 300 + "end"), id="often"),
        pytest.param(Keywords("word " * 254, "word " * 300, "word", "word end"), id="often in several"),
        pytest.param(Keywords("", "tea", "", "a-b-c-d-e-f-g-h-i-j " * 3000 + "tea"), id="far"),
        pytest.param(Keywords("", "", "x y " * 9000, "x tea y"), id="far in several"),
        pytest.param(
            Keywords("", "", "", " ".join(f"word{number % 4000} x-{number}" for number in range(19_000))), id="mixed"
        ),
    ],
)
@pytest.mark.parametrize("config", ["english", "simple"])
async def test_the_limits_of_a_tsvector_are_kept_as_postgres_does(
    ground: Ground, keywords: Keywords, config: str
) -> None:
    pages = [(config, keywords)]
    assert await spelled(ground.conn, Lexemes(), pages) == await by_postgres(ground.conn, pages)


async def test_the_language_that_stuck_decides(ground: Ground) -> None:
    """What was spelled for another one is not taken."""
    page, memory = await ground.a_page("http://a.example/1", await ground.a_domain()), Lexemes()
    for language in ("de", "en"):
        reading = a_reading(title="", headings="", description="", text="houses Häuser", language=language)
        outcome = Outcome(a_target("http://a.example/1", page=page), OutcomeKind.SUCCESS, 200, reading=reading)
        await store.save_signals(ground.conn, [(outcome, keywords_of(reading))], CONFIGS, memory)
        (wanted,) = await by_postgres(ground.conn, [("german", Keywords("", "", "", "houses Häuser"))])
        assert (await ground.page(page))["keywords_tsv"] == wanted
