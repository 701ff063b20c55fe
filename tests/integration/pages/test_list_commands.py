"""The commands that look, from words to streams and exit codes, on a real database."""

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.builders import ITEMS, a_detailed_reading, a_target

from forager.export.csv_rows import restore
from forager.frontier.details import record_details
from forager.frontier.models import Outcome, OutcomeKind


@pytest.mark.parametrize("command", [["domains"], ["pages"], ["tasks"], ["runs"], ["domain", "shop.example"]])
async def test_every_look_has_a_table_and_json(forager: Any, command: list[str]) -> None:
    table = await forager(*command)
    assert table.code == 0
    assert "shop.example" in table.out
    assert "\x1b" not in table.out
    document = json.loads((await forager(*command, "--json")).out)
    assert "shop.example" in json.dumps(document)


async def test_tables_are_aligned_and_numbers_have_separators(forager: Any, world: Any) -> None:
    await world.damage("UPDATE domains SET pages_discovered = 1234567 WHERE name = 'shop.example'")
    lines = (await forager("domains")).out.splitlines()
    titles = ["domain", "status", "pages", "left", "errors", "images", "per", "page", "last", "crawled", "score"]
    assert lines[0].split() == titles
    assert "1,234,565/1,234,567" in lines[1]


async def test_a_limit_says_that_there_is_more(forager: Any) -> None:
    said = await forager("pages", "--limit", "2")
    assert len(said.out.splitlines()) == 3
    assert said.err == "The first 2 pages; --limit shows more.\n"


async def test_nothing_found_says_what_to_do(forager: Any) -> None:
    said = await forager("pages", "--domain", "idle.example")
    assert said.code == 0
    assert said.err == "No page matches. `forager pages` without filters shows what is known.\n"


@pytest.mark.parametrize(
    ("command", "code", "sentence"),
    [
        (["domain", "shop.exmaple"], 3, "Did you mean shop.example?"),
        (["pages", "--domain", "nowhere.example"], 3, "There is no domain 'nowhere.example'."),
        (["tasks", "--run", "99"], 3, "There is no run 99."),
        (["tasks", "--url", "not a url"], 2, "is no URL"),
        (["export", "pages", "--domain", "nowhere.example"], 3, "There is no domain"),
        (["export", "tasks", "--run", "99"], 3, "There is no run 99."),
    ],
)
async def test_what_is_not_there(forager: Any, command: list[str], code: int, sentence: str) -> None:
    said = await forager(*command)
    assert said.code == code
    assert said.out == ""
    assert sentence in said.err
    assert said.err.startswith("forager: ")
    assert said.err.count("\n") == 1


async def test_export_writes_json_lines_to_standard_output(forager: Any) -> None:
    said = await forager("export", "pages", "--format", "jsonl")
    rows = [json.loads(line) for line in said.out.splitlines()]
    assert len(rows) == 5
    assert rows[0]["title"] == "=Shop \x1b[31m[red]"
    assert said.err == ""


async def test_export_writes_csv_that_no_spreadsheet_runs(forager: Any, tmp_path: Path) -> None:
    path = tmp_path / "pages.csv"
    said = await forager("export", "pages", "-o", str(path))
    assert said == (0, "", f"5 pages written to {path}.\n")
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    assert rows[0]["title"] == "'=Shop \x1b[31m[red]"
    assert restore(rows[0]["title"]) == "=Shop \x1b[31m[red]"
    assert rows[0]["description"] == "All\nof it"
    assert rows[4]["status_code"] == ""


async def test_an_export_that_fails_leaves_no_file(forager: Any, tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    assert (await forager("export", "pages", "--domain", "nowhere.example", "-o", str(path))).code == 3
    assert [name for name in os.listdir(tmp_path) if "jsonl" in name] == []


async def test_check_on_a_sound_database(forager: Any) -> None:
    said = await forager("check")
    assert said.code == 0
    assert said.out.count("✓") == 7
    assert json.loads((await forager("check", "--json")).out)["is_clean"] is True


async def test_check_names_the_broken_promises(forager: Any, world: Any) -> None:
    await world.damage("UPDATE domains SET frontier_size = 17 WHERE name = 'shop.example'")
    said = await forager("check")
    assert said.code == 1
    assert "✗ 5  Counters equal what can be recounted  1 broken row" in said.out
    assert "shop.example counts 5 known and 17 waiting, there are 5 and 2" in said.out
    assert said.err.startswith("forager: guarantee violated: 5 (counters equal what can be recounted).\n")
    assert "Repair: `forager repair` counts it again" in said.out
    document = json.loads((await forager("check", "--json")).out)
    assert document["is_clean"] is False
    broken = [check["name"] for promise in document["promises"] for check in promise["checks"] if check["broken"]]
    assert broken == ["page_counters"]


async def test_the_card_of_a_domain(forager: Any, world: Any) -> None:
    await world.conn.execute(
        "INSERT INTO origins VALUES ($1, 'http://shop.example', 'User-agent: *', 200, NULL, now(), now())",
        world.domains["shop.example"],
    )
    text = (await forager("domain", "www.shop.example")).out
    assert "5 known: 1 discovered, 1 queued, 2 fetched, 1 gone" in text
    assert "http://shop.example answered 200" in text
    assert "1 404" in text


async def test_a_page_shows_its_details(forager: Any, world: Any) -> None:
    seed = "http://shop.example/"
    read = Outcome(a_target(page=world.pages[seed]), OutcomeKind.SUCCESS, 200, reading=a_detailed_reading())
    await record_details(world.conn, [read])
    shown = (await forager("page", seed)).out
    for told in (
        "A lamp",
        "Lumen",
        "lamp, brass, polished",
        "2026-01-02",
        "4.5 of 5 (12 ratings)",
        "Product (json-ld)",
    ):
        assert told in shown
    document = json.loads((await forager("page", seed, "--json")).out)
    assert document["structured_data"] == json.loads(ITEMS)
    assert (document["published_on"], document["section"]) == ("2026-01-02", "Lights")
