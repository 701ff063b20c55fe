"""What can be measured: each part measures, notes what it found, and returns its table as text."""

import argparse
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from bench import report
from bench.api import judge_api, measure_api, show_api
from bench.calibrate import measure_calibration, show_calibration
from bench.compare import Part, compare
from bench.figures import judge_comparison, judge_growth, judge_leases
from bench.growth import measure_growth
from bench.leases import measure_leases
from bench.revisit import measure_revisits
from bench.roster import ROSTER, Entrant
from bench.search import PAGES, measure_search
from bench.search_record import measure_ways
from bench.search_report import show_search
from bench.stages import measure_stages
from bench.table import Figure
from bench.talk import tell
from bench.web import LIFELIKE, PLAIN, SAVED, Web, serve_saved, serve_web
from bench.words import measure_words, show_words
from bench.workers import measure_workers, show_workers

SITE_PAGES = {LIFELIKE: 200, PLAIN: 1000}
QUICK_WORKERS = {"paced": (20, 4), "unpaced": (4, 50), "delay_s": 0.2}
QUICK_SEARCH = 50_000


@dataclass(slots=True)
class Found:
    measured: dict[str, Any]
    figures: list[Figure] = field(default_factory=list)
    is_invalid: bool = False


def run_comparisons(arguments: argparse.Namespace, found: Found) -> str:
    """One web after the other; crawlers that do not exist for a web are left out."""
    entrants = choose_entrants(arguments.only)
    part = Part(arguments.peer_sites, arguments.limit)
    found.measured["comparisons"] = comparisons = []
    tables = []
    for name in arguments.web:
        tell(f"Comparison: the {name} web, {arguments.rounds} rounds")
        with open_web(name, arguments) as web:
            tell(f"  {len(web.sites)} sites, {sum(len(site.urls) for site in web.sites):,} pages")
            comparison = compare(web, entrants, rounds=arguments.rounds, part=part)
        comparisons.append(comparison)
        found.figures += judge_comparison(name, comparison.middles())
        found.is_invalid |= bool(comparison.invalid)
        tables.append(report.show_comparison(comparison, entrants, is_markdown=arguments.markdown))
    return "\n".join(tables)


def choose_entrants(words: str) -> list[Entrant]:
    """Those whose name holds one of the words, separated by `|`; all without any."""
    wanted = words.lower().split("|")
    return [entrant for entrant in ROSTER if any(word in entrant.crawler.lower() for word in wanted)]


def open_web(name: str, arguments: argparse.Namespace) -> AbstractContextManager[Web]:
    if name == SAVED:
        return serve_saved(arguments.pages)
    return serve_web(arguments.sites, arguments.site_pages or SITE_PAGES[name], name=name)


def run_calibration(arguments: argparse.Namespace, found: Found) -> str:
    found.measured["calibration"] = pairs = measure_calibration(arguments.pages)
    return show_calibration(pairs, is_markdown=arguments.markdown)


def run_stages(arguments: argparse.Namespace, found: Found) -> str:
    found.measured["stages"] = measured = {web: measure_stages(web, arguments.pages) for web in arguments.web}
    tables = [report.show_stages(web, stages, is_markdown=arguments.markdown) for web, stages in measured.items()]
    return "\n".join(tables)


def run_words(arguments: argparse.Namespace, found: Found) -> str:
    found.measured["words"] = measured = {web: measure_words(web, arguments.pages) for web in arguments.web}
    return "\n".join(show_words(web, costs, is_markdown=arguments.markdown) for web, costs in measured.items())


def run_growth(arguments: argparse.Namespace, found: Found) -> str:
    found.measured["growth"] = steps = measure_growth(arguments.sizes)
    found.figures += judge_growth(steps)
    return report.show_growth(steps, is_markdown=arguments.markdown)


def run_leases(arguments: argparse.Namespace, found: Found) -> str:
    found.measured["leases"] = turns = measure_leases(arguments.domains)
    found.figures += judge_leases(turns)
    return report.show_leases(turns, is_markdown=arguments.markdown)


def run_revisits(arguments: argparse.Namespace, found: Found) -> str:
    found.measured["revisit"] = results = measure_revisits(is_quick=arguments.quick)
    return report.show_revisits(results, is_markdown=arguments.markdown)


def run_search(arguments: argparse.Namespace, found: Found) -> str:
    found.measured["search"] = search = measure_search(QUICK_SEARCH if arguments.quick else PAGES)
    found.measured["recording"] = ways = measure_ways()
    return show_search(search, ways, is_markdown=arguments.markdown)


def run_api(arguments: argparse.Namespace, found: Found) -> str:
    found.measured["api"] = reads = measure_api()
    found.figures += judge_api(reads)
    return show_api(reads, is_markdown=arguments.markdown)


def run_workers(arguments: argparse.Namespace, found: Found) -> str:
    quick: dict[str, Any] = QUICK_WORKERS if arguments.quick else {}
    queues = arguments.queues.split(",")
    many = measure_workers(arguments.workers, queues=queues, redis_url=arguments.redis, **quick)
    found.measured["workers"] = many
    return show_workers(many, is_markdown=arguments.markdown)


PARTS: Mapping[str, Callable[[argparse.Namespace, Found], str]] = {
    "compare": run_comparisons,
    "calibrate": run_calibration,
    "stages": run_stages,
    "words": run_words,
    "growth": run_growth,
    "leases": run_leases,
    "revisit": run_revisits,
    "search": run_search,
    "api": run_api,
    "workers": run_workers,
}
WHEN_NAMED = frozenset({"calibrate", "workers"})
"""One needs saved pages, one takes an hour, one is about what Forager does not have: only who names them gets them."""
