"""What is read of pages and products is on the API's surface, and the same everywhere."""

from typing import get_args

from forager.export.commands.export import ExportKind
from forager.export.rows import COLUMNS, Kind
from forager.pages.schemas import Page, StructuredItem
from forager.products.models import FACTS
from forager.products.schemas import Product
from forager.replay.diff import DETAILS, PRODUCT


def test_a_page_has_every_detail() -> None:
    assert set(DETAILS) <= set(Page.model_fields)
    assert set(DETAILS) <= set(COLUMNS["pages"])


def test_a_product_has_every_fact() -> None:
    facts = {"product_name" if fact == "name" else fact for fact in FACTS}
    assert facts <= set(Product.model_fields)
    assert facts <= set(COLUMNS["products"])
    assert set(FACTS) == set(PRODUCT)


def test_an_item_says_what_it_is() -> None:
    assert set(StructuredItem.model_fields) == {"syntax", "types", "properties"}


def test_commands_and_routes_export_the_same_kinds() -> None:
    assert {what.value for what in ExportKind} - {"warc", "wacz"} == set(get_args(Kind)) == set(COLUMNS)
