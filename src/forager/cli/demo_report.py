"""The demo's report: the crawl compared with the playground's answer key and log. Pure; nothing unproved is claimed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from forager.cli import format as words

if TYPE_CHECKING:
    from forager_playground import AnswerKey, SiteKey, Visit

Row = Mapping[str, Any]
STORIES = {
    "shop": "a shop: categories, products, prices",
    "blog": "a blog in ten languages",
    "docs": "documentation, deep and cross-linked",
    "gallery": "a gallery: pages around images",
    "strict": "strict robots.txt with a crawl-delay",
    "slow": "answers slowly",
    "flaky": "429, 503 and cut connections",
    "trap": "a calendar without end",
}


@dataclass(frozen=True, slots=True)
class SiteReport:
    """One site: what it has, what was found, what was not visited."""

    name: str
    host: str
    expected: int
    found: int
    missing: tuple[str, ...]
    forbidden: int
    """Pages its robots.txt forbids."""
    forbidden_requests: int
    """Requests for them in the site's own log: a polite crawler makes none."""
    came_back: int
    """Pages that failed first and were fetched by a retry."""
    trap_visits: int
    languages: tuple[str, ...]
    median_gap_s: float | None
    """Delay between two requests as the site saw them; single gaps vary with the load of the machine."""
    crawl_delay_s: float | None


class Finds(NamedTuple):
    """What was extracted besides pages."""

    products: Sequence[Row]
    images: int


@dataclass(frozen=True, slots=True)
class DemoReport:
    sites: tuple[SiteReport, ...]
    requests: int
    broken_promises: int
    finds: Finds | None = None

    @property
    def expected(self) -> int:
        return sum(site.expected for site in self.sites)

    @property
    def found(self) -> int:
        return sum(site.found for site in self.sites)

    @property
    def forbidden_requests(self) -> int:
        return sum(site.forbidden_requests for site in self.sites)

    @property
    def is_success(self) -> bool:
        return self.found == self.expected and not self.forbidden_requests and not self.broken_promises


def compare(
    key: "AnswerKey",
    pages: Iterable[Row],
    log: Sequence["Visit"],
    *,
    broken_promises: int,
    finds: Finds | None = None,
) -> DemoReport:
    """Compares the crawl as the playground saw it with what was expected."""
    by_url = {row["url"]: row for row in pages}
    sites = tuple(_compare_site(key, site, by_url, log) for site in key.sites)
    return DemoReport(sites, len(log), broken_promises, finds)


def _compare_site(key: "AnswerKey", site: "SiteKey", pages: Mapping[str, Row], log: Sequence["Visit"]) -> SiteReport:
    from forager.robots import rules as robots
    from forager_playground import forbidden_hits

    host = site.base_url.removeprefix("http://")
    visits = [visit for visit in log if visit.host == host]
    expected = {url for url in key.expected_success() if url.startswith(site.base_url + "/")}
    found = {url for url in expected if url in pages and pages[url]["outcome"] == "success"}
    return SiteReport(
        name=site.name,
        host=host,
        expected=len(expected),
        found=len(found),
        missing=tuple(sorted(expected - found)),
        forbidden=sum(url.startswith(site.base_url + "/") for url in key.forbidden()),
        forbidden_requests=len(forbidden_hits(visits, key)),
        came_back=sum(bool(page.early_statuses) and page.url in found for page in site.pages),
        trap_visits=sum(site.is_trap(visit.url) for visit in visits),
        languages=tuple(language for language, _ in _languages(site, pages).most_common()),
        median_gap_s=_median_gap_s(visits),
        crawl_delay_s=robots.parse(site.robots_txt or "").rules_for("Forager").crawl_delay_s,
    )


def _median_gap_s(visits: Sequence["Visit"]) -> float | None:
    arrivals = sorted(visit.received_s for visit in visits)
    gaps_s = [later - earlier for earlier, later in pairwise(arrivals)]
    return round(median(gaps_s), 3) if gaps_s else None


def _languages(site: "SiteKey", pages: Mapping[str, Row]) -> Counter[str]:
    """Groups by main language: `pt-BR` and `pt` are one for a newcomer."""
    found = (pages[page.url]["language"] for page in site.pages if page.url in pages)
    return Counter(language.partition("-")[0] for language in found if language)


def as_document(report: DemoReport) -> dict[str, Any]:
    told = {"is_perfect": report.is_success, "expected": report.expected, "found": report.found, **asdict(report)}
    if report.finds is not None:
        told["finds"] = {"products": len(report.finds.products), "images": report.finds.images}
    return told


def found_in_words(finds: Finds) -> str:
    """Returns one product as an example: its name and price, as they were read."""
    example = next((row for row in finds.products if row["product_name"] and row["price"] is not None), None)
    such = f", such as “{example['product_name']}” for {example['price']:,.2f} {example['currency']}" if example else ""
    return (
        f"Understood: {words.things(len(finds.products), 'product')}{such}; "
        f"{words.things(finds.images, 'image')} with the pages that show them."
    )


def describe_site(site: SiteReport) -> str:
    """Summarises what happened there in a few words, the most telling first."""
    remarks = []
    if site.missing:
        remarks.append(f"missed {words.count(len(site.missing))}, such as {site.missing[0].partition(site.host)[2]}")
    if site.forbidden:
        remarks.append(f"{words.things(site.forbidden, 'forbidden page')}, asked for {_times(site.forbidden_requests)}")
    if site.crawl_delay_s is not None and site.median_gap_s is not None:
        remarks.append(f"asked for {site.crawl_delay_s:g} s between requests and got {site.median_gap_s:.2f} s")
    if site.came_back:
        remarks.append(f"{words.things(site.came_back, 'page')} failed first and came back")
    if site.trap_visits:
        remarks.append(f"left the trap after {words.things(site.trap_visits, 'page')}")
    if len(site.languages) > 1:
        remarks.append("found " + " ".join(sorted(site.languages)))
    return "; ".join(remarks) or "all there"


def _times(number: int) -> str:
    return {0: "never", 1: "once"}.get(number, f"{words.count(number)} times")
