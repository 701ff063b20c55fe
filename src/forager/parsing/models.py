"""Records of the parse result of one page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple

from forager.plugins.models import PluginError
from forager.products.models import Listed, Product
from forager.records.models import FoundRecord


class ParseOptions(NamedTuple):
    """What is read of a page beyond the same for all, from the crawl settings of its domain. The names are those of the
    arguments of `parsing.page.read`."""

    keyword_words: int = 5000
    """Words of the main text that become searchable."""
    parser_name: str = "auto"
    """The parser of its product."""
    markdown: bool = False
    """Whether the main text is rendered as Markdown too."""
    extractors: tuple[str, ...] = ("auto",)
    """Names of the extractors that run on it; `auto`: all that match."""
    items: bool = True
    """Whether its structured data is stored."""
    extractor_texts: tuple[str, ...] = ()
    """Definitions of extractors to try, instead of those of the data folder."""


DEFAULT_OPTIONS = ParseOptions()


class FoundLink(NamedTuple):
    """A link as written in the page. A NamedTuple: a page has sixty of them, and it costs a third of a dataclass."""

    href: str
    anchor: str
    """The link text. For an `alternate` its hreflang, for a `feed` entry its title, for a `sitemap` entry its
    lastmod."""
    rel: str
    """`a`, `area`, `canonical`, `alternate`, `next`, `prev`, `iframe`, `redirect`, `refresh`, `feed`, `sitemap`,
    `feed_file` (a feed that a page announces), `sitemap_file` (a sitemap that an index lists); ` nofollow` is appended
    where the page says so."""


class FoundImage(NamedTuple):
    """An image as written in the page."""

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
        """Merges an image that a page shows twice: the first occurrence's values, completed by those of the second."""
        return self._replace(
            alt=self.alt or twin.alt, width=self.width or twin.width, height=self.height or twin.height
        )


class Listing(NamedTuple):
    """What a document says about itself that consists of links: a sitemap, an index of sitemaps, or a feed."""

    format: str
    """`sitemap`, `index`, `text`, `rss`, `atom`, `json`."""
    update_s: float | None = None
    """How often it changes, as it says itself (`ttl`, `changefreq`)."""
    problem: str | None = None
    """Why it was not read to its end."""
    urls: int = 0
    """How many URLs it lists."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The parse result of one page."""

    title: str | None
    description: str | None
    canonical: str | None
    language: str | None
    """BCP-47, at most 35 characters."""
    headings: str
    text: str
    """The first words of the main text, from which keywords are built. Never stored as text under the `signals`
    policy."""
    content_hash: bytes
    """16 bytes over title and main text, so that a changed advert id in the markup does not count as a change."""
    links: Sequence[FoundLink]
    base_url: str
    """The base of relative links: `<base href>` or the page's own URL."""
    is_noindex: bool = False
    is_nofollow: bool = False
    has_password_form: bool = False
    flags: tuple[str, ...] = ()
    """Anomalies found while parsing, such as `charset_lie` or `nul`."""
    simhash: int | None = None
    """64 bits, signed, nearly equal for nearly equal text; None for too little text."""
    product: Product | None = None
    """The product the page sells, if it is the page of one product."""
    images: Sequence[FoundImage] = ()
    author: str | None = None
    published_at: datetime | None = None
    modified_at: datetime | None = None
    """As declared by the page; for a feed or sitemap, the newest of its entries."""
    listed: tuple[Listed, ...] = ()
    """On a page that lists products: those that have their own page."""
    headline: str | None = None
    """The page's subject, without the site name."""
    site_name: str | None = None
    section: str | None = None
    """The section of the site, as declared by the page: `Politics`."""
    tags: tuple[str, ...] = ()
    """The page's own keywords."""
    rating: Decimal | None = None
    """Rating of the page's subject, from 0 to 5."""
    rating_count: int | None = None
    published_on: date | None = None
    """The calendar day the page shows, which in its time zone may differ from that of `published_at`."""
    modified_on: date | None = None
    challenge: str | None = None
    """Why the page is not content: `challenge: VENDOR`, `captcha` or `consent_wall`."""
    structured_data: bytes = b""
    """A JSON array of all JSON-LD, microdata, RDFa and OpenGraph items; empty if there are none."""
    markdown: str = ""
    """The main text as Markdown; empty unless `ParseOptions` ask for it."""
    records: tuple[FoundRecord, ...] = ()
    """What extractors and plug-ins found."""
    extractors: tuple[str, ...] = ()
    """The extractors that were tried: records of theirs that are missing here are not on the page any more."""
    extractor_problems: tuple[str, ...] = ()
    """`NAME: why` of each extractor that did not come to its end."""
    listing: Listing | None = None
    """Set for a sitemap or feed: all its links count, however many there are."""
    plugin_errors: tuple[PluginError, ...] = ()
    """Failures of plug-ins while the page was read."""


class Keywords(NamedTuple):
    """The searchable text of a page by weight: words separated by spaces."""

    title: str
    headings: str
    description: str
    text: str
