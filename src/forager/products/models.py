"""What a page states about the product it sells: facts, the confidence in each, and where each was found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

FACTS = (
    *("name", "description", "price", "currency", "availability", "rating", "review_count", "brand", "category"),
    *("sku", "gtin", "image_urls", "variants"),
    *("mpn", "regular_price", "unit_price", "unit", "seller", "condition", "shipping", "attributes"),
)
"""The product fields found on pages, in display order."""
SERIOUS = frozenset({"no_name", "no_price", "bad_price", "price_out_of_range", "bad_currency", "no_currency"})
"""Problems that make a product invalid."""


class Evidence(NamedTuple):
    """One location in a page that states the value of one field."""

    value: str
    """As parsed, truncated."""
    where: str
    """`jsonld $.offers.price`, `microdata span[itemprop=price]`, `css #productTitle`."""
    confidence: float
    """0 to 1."""


class Variant(NamedTuple):
    """One variant of a product that can be bought: a colour, a size."""

    name: str | None = None
    sku: str | None = None
    gtin: str | None = None
    price: Decimal | None = None
    currency: str | None = None
    availability: str | None = None
    url: str | None = None


class Listed(NamedTuple):
    """One product of a listing page."""

    url: str
    """The normalised URL of its own page."""
    product: "Product"


@dataclass(frozen=True, slots=True)
class Product:
    name: str | None
    description: str | None = None
    price: Decimal | None = None
    currency: str | None = None
    """ISO 4217."""
    availability: str | None = None
    """A value of `extract.products.stock.Availability`."""
    rating: Decimal | None = None
    """0 to 5, whatever scale the page uses."""
    review_count: int | None = None
    brand: str | None = None
    category: str | None = None
    sku: str | None = None
    gtin: str | None = None
    image_urls: tuple[str, ...] = ()
    variants: tuple[Variant, ...] = ()
    mpn: str | None = None
    """The manufacturer part number."""
    regular_price: Decimal | None = None
    """The price shown struck through beside a lower one."""
    unit_price: Decimal | None = None
    """The price per `unit`: `4.20` for `kg`."""
    unit: str | None = None
    seller: str | None = None
    condition: str | None = None
    """`new`, `used`, `refurbished` or `damaged`."""
    shipping: Decimal | None = None
    """The delivery cost, in `currency`."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Other attributes stated by the page: color, material, weight."""
    content_hash: bytes = b""
    """16 bytes over the facts: the product counts as changed only when they change."""
    confidence: float = 0.0
    evidence: Mapping[str, tuple[Evidence, ...]] = field(default_factory=dict)
    """Field → the chosen value, then the other values on the page."""
    problems: tuple[str, ...] = ()
    parser_name: str = "generic"
    parser_version: int = 1

    @property
    def is_valid(self) -> bool:
        """Whether it has no serious problem."""
        return not SERIOUS.intersection(self.problems)


def pack(product: Product) -> dict[str, Any]:
    """Returns the product as JSON-compatible values."""
    packed = {name: getattr(product, name) for name in Product.__slots__}
    return packed | {
        "price": _text(product.price),
        "rating": _text(product.rating),
        "regular_price": _text(product.regular_price),
        "unit_price": _text(product.unit_price),
        "shipping": _text(product.shipping),
        "attributes": dict(product.attributes),
        "content_hash": product.content_hash.hex(),
        "variants": [pack_variant(variant) for variant in product.variants],
        "evidence": pack_evidence(product.evidence),
    }


def pack_variant(variant: Variant) -> dict[str, str]:
    """Returns only the known fields."""
    return {name: str(value) for name, value in variant._asdict().items() if value is not None}


def pack_evidence(evidence: Mapping[str, tuple[Evidence, ...]]) -> dict[str, list[list[Any]]]:
    return {name: [list(each) for each in found] for name, found in evidence.items()}


def unpack(packed: Mapping[str, Any]) -> Product:
    """The inverse of `pack`."""
    given = dict(packed) | {
        "price": _number(packed["price"]),
        "rating": _number(packed["rating"]),
        "regular_price": _number(packed.get("regular_price")),
        "unit_price": _number(packed.get("unit_price")),
        "shipping": _number(packed.get("shipping")),
        "content_hash": bytes.fromhex(packed["content_hash"]),
        "image_urls": tuple(packed["image_urls"]),
        "problems": tuple(packed["problems"]),
        "variants": tuple(
            Variant(**dict(variant) | {"price": _number(variant.get("price"))}) for variant in packed["variants"]
        ),
        "evidence": {
            name: tuple(Evidence(value, where, confidence) for value, where, confidence in found)
            for name, found in packed["evidence"].items()
        },
    }
    return Product(**given)


def _text(value: Decimal | None) -> str | None:
    return None if value is None else str(value)


def _number(value: str | None) -> Decimal | None:
    return None if value is None else Decimal(value)
