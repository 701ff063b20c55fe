"""Floors of quality on pages in the shape of real shops. They may only rise."""

import pytest
from tests.quality.products.corpus import pages
from tests.quality.products.goods import THINGS
from tests.quality.products.measure import measure, product_of
from tests.quality.products.others import Other, others

PAGES = list(pages())
FLOORS = {
    "name": (1.0, 1.0),
    "price": (1.0, 1.0),
    "currency": (1.0, 1.0),
    "availability": (1.0, 1.0),
    "rating": (1.0, 1.0),
    "review_count": (1.0, 1.0),
    "brand": (1.0, 1.0),
    "category": (1.0, 1.0),
    "sku": (1.0, 1.0),
    "gtin": (1.0, 1.0),
}
"""Field → precision, recall."""


def test_fields_are_right_as_often_as_ever() -> None:
    measured, mistakes = measure(PAGES)
    fallen = {field: measured[field] for field, floor in FLOORS.items() if measured[field] < floor}
    assert not fallen, "\n".join(mistakes)


def test_the_corpus_is_as_wide_as_it_says() -> None:
    assert len({page.html for page in PAGES}) >= 60
    assert len({thing.language.partition("-")[0] for thing in THINGS}) >= 10
    assert len({other.html for other in others()}) >= 30


@pytest.mark.parametrize("other", others(), ids=lambda other: other.label)
def test_what_is_no_products_page_gives_no_product(other: Other) -> None:
    assert product_of(other.url, other.html.encode()) is None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.label)
def test_every_field_says_where_it_was_found(page: object) -> None:
    product = product_of(page.url, page.html)  # type: ignore[attr-defined]
    assert product is not None
    for field in ("name", "price", "currency"):
        chosen, *_ = product.evidence[field]
        assert chosen.where
        assert 0 < chosen.confidence <= 1
