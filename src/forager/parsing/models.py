"""What was understood from one page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple

from forager.products.models import Listed, Product


class FoundLink(NamedTuple):
    """A link as the page wrote it. A NamedTuple: a page has sixty of them, and it costs a third of a dataclass."""

    href: str
    anchor: str
    """Its words. Of an `alternate` its hreflang, of a `feed` entry its title, of a `sitemap` entry its lastmod."""
    rel: str
    """`a`, `area`, `canonical`, `alternate`, `next`, `prev`, `iframe`, `redirect`, `refresh`, `feed`, `sitemap`;
    ` nofollow` is appended where the page says so."""


class FoundImage(NamedTuple):
    """An image as the page wrote it."""

    src: str
    discovery_type: str
    """`img`, `srcset`, `picture`, `lazy`, `og`, `twitter`, `link`, `jsonld`, `background`, `sitemap`."""
    image_type: str
    """`primary`, `gallery`, `thumbnail`."""
    alt: str
    width: int | None = None
    """As declared, in pixels."""
    height: int | None = None

    def merge_missing(self, twin: "FoundImage") -> "FoundImage":
        """An image that a page shows twice: what the first place says, and of the second what it did not say."""
        return self._replace(
            alt=self.alt or twin.alt, width=self.width or twin.width, height=self.height or twin.height
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """What we understood from one page."""

    title: str | None
    description: str | None
    canonical: str | None
    language: str | None
    """BCP-47, at most 35 characters."""
    headings: str
    text: str
    """The first words of the main text: what keywords are made of. Never stored as text under the `signals` policy."""
    content_hash: bytes
    """16 bytes over title and main text, so that a changed advert id in the markup is not a change."""
    links: Sequence[FoundLink]
    base_url: str
    """What relative links are relative to: `<base href>` or the page's own URL."""
    is_noindex: bool = False
    is_nofollow: bool = False
    has_password_form: bool = False
    flags: tuple[str, ...] = ()
    """Oddities seen while reading, such as `charset_lie` or `nul`."""
    simhash: int | None = None
    """64 bits, signed, that are nearly the same for nearly the same text; None where there is too little of it."""
    product: Product | None = None
    """What the page sells, where it is the page of one product."""
    images: Sequence[FoundImage] = ()
    author: str | None = None
    published_at: datetime | None = None
    modified_at: datetime | None = None
    """As the page says; of a feed or sitemap, the newest of its entries."""
    listed: tuple[Listed, ...] = ()
    """Of a page that lists products: those that name a page of their own."""
    headline: str | None = None
    """What the page is about, without the name of the site."""
    site_name: str | None = None
    section: str | None = None
    """The part of the site it belongs to, as the page says: `Politics`."""
    tags: tuple[str, ...] = ()
    """The page's own keywords."""
    rating: Decimal | None = None
    """Of whatever the page is about, from 0 to 5."""
    rating_count: int | None = None
    published_on: date | None = None
    """The calendar day the page itself shows, which in its time zone may be another than that of `published_at`."""
    modified_on: date | None = None
    structured_data: bytes = b""
    """A JSON array of all JSON-LD, microdata, RDFa and OpenGraph items; empty where there is none."""


class Keywords(NamedTuple):
    """What of a page becomes searchable, by weight: words with spaces between them."""

    title: str
    headings: str
    description: str
    text: str
