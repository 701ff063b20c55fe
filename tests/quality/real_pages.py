"""Real pages, where this machine has them: they belong to their sites and are no part of the repository.

As a command it tells how well they are read, and with `--misses FIELD` where not:

    python -m tests.quality.real_pages [--folder PAGES] [--misses shops.price] [--write-floors]
"""

import argparse
import json
import re
import sys
import tarfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.quality import judge, structure

from forager.fetch.models import Fetched
from forager.parsing.models import Reading
from forager.parsing.page import read

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ARCHIVE = Path(__file__).resolve().parents[2].parent / "shared" / "corpus" / "pages.tar.zst"
FLOORS = Path(__file__).with_name("real_floors.json")
ALL_WORDS = 1_000_000
FEWEST_WORDS = 25
"""A page with fewer has no text to speak of."""
OWN_URL = re.compile(
    r"""<link\b[^>]*\brel=["']?canonical[^>]*?\bhref=["']?(https?://[^"'\s>]+)"""
    r"""|<link\b[^>]*\bhref=["']?(https?://[^"'\s>]+)["']?[^>]*\brel=["']?canonical"""
    r"""|<meta\b[^>]*\bproperty=["']?og:url[^>]*?\bcontent=["']?(https?://[^"'\s>]+)""",
    re.IGNORECASE,
)


def real_pages(folder: Path | None = None) -> Iterator[tuple[str, bytes]]:
    """Yields names and bodies; skips the test where there are none."""
    for name, body in _members(folder):
        if name.endswith(".html") and not name.endswith(".expected.html"):
            yield name, body()


def _members(folder: Path | None) -> Iterator[tuple[str, Callable[[], bytes]]]:
    if folder is not None:
        for path in sorted(folder.glob("*/*")):
            yield f"{path.parent.name}/{path.name}", path.read_bytes
        return
    if not ARCHIVE.exists():
        pytest.skip("there are no real pages on this machine (../shared/corpus)")
    with zstd.ZstdFile(ARCHIVE) as file, tarfile.open(fileobj=file, mode="r|") as archive:
        for member in archive:
            if (body := archive.extractfile(member)) is not None:
                yield "/".join(Path(member.name).parts[-2:]), body.read


@dataclass(frozen=True, slots=True)
class Truth:
    """What people said about the pages: by folder and name, and the main content of articles."""

    facts: Mapping[str, Mapping[str, Any]]
    contents: Mapping[str, str]
    """As HTML."""

    def of(self, name: str) -> Mapping[str, Any]:
        folder, _, page = name.removesuffix(".html").partition("/")
        facts = self.facts.get(folder, {}).get(page, {})
        return facts.get("metadata", facts)  # type: ignore[no-any-return]


def load_truth(folder: Path | None = None) -> Truth:
    facts: dict[str, Any] = {}
    contents: dict[str, str] = {}
    for name, body in _members(folder):
        if name.endswith("truth.json"):
            facts[name.partition("/")[0]] = json.loads(body())
        elif name.endswith(".expected.html"):
            contents[name.replace(".expected", "")] = body().decode()
    return Truth(facts, contents)


@dataclass(slots=True)
class Figure:
    """One field over many pages. A wrong value is both a false one and a missing one."""

    asked: int = 0
    given: int = 0
    right: float = 0.0
    is_f1: bool = False
    misses: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / self.given if self.given else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.asked if self.asked else 0.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def score(self) -> float:
        """What the floor is of: F1 for products, else the share of pages where it is right."""
        return self.f1 if self.is_f1 else self.recall

    def count(
        self, page: str, found: Any, accepted: Collection[str], same: Callable[[Any, Collection[str]], bool]
    ) -> None:
        is_right = found is not None and bool(accepted) and same(found, accepted)
        self.asked += bool(accepted)
        self.given += found is not None
        self.right += is_right
        if not is_right and (found is not None or accepted):
            wanted = " ".join(" | ".join(accepted).split()) or "nothing"
            self.misses.append(f"{page}: wanted {wanted}; got {found!s}")

    def grade(self, page: str, grade: float, miss: str) -> None:
        self.asked += 1
        self.given += 1
        self.right += grade
        if grade < 0.9:
            self.misses.append(f"{page}: {grade:.3f} {miss}")


