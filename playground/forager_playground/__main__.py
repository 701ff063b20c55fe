"""`python -m forager_playground`: flags to `serve`. No logic of its own, and none of the crawler is imported."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from forager.errors import UserError
from forager_playground.process import serve
from forager_playground.sites import DEMO_SITES
from forager_playground.web import HOST_BASE


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m forager_playground", description="A small web on loopback.")
    parser.add_argument(
        "--sites", default=",".join(DEMO_SITES), help="comma list; `shop=5000` and `uniform=200x50` set sizes"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the default sizes")
    parser.add_argument("--seed", type=int, default=1, help="another seed is another web")
    parser.add_argument("--day", type=int, default=0, help="prices of the shop are those of this day")
    parser.add_argument("--host-base", default=HOST_BASE, help="first of the loopback addresses")
    parser.add_argument("--port", type=int, default=0, help="the same on every address; 0 finds a free one")
    parser.add_argument("--log", type=Path, help="append every request to this JSONL file")
    parser.add_argument("--ready-file", type=Path, help="JSON with the start URLs, written when they can be fetched")
    parser.add_argument("--answer-key", type=Path, help="JSON with what a right crawl finds")
    parser.add_argument("--warm", type=int, default=0, help="make that many pages of each site before serving")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    given = make_parser().parse_args(arguments)
    try:
        serve(
            [name.strip() for name in given.sites.split(",") if name.strip()],
            scale=given.scale,
            seed=given.seed,
            day=given.day,
            host_base=given.host_base,
            port=given.port,
            log_path=given.log,
            ready_path=given.ready_file,
            answer_key_path=given.answer_key,
            warm_pages=given.warm,
        )
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
