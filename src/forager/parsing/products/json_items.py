"""Finds the page's product in JSON that a shop uses internally. There is no vocabulary: names are guessed, then
verified.

An object with a name and a price is accepted only if the page has that name, or its URL ends in the object's own: such
documents also contain related products, the cart, and previously viewed products.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from forager.parsing.products.embedded import Document, Embedded
from forager.parsing.products.meta_tags import SEPARATORS
from forager.parsing.products.select import PageTitles, fold_text
from forager.parsing.products.view import View
from forager.parsing.structured.items import Item, Value

MOST_NODES = 20_000
DEEPEST = 24
MOST_CANDIDATES = 200
MOST_VARIANTS = 200
MOST_IMAGES = 20
LONGEST_NAME = 512
LONG_NAME = 12
"""A shorter name must be the whole title: `Kettle` is in `Kettles` too."""

NAMES = ("productName", "name", "title", "displayName", "product_name", "productTitle")
SLUGS = ("handle", "slug", "urlKey", "url_key", "seoUrl", "pdpUrl", "productUrl", "url", "canonicalUrl", "permalink")
PRICES = (
    *("salePrice", "sale_price", "currentPrice", "current_price", "finalPrice", "final_price", "offerPrice"),
    *("sellingPrice", "priceToPay", "price", "priceValue", "price_value", "priceAmount", "unitPrice", "minPrice"),
    *("lowPrice", "priceRange", "price_range", "prices", "pricing", "priceInfo", "amount", "regularPrice"),
    "regular_price",
)  # fmt: skip
"""The current price first; a former price only if there is no other."""
OLD_PRICES = (
    *("compare_at_price", "compareAtPrice", "listPrice", "list_price", "originalPrice", "original_price", "oldPrice"),
    *("old_price", "regularPrice", "regular_price", "wasPrice", "was_price", "msrp", "strikePrice"),
)  # fmt: skip
"""Before a reduction; used if higher."""
AMOUNTS = (
    *("current", "sale", "final", "selling", "discounted", "centAmount", "amount", "value", "price", "now", "gross"),
    *("minVariantPrice", "minimum_price", "final_price", "min", "lowest", "regular", "regular_price", "raw"),
)  # fmt: skip
CURRENCIES = (
    *("currency", "currencyCode", "priceCurrency", "currency_code", "currencyIso", "currencyIsoCode", "currencyId"),
)  # fmt: skip
TEXTS = {
    "description": ("description", "longDescription", "shortDescription", "descriptionHtml", "body_html", "summary"),
    "sku": ("sku", "productCode", "articleNumber", "itemNumber", "partNumber", "code", "productId", "product_id"),
    "mpn": ("mpn", "manufacturerPartNumber", "modelNumber", "model"),
    "brand": ("brand", "vendor", "brandName", "manufacturer", "brand_name"),
    "category": ("category", "categoryName", "primaryCategory"),
}
GTINS = ("gtin", "gtin13", "ean", "ean13", "upc", "barcode", "isbn", "gtin12", "gtin14", "eanCode")
IMAGES = ("images", "image", "media", "gallery", "featured_image", "featuredImage", "imageUrl", "image_url", "pictures")
STOCKS = (
    *("available", "inStock", "in_stock", "isAvailable", "availableForSale", "isInStock", "is_in_stock"),
    *("is_available", "availability", "stockStatus", "stock_status", "availabilityStatus", "stock"),
)  # fmt: skip
VARIANTS = ("variants", "skus", "variations", "children", "productVariants")
RATINGS = ("averageRating", "ratingValue", "rating", "average_rating", "ratingAverage", "avgRating", "reviewSummary")
COUNTS = ("reviewCount", "numberOfReviews", "review_count", "reviewsCount", "ratingCount", "totalReviews", "count")
SIGNS = frozenset(
    [
        *("sku", "gtin", "ean", "barcode", "handle", "slug", "vendor", "brand", "productId", "product_id", "variants"),
        *(
            "skus",
            "images",
            "image",
            "availability",
            "available",
            "inStock",
            "availableForSale",
            "stock",
            "productCode",
        ),
        *("articleNumber", "urlKey", "url_key", "featuredImage", "imageUrl", "description", "id"),
    ]
)
"""Beside name and price, an object needs two of these: a shipping method has a name and a price too."""
THEME_SIGNS = frozenset({"handle", "vendor", "compare_at_price", "gid", "variants"})
"""Themes of one shop system write whole-number prices in hundredths."""
HUNDREDTH = Decimal("0.01")


def find_json_product(embedded: Embedded, view: View, titles: PageTitles) -> Item | None:
    """Returns the page's product as an item like those of markup; None if no object matches the page's name."""
    named = [
        (score, good, place)
        for good, place in _candidates(embedded.documents)
        if (score := _score(good, view, titles)) > 0
    ]
    if not named:
        return None
    _, good, place = max(named, key=lambda each: (each[0], len(each[1])))
    return _item(good, place, embedded.currency)


def _candidates(documents: Sequence[Document]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yields objects with a name and a price at any depth, breadth first, within limits."""
    waiting: deque[tuple[Any, str, int]] = deque((document.content, f"{document.name} $", 0) for document in documents)
    seen = found = 0
    while waiting and seen < MOST_NODES and found < MOST_CANDIDATES:
        node, place, depth = waiting.popleft()
        seen += 1
        if isinstance(node, dict):
            if _is_product_node(node):
                found += 1
                yield node, place
            inner: Iterable[tuple[Any, str]] = ((value, f"{place}.{key[:60]}") for key, value in node.items())
        else:
            inner = ((value, f"{place}[{at}]") for at, value in enumerate(node))
        if depth < DEEPEST:
            for value, where in inner:
                if isinstance(value, dict | list) and len(waiting) < MOST_NODES:
                    waiting.append((value, where, depth + 1))


