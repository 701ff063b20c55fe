"""Requests and responses in the shape that Firecrawl documents. Options that Forager does not have are declared, so
that `options.py` can reject or explain them; unknown ones are rejected."""

from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from forager.api.types import Flag, Text, Url, Whole

DAY_MS = 86_400_000
MOST_LINKS = 30_000
MOST_PAGES = 1_000_000


class SitemapMode(StrEnum):
    """How a sitemap is used."""

    INCLUDE = "include"
    SKIP = "skip"
    ONLY = "only"


class FirecrawlBody(BaseModel):
    """Base of request bodies: names in camel case, as Firecrawl has them."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    origin: Text | None = Field(default=None, max_length=200, description="Which program asks; not used.")
    integration: Text | None = Field(default=None, max_length=200, description="The same.")

    @model_validator(mode="before")
    @classmethod
    def _drop_what_asks_for_nothing(cls, content: Any) -> Any:
        """Drops nulls, and unknown options that are switched off: each version of Firecrawl's clients sends more of
        them. An unknown option that asks for something is an error."""
        if not isinstance(content, dict):
            return content
        asked = [str(name)[:40] for name, value in content.items() if name not in cls.model_fields and value]
        if asked:
            raise ValueError(f"{', '.join(sorted(asked))}: not supported")
        return {name: value for name, value in content.items() if name in cls.model_fields and value is not None}


class ScrapeOptions(FirecrawlBody):
    formats: list[Any] = Field(
        default=["markdown"],
        max_length=20,
        description="`markdown`, `html`, `rawHtml`, `links`; others are rejected.",
        examples=[["markdown", "links"]],
    )
    onlyMainContent: Flag = True  # noqa: N815 (as Firecrawl calls it, here and below)
    includeTags: list[str] = Field(default=[], max_length=100, description="Not supported.")  # noqa: N815
    excludeTags: list[str] = Field(default=[], max_length=100, description="Not supported.")  # noqa: N815
    maxAge: Whole | None = Field(  # noqa: N815
        default=None, ge=0, description="In milliseconds: a stored page that is no older is returned without a request."
    )
    timeout: Whole = Field(default=30_000, ge=1000, le=300_000, description="In milliseconds.")
    headers: dict[str, str] = Field(default={}, description="Not supported: they belong to the domain's settings.")
    waitFor: Whole = Field(default=0, ge=0, description="Not supported: pages are not rendered.")  # noqa: N815
    mobile: Flag = False
    skipTlsVerification: Flag | None = Field(default=None, description="Not supported: certificates are verified.")  # noqa: N815
    parsePDF: Flag = True  # noqa: N815
    parsers: list[Any] | None = Field(default=None, max_length=10)
    actions: list[dict[str, Any]] = Field(default=[], max_length=100, description="Not supported.")
    location: Any = Field(default=None, description="Not supported.")
    removeBase64Images: Flag = True  # noqa: N815
    blockAds: Flag = True  # noqa: N815
    proxy: Text | None = Field(default=None, max_length=40, description="`basic` or `auto`: the instance decides.")
    storeInCache: Flag = True  # noqa: N815
    zeroDataRetention: Flag = False  # noqa: N815
    jsonOptions: Any = Field(default=None, description="Not supported.")  # noqa: N815
    extract: Any = Field(default=None, description="Not supported.")
    changeTrackingOptions: Any = Field(default=None, description="Not supported.")  # noqa: N815


class ScrapeBody(ScrapeOptions):
    url: Url = Field(examples=["https://shop.example/lamp"])


class CrawlBody(FirecrawlBody):
    url: Url = Field(examples=["https://shop.example/"])
    includePaths: list[Text] = Field(default=[], max_length=100, examples=[["blog/.*"]])  # noqa: N815
    excludePaths: list[Text] = Field(default=[], max_length=100)  # noqa: N815
    regexOnFullURL: Flag = Field(default=False, description="Not supported if true.")  # noqa: N815
    maxDepth: Whole | None = Field(default=None, ge=0, le=1000)  # noqa: N815
    maxDiscoveryDepth: Whole | None = Field(default=None, ge=0, le=1000)  # noqa: N815
    limit: Whole = Field(default=10_000, ge=1, le=MOST_PAGES)
    sitemap: SitemapMode | None = None
    ignoreSitemap: Flag = False  # noqa: N815
    ignoreQueryParameters: Flag = Field(default=False, description="Not supported if true.")  # noqa: N815
    deduplicateSimilarURLs: Flag = True  # noqa: N815
    allowBackwardLinks: Flag = False  # noqa: N815
    crawlEntireDomain: Flag = False  # noqa: N815
    allowExternalLinks: Flag = False  # noqa: N815
    allowSubdomains: Flag = False  # noqa: N815
    delay: float | None = Field(default=None, ge=0, le=86_400, description="In seconds; never less than the site asks.")
    maxConcurrency: Whole | None = Field(default=None, ge=1, le=1000)  # noqa: N815
    webhook: Any = Field(default=None, description="Not supported.")
    prompt: Text | None = Field(default=None, max_length=10_000, description="Not supported.")
    scrapeOptions: ScrapeOptions | None = None  # noqa: N815
    zeroDataRetention: Flag = Field(default=False, description="Not supported if true.")  # noqa: N815


class MapOptions(FirecrawlBody):
    url: Url = Field(examples=["https://shop.example/"])
    search: Text | None = Field(default=None, max_length=500, description="Only URLs and titles with this in them.")
    includeSubdomains: Flag = True  # noqa: N815
    limit: Whole = Field(default=5000, ge=1, le=MOST_LINKS)
    timeout: Whole | None = Field(default=None, ge=1000, le=300_000, description="In milliseconds.")
    location: Any = Field(default=None, description="Not supported.")


class MapBody(MapOptions):
    ignoreSitemap: Flag = False  # noqa: N815
    sitemapOnly: Flag = False  # noqa: N815


class MapBodyV2(MapOptions):
    sitemap: SitemapMode = SitemapMode.INCLUDE
    ignoreQueryParameters: Flag = True  # noqa: N815
    ignoreCache: Flag = Field(default=False, description="Ask the site for its sitemap although pages are known.")  # noqa: N815


# Responses -----------------------------------------------------------------------------------------------------------


class ScrapedDocument(BaseModel):
    markdown: str | None = None
    html: str | None = None
    rawHtml: str | None = None  # noqa: N815
    links: list[str] | None = None
    metadata: dict[str, Any] = Field(examples=[{"title": "A lamp", "sourceURL": "https://shop.example/lamp"}])
    warning: str | None = None


class Scraped(BaseModel):
    success: Literal[True]
    data: ScrapedDocument


class CrawlStarted(BaseModel):
    success: Literal[True]
    id: str = Field(examples=["12-m"])
    url: str
    warning: str | None = None


class CrawlStatus(BaseModel):
    success: Literal[True]
    status: Literal["scraping", "completed", "failed", "cancelled"]
    total: int
    completed: int
    creditsUsed: int  # noqa: N815
    expiresAt: str  # noqa: N815
    next: str | None = None
    data: list[ScrapedDocument]


class CrawlCancelled(BaseModel):
    status: Literal["cancelled"]


class Mapped(BaseModel):
    success: Literal[True]
    links: list[str]
    warning: str | None = None


class MappedLink(BaseModel):
    url: str
    title: str | None = None
    description: str | None = None


class MappedV2(BaseModel):
    success: Literal[True]
    links: list[MappedLink]
    warning: str | None = None
