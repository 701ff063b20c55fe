"""The comparison: every crawler on the same web, in rounds, so that a busy minute of the machine hits all alike."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.folder import fresh_folder
from bench.roster import FORAGER, Entrant
from bench.run import InvalidRunError, Job, Run, Skipped
from bench.table import describe, middle
from bench.talk import tell
from bench.web import Web, WebSite

RUN_TIMEOUT_S = 900.0


@dataclass(slots=True)
class Comparison:
    web: str
    runs: list[Run] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    serving_s: float = 0.0
    """CPU of the process that serves the web, over all valid runs."""

    @property
    def serving_us(self) -> float:
        """The same per page."""
        return self.serving_s / max(1, sum(run.pages for run in self.runs)) * 1e6

    def middles(self) -> dict[str, Run]:
        names = dict.fromkeys(run.crawler for run in self.runs)
        return {name: middle([run for run in self.runs if run.crawler == name]) for name in names}


@dataclass(frozen=True, slots=True)
class Part:
    """How much of a web a crawler gets."""

    peer_sites: int
    limit: int | None = None
    """Pages at most, where a site alone has not more."""

    def choose(self, web: Web, entrant: Entrant) -> tuple[WebSite, ...]:
        """The first sites: all have the same mix of pages, so that a few stand for all."""
        most = 1 if entrant.is_slow else self.peer_sites if entrant.is_peer else len(web.sites)
        chosen: list[WebSite] = []
        pages = 0
        for site in web.sites[:most]:
            if chosen and self.limit is not None and pages + len(site.urls) > self.limit:
                break
            chosen.append(site)
            pages += len(site.urls)
        return tuple(chosen)


def compare(web: Web, entrants: Sequence[Entrant], *, rounds: int, part: Part) -> Comparison:
    """All entrants, round by round; each round begins with another one."""
    comparison = Comparison(web.name)
    entrants = [entrant for entrant in entrants if web.name in entrant.webs]
    for number in range(rounds if entrants else 0):
        start = number % len(entrants)
        for entrant in (*entrants[start:], *entrants[:start]):
            if not any(skipped.crawler == entrant.crawler for skipped in comparison.skipped):
                run_entrant(web, entrant, part, comparison)
    return comparison


def run_entrant(web: Web, entrant: Entrant, part: Part, comparison: Comparison) -> None:
    sites = part.choose(web, entrant)
    with fresh_folder() as folder:
        job = Job(
            seeds=tuple(site.seed for site in sites),
            expected=frozenset[str]().union(*(site.urls for site in sites)),
            links=sum(site.links for site in sites),
            hosts=tuple(dict.fromkeys(site.host for site in sites)),
            folder=folder,
            timeout_s=RUN_TIMEOUT_S,
            is_exact=web.is_exact,
        )
        cpu_before_s = web.cpu_s()
        try:
            result = entrant.run(entrant.crawler, job)
        except (InvalidRunError, TimeoutError) as error:
            comparison.invalid.append(f"{entrant.crawler}: {error}")
            tell(f"  {entrant.crawler}: INVALID, {error}")
            return
    note(result, web.cpu_s() - cpu_before_s, comparison)


def note(result: Run | Skipped, serving_s: float, comparison: Comparison) -> None:
    if isinstance(result, Skipped):
        comparison.skipped.append(result)
        tell(f"  {result.crawler}: skipped, {result.reason}")
        return
    comparison.runs.append(result)
    comparison.serving_s += serving_s
    tell(f"  {result.crawler}: {result.pages_per_s:,.0f} pages/s, {result.pages:,} pages in {result.wall_s:.1f} s")


def make_rows(comparison: Comparison, entrants: Sequence[Entrant]) -> list[tuple[str, ...]]:
    """The table's rows, fastest first."""
    middles = comparison.middles()
    stores = {entrant.crawler: entrant.stores for entrant in entrants}
    ordered = sorted(middles.values(), key=lambda run: -run.pages_per_s)
    return [describe(run, stores[run.crawler], middles.get(FORAGER)) for run in ordered]
