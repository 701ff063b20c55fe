"""One crawl of a web by one crawler: what it is asked, what came of it, and whether it counts at all."""

from dataclasses import dataclass
from pathlib import Path

from bench.child import Ran
from bench.ledger import Ledger
from bench.measure import LEVELS, MB

TOLERANCE = 0.05
"""The share of saved pages that a crawler may miss, or fetch beyond them."""


@dataclass(frozen=True, slots=True)
class Job:
    seeds: tuple[str, ...]
    expected: frozenset[str]
    """The pages a run must bring home: these and no others, each once."""
    links: int
    """Links on all of them, each target once a page; whoever counts repeated ones finds more."""
    hosts: tuple[str, ...]
    """Addresses of the sites, for the crawlers that must be told whom they need not spare."""
    folder: Path
    """Empty, for this run alone; removed afterwards."""
    timeout_s: float
    per_site: int = 16
    """Requests open at once to one site, for every crawler alike."""
    is_exact: bool = True
    """Whether all pages must come home, with title and description; else nearly all."""


@dataclass(frozen=True, slots=True)
class Run:
    crawler: str
    pages: int
    pages_per_s: float
    """From the first request to the last page that was done."""
    first_page_s: float
    """From starting the process to the first page it had."""
    wall_s: float
    """The whole life of the process."""
    own_us: float
    """CPU per page, all processes of the crawler."""
    postgres_us: float | None
    """CPU per page of the PostgreSQL it keeps its state in; None when it has none."""
    peak_mb: float
    """Resident memory of all its processes together, PostgreSQL apart."""
    largest_mb: float
    """The same of its largest process."""
    pss_mb: float = 0.0
    """Proportional memory of all its processes together, PostgreSQL apart: what is shared counts once."""

    level_us: tuple[float, ...] = ()
    """CPU per page by the depth in the tree of processes: the first one, its children, theirs."""

    @property
    def cpu_ms(self) -> float:
        """CPU per page, the crawler and its PostgreSQL together."""
        return (self.own_us + (self.postgres_us or 0.0)) / 1000


@dataclass(frozen=True, slots=True)
class Skipped:
    crawler: str
    reason: str


class InvalidRunError(Exception):
    """A crawl whose numbers mean nothing: pages are missing, or it did not end well."""


def conclude(
    crawler: str, job: Job, ran: Ran, ledger: Ledger, *, has_postgres: bool = False, reads_titles: bool = True
) -> Run:
    """The figures of a run, after making sure that it did the work."""
    if ran.exit_code:
        raise InvalidRunError(f"{crawler} ended with exit code {ran.exit_code}: {ran.last_words}")
    if problem := find_problem(job, ledger, reads_titles=reads_titles):
        raise InvalidRunError(f"{crawler} {problem}")
    start, end, pages = ledger.first_request_at, ledger.last_done_at, len(job.expected.intersection(ledger.urls))
    return Run(
        crawler=crawler,
        pages=pages,
        pages_per_s=pages / (end - start),
        first_page_s=ledger.first_page_at - ran.started_at,
        wall_s=ran.ended_at - ran.started_at,
        own_us=ran.meter.own_cpu_s(start, end) / pages * 1e6,
        postgres_us=ran.meter.postgres_cpu_s(start, end) / pages * 1e6 if has_postgres else None,
        peak_mb=ran.meter.peak_bytes / MB,
        largest_mb=ran.meter.largest_bytes / MB,
        pss_mb=ran.meter.pss_bytes / MB,
        level_us=tuple(ran.meter.level_cpu_s(level, start, end) / pages * 1e6 for level in range(LEVELS)),
    )


def find_problem(job: Job, ledger: Ledger, *, reads_titles: bool = True) -> str | None:
    """Why a ledger does not stand for the whole web, each page once, read in full."""
    urls = set(ledger.urls)
    spare = 0 if job.is_exact else round(len(job.expected) * TOLERANCE)
    if len(missing := job.expected - urls) > spare:
        return f"missed {len(missing)} of {len(job.expected)} pages, such as {min(missing)}"
    if len(surplus := urls - job.expected) > spare:
        return f"fetched {len(surplus)} pages nobody asked for, such as {min(surplus)}"
    if len(ledger.urls) != len(urls):
        return f"fetched {len(ledger.urls) - len(urls)} pages twice"
    if not job.is_exact or not reads_titles:
        return None
    if min(ledger.titles, ledger.descriptions) < len(urls):
        return f"read {ledger.titles} titles and {ledger.descriptions} descriptions from {len(urls)} pages"
    if ledger.links < job.links:
        return f"read {ledger.links} of at least {job.links} links"
    return None