class Figures(dict[str, Figure]):
    def __missing__(self, name: str) -> Figure:
        figure = self[name] = Figure(is_f1=name.startswith("shops.") and name != "shops.sold_out")
        return figure

    def compare(
        self,
        name: str,
        page: str,
        found: Any,
        truth: Any,
        same: Callable[[Any, Collection[str]], bool] = judge.same_text,
    ) -> None:
        """Pages of which the truth says nothing are left out."""
        if truth not in (None, "", []):
            self[name].count(page, found, truth if isinstance(truth, list) else [str(truth)], same)


def measure(folder: Path | None = None) -> Figures:
    truth = load_truth(folder)
    figures = Figures()
    for name, body in real_pages(folder):
        facts = truth.of(name)
        reading = read(_fetched(name, body, facts), keyword_words=ALL_WORDS, markdown=name.startswith("articles/"))
        kind = name.partition("/")[0]
        if kind == "articles":
            _judge_article(figures, name, reading, facts, truth.contents.get(name, ""))
        else:
            JUDGES[kind](figures, name, reading, facts)
    return figures


def _fetched(name: str, body: bytes, facts: Mapping[str, Any]) -> Fetched:
    return Fetched(_url_of(name, body, facts), 200, {"content-type": "text/html"}, body, len(body), 1)


def _url_of(name: str, body: bytes, facts: Mapping[str, Any]) -> str:
    """As the truth has it, else as the page says; never one that does not parse."""
    told = [facts.get("url"), facts.get("canonical_url")]
    if found := OWN_URL.search(body.decode(errors="replace")):
        told += found.groups()
    told.append(f"https://{facts['host']}/" if "host" in facts else "http://fakehost/test/page.html")
    return next(str(url) for url in told if url and url.startswith("http"))


def _judge_shop(figures: Figures, page: str, reading: Reading, facts: Mapping[str, Any]) -> None:
    product = reading.product
    price, sku, state = (product.price, product.sku, product.availability) if product else (None, None, None)
    figures["shops.price"].count(page, price, facts.get("price", []), judge.same_number)
    figures["shops.sku"].count(page, sku, facts.get("sku", []), judge.same_code)
    figures["shops.availability"].count(page, state, facts["availability"], judge.same_state)
    figures["shops.availability_filled"].count(page, state or "in_stock", facts["availability"], judge.same_state)
    if "OutOfStock" in facts["availability"]:
        figures["shops.sold_out"].count(page, state, ["OutOfStock"], judge.same_state)
    figures.compare("shops.brand", page, product and product.brand, facts.get("brand"))
    figures.compare("shops.gtin", page, product and product.gtin, facts.get("gtin"), judge.same_gtin)
    figures.compare("shops.currency", page, product and product.currency, facts.get("currency"), judge.same_currency)


def _judge_article(figures: Figures, page: str, reading: Reading, facts: Mapping[str, Any], content: str) -> None:
    if content.strip():
        _judge_markdown(figures, page, reading.markdown, content)
        content = judge.text_of(content)
        by_words, by_shingles = judge.text_scores(reading.text, content)
        sizes = f"({len(reading.text.split())} words for {len(content.split())}: {reading.text[:60]!r})"
        figures["articles.text"].grade(page, by_words, sizes)
        figures["articles.text_4grams"].grade(page, by_shingles, sizes)
    figures.compare("articles.headline", page, reading.headline, facts.get("title"))
    figures.compare("articles.author", page, reading.author, facts.get("byline"), judge.same_person)
    figures.compare("articles.language", page, reading.language, facts.get("lang"), judge.same_language)
    figures.compare("articles.site_name", page, reading.site_name, facts.get("siteName"))
    figures.compare(
        "articles.published", page, judge.published_day(reading), facts.get("publishedTime"), judge.same_day
    )


