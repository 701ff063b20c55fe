"""A shop is crawled on two days: what it sells, for how much, and what changed, as its own answer key says."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from tests.acceptance.conftest import HOST_BASE, NETWORK
from tests.acceptance.stage import Forager

from forager_playground import start_playground

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(600)]

UNPACED = {"FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK}
SHOP = ("shop=12",)
DUE = "UPDATE domains SET next_crawl_after = now() WHERE next_crawl_after IS NOT NULL RETURNING id"
Sold = Mapping[str, Mapping[str, str]]


def crawl_on(day: int, port: int, forager: Forager) -> tuple[Sold, int]:
    """What the shop sold that day, after it was crawled; and its port."""
    with start_playground(SHOP, host_base=HOST_BASE, port=port, day=day) as running:
        (url,) = running.urls
        if day == 0:
            forager.start(url, **UNPACED).finish()
            forager.do("domain", url, "set", "--refresh", "1d")
        else:
            assert forager.ask(DUE)
            forager.do("refresh", **UNPACED)
        return running.answer_key.expected_products(), int(url.rstrip("/").rpartition(":")[2])


def stored(forager: Forager) -> dict[str, tuple[Decimal, str, str]]:
    rows = forager.ask("SELECT url, price, currency, availability FROM products")
    return {row["url"]: (row["price"], row["currency"], row["availability"]) for row in rows}


def as_stored(sold: Sold) -> dict[str, tuple[Decimal, str, str]]:
    return {url: (Decimal(facts["price"]), facts["currency"], facts["availability"]) for url, facts in sold.items()}


def test_two_days_in_a_shop(forager: Forager) -> None:
    first, port = crawl_on(0, 0, forager)
    assert stored(forager) == as_stored(first)
    assert len(forager.ask("SELECT id FROM product_prices")) == len(first)

    second, _ = crawl_on(1, port, forager)
    assert stored(forager) == as_stored(second)
    changed = {url for url in first if as_stored(first)[url] != as_stored(second)[url]}
    assert 0 < len(changed) < len(first)
    assert {row["url"] for row in changes(forager)} == changed
    assert len(forager.ask("SELECT id FROM product_prices")) == len(first) + len(changed)

    url = next(url for url in sorted(changed) if first[url]["price"] != second[url]["price"])
    history = [row["price"] for row in read(forager, "products", "prices", url)]
    assert history == [f"{first[url]['price']}00", f"{second[url]['price']}00"]
    shown = forager.run("products", "show", url)
    assert second[url]["price"] in shown.stdout

    crawl_on(1, port, forager)
    assert len(forager.ask("SELECT id FROM product_prices")) == len(first) + len(changed), "nothing changed, no row"
    look_at_the_shop(forager)
    forager.check(deep=True)


def look_at_the_shop(forager: Forager) -> None:
    """Lists say which shop it is, and a product is found by what its maker calls it."""
    shop = forager.value("SELECT name FROM domains")
    assert shop in forager.do("products").splitlines()[1]
    assert shop in forager.do("products", "changes").splitlines()[1]
    assert "no product found" not in forager.run("products", "parsers").stderr
    forager.ask("DELETE FROM product_days RETURNING day")
    assert f"{shop}: " in forager.run("products", "parsers").stderr
    row = forager.ask("SELECT url, sku FROM products WHERE sku IS NOT NULL ORDER BY id LIMIT 1")[0]
    assert row["url"] in forager.do("search", "--products", row["sku"])


def changes(forager: Forager) -> list[dict[str, Any]]:
    return read(forager, "products", "changes")


def read(forager: Forager, *command: str) -> list[dict[str, Any]]:
    answer = forager.run(*command, "--json")
    assert answer.returncode == 0, answer.stderr
    found: list[dict[str, Any]] = json.loads(answer.stdout)
    return found
