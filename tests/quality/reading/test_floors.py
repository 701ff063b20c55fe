"""Quality of reading, measured on the corpus. Floors may only rise: a better figure asks for a higher floor."""

import json
from collections import Counter
from pathlib import Path

import pytest
from tests.quality.reading.corpus import samples
from tests.quality.reading.shapes import Sample
from tests.unit.parsing.pages import fetched

from forager.parsing.models import Reading
from forager.parsing.page import read

FLOORS: dict[str, float] = json.loads(Path(__file__).with_name("floors.json").read_text())
ALL_WORDS = 20_000


def judge(sample: Sample, page: Reading) -> dict[str, tuple[int, int]]:
    """Measure → how much of it is right, of how much."""
    text = " ".join(page.text.split())
    return {
        "title": (page.title == sample.title, 1),
        "description": (page.description == sample.description, 1),
        "language": (page.language == sample.language, 1),
        "author": (page.author == sample.author, 1),
        "published": (page.published_at == sample.published_at, 1),
        "inside": (sum(sentence in text for sentence in sample.inside), len(sample.inside)),
        "outside": (sum(sentence not in text for sentence in sample.outside), len(sample.outside)),
    }


def measure() -> tuple[dict[str, float], list[str]]:
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    faults = []
    for sample in samples():
        page = read(fetched(sample.html, url="https://site.example/page"), keyword_words=ALL_WORDS)
        for name, (good, count) in judge(sample, page).items():
            right[name] += good
            asked[name] += count
            if good < count:
                faults.append(f"{sample.name}: {name} {good} of {count}")
    return {name: right[name] / asked[name] for name in asked}, faults


@pytest.fixture(scope="module")
def measured() -> tuple[dict[str, float], list[str]]:
    return measure()


@pytest.mark.parametrize("name", FLOORS)
def test_quality_stays_above_its_floor(measured: tuple[dict[str, float], list[str]], name: str) -> None:
    figures, faults = measured
    mine = "\n".join(fault for fault in faults if f": {name} " in fault)
    assert figures[name] >= FLOORS[name], f"{name} fell to {figures[name]:.4f}:\n{mine}"
    assert figures[name] < FLOORS[name] + 0.01, f"{name} rose to {figures[name]:.4f}: raise its floor in floors.json"


def test_the_corpus_is_wide() -> None:
    pages = list(samples())
    assert len(pages) >= 60
    assert len({page.name.rpartition(" ")[2] for page in pages}) >= 12
    assert all(sentence in page.html for page in pages for sentence in (*page.inside, *page.outside))


def test_the_pages_are_as_large_as_real_ones() -> None:
    sizes = sorted(len(page.html.encode()) for page in samples())
    assert sizes[0] >= 45_000
    assert 400_000 <= sizes[-1] <= 520_000
    assert 100_000 <= sizes[len(sizes) // 2] <= 160_000
    assert [page.html for page in samples()] == [page.html for page in samples()]
