"""Whether the lifelike web is like saved real pages: what both are made of, and what parsing and reading a KB costs.

Costs are taken in turns over the same minutes, so that a busy machine slows both alike.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from statistics import median

import turbohtml

from bench.saved import find_pages
from bench.survey import KB, survey_pages
from bench.table import as_markdown, as_text
from bench.talk import tell
from forager.config.loader import load
from forager.errors import UsageError
from forager.fetch.models import Fetched
from forager.parsing import page as parser
from forager.parsing.language import LanguageMemory
from forager.parsing.tree import parse
from forager_playground import lifelike_sites

SITES, PAGES = 8, 60
ROUNDS = 3
MOST_SAVED = 500
NEAR = 20.0
HEADINGS = ("measure", "saved", "lifelike", "ratio")


@dataclass(frozen=True, slots=True)
class Pair:
    name: str
    saved: float
    lifelike: float
    is_cost: bool = False

    @property
    def ratio(self) -> float:
        return self.lifelike / self.saved if self.saved else 0.0

    @property
    def is_near(self) -> bool:
        return abs(self.ratio - 1) * 100 <= NEAR


def measure_calibration(folder: Path, *, sites: int = SITES, pages: int = PAGES) -> list[Pair]:
    saved = load_saved(folder)
    made = make_pages(sites, pages)
    tell(f"Calibration: {len(saved):,} saved pages, {len(made):,} lifelike ones")
    makeup = [
        Pair(left.name, left.value, right.value)
        for left, right in zip(survey_pages(saved), survey_pages(made), strict=True)
    ]
    works = list_works()
    costs = [
        Pair(f"{name}, µs per KB", *compare_costs(work, saved, made), is_cost=True) for name, work in works.items()
    ]
    return [*makeup, *costs, divide("read ÷ parse", costs[-1], costs[0])]


def divide(name: str, whole: Pair, part: Pair) -> Pair:
    return Pair(name, whole.saved / part.saved, whole.lifelike / part.lifelike)


def load_saved(folder: Path) -> list[bytes]:
    """Every n-th page of a large folder: enough for the figures, and done in a minute."""
    files = find_pages(folder)
    if not files:
        raise UsageError(f"{folder} has no saved pages: no *.html below it.")
    return [path.read_bytes() for path in files[:: -(-len(files) // MOST_SAVED)]]


def make_pages(sites: int, pages: int) -> list[bytes]:
    return [site.answer(page.path, "").body for site in lifelike_sites(sites, pages) for page in site.pages()]


def list_works() -> Mapping[str, Callable[[bytes], object]]:
    """What is timed: other parsers first, which all figures are compared with, then our own, reading last."""
    works: dict[str, Callable[[bytes], object]] = {"parse by turbohtml": partial(turbohtml.parse, positions=False)}
    if find_spec("selectolax"):
        works["parse by Lexbor"] = import_module("selectolax.lexbor").LexborHTMLParser
    works["parse into tables"] = parse
    works["read"] = make_reader()
    return works


def make_reader() -> Callable[[bytes], object]:
    parser.preload()
    read = partial(parser.read, keyword_words=load({}, {}).search.words_per_page, memory=LanguageMemory())
    numbers = count()

    def read_body(body: bytes) -> object:
        url = f"http://site-{next(numbers) % 20}.example/page"
        return read(Fetched(url, 200, {"content-type": "text/html"}, body, len(body) // 5, 5))

    return read_body


def compare_costs(
    work: Callable[[bytes], object], saved: Sequence[bytes], made: Sequence[bytes]
) -> tuple[float, float]:
    rounds = [(cost_us(work, saved), cost_us(work, made)) for _ in range(ROUNDS)]
    return median(left for left, _ in rounds), median(right for _, right in rounds)


def cost_us(work: Callable[[bytes], object], bodies: Sequence[bytes]) -> float:
    """CPU per KB."""
    started_s = time.process_time()
    for body in bodies:
        work(body)
    return (time.process_time() - started_s) * 1e6 / (sum(map(len, bodies)) / KB)


def show_calibration(pairs: Sequence[Pair], *, is_markdown: bool) -> str:
    rows = [(pair.name, f"{pair.saved:,.2f}", f"{pair.lifelike:,.2f}", f"{pair.ratio:.2f} ×") for pair in pairs]
    far = [pair.name for pair in pairs if pair.is_cost and not pair.is_near]
    verdict = f"FAR   {', '.join(far)}: more than {NEAR:g} % apart" if far else f"NEAR  all costs within {NEAR:g} %"
    table = (as_markdown if is_markdown else as_text)(HEADINGS, rows, words=1)
    return f"The lifelike web beside the saved pages:\n\n{table}\n\n{verdict}\n"
