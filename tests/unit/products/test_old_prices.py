"""A price that is no longer on the page is shown with the day it was last seen."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from forager.cli.table import Note
from forager.products.commands import _listed, old_price
from forager.search.commands.search import _build_details

SEEN = datetime(2026, 11, 15, 10, tzinfo=UTC)
NOW = datetime(2026, 11, 18, tzinfo=UTC)


def a_row(**more: Any) -> dict[str, Any]:
    row = {
        "id": 1,
        "product_name": "Lamp",
        "domain": "a.example",
        "url": "https://a.example/lamp",
        "price": Decimal("49.90"),
        "currency": "EUR",
        "old_price": None,
    }
    row |= {"availability": "in_stock", "confidence": 0.5, "is_gone": False, "last_seen_at": NOW}
    return row | {"is_price_current": False, "price_seen_at": SEEN} | more


def test_the_list_says_when_an_old_price_was_seen_and_never_now() -> None:
    row, note = _listed([a_row()], NOW)
    assert row[-2] == "2 d ago"
    assert isinstance(note, Note)
    assert "not on the page now: this price was last seen 2026-11-15 10:00" in note.text


def test_the_list_shows_a_current_price_without_a_note() -> None:
    [row] = _listed([a_row(is_price_current=True, price_seen_at=NOW)], NOW)
    assert row[-2] == "now"


def test_a_page_that_is_gone_is_named() -> None:
    assert old_price(a_row(is_gone=True)).startswith("the page is gone")


@pytest.mark.parametrize(("is_current", "said"), [(True, "49.90 EUR"), (False, "49.90 EUR on 2026-11-15")])
def test_search_says_the_day_of_an_old_price(is_current: bool, said: str) -> None:
    facts = {"price": 49.9, "currency": "EUR", "is_price_current": is_current, "price_seen_at": SEEN}
    assert list(_build_details(facts)) == [said]
