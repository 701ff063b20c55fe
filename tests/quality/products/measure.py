"""How many fields of how many pages are right: precision over what was given, recall over what is there."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tests.quality.products.corpus import Page

from forager.fetch.models import Fetched
from forager.parsing.page import read
from forager.products.models import Product


def product_of(url: str, html: bytes, parser_name: str = "auto") -> Product | None:
    fetched = Fetched(url, 200, {"content-type": "text/html"}, html, len(html), 1)
    return read(fetched, keyword_words=10, parser_name=parser_name).product


def measure(pages: Iterable[Page]) -> tuple[dict[str, tuple[float, float]], list[str]]:
    """Field → (precision, recall), and each mistake in words."""
    given, right, there = Counter[str](), Counter[str](), Counter[str]()
    mistakes: list[str] = []
    for page in pages:
        product = product_of(page.url, page.html)
        for field, truth in page.expected.items():
            found = getattr(product, field) if product else None
            given[field] += found is not None
            there[field] += truth is not None
            is_right = found is not None and _same(found, truth)
            right[field] += is_right
            if not is_right and (found is not None or truth is not None):
                mistakes.append(f"{page.label}: {field} is {found!r}, not {truth!r}")
    return {
        field: (right[field] / max(given[field], 1), right[field] / max(there[field], 1)) for field in there
    }, mistakes


def _same(found: Any, truth: Any) -> bool:
    return (
        " ".join(found.casefold().split()) == " ".join(truth.casefold().split())
        if isinstance(found, str) and isinstance(truth, str)
        else found == truth
    )
