"""Every error code there is belongs to a category."""

from collections.abc import Iterator

from forager.errors import ErrorSource, VisitError
from forager.tasks.failures import CATEGORIES, Category, category_of


def tree(error: type[VisitError] = VisitError) -> Iterator[type[VisitError]]:
    yield error
    for child in error.__subclasses__():
        yield from tree(child)


def test_the_table_has_every_code_and_no_other() -> None:
    assert {error.code for error in tree()} | {"invalid_product"} == set(CATEGORIES)


def test_categories_follow_the_blame() -> None:
    for error in tree():
        category = CATEGORIES[error.code]
        if error.blame is ErrorSource.NETWORK:
            assert category is Category.NETWORK
        if error.blame is ErrorSource.PARSER:
            assert category is Category.PARSE
        if error.blame is ErrorSource.US:
            assert category is Category.US


def test_every_category_has_a_code() -> None:
    assert set(CATEGORIES.values()) == set(Category)


def test_a_code_of_tomorrow_is_ours() -> None:
    assert category_of("never_seen") is Category.US
