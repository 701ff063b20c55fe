"""Parameters of the product statements: named columns for bulk statements."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple


class ProductColumns(NamedTuple):
    """One element per product seen by a visit. Lists and objects are JSON."""

    domain_id: Sequence[int]
    page_id: Sequence[int]
    task_id: Sequence[int]
    seen_at: Sequence[datetime | None]
    url: Sequence[str]
    url_hash: Sequence[bytes]
    name: Sequence[str | None]
    description: Sequence[str | None]
    price: Sequence[Decimal | None]
    currency: Sequence[str | None]
    availability: Sequence[str | None]
    rating: Sequence[Decimal | None]
    review_count: Sequence[int | None]
    brand: Sequence[str | None]
    category: Sequence[str | None]
    sku: Sequence[str | None]
    gtin: Sequence[str | None]
    image_urls: Sequence[str]
    variants: Sequence[str]
    content_hash: Sequence[bytes]
    parser_name: Sequence[str]
    parser_version: Sequence[int]
    confidence: Sequence[float]
    evidence: Sequence[str]
    problems: Sequence[str]
    is_valid: Sequence[bool]
    is_listed: Sequence[bool]
    mpn: Sequence[str | None]
    regular_price: Sequence[Decimal | None]
    unit_price: Sequence[Decimal | None]
    unit: Sequence[str | None]
    seller: Sequence[str | None]
    condition: Sequence[str | None]
    shipping: Sequence[Decimal | None]
    attributes: Sequence[str | None]
