"""The index of products is the one the first design described, and every field of a document is described."""

from datetime import UTC, datetime
from typing import Any

import pytest

from forager.errors import ConfigurationError
from forager.search.documents import page_document, product_document, weight_of
from forager.search.mapping import KINDS, describe
from forager.search.server import Address

EXPECTED = {
    "product_name": {"type": "text", "analyzer": "standard"},
    "description": {"type": "text", "analyzer": "standard"},
    "brand": {"type": "keyword"},
    "category": {"type": "keyword"},
    "domain_name": {"type": "keyword"},
    "created_at": {"type": "date"},
}


def test_products_are_described_as_designed() -> None:
    fields = describe("product", owner="o", writers="w")["mappings"]["properties"]
    assert {name: fields[name] for name in EXPECTED} == EXPECTED
    assert fields["product_id"] == {"type": "long"}, "ids are 64 bits wide"


class Row(dict[str, Any]):
    """Every column, of a kind that does."""

    def __missing__(self, name: str) -> Any:
        if name.endswith("_at"):
            return datetime(2026, 11, 16, tzinfo=UTC)
        return {"lexemes": ["tea"], "places": [1], "weights": "A", "depth": 2, "price": 12.5}.get(name, "text")


@pytest.mark.parametrize(("kind", "make"), [("page", page_document), ("product", product_document)])
def test_every_field_is_described_and_filled(kind: str, make: Any) -> None:
    assert make(Row()).keys() == KINDS[kind].keys()


def test_depth_takes_its_share() -> None:
    assert weight_of(0) == 1
    assert weight_of(4) == pytest.approx(1 / 1.2, abs=1e-5)
    assert weight_of(10) == weight_of(500)


def test_name_and_password_are_no_part_of_the_address() -> None:
    address = Address.of("https://crawler:p%40ss@search.example/path/")
    assert address.url == "https://search.example:443/path"
    assert address.place == "search.example:443"
    assert address.account == ("crawler", "p@ss")
    assert Address.of("http://[::1]:9200").place == "[::1]:9200"


@pytest.mark.parametrize("url", ["http://", "https://:9200", "http://host:99999999"])
def test_what_is_no_address_is_told(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"search\.url"):
        Address.of(url)
