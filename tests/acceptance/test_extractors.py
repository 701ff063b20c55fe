"""A shop is crawled on two days with extractor files; one of them is written later and read from stored pages."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import HOST_BASE, NETWORK
from tests.acceptance.stage import Forager

from forager_playground import start_playground

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(600)]

UNPACED = {"FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK}
DUE = "UPDATE domains SET next_crawl_after = now() WHERE next_crawl_after IS NOT NULL RETURNING id"
OFFERS = """
name = "offers"
[match]
page = "product"
[record]
kind = "offer"
[fields.name]
sources = [{jsonpath = "$[?(@['@type'] == 'Product')].name"}, {css = "[itemprop=name]"}, {css = "h1"}]
required = true
key = true
[fields.price]
sources = [{jsonpath = "$[?(@['@type'] == 'Product')].offers"}, {css = "[itemprop=price]"}, {css = ".price"}]
type = "money"
[fields.maker]
css = ".no-such-class"
required = true
"""
CARDS = """
name = "cards"
[match]
url = "*/c/*"
[record]
kind = "card"
each = "ul.cards > li"
[fields.link]
css = "a"
type = "url"
key = true
[fields.price]
css = ".price"
type = "money"
[fields.picture]
css = "img"
type = "image"
"""
HANGING = """
name = "hanging"
[record]
kind = "hanging"
[fields.x]
regex = "(?s)a.*a.*a.*a.*a.*a.*a.*a.*a.*a.*a.*ZZZ"
"""


def write(forager: Forager, **files: str) -> None:
    folder = Path(forager.environ["FORAGER_HOME"]) / "extractors"
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text)


def read(forager: Forager, *command: str) -> Any:
    answer = forager.run(*command, "--json")
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def test_records_of_a_shop_on_two_days(forager: Forager) -> None:
    write(
        forager, offers=OFFERS, hanging=HANGING, broken="name = 'broken'\n[record]\nkind = 'x'\n[fields.y]\ncss = '['"
    )
    with start_playground(("shop=12",), host_base=HOST_BASE, day=0) as running:
        (url,) = running.urls
        forager.start(url, "--keep", "snapshot", **UNPACED).finish()
        forager.do("domain", url, "set", "--refresh", "1d")
        first = running.answer_key.expected_products()
    port = int(url.rstrip("/").rpartition(":")[2])
    offers = {row["url"]: row for row in read(forager, "records", "--kind", "offer", "--limit", "1000")}
    assert {address: Decimal(row["fields"]["price"]["amount"]) for address, row in offers.items()} == {
        address: Decimal(facts["price"]) for address, facts in first.items()
    }
    assert {tuple(row["problems"]) for row in offers.values()} == {("missing:maker",)}
    listed = read(forager, "extractors")
    assert [row["name"] for row in listed["extractors"]] == ["hanging", "offers"]
    assert "broken.toml: [fields.y]" in listed["bad_files"][0]["problem"]

    with start_playground(("shop=12",), host_base=HOST_BASE, port=port, day=1) as running:
        assert forager.ask(DUE)
        forager.do("refresh", **UNPACED)
        second = running.answer_key.expected_products()
    moved = [address for address in first if first[address]["price"] != second[address]["price"]]
    assert moved
    changed = forager.ask("SELECT record_id FROM record_changes WHERE event = 'changed' AND field = 'price'")
    assert len(changed) == len(moved)
    history = read(forager, "records", "--history", str(changed[0]["record_id"]))
    assert [row["event"] for row in history["changes"]] == ["first", "changed"]
    assert history["evidence"]["name"]

    replay_a_new_extractor(forager)
    rates = {row["field"]: row["rate"] for row in read(forager, "extractors", "coverage", "offers")}
    assert (rates["name"], rates["price"], rates["maker"]) == (1.0, 1.0, 0.0)
    items = read(forager, "items", "--type", "product", "--limit", "1000")
    assert {row["url"] for row in items} <= set(first)
    assert len(forager.do("export", "records").splitlines()) == forager.value("SELECT count(*) FROM records")
    forager.check(deep=True)


def replay_a_new_extractor(forager: Forager) -> None:
    write(forager, cards=CARDS)
    shadow = read(forager, "replay", "--extractor", "cards", "--shadow")
    assert set(shadow["tally"]["fields"]) == {"cards.link", "cards.price", "cards.picture"}
    assert forager.value("SELECT count(*) FROM records WHERE extractor = 'cards'") == 0
    visits = forager.value("SELECT count(*) FROM crawl_tasks")
    live = read(forager, "replay", "--extractor", "cards")
    assert live["tally"]["fields"] == shadow["tally"]["fields"]
    cards = read(forager, "records", "--extractor", "cards", "--where", "price>0", "--limit", "1000")
    assert len(cards) == forager.value("SELECT count(*) FROM records WHERE extractor = 'cards'") > 10
    assert all(row["fields"]["link"] == row["key"] for row in cards)
    assert forager.value("SELECT count(*) FROM crawl_tasks") == visits
    again = read(forager, "replay", "--extractor", "cards")
    assert again["tally"]["changed"] == 0
