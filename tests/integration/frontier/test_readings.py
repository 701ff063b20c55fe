"""What of a reading is stored: signals, and keywords that are found again, by the language that stuck to the page."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.builders import a_reading, a_target
from tests.ground import Ground
from tests.unit.parsing.pages import TEXTS, reading

from forager.frontier import store
from forager.frontier.models import Outcome, OutcomeKind
from forager.parsing.keywords import CONFIGS, keywords_of
from forager.parsing.models import Reading
from forager.parsing.words import to_query

URL = "http://a.example/1"
WHEN = datetime(2024, 3, 5, 9, 30, tzinfo=UTC)


async def record(ground: Ground, page: int, read: Reading) -> Any:
    outcome = Outcome(a_target(URL, page=page), OutcomeKind.SUCCESS, 200, reading=read)
    await store.save_signals(ground.conn, [(outcome, keywords_of(read))], CONFIGS)
    return await ground.page(page)


@pytest.fixture
async def page(ground: Ground) -> int:
    return await ground.a_page(URL, await ground.a_domain())


async def finds(ground: Ground, page: int, config: str, query: str) -> bool:
    found: bool = await ground.conn.fetchval(
        "SELECT keywords_tsv @@ websearch_to_tsquery($2::regconfig, $3) FROM pages WHERE id = $1",
        page,
        config,
        to_query(query),
    )
    return found


async def test_signals_are_those_of_the_last_reading(ground: Ground, page: int) -> None:
    told = a_reading(canonical="http://a.example/real", author="Ann", published_at=WHEN, modified_at=WHEN)
    row = await record(ground, page, told)
    assert (row["canonical_url"], row["author"]) == ("http://a.example/real", "Ann")
    assert (row["published_at"], row["modified_at"]) == (WHEN, WHEN)
    row = await record(ground, page, a_reading(canonical=URL))
    assert (row["canonical_url"], row["author"], row["published_at"], row["modified_at"]) == (None, None, None, None)


async def test_the_language_sticks_and_chooses_how_keywords_are_stemmed(ground: Ground, page: int) -> None:
    await record(ground, page, a_reading(language="en-GB", text="houses"))
    row = await record(ground, page, a_reading(language="de", text="houses and kittens"))
    assert row["language"] == "en-GB"
    assert await finds(ground, page, "english", "house kitten")


async def test_weights(ground: Ground, page: int) -> None:
    told = a_reading(title="alpha", headings="beta", description="gamma", text="delta", language=None)
    row = await record(ground, page, told)
    assert row["keywords_tsv"] == "'alpha':1A 'beta':2B 'delta':4 'gamma':3C"


@pytest.mark.both_servers
@pytest.mark.parametrize(
    ("code", "query", "other"),
    [
        ("en", "“lighthouse” keepers", "lighthouse -keeper"),
        ("de", "Häfen Leuchtturmwärter", "Leuchtturm"),
        ("ru", "смотрители маяков", "корабль"),
        ("ar", "المنارة", "الجبل"),
        ("ja", "灯台守", "台灯"),
        ("zh", "灯塔 平安", "塔灯"),
        ("ko", "등대지기", "지기등대"),
    ],
)
async def test_a_page_is_found_by_words_of_its_language(
    ground: Ground, page: int, code: str, query: str, other: str
) -> None:
    read = reading(f"<title>x</title><p>“{TEXTS[code]}”</p>")
    row = await record(ground, page, read)
    config = CONFIGS.get(str(row["language"]).partition("-")[0], "simple")
    assert await finds(ground, page, config, query)
    assert not await finds(ground, page, config, other)


@pytest.mark.both_servers
async def test_every_language_we_name_has_a_configuration_on_every_server(ground: Ground) -> None:
    shipped = {row["cfgname"] for row in await ground.conn.fetch("SELECT cfgname FROM pg_ts_config")}
    assert set(CONFIGS.values()) <= shipped
    assert shipped - set(CONFIGS.values()) <= {"simple", "estonian"}  # the latter is in PostgreSQL 18 only
