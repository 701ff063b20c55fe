"""The product of a page, by the parser its domain asks for: of a page that is being read, or one that was stored."""

from forager.extract.head import Head
from forager.extract.products.find import find_listed
from forager.extract.products.view import View
from forager.extract.sites import AUTO, parser_for
from forager.extract.structured import StructuredData
from forager.extract.tree import Tree
from forager.records import Fetched
from forager.records.product import Listed, Product


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
    """What the page sells, or what it lists."""
    host = fetched.url.split("/", 3)[2].lower()
    view = View(tree, fetched, head, structured, base_url, canonical, language)
    product = parser_for(parser_name, host).find_product(view)
    return product, find_listed(view) if product is None and view.items else ()


def find_product(fetched: Fetched, parser_name: str = AUTO) -> Product | None:
    """What this parser finds in an answer that was stored; raises DecodeError as reading does."""
    from forager.extract.page import read

    return read(fetched, keyword_words=0, parser_name=parser_name).product
