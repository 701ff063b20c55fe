"""Extracts the product of a page, freshly parsed or stored, with the parser configured for its domain."""

from forager.fetch.models import Fetched
from forager.parsing.head import Head
from forager.parsing.products.detect import find_product_hints
from forager.parsing.products.find import find_listed
from forager.parsing.products.view import View
from forager.parsing.sites import AUTO, GENERIC, parser_for
from forager.parsing.structured import StructuredData
from forager.parsing.tree_types import Tree
from forager.products.models import Listed, Product


def read_product(
    tree: Tree,
    fetched: Fetched,
    head: Head,
    structured: StructuredData,
    *,
    base_url: str,
    canonical: str | None,
    language: str | None,
    parser_name: str = AUTO,
) -> tuple[Product | None, tuple[Listed, ...]]:
    """Returns the product the page sells, or the products it lists."""
    clues = find_product_hints(tree, head, structured.items, fetched.body)
    parser = parser_for(parser_name, fetched.url.split("/", 3)[2].lower())
    if not any(clues) and (parser.needs_hints if parser_name == AUTO else parser.name == GENERIC):
        return None, ()
    view = View(tree, fetched, head, structured, base_url, canonical, language)
    product = parser.find_product(view) if clues.may_sell or parser.name != GENERIC else None
    return product, find_listed(view) if product is None and clues.may_list else ()
