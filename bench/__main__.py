"""`python -m bench`: the comparison, whether its pages are like real ones, what a page costs stage by stage, how the
cost grows with the database, whether a claim costs the same among many domains, what adaptive revisits are worth, how
long searches take, what the API serves, and what more workers bring.

Figures are reported, not asserted: the exit code is 0 unless a run was invalid.
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from bench import report
from bench.leases import DOMAINS
from bench.parts import PARTS, WHEN_NAMED, Found
from bench.talk import tell
from bench.web import LIFELIKE, PLAIN, SAVED, WEBS
from bench.workers import WORKERS
from forager.config.native import describe_native

SIZES = (100_000, 1_000_000, 5_000_000)


def read_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"of {', '.join(PARTS)}; without any: all but calibrate and workers",
    )
    parser.add_argument("--rounds", type=at_least_one, default=3, help="rounds of the comparison (3)")
    parser.add_argument("--web", type=read_webs, metavar="LIST", help=f"of {', '.join(WEBS)} (lifelike,plain)")
    parser.add_argument("--pages", type=Path, metavar="FOLDER", help="saved pages; the web `saved` is made of them")
    parser.add_argument("--sites", type=at_least_one, default=20, help="sites of the synthetic webs (20)")
    parser.add_argument("--site-pages", type=at_least_one, help="pages of each site (lifelike: 200, plain: 1000)")
    parser.add_argument("--peer-sites", type=at_least_one, default=4, help="sites the peers crawl (4)")
    parser.add_argument("--limit", type=at_least_one, metavar="PAGES", help="pages one crawler gets at most, about")
    parser.add_argument(
        "--only",
        default="",
        metavar="WORDS",
        help="only crawlers whose name holds this word, or one of several: 'scrapy|ceiling'",
    )
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
    parser.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    arguments = parser.parse_args(words)
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"there is no part {min(unknown)!r}; choose of {', '.join(PARTS)}")
    arguments.web = arguments.web or ((SAVED,) if arguments.pages else (LIFELIKE, PLAIN))
    if SAVED in arguments.web and not arguments.pages:
        parser.error("the web `saved` needs --pages FOLDER")
    if "calibrate" in arguments.parts and not arguments.pages:
        parser.error("calibrate needs --pages FOLDER")
    if arguments.quick:
        arguments.rounds, arguments.sites, arguments.site_pages, arguments.peer_sites = 1, 4, 50, 2
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


def read_webs(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := set(names) - set(WEBS):
        raise argparse.ArgumentTypeError(f"there is no web {min(unknown)!r}; choose of {', '.join(WEBS)}")
    return names


def main() -> int:
    arguments = read_arguments()
    chosen = arguments.parts or [part for part in PARTS if part not in WHEN_NAMED]
    signal.signal(signal.SIGTERM, interrupt)
    tell(describe_native())
    found = Found({"machine": report.describe_machine()})
    for name, run in PARTS.items():
        if name in chosen:
            print(run(arguments, found))
    print(report.show_figures(found.figures))
    if arguments.json:
        report.write_json(arguments.json, found.measured | {"figures": found.figures})
    return 1 if found.is_invalid else 0


def interrupt(*_: object) -> NoReturn:
    """A polite kill ends like Ctrl-C: everything that was started is stopped, everything made is removed."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        tell("interrupted; everything that was started is stopped.")
        sys.exit(130)