def _is_product_node(node: Mapping[str, Any]) -> bool:
    if not any(isinstance(node.get(name), str) for name in NAMES) and not _variants(node):
        return False
    has_price = any(name in node for name in PRICES) or any(
        any(name in each for name in PRICES) for each in _variants(node)[:1]
    )
    return has_price and len(SIGNS.intersection(node)) >= 2


def _score(good: Mapping[str, Any], view: View, titles: PageTitles) -> float:
    """Returns how certainly the object is the page's own: by its name in the heading or the title, and by its URL."""
    own = fold_text(_name(good) or "")
    score = 3.0 * _is_addressed(good, view)
    if own:
        score += 4.0 * _is_called(own, titles.heading) + 2.0 * any(_is_called(own, title) for title in titles.all)
    return score and score + 0.5 * bool(_variants(good)) + 0.5 * any(name in good for name in PRICES)


def _is_called(own: str, title: str | None) -> bool:
    """Whether the title, or its part before the shop's name, says hardly more than the name: `Kettle` does not match
    `Kettles and all that goes with them`."""
    if not title:
        return False
    parts = [title, *(title.partition(mark)[0] for mark in SEPARATORS if mark in title)]
    return any(
        own == said or (own in said and len(own) >= LONG_NAME and len(own) * 10 >= len(said) * 7)
        for said in map(fold_text, parts)
    )


def _is_addressed(good: Mapping[str, Any], view: View) -> bool:
    """Whether its URL, or the last segment of it, is the page's."""
    last = view.url.partition("?")[0].partition("#")[0].rstrip("/").rpartition("/")[2].lower()
    for name in SLUGS:
        value = good.get(name)
        if not isinstance(value, str) or not value:
            continue
        if "/" in value:
            if view.is_page_url(value):
                return True
        elif len(value) >= 4 and last.removesuffix(".html") == value.lower():
            return True
    return False


# The item -----------------------------------------------------------------------------------------------------------


def _item(good: Mapping[str, Any], place: str, currency: str | None) -> Item:
    is_theme = len(THEME_SIGNS.intersection(good)) >= 3
    currency = _first_text(good, CURRENCIES) or currency
    item = Item("data", place, ("product",))
    _put(item, "name", _name(good))
    for field, names in TEXTS.items():
        _put(item, field, _first_text(good, names))
    if is_theme:
        _put(item, "category", _first_text(good, ("product_type", "type")))
    _put(item, "gtin", _first_text(good, GTINS))
    item.properties["image"] = [*_images(good)][:MOST_IMAGES]
    _rate(item, good)
    variants = [
        _offered(each, f"{place}.variants[{at}]", currency, is_theme=is_theme)
        for at, each in enumerate(_variants(good)[:MOST_VARIANTS])
    ]
    offer = _offer(good, place, currency, is_theme=is_theme)
    if offer is not None and ("price" in offer.properties or not variants):
        item.properties["offers"] = [offer]
    if variants:
        item.properties["hasvariant"] = list(variants)
    return item


def _offered(variant: Mapping[str, Any], place: str, currency: str | None, *, is_theme: bool) -> Item:
    item = Item("data", place, ("product",), role="hasvariant")
    _put(item, "name", _first_text(variant, ("public_title", "title", "name", "displayName")))
    _put(item, "sku", _first_text(variant, ("sku", "code", "id")))
    _put(item, "gtin", _first_text(variant, GTINS))
    offer = _offer(variant, place, currency, is_theme=is_theme)
    if offer is not None:
        item.properties["offers"] = [offer]
    return item


