"""Products, prices and images, as answers show them."""

from datetime import date, datetime
from typing import Any, Literal

from pydantic import Field

from forager.api.types import Row

ImageStatus = Literal[
    "found", "stored", "moved", "gone", "blocked", "failed", "broken", "too_big", "not_an_image", "dropped"
]


class ProductRow(Row):
    id: int = Field(examples=[12])
    domain: str = Field(examples=["shop.example"])
    url: str
    product_name: str = Field(examples=["A lamp"])
    price: float | None = Field(examples=[49.9])
    currency: str | None = Field(examples=["EUR"])
    availability: str | None = Field(examples=["in_stock"])
    rating: float | None
    review_count: int | None
    brand: str | None
    category: str | None
    sku: str | None
    gtin: str | None
    confidence: float
    problems: list[str]
    is_valid: bool
    parser_name: str
    parser_version: int
    created_at: datetime
    updated_at: datetime
    last_seen_at: datetime
    is_price_current: bool = Field(
        description="Whether the last visit found this price; false: it is from price_seen_at."
    )
    price_seen_at: datetime | None = Field(description="When a visit last read this price; null: none ever did.")
    missing_since: datetime | None = Field(description="Since when its page is read without finding the product.")
    page_id: int
    image_id: int | None = Field(description="The first of its page's images that has a thumbnail.")


class Product(Row):
    """One product, with what its page said and where."""

    id: int
    domain: str
    url: str
    page_id: int
    domain_id: int
    crawl_task_id: int | None
    product_name: str
    description: str | None
    price: float | None
    currency: str | None
    availability: str | None
    rating: float | None
    review_count: int | None
    brand: str | None
    category: str | None
    sku: str | None
    gtin: str | None
    mpn: str | None = Field(description="The manufacturer's number.")
    regular_price: float | None = Field(description="Struck through beside a lower one.")
    unit_price: float | None = Field(description="For one unit.", examples=[4.2])
    unit: str | None = Field(examples=["kg"])
    seller: str | None
    condition: str | None = Field(description="new, used, refurbished or damaged.")
    shipping: float | None = Field(description="What delivery costs, in the same currency.")
    attributes: dict[str, Any] = Field(description="What else the page says of it.", examples=[{"color": "blue"}])
    image_urls: list[str]
    variants: list[Any]
    content_hash: str
    parser_name: str
    parser_version: int
    confidence: float
    evidence: dict[str, Any]
    problems: list[str]
    is_valid: bool
    is_listed: bool = Field(description="Only lists showed it so far; its own page was not read as a product's.")
    created_at: datetime
    updated_at: datetime
    last_seen_at: datetime
    is_price_current: bool = Field(
        description="Whether the last visit found this price; false: it is from price_seen_at."
    )
    price_seen_at: datetime | None = Field(description="When a visit last read this price; null: none ever did.")
    missing_since: datetime | None = Field(description="Since when its page is read without finding the product.")
    page_status: str


class Price(Row):
    seen_at: datetime
    price: float | None
    currency: str | None
    availability: str | None
    is_first: bool
    is_correction: bool
    is_backfill: bool = Field(description="Read from an older version of the page, after later prices were known.")
    old_price: float | None
    old_currency: str | None
    old_availability: str | None
    task_id: int | None


class Prices(Row):
    product: Product
    prices: list[Price] = Field(description="Oldest first.")


class PriceChange(Row):
    id: int
    seen_at: datetime
    domain: str
    product_id: int
    product_name: str
    url: str
    old_price: float | None
    price: float | None
    old_currency: str | None
    currency: str | None
    old_availability: str | None
    availability: str | None
    task_id: int | None


class ParserRate(Row):
    domain: str
    parser_name: str
    parser_version: int | None
    day: date
    attempts: int | None
    found: int | None
    valid: int | None
    rate: float | None
    rate_before: float | None
    has_dropped: bool


class ImageRow(Row):
    id: int
    url: str
    domain: str | None
    status: ImageStatus
    reason: str | None
    format: str | None
    width: int | None
    height: int | None
    file_size: int | None
    content_hash: str | None
    has_thumbnail: bool
    first_seen_at: datetime
    checked_at: datetime | None
    stored_at: datetime | None


class Sighting(Row):
    page_url: str
    domain: str
    discovery_type: str
    image_type: str
    alt_text: str
    position: int
    width: int | None
    height: int | None
    first_seen_at: datetime
    last_seen_at: datetime | None
    is_shown: bool


class Image(Row):
    """One image, with where it was seen."""

    id: int
    url: str
    domain: str | None
    status: ImageStatus
    reason: str | None
    format: str | None
    width: int | None
    height: int | None
    frames: int | None
    file_size: int | None
    content_hash: str | None
    perceptual_hash: str | None = Field(description="64 bits, hexadecimal.", examples=["9f3c0a51e2b47d18"])
    body_ref: str | None
    thumbnail_ref: str | None
    moved_to: str | None
    first_seen_at: datetime
    checked_at: datetime | None
    stored_at: datetime | None
    same_file: list[str] | None
    pages: list[Sighting]


class Similar(Row):
    id: int
    url: str
    domain: str | None
    format: str | None
    width: int | None
    height: int | None
    file_size: int | None
    is_same_file: bool | None
    distance: int
