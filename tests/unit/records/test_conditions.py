"""Conditions on fields and on properties of items."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.errors import UsageError
from forager.records.conditions import holds, parse_conditions

LAMP: dict[str, Any] = {
    "name": "Brass lamp",
    "tags": ["brass", "new"],
    "price": 19.9,
    "offers": [{"types": ["Offer"], "properties": {"price": ["17.50"], "seller": [{"name": "Acme"}]}}],
    "sold": True,
}


@pytest.mark.parametrize(
    ("text", "is_true"),
    [
        ("name=Brass lamp", True),
        ("name~LAMP", True),
        ("name!=Brass lamp", False),
        ("tags=new", True),
        ("price>19", True),
        ("price<19", False),
        ("price = 19.90", True),
        ("offers.price>17", True),
        ("offers.seller=Acme", True),
        ("sold=true", True),
        ("nothing=1", False),
    ],
)
def test_a_condition_compares_values_elements_and_what_is_inside(text: str, is_true: bool) -> None:
    [condition] = parse_conditions([text])
    assert holds(condition, LAMP) is is_true


@pytest.mark.parametrize("text", ["", "name", "=x", "na me=x", "a\0=x"])
def test_what_is_no_condition_is_rejected(text: str) -> None:
    with pytest.raises(UsageError):
        parse_conditions([text])


@given(st.text(max_size=30), st.dictionaries(st.text(max_size=5), st.lists(st.text(max_size=5)), max_size=5))
def test_any_text_is_a_condition_or_rejected(text: str, properties: dict[str, Any]) -> None:
    try:
        [condition] = parse_conditions([text])
    except UsageError:
        return
    holds(condition, properties)
