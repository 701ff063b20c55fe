"""`python -m bench`: the comparison, what a page costs stage by stage, how the cost grows with the database, whether a
claim costs the same among many domains, what adaptive revisits are worth, how long searches take, what the API serves,
what more workers bring, what partitions would cost.

Figures are reported, not asserted: the exit code is 0 unless a run was invalid.
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from bench import report
from bench.api import judge_api, measure_api, show_api
from bench.compare import Comparison, compare
from bench.figures import judge_comparison, judge_growth, judge_leases
from bench.growth import measure_growth
from bench.leases import DOMAINS, measure_leases
from bench.partitions import PAGES as DIVIDED_PAGES
from bench.partitions import measure_partitions, show_partitions
from bench.revisit import measure_revisits
from bench.roster import ROSTER, Entrant
from bench.search import PAGES, measure_search
from bench.search_record import measure_ways
from bench.search_report import show_search
from bench.stages import measure_stages
from bench.talk import tell
from bench.web import serve_web
from bench.workers import WORKERS, measure_workers, show_workers
from forager.app.native import describe_native

PARTS = ("compare", "stages", "growth", "leases", "revisit", "search", "api", "workers", "partitions")
WHEN_NAMED = frozenset({"workers", "partitions"})
"""One takes an hour, the other is about what Forager does not have: only who names them gets them."""
QUICK_WORKERS = {"paced": (20, 4), "unpaced": (4, 50), "delay_s": 0.2}
QUICK_SEARCH = 50_000
QUICK_DIVIDED = 100_000
SIZES = (100_000, 1_000_000, 5_000_000)


def read_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"of {', '.join(PARTS)}; all but workers and partitions when none is named",
    )
    parser.add_argument("--rounds", type=at_least_one, default=3, help="rounds of the comparison (3)")
    parser.add_argument("--sites", type=at_least_one, default=20, help="sites of the synthetic web (20)")
    parser.add_argument("--pages", type=at_least_one, default=1000, help="pages of each site (1000)")
    parser.add_argument("--peer-sites", type=at_least_one, default=4, help="sites the peers crawl (4)")
    parser.add_argument("--only", default="", metavar="WORD", help="only crawlers whose name holds this word")
    parser.add_argument(
        "--sizes", type=read_sizes, default=SIZES, help="pages known, for growth (100000,1000000,5000000)"
    )
    parser.add_argument(
        "--domains", type=read_sizes, default=DOMAINS, help="domains known, for leases (1000,10000,100000,1000000)"
    )
    parser.add_argument("--workers", type=read_sizes, default=WORKERS, help="numbers of workers (1,2,4,8,16)")
    parser.add_argument("--queues", default="inline", metavar="LIST", help="how work reaches them (inline,celery)")
    parser.add_argument("--redis", metavar="URL", help="also with this Redis, for workers")
    parser.add_argument("--quick", action="store_true", help="one round of a small web and small sizes: does it run?")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    parser.add_argument("--markdown", action="store_true", help="print the table for the README")
    arguments = parser.parse_args(words)
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"there is no part {min(unknown)!r}; choose of {', '.join(PARTS)}")
    if arguments.quick:
        arguments.rounds, arguments.sites, arguments.pages, arguments.peer_sites = 1, 4, 100, 2
        arguments.sizes, arguments.domains = (10_000, 50_000), (1_000, 10_000)
        arguments.workers = (1, 2)
    return arguments


def at_least_one(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value


def read_sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(at_least_one(part) for part in text.split(","))
    if list(sizes) != sorted(set(sizes)):
        raise argparse.ArgumentTypeError("must rise: the database grows from one size to the next")
    return sizes


def run_comparison(arguments: argparse.Namespace) -> tuple[Comparison, Sequence[Entrant]]:
    entrants = [entrant for entrant in ROSTER if arguments.only.lower() in entrant.crawler.lower()]
    tell(f"Comparison: {arguments.sites} sites × {arguments.pages} pages, {arguments.rounds} rounds")
    with serve_web(arguments.sites, arguments.pages) as web:
        return compare(web, entrants, rounds=arguments.rounds, peer_sites=arguments.peer_sites), entrants


def main() -> int:
    arguments = read_arguments()
    parts = arguments.parts or [part for part in PARTS if part not in WHEN_NAMED]
    signal.signal(signal.SIGTERM, interrupt)
    tell(describe_native())
    found: dict[str, Any] = {"machine": report.describe_machine()}
    figures, exit_code = [], 0
    if "compare" in parts:
        comparison, entrants = run_comparison(arguments)
        print(report.show_comparison(comparison, entrants, is_markdown=arguments.markdown))
        found["comparison"] = comparison
        figures += judge_comparison(comparison.middles())
        exit_code = 1 if comparison.invalid else 0
    if "stages" in parts:
        found["stages"] = stages = measure_stages()
        print(report.show_stages(stages, is_markdown=arguments.markdown))
    if "growth" in parts:
        found["growth"] = steps = measure_growth(arguments.sizes)
        print(report.show_growth(steps, is_markdown=arguments.markdown))
        figures += judge_growth(steps)
    if "leases" in parts:
        found["leases"] = turns = measure_leases(arguments.domains)
        print(report.show_leases(turns, is_markdown=arguments.markdown))
        figures += judge_leases(turns)
    if "revisit" in parts:
        found["revisit"] = results = measure_revisits(is_quick=arguments.quick)
        print(report.show_revisits(results, is_markdown=arguments.markdown))
    if "search" in parts:
        found["search"] = search = measure_search(QUICK_SEARCH if arguments.quick else PAGES)
        found["recording"] = ways = measure_ways()
        print(show_search(search, ways, is_markdown=arguments.markdown))
    if "api" in parts:
        found["api"] = reads = measure_api()
        print(show_api(reads, is_markdown=arguments.markdown))
        figures += judge_api(reads)
    if "workers" in parts:
        quick: dict[str, Any] = QUICK_WORKERS if arguments.quick else {}
        queues = arguments.queues.split(",")
        found["workers"] = many = measure_workers(arguments.workers, queues=queues, redis_url=arguments.redis, **quick)
        print(show_workers(many, is_markdown=arguments.markdown))
    if "partitions" in parts:
        found["partitions"] = layouts = measure_partitions(QUICK_DIVIDED if arguments.quick else DIVIDED_PAGES)
        print(show_partitions(layouts, is_markdown=arguments.markdown))
    print(report.show_figures(figures))
    if arguments.json:
        report.write_json(arguments.json, found | {"figures": figures})
    return exit_code


def interrupt(*_: object) -> NoReturn:
    """A polite kill ends like Ctrl-C: everything that was started is stopped, everything made is removed."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        tell("interrupted; everything that was started is stopped.")
        sys.exit(130)
