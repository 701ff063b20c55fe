"""What a page costs, stage by stage: the real functions of the line in turn, on the pages of the comparison.

The crawl here has no network, except for `get`, which is measured apart.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import uvloop

from bench.folder import fresh_folder
from bench.stopwatch import Cost, Stopwatch
from bench.talk import tell
from bench.web import serve_web
from bench.workbench import open_workbench
from forager import extract
from forager.fetch import Client, open_client
from forager.ingest import Reach, Selector
from forager.playground import Site, bench_sites
from forager.records import Fetched, Outcome, OutcomeKind, Reading, RunSpec, Selection, Target
from forager.settings import Settings, load

SITES = 4
PAGES = 500
AT_ONCE = 16
WHAT = {
    "claim": "due tasks and discovered pages become targets",
    "get": "request, answer, decompressed",
    "read": "parse, title, description, links, text, language, content hash",
    "select": "60 links resolved, normalised, in scope, hashed",
    "learn": "links known or new; new pages and domains stored",
    "record": "tasks closed, signals, keywords, links, counters",
}


@dataclass(frozen=True, slots=True)
class Stage:
    name: str
    what: str
    own_us: float
    postgres_us: float


def measure_stages() -> list[Stage]:
    tell(f"Stages: {SITES} sites × {PAGES} pages")
    with fresh_folder() as folder:
        costs = uvloop.run(_crawl_without_network(folder / "home"))
    with serve_web(SITES, PAGES) as web:
        costs["get"] = uvloop.run(_get_all([url for site in web.sites for url in site.urls]))
    return [_conclude(name, costs[name], SITES * PAGES) for name in WHAT]


def _conclude(name: str, cost: Cost, pages: int) -> Stage:
    return Stage(name, WHAT[name], cost.client_s / pages * 1e6, cost.backend_s / pages * 1e6)


async def _get_all(urls: Sequence[str]) -> Cost:
    stopwatch, waiting = Stopwatch(), list(urls)

    async def get_next(client: Client) -> None:
        while waiting:
            await client.get(waiting.pop())

    settings = load({}, {})
    async with open_client(
        user_agent=settings.agent_header,
        check_address=lambda _address, _port: None,
        timeout_s=settings.request_timeout_s,
        connect_timeout_s=settings.connect_timeout_s,
        max_bytes=settings.max_page_bytes,
    ) as client:
        with stopwatch.time("get"):
            await asyncio.gather(*(get_next(client) for _ in range(AT_ONCE * SITES)))
    return stopwatch.costs["get"]


class Offline:
    """Reads and selects pages that are at hand, each step timed."""

    def __init__(self, settings: Settings, spec: RunSpec, answers: Mapping[str, Fetched], stopwatch: Stopwatch) -> None:
        memory = extract.LanguageMemory()  # as a reader has one
        self._read = partial(extract.read, keyword_words=settings.keyword_words, memory=memory)
        self._selector = Selector(Reach.of(spec), max_links_per_page=settings.max_links_per_page)
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


async def _crawl_without_network(home: Path) -> dict[str, Cost]:
    answers, settings = make_answers(), load({}, {})
    spec = RunSpec(seeds=tuple(url for url in answers if url.endswith(".example/")))
    extract.warm_up()
    async with open_workbench(home, spec) as bench:
        offline = Offline(settings, spec, answers, bench.stopwatch)
        while targets := await bench.claim([(lease, settings.batch_pages // SITES) for lease in bench.leases]):
            outcomes = offline.visit(targets)
            learned = await bench.learn([link for outcome in outcomes for link in outcome.selection.links])
            await bench.record(outcomes, learned)
        return bench.stopwatch.costs


def make_answers() -> dict[str, Fetched]:
    """The pages of some sites as a client would hand them over."""
    sites = {f"http://site-{site.number}.example": site for site in bench_sites(SITES, PAGES)}
    return {
        base + page.path: make_answer(base, site, page.path) for base, site in sites.items() for page in site.pages()
    }


def make_answer(base: str, site: Site, path: str) -> Fetched:
    answer = site.answer(path, "")
    return Fetched(base + path, 200, {"content-type": answer.content_type}, answer.body, 14_000, 5)