def _offer(good: Mapping[str, Any], place: str, currency: str | None, *, is_theme: bool) -> Item | None:
    offer = Item("data", place, ("offer",), role="offers")
    for name in PRICES:
        amount, told = _amount(good.get(name), DEEPEST_PRICE)
        if amount is not None:
            if is_theme and isinstance(amount, int):
                amount = amount * HUNDREDTH
            _put(offer, "price", amount)
            currency = told or currency
            break
    for name in OLD_PRICES:
        amount, _ = _amount(good.get(name), DEEPEST_PRICE)
        if amount is not None and "price" in offer.properties:
            if is_theme and isinstance(amount, int):
                amount = amount * HUNDREDTH
            old = Item("data", f"{place}.{name}", ("unitpricespecification",), role="pricespecification")
            _put(old, "price", amount)
            _put(old, "pricetype", "ListPrice")
            offer.properties["pricespecification"] = [old]
            break
    stock = next((said for name in STOCKS if (said := _stock(good.get(name))) is not None), None)
    _put(offer, "availability", stock)
    if not offer.properties:
        return None
    if "price" in offer.properties:
        _put(offer, "pricecurrency", currency)
    return offer


DEEPEST_PRICE = 4
"""`priceRange.minVariantPrice.amount`, `price_range.minimum_price.final_price.value`."""


def _amount(value: Any, levels: int) -> tuple[Value | None, str | None]:
    """Returns a price, and the currency next to it."""
    if isinstance(value, bool) or value is None or levels < 0:
        return None, None
    if isinstance(value, int | Decimal):
        return value, None
    if isinstance(value, str):
        return (value, None) if any(map(str.isdigit, value[:40])) and len(value) <= 40 else (None, None)
    if isinstance(value, list):
        return _amount(value[0], levels - 1) if value else (None, None)
    if not isinstance(value, dict):
        return None, None
    currency = _first_text(value, CURRENCIES)
    for name in AMOUNTS:
        amount, inner = _amount(value.get(name), levels - 1)
        if amount is not None:
            if name == "centAmount" and isinstance(amount, int):
                digits = value.get("fractionDigits")
                amount = amount * Decimal(10) ** -(digits if isinstance(digits, int) and 0 <= digits <= 4 else 2)
            return amount, inner or currency
    return None, None


def _stock(value: Any) -> str | None:
    if isinstance(value, bool):
        return "InStock" if value else "OutOfStock"
    if isinstance(value, int):
        return "InStock" if value > 0 else "OutOfStock"
    if isinstance(value, dict):
        return next((said for name in STOCKS if (said := _stock(value.get(name))) is not None), None)
    return value[:200] if isinstance(value, str) and value else None


def _rate(item: Item, good: Mapping[str, Any]) -> None:
    for name in RATINGS:
        value = good.get(name)
        holder = value if isinstance(value, dict) else good
        text = _first_text(holder, (*RATINGS[:6], "value", "average")) if isinstance(value, dict) else _text(value)
        if text:
            rating = Item("data", f"{item.path}.{name}", ("aggregaterating",), role="aggregaterating")
            _put(rating, "ratingvalue", text)
            _put(rating, "reviewcount", _first_text(holder, COUNTS if holder is not good else COUNTS[:-1]))
            item.properties["aggregaterating"] = [rating]
            return


def _images(good: Mapping[str, Any]) -> Iterator[Value]:
    for name in IMAGES:
        value = good.get(name)
        for each in _listed(value) or [value]:
            if isinstance(each, str):
                yield each
            elif isinstance(each, dict) and (address := _first_text(each, ("url", "src", "originalSrc", "href"))):
                yield address
        if value:
            return


def _variants(good: Mapping[str, Any]) -> list[dict[str, Any]]:
    for name in VARIANTS:
        found = [each for each in _listed(good.get(name)) if isinstance(each, dict)]
        if found:
            return found
    return []


def _listed(value: Any) -> list[Any]:
    """Returns a list, plain or wrapped by GraphQL."""
    if isinstance(value, dict):
        if isinstance(value.get("nodes"), list):
            return list(value["nodes"])
        edges = value.get("edges")
        if isinstance(edges, list):
            return [each.get("node") for each in edges if isinstance(each, dict)]
        return []
    return value if isinstance(value, list) else []


def _name(good: Mapping[str, Any]) -> str | None:
    for name in NAMES:
        value = good.get(name)
        if isinstance(value, str) and value.strip():
            return value[:LONGEST_NAME]
    return None


def _first_text(holder: Mapping[str, Any], names: Iterable[str]) -> str | None:
    return next((text for name in names if (text := _text(holder.get(name))) is not None), None)


def _text(value: Any) -> str | None:
    """Returns a text or number, also from the `name` of an object."""
    if isinstance(value, dict):
        value = next((value[name] for name in ("name", "value", "label", "title") if name in value), None)
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        return None
    return str(value).strip() or None


def _put(item: Item, name: str, value: Value | None) -> None:
    if value is not None:
        item.properties[name] = [value]
