"""Detects whether a page may sell or list products. Runs for every page, so it checks little.

Checks item types of the markup, the tags of the head, the names of the body; for pages without any of these, whether a
short text has a number with a currency, or a script names prices.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from forager.parsing.byte_search import holds
from forager.parsing.head import Head
from forager.parsing.structured import Item
from forager.parsing.tree_types import Tree

PRODUCTS = frozenset(
    [
        "product",
        "productgroup",
        "individualproduct",
        "productmodel",
        "someproducts",
        "vehicle",
        "car",
        "motorcycle",
        "productorservice",
        "offering",
        "actualproductorserviceinstance",
        "product.item",
    ]
)
SOLD_TOO = frozenset({"book", "audiobook", "musicalbum", "videogame", "movie", "drug", "ticket"})
"""Products only if they have an offer."""
WRITING: frozenset[str] = frozenset(
    [
        "article",
        "newsarticle",
        "blogposting",
        "techarticle",
        "report",
        "review",
        "criticreview",
        "recipe",
        "qapage",
        "question",
        "discussionforumposting",
        "socialmediaposting",
        "liveblogposting",
        "podcastepisode",
        "howto",
        "jobposting",
        "event",
    ]
)
LISTINGS = ("itemlist", "collectionpage", "searchresultspage")
SOLD = PRODUCTS | SOLD_TOO | {"offer", "aggregateoffer"}
UNSOLD = WRITING | {*LISTINGS}
LISTED = PRODUCTS | SOLD_TOO | {*LISTINGS, "offercatalog"}
PRODUCT_TYPES = frozenset(
    {"product", "og:product", "product.item", "product:item", "ebay-objects:item", "pinterest:product"}
)
LISTING_TYPES = frozenset({"product.group", "product:group", "product_group", "category", "product.category"})
OTHER_TYPES = frozenset({"article", "blog", "profile", "video.other", "news", "recipe", "book.author"})
PRICES = (
    *("product:sale_price:amount", "product:price:amount", "og:price:amount", "product:price", "og:price"),
    *("etsymarketplace:price_value", "og:product:price:amount", "product:price.amount"),
)
PRODUCT_BODY = re.compile(
    r"(?:^|\s)(?:single-product|template-product\S*|product-template\S*|catalog-product-view|page-product|product-page|"
    r"product-detail\S*|page-type-product|productpage|product-product(?:-\d+)?|is-product|pdp|page-pdp|product-view)(?:\s|$)"
)
PRODUCT_WORDS = ("product", "pdp")
LISTING_BODY = re.compile(
    r"(?:^|\s)(?:catalog-category-view|tax-product_cat|tax-product_tag|post-type-archive-product|template-collection\S*|"
    r"product-category\S*|catalogsearch-result-index|template-search|page-category|category-page|search-results|woocommerce-shop|"
    r"template-cart|woocommerce-cart|woocommerce-checkout|template-article|template-blog|template-list-collections|catalog-list|plp)(?:\s|$)"
)
LISTING_WORDS = (
    *("product", "category", "catalog", "search-results", "woocommerce-", "plp", "template-collection"),
    *("template-search", "template-cart", "template-article", "template-blog", "template-list"),
)
LISTING_IDS = frozenset(
    {
        "category",
        "search",
        "cart",
        "manufacturer",
        "new-products",
        "best-sales",
        "prices-drop",
        "module-blockwishlist-view",
    }
)
PRODUCT_IDS = frozenset({"product", "product-page", "page-product", "product-detail", "product-details"})
MONEY = re.compile(
    r"\d ?(?:[$€£¥￥₹₺₽₩₪₫₱₴฿₦₸₾₼]|kr\b|zł|Kč|Ft\b|lei\b|лв|руб|грн|TL\b|CHF|EUR|USD|GBP|,-|円|元|원|บาท|đ\b)|"
    r"(?:[$€£¥￥₹₺₽₩₪₫₱₴฿₦₸₾₼]|kr|CHF|EUR|USD|GBP|AED|SAR|PLN|RM|Rp|Rs)\.? ?\d"
)
LONGEST_MONEY = 40


class ProductHints(NamedTuple):
    may_sell: bool
    may_list: bool


class PageKind(NamedTuple):
    """The kind of page by its body: one product, a list, or neither."""

    is_product: bool
    is_listing: bool


NEITHER = PageKind(is_product=False, is_listing=False)


def find_product_hints(tree: Tree, head: Head, items: Iterable[Item], body: bytes) -> ProductHints:
    kinds = {kind for item in items for kind in item.types}
    return ProductHints(_can_have_product(tree, head, kinds, body), not kinds.isdisjoint(LISTED))


def _can_have_product(tree: Tree, head: Head, kinds: set[str], body: bytes) -> bool:
    kind = type_of(head)
    if kind in PRODUCT_TYPES or not kinds.isdisjoint(SOLD) or has_price_tag(head):
        return True
    sight = detect_page_type(tree)
    if sight.is_product or sight.is_listing:
        return sight.is_product
    if kind in OTHER_TYPES or kind in LISTING_TYPES or not kinds.isdisjoint(UNSOLD):
        return False
    return _shows_money(tree) or _has_priced_data(body)


def has_price_tag(head: Head) -> bool:
    return not head.metas.keys().isdisjoint(PRICES)


def type_of(head: Head) -> str:
    """Returns the value of `og:type`."""
    told = head.metas.get("og:type")
    return told[0].strip().lower() if told else ""


def body_of(tree: Tree) -> int | None:
    """Returns the element `body`, which follows the head."""
    if len(tree) > 2 and (behind_head := tree.end(1)) < len(tree) and tree.tag(behind_head) == "body":
        return behind_head
    return next(iter(tree.tags("body")), None)


def detect_page_type(tree: Tree) -> PageKind:
    body = body_of(tree)
    if body is None:
        return NEITHER
    classes, identity = (tree.get(body, "class") or "").lower(), (tree.get(body, "id") or "").lower()
    if not classes and not identity:
        return NEITHER
    is_product = identity in PRODUCT_IDS or _matches(PRODUCT_BODY, PRODUCT_WORDS, classes)
    is_listing = not is_product and (identity in LISTING_IDS or _matches(LISTING_BODY, LISTING_WORDS, classes))
    return PageKind(is_product, is_listing)


def _matches(pattern: re.Pattern[str], words: tuple[str, ...], text: str) -> bool:
    """Whether the pattern matches. Every match contains one of the words; most texts have none, which is cheap to
    check."""
    return any(word in text for word in words) and pattern.search(text) is not None


def _shows_money(tree: Tree) -> bool:
    """Whether a short text has a number with a currency."""
    body = body_of(tree)
    if body is None:
        return False
    return MONEY.search("\n".join([text for _, text in tree.numbers(body, LONGEST_MONEY)])) is not None


def _has_priced_data(body: bytes) -> bool:
    """Whether a script names products and prices: `"price": 12`, `"salePrice": 12`, also inside a string."""
    return holds(body, b"roduct") and any(holds(body, word) for word in (b'"price', b'rice"', b'rice\\"'))
