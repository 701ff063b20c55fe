"""`forager search` and `forager duplicates` as a person meets them."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.integration.search.conftest import SERVER_URL

from forager import clock
from forager.cli.main import run
from forager.fetch.models import Fetched
from forager.storage import store
from forager.storage.body_store import open_store


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def forager(
    library: Any, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Any]:
    monkeypatch.setenv("FORAGER_DATABASE_URL", database_url)
    monkeypatch.setenv("FORAGER_HOME", str(tmp_path / "home"))
    if library.elsewhere is not None:
        monkeypatch.setenv("FORAGER_SEARCH_BACKEND", "opensearch")
        monkeypatch.setenv("FORAGER_SEARCH_URL", SERVER_URL or "")
        monkeypatch.setenv("FORAGER_SEARCH_INDEX_PREFIX", library.elsewhere.names.prefix)

    async def call(*arguments: str) -> Said:
        await library.tell_server()
        code = await asyncio.to_thread(run, arguments)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Said(code, captured.out, captured.err)

    return call


@pytest.fixture
async def shop(library: Any) -> Any:
    await library.add("http://a.example/blue", "Blue \x1b[31mkettle", "A kettle in blue that boils water fast.")
    await library.add("http://a.example/red", "Red pot", "A pot for a red kettle, and for tea.")
    await library.add("http://b.example/", "Häuser", "Ein Haus am See.", language="de")
    return library


async def test_what_was_read_just_now_is_found_without_waiting_for_the_job(shop: Any, forager: Any) -> None:
    said = await forager("search", "kettle")
    assert said.code == 0
    assert "http://a.example/blue" in said.out
    assert "boils water fast" in said.out
    assert "en · a.example" in said.out
    assert "\x1b" not in said.out
    assert said.err.startswith("2 pages")


async def test_nothing_is_said_kindly_and_is_no_error(shop: Any, forager: Any) -> None:
    said = await forager("search", "unheard")
    assert (said.code, said.out) == (0, "")
    assert "No page was found for unheard." in said.err


async def test_a_misspelled_word_shows_what_was_meant(shop: Any, forager: Any) -> None:
    said = await forager("search", "keetle")
    assert "a.example/blue" in said.out
    assert "No page was found for keetle. These have kettle: 2 pages." in said.err


async def test_quotes_that_the_shell_took_still_mean_something(shop: Any, forager: Any) -> None:
    said = await forager("search", "red kettle")
    assert "a.example/red" in said.out
    assert (await forager("search", "kettle red")).out == ""
    assert "a.example/red" in (await forager("search", "kettle", "red")).out
    assert "a.example/red" not in (await forager("search", "--", "kettle", "-red kettle")).out


async def test_pages_follow_each_other(shop: Any, forager: Any) -> None:
    first = await forager("search", "kettle", "-n", "1", "--json")
    document = json.loads(first.out)
    assert (document["total"], len(document["hits"])) == (2, 1)
    rest = await forager("search", "kettle", "--after", document["next_after"], "--json")
    assert {hit["url"] for hit in json.loads(rest.out)["hits"]}.isdisjoint(hit["url"] for hit in document["hits"])


async def test_filters(shop: Any, forager: Any) -> None:
    assert "b.example" in (await forager("search", "haus", "--language", "de", "--domain", "b.example")).out
    assert (await forager("search", "haus", "--language", "en")).out == ""
    assert "b.example" in (await forager("search", "haus", "--since", "1d")).out
    assert "b.example" in (await forager("search", "haus", "--since", "2020-01-01")).out


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("tea", "--domain", "unknown.example"), 3, "There is no domain"),
        (("tea", "--since", "soon"), 2, "no time"),
        (("tea", "--language", "d'e"), 2, "no language"),
        (("tea", "--price", "cheap"), 2, "no range of prices"),
        (("tea", "--price", "1-nan"), 2, "no range of prices"),
        (("tea", "--limit", "0"), 2, "limit"),
        ((), 2, "WORDS"),
    ],
)
async def test_bad_input_is_one_sentence(
    shop: Any, forager: Any, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    said = await forager("search", *arguments)
    assert said.code == code
    assert sentence in said.err
    assert said.err.count("\n") == 1


async def test_only_operators_are_explained(shop: Any, forager: Any) -> None:
    said = await forager("search", "--", "-kettle", "OR", "&", '"')
    assert (said.code, said.out) == (0, "")
    assert "at least one word" in said.err


async def test_products(library: Any, forager: Any) -> None:
    facts = {"price": 19.9, "currency": "EUR", "availability": "in_stock"}
    await library.a_product("http://a.example/1", "Blue kettle", "Boils water.", brand="Tansu", **facts)
    said = await forager("search", "--products", "kettle")
    assert "19.90 EUR · in stock · Tansu" in said.out
    assert said.err.startswith("1 product")
    assert "http://a.example/1" in (await forager("search", "kettle", "--brand", "tansu", "--price", "10-25")).out
    assert (await forager("search", "kettle", "--price", "25-")).out == ""


async def test_duplicates_in_clusters_and_of_a_page(
    library: Any, forager: Any, paragraphs: Callable[[int], str]
) -> None:
    none = await forager("duplicates")
    assert none.code == 0
    assert "No two pages" in none.err
    for url in ("http://a.example/1", "http://b.example/the-same"):
        await library.add(url, "Same", paragraphs(1))
    await library.add("http://b.example/short", "Short", "too short")
    await library.index()
    said = await forager("duplicates")
    assert "http://a.example/1" in said.out
    assert " =  http://b.example/the-same" in said.out
    found = json.loads((await forager("duplicates", "http://a.example/1", "--json")).out)
    assert [member["url"] for member in found["members"]] == ["http://b.example/the-same"]
    assert "too little text" in (await forager("duplicates", "http://b.example/short")).err
    assert (await forager("duplicates", "http://b.example/unknown")).code == 3
    assert (await forager("duplicates", "--distance", "4")).code == 2


async def test_a_stored_body_gives_the_words_around_what_was_looked_for(
    library: Any, forager: Any, tmp_path: Path
) -> None:
    url = "http://a.example/story"
    page = await library.add(url, "A story", "Nothing much. Far below a heron waits.")
    long = "<p>" + "Many words that nobody asked for. " * 50 + "</p>"
    html = f"<html><body><main>{long}<p>In the reeds a heron waits for frogs.</p></main></body></html>"
    fetched = Fetched(url, 200, {"content-type": "text/html"}, html.encode(), len(html), 1)
    with open_store(tmp_path / "home") as body_store:
        stored = body_store.pack("snapshot", fetched, None, clock.now())
        assert stored is not None
        (shelved,) = body_store.store([stored])
    await store.note_bodies(library.conn, [shelved])
    await library.conn.execute(
        "INSERT INTO crawl_tasks (page_id, domain_id, status, outcome, completed_at, body_ref)"
        " SELECT id, domain_id, 'completed', 'success', now(), $2 FROM pages WHERE id = $1",
        page,
        shelved.ref,
    )
    said = await forager("search", "heron")
    assert "In the reeds a heron waits for frogs" in said.out
    for file in (tmp_path / "home").rglob("*"):
        if file.is_file():
            file.write_bytes(b"damaged")
    said = await forager("search", "heron")
    assert (said.code, "Far below a heron waits" in said.out) == (0, True)