def _judge_markdown(figures: Figures, page: str, markdown: str, content: str) -> None:
    """The words of the Markdown, as another parser shows it, and how much of the structure is there."""
    shown = structure.to_html(markdown)
    by_words, _ = judge.text_scores(judge.text_of(shown), judge.text_of(content))
    figures["articles.markdown"].grade(page, by_words, "words of the Markdown")
    found, wanted = structure.structure_of(shown), structure.structure_of(content)
    for kind in structure.KINDS:
        figure = figures[f"articles.markdown_{kind}"]
        common = (found[kind] & wanted[kind]).total()
        figure.asked += wanted[kind].total()
        figure.given += found[kind].total()
        figure.right += common
        if common < wanted[kind].total():
            figure.misses.append(f"{page}: {common} of {wanted[kind].total()}, {list(wanted[kind] - found[kind])[:3]}")


def _judge_recipe(figures: Figures, page: str, reading: Reading, facts: Mapping[str, Any]) -> None:
    canonical = facts["canonical_url"] if facts["canonical_url"].startswith("http") else None
    figures.compare("recipes.headline", page, reading.headline, facts["title"])
    figures.compare("recipes.canonical", page, reading.canonical, canonical, judge.same_url)
    figures.compare("recipes.site_name", page, reading.site_name, facts.get("site_name"))
    figures.compare("recipes.language", page, reading.language, facts.get("language"), judge.same_language)
    figures.compare("recipes.author", page, reading.author, facts.get("author"), judge.same_person)
    figures.compare("recipes.image", page, judge.primary_image(reading), facts.get("image"), judge.same_image)
    figures.compare("recipes.rating", page, reading.rating, facts.get("ratings"), judge.same_rating)
    figures.compare(
        "recipes.rating_count", page, _text(reading.rating_count), facts.get("ratings_count"), judge.same_text
    )


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)


def _judge_mixed(figures: Figures, page: str, reading: Reading, facts: Mapping[str, Any]) -> None:
    """Without truth: only whether there is something."""
    for name, is_there in (
        ("text", len(judge.WORD.findall(reading.text)) >= FEWEST_WORDS),
        ("image", judge.primary_image(reading) is not None),
        ("headline", reading.headline is not None),
        ("site_name", reading.site_name is not None),
        ("language", reading.language is not None),
    ):
        figures[f"mixed.{name}"].grade(page, float(is_there), "nothing found")


JUDGES = {"shops": _judge_shop, "recipes": _judge_recipe, "mixed": _judge_mixed}


def table(figures: Figures) -> str:
    rows = [f"{'field':26}{'pages':>7}{'given':>7}{'prec.':>8}{'recall':>8}{'F1':>8}"]
    for name, figure in figures.items():
        numbers = f"{figure.precision:8.3f}{figure.recall:8.3f}{figure.f1:8.3f}"
        rows.append(f"{name:26}{figure.asked:7}{figure.given:7}{numbers}")
    return "\n".join(rows)


def load_floors() -> dict[str, float]:
    return json.loads(FLOORS.read_text()) if FLOORS.exists() else {}


def raise_floors(figures: Figures) -> None:
    """Down to the thousandth below; never lower than before."""
    floors = load_floors()
    for name, figure in figures.items():
        floors[name] = max(floors.get(name, 0.0), int(figure.score * 1000) / 1000)
    FLOORS.write_text(json.dumps(floors, indent=2) + "\n")


def main() -> None:
    options = argparse.ArgumentParser(description="How well real pages are read.")
    options.add_argument("--folder", type=Path, help="unpacked pages; else the archive beside the repository")
    options.add_argument(
        "--misses", metavar="FIELD", action="append", default=[], help="shops.price, say; `all` for all"
    )
    options.add_argument("--write-floors", action="store_true", help="raise what is better now")
    given = options.parse_args()
    started = time.process_time()
    figures = measure(given.folder)
    for name, figure in figures.items():
        if {name, name.partition(".")[0], name.partition(".")[2], "all"} & set(given.misses):
            sys.stdout.write("\n".join([f"--- {name}: {len(figure.misses)} misses", *figure.misses, ""]))
    sys.stdout.write(f"{table(figures)}\n{time.process_time() - started:.1f} s of processor time\n")
    if given.write_floors:
        raise_floors(figures)


if __name__ == "__main__":
    main()
