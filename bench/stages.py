"""What a page costs, stage by stage: the real functions of the pipeline in turn, on the pages of the comparison.

The crawl here has no network, except for `get`, which is measured apart, and the processes of a real crawl.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import uvloop

from bench.compare import Comparison, Part, run_entrant
from bench.folder import fresh_folder
from bench.reading import OTHER, Shares, timed_reading
from bench.roster import FORAGER, ROSTER
from bench.run import Run
from bench.saved import HOSTS, saved_sites
from bench.stopwatch import Cost, Stopwatch
from bench.talk import tell
from bench.web import PLAIN, SAVED, Web, serve_saved, serve_web
from bench.workbench import open_workbench
from forager.config.loader import load
from forager.config.settings import Settings
from forager.fetch.client import Client, open_client
from forager.fetch.models import Fetched
from forager.frontier.models import Outcome, OutcomeKind, Target
from forager.links.models import Selection
from forager.links.scope import CrawlScope
from forager.links.select import Selector
from forager.parsing import page as parser
from forager.parsing.language import LanguageMemory
from forager.parsing.models import Reading
from forager.runs.models import RunSpec
from forager_playground import Site, bench_sites, lifelike_sites

SITES = 4
PAGES = {PLAIN: 500}
"""Of each site; of other webs a fourth, whose pages are larger."""
OTHER_PAGES = 125
AT_ONCE = 16
WHAT = {
    "claim": "due tasks and discovered pages become targets",
    "get": "request, answer, decompressed",
    "read": "parse and everything a page says",
    "select": "links resolved, normalised, in scope, hashed",
    "learn": "links known or new; new pages and domains stored",
    "record": "tasks closed, signals, keywords, links, counters",
}
PROCESSES = ("parent process", "workers", "parser processes")
"""Of a real crawl, by their depth in the tree of processes."""
SMALLEST_SHARE = 0.01
"""Of reading; modules below it are shown together."""


@dataclass(frozen=True, slots=True)
class Stage:
    name: str
    what: str
    own_us: float
    postgres_us: float
    is_part: bool = False
    """Shown, but counted in another stage already."""


def measure_stages(web: str = PLAIN, folder: Path | None = None) -> list[Stage]:
    sites = make_web(web, folder)
    answers = make_answers(sites)
    tell(f"Stages: {len(sites)} sites, {len(answers):,} pages of the {web} web")
    with fresh_folder() as home:
        costs = uvloop.run(crawl_without_network(home / "home", answers))
    with serve(web, folder) as served:
        costs["get"] = uvloop.run(_get_all([url for site in served.sites[:SITES] for url in site.urls]))
        costs["get"] = scale(costs["get"], len(answers) / sum(len(site.urls) for site in served.sites[:SITES]))
        crawl = measure_crawl(served)
    stages = []
    for name in WHAT:
        stages.append(_conclude(name, costs[name], len(answers)))
        stages += list_reading(answers) if name == "read" else []
    return stages + list_processes(crawl)


def make_web(web: str, folder: Path | None) -> list[Site]:
    if web == PLAIN:
        return list(bench_sites(SITES, PAGES[PLAIN]))
    if web == SAVED and folder is not None:
        return list(saved_sites(folder, HOSTS)[:SITES])
    return list(lifelike_sites(SITES, OTHER_PAGES))


def serve(web: str, folder: Path | None) -> AbstractContextManager[Web]:
    if web == SAVED and folder is not None:
        return serve_saved(folder)
    return serve_web(SITES, PAGES.get(web, OTHER_PAGES), name=web)


def scale(cost: Cost, factor: float) -> Cost:
    return Cost(cost.client_s * factor, cost.backend_s * factor, cost.passed_s * factor)


def _conclude(name: str, cost: Cost, pages: int) -> Stage:
    return Stage(name, WHAT[name], cost.client_s / pages * 1e6, cost.backend_s / pages * 1e6)


def measure_crawl(web: Web) -> Run | None:
    """One crawl by one worker; None when it was invalid, which says why."""
    comparison = Comparison(web.name)
    forager = next(entrant for entrant in ROSTER if entrant.crawler == FORAGER)
    run_entrant(web, forager, Part(len(web.sites)), comparison)
    return comparison.runs[0] if comparison.runs else None


def list_processes(crawl: Run | None) -> list[Stage]:
    if crawl is None:
        return []
    stages = [
        Stage(name, "of a whole crawl with one worker", used_us, 0.0, is_part=True)
        for name, used_us in zip(PROCESSES, crawl.level_us, strict=True)
    ]
    return [*stages, Stage("PostgreSQL", "of the same crawl", 0.0, crawl.postgres_us or 0.0, is_part=True)]


def list_reading(answers: Mapping[str, Fetched]) -> list[Stage]:
    """Reading once more, by module; the watch itself costs little, as modules are called a few times per page."""
    read = make_reader(load({}, {}))
    with timed_reading() as shares:
        timed = shares.time(OTHER, read)
        for answer in answers.values():
            timed(answer)
    return describe_reading(shares, len(answers))


def describe_reading(shares: Shares, pages: int) -> list[Stage]:
    total_s = sum(shares.seconds.values())
    ordered = sorted(shares.seconds.items(), key=lambda share: -share[1])
    large = [(name, used_s) for name, used_s in ordered if used_s >= total_s * SMALLEST_SHARE]
    rest_s = total_s - sum(used_s for _, used_s in large)
    rows = [*large, ("others", rest_s)]
    return [
        Stage(f"· {name}", f"{used_s / total_s:.0%} of reading", used_s / pages * 1e6, 0.0, is_part=True)
        for name, used_s in rows
    ]


def make_reader(settings: Settings) -> "partial[Reading]":
    return partial(parser.read, keyword_words=settings.search.words_per_page, memory=LanguageMemory())


async def _get_all(urls: Sequence[str]) -> Cost:
    stopwatch, waiting = Stopwatch(), list(urls)

    async def get_next(client: Client) -> None:
        while waiting:
            await client.get(waiting.pop())

    settings = load({}, {})
    async with open_client(
        user_agent=settings.agent_header,
        check_address=lambda _address, _port: None,
        timeout_s=settings.fetch.timeout,
        connect_timeout_s=settings.fetch.connect_timeout,
        max_bytes=settings.fetch.max_page_size,
    ) as client:
        with stopwatch.time("get"):
            await asyncio.gather(*(get_next(client) for _ in range(AT_ONCE * SITES)))
    return stopwatch.costs["get"]


class Offline:
    """Reads and selects pages that are at hand, each step timed."""

    def __init__(self, settings: Settings, spec: RunSpec, answers: Mapping[str, Fetched], stopwatch: Stopwatch) -> None:
        self._read = make_reader(settings)
        self._selector = Selector(CrawlScope.of(spec), max_links_per_page=settings.crawl.max_links_per_page)
        self._answers = answers
        self._stopwatch = stopwatch

    def visit(self, targets: Sequence[Target]) -> list[Outcome]:
        """Timed by the batch: starting a stopwatch costs as much as selecting."""
        answers = [self._answers[target.url] for target in targets]
        with self._stopwatch.time("read"):
            readings = [self._read(answer) for answer in answers]
        with self._stopwatch.time("select"):
            selections = [self._selector.select(*pair) for pair in zip(readings, targets, strict=True)]
        return list(map(make_outcome, targets, answers, readings, selections))


def make_outcome(target: Target, fetched: Fetched, reading: Reading, selection: Selection) -> Outcome:
    return Outcome(
        target,
        OutcomeKind.SUCCESS,
        fetched.status_code,
        response_time_ms=fetched.response_time_ms,
        wire_bytes=fetched.wire_bytes,
        content_type=fetched.content_type,
        reading=reading,
        selection=selection,
    )


async def crawl_without_network(
    home: Path, answers: Mapping[str, Fetched], settings: Settings | None = None
) -> dict[str, Cost]:
    settings = settings or load({}, {})
    spec = RunSpec(seeds=tuple(url for url in answers if url.endswith(".example/")))
    parser.preload()
    async with open_workbench(home, spec) as bench:
        offline = Offline(settings, spec, answers, bench.stopwatch)
        while targets := await bench.claim([(lease, settings.worker.batch_pages // SITES) for lease in bench.leases]):
            outcomes = offline.visit(targets)
            learned = await bench.learn([link for outcome in outcomes for link in outcome.selection.links])
            await bench.record(outcomes, learned)
        return bench.stopwatch.costs


def make_answers(sites: Sequence[Site]) -> dict[str, Fetched]:
    """The pages of some sites as a client would hand them over."""
    bases = {f"http://site-{number}.example": site for number, site in enumerate(sites, 1)}
    return {
        base + page.path: make_answer(base, site, page.path) for base, site in bases.items() for page in site.pages()
    }


def make_answer(base: str, site: Site, path: str) -> Fetched:
    answer = site.answer(path, "")
    return Fetched(base + path, 200, {"content-type": answer.content_type}, answer.body, len(answer.body) // 4, 5)
