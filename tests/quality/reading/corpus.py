"""The corpus: every language in five shapes, so that each shape comes in seven of them, as large as real pages are."""

from collections.abc import Iterator
from dataclasses import replace

from tests.quality.reading.languages import WORDS
from tests.quality.reading.shapes import SHAPES, Sample
from tests.quality.reading.surroundings import surround

SHAPES_PER_LANGUAGE = 5


def samples() -> Iterator[Sample]:
    names = list(SHAPES)
    for number, (tag, words) in enumerate(WORDS.items()):
        for turn in range(SHAPES_PER_LANGUAGE):
            name = names[(number * SHAPES_PER_LANGUAGE + turn) % len(names)]
            sample = SHAPES[name](words)
            html = surround(sample.html, words, number * SHAPES_PER_LANGUAGE + turn)
            yield replace(sample, name=f"{name} in {tag}", html=html)
