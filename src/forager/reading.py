"""`forager.read`: reads one page from its bytes, for programs that use Forager as a library, and for `forager read`.

No network, no database, no settings. A `PageContent` has what a crawl stores of the page and more: the whole main text
and links to any address.
"""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import orjson
from ada_url import join_url

from forager.fetch.models import Fetched
from forager.parsing import page as parser
from forager.parsing.models import FoundImage, FoundLink, Reading
from forager.parsing.sites import AUTO
from forager.products.models import Product, pack
from forager.urls.normalize import normalize

ALL_WORDS = 10_000_000
"""More words than a page can have: bodies are truncated long before."""
WEB = ("http://", "https://")


class Link(NamedTuple):
    """A link to a web address."""

    url: str
    """Absolute, otherwise as the page wrote it."""
    anchor: str
    """Its text. For an `alternate` its hreflang, for a `feed` entry its title, for a `sitemap` entry its lastmod."""
    rel: str
    """`a`, `area`, `canonical`, `alternate`, `next`, `prev`, `iframe`, `refresh`, `feed`, `sitemap`; ` nofollow` is
    appended where the page says so."""


class Image(NamedTuple):
    """An image that the page shows or names."""

    url: str
    """Absolute, otherwise as the page wrote it."""
    alt: str
    type: str
    """`primary`, `gallery` or `thumbnail`."""
    discovery_type: str
    """`img`, `srcset`, `picture`, `lazy`, `og`, `twitter`, `link`, `jsonld`, `background`, `sitemap`."""
    width: int | None
    height: int | None


@dataclass(frozen=True, slots=True)
class PageProduct(Product):
    """A product with the address of its page: the page that was read, or the page that a list links to."""

    url: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON-compatible values; prices are text, so that no digit is lost."""
        return {"url": self.url, **pack(self)}


@dataclass(frozen=True, slots=True)
class PageContent:
    """The content of one page. Missing values are None or empty."""

    url: str
    title: str | None
    headline: str | None
    """The title of the page without the name of the site."""
    site_name: str | None
    description: str | None
    canonical: str | None
    language: str | None
    """BCP-47."""
    author: str | None
    published_at: datetime | None
    published_on: date | None
    """The calendar day that the page shows, in its own time zone."""
    modified_at: datetime | None
    modified_on: date | None
    section: str | None
    tags: tuple[str, ...]
    rating: Decimal | None
    """From 0 to 5."""
    rating_count: int | None
    headings: str
    text: str
    """All of the main text."""
    markdown: str
    """The same as Markdown: with headings, lists, tables, links with absolute addresses, code and images."""
    links: list[Link]
    images: list[Image]
    products: list[PageProduct]
    """The page's own product; on a page without one, the products that it lists."""
    structured_data: list[dict[str, Any]]
    """All JSON-LD, microdata, RDFa and OpenGraph items: `syntax`, `types`, `properties`."""
    flags: tuple[str, ...]
    """Anomalies of the page: `charset_lie`, `truncated`, `binary`."""
    is_noindex: bool
    is_nofollow: bool
    content_hash: str
    """Hash of title and main text, hexadecimal."""

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON-compatible values: moments and days in ISO 8601, decimals as text."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return plain | {
            "published_at": _iso(self.published_at),
            "published_on": _iso(self.published_on),
            "modified_at": _iso(self.modified_at),
            "modified_on": _iso(self.modified_on),
            "tags": list(self.tags),
            "rating": None if self.rating is None else str(self.rating),
            "links": [link._asdict() for link in self.links],
            "images": [image._asdict() for image in self.images],
            "products": [product.to_dict() for product in self.products],
            "flags": list(self.flags),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)


def read(body: bytes | str, url: str, content_type: str = "text/html") -> PageContent:
    """Reads one page. Text has no charset of its own, whatever it or the type declare. Raises BadUrlError for a `url`
    that is not a web address and DecodeError when the parser fails; both are ForagerErrors. Bad HTML raises nothing."""
    address = normalize(url)
    if isinstance(body, str):
        body, content_type = body.encode("utf-8", "replace"), f"{content_type.partition(';')[0]}; charset=utf-8"
    return content_of(read_body(body, address, content_type), address)


def read_body(body: bytes, url: str, content_type: str, robots_agent: str = "forager") -> Reading:
    """Parses a file with its whole main text. `url` is normalised."""
    fetched = Fetched(url, 200, {"content-type": content_type}, body, len(body), 0)
    return parser.read(fetched, keyword_words=ALL_WORDS, robots_agent=robots_agent, parser_name=AUTO, markdown=True)


def content_of(reading: Reading, url: str) -> PageContent:
    """Converts a parse result into a `PageContent` with absolute addresses."""
    return PageContent(
        url=url,
        title=reading.title,
        headline=reading.headline,
        site_name=reading.site_name,
        description=reading.description,
        canonical=reading.canonical,
        language=reading.language,
        author=reading.author,
        published_at=reading.published_at,
        published_on=reading.published_on,
        modified_at=reading.modified_at,
        modified_on=reading.modified_on,
        section=reading.section,
        tags=tuple(reading.tags),
        rating=reading.rating,
        rating_count=reading.rating_count,
        headings=reading.headings,
        text=reading.text,
        markdown=reading.markdown,
        links=_links(reading.base_url, reading.links),
        images=_images(reading.base_url, reading.images),
        products=_products(reading, url),
        structured_data=parse_items(reading.structured_data),
        flags=tuple(reading.flags),
        is_noindex=reading.is_noindex,
        is_nofollow=reading.is_nofollow,
        content_hash=reading.content_hash.hex(),
    )


def parse_items(structured_data: bytes) -> list[dict[str, Any]]:
    """Returns the items of a page, or an empty list."""
    items: list[dict[str, Any]] = orjson.loads(structured_data) if structured_data else []
    return items


def _links(base_url: str, found: Sequence[FoundLink]) -> list[Link]:
    """Returns links in page order, without those that are not web addresses (`mailto:`)."""
    return [Link(url, link.anchor, link.rel) for link in found if (url := _absolute(base_url, link.href))]


def _images(base_url: str, found: Sequence[FoundImage]) -> list[Image]:
    """Returns each address once: with the values of its first occurrence, completed by those of later ones."""
    images: dict[str, FoundImage] = {}
    for image in found:
        if url := _absolute(base_url, image.src):
            images[url] = images[url].merge_missing(image) if url in images else image
    return [
        Image(url, image.alt, image.image_type, image.discovery_type, image.width, image.height)
        for url, image in images.items()
    ]


def _products(reading: Reading, url: str) -> list[PageProduct]:
    if reading.product is not None:
        return [_with_url(reading.product, reading.canonical or url)]
    return [_with_url(listed.product, listed.url) for listed in reading.listed]


def _with_url(product: Product, url: str) -> PageProduct:
    return PageProduct(**{name: getattr(product, name) for name in Product.__slots__}, url=url)


def _absolute(base_url: str, href: str) -> str | None:
    try:
        url: str = join_url(base_url, href)
    except ValueError:
        return None
    return url if url.startswith(WEB) else None


def _iso(moment: date | None) -> str | None:
    return None if moment is None else moment.isoformat()
