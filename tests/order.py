"""In which order tests are run: what waits among what computes, and nothing long last.

Tests that start processes wait for most of their time, others keep a core busy. One kind after the other, the cores are
idle first and too few afterwards, when what measures time is disturbed. Tests of a file stay together, and in order.
"""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TypeVar

import pytest

ROOT = Path(__file__).parent
LONG = (
    *("acceptance", "fuzz", "web"),
    *(f"integration/{name}" for name in ("backup", "browser", "objects", "retention", "storage")),
)
"""Folders of tests that start processes."""
FILLED = 0.75
"""All of them have begun when so much of the rest is done."""
Item = TypeVar("Item", bound=pytest.Item)


def spread(items: Sequence[Item]) -> list[Item]:
    """Groups that one process has to do alone come first. A file of what waits follows each equal part of the rest."""
    files = [list(those) for _, those in groupby(items, key=lambda item: item.path)]
    grouped = [file for file in files if _is_grouped(file)]
    long = [file for file in files if _is_long(file) and not _is_grouped(file)]
    short = [item for file in files if not _is_long(file) and not _is_grouped(file) for item in file]
    ordered = [item for file in grouped for item in file]
    part = len(short) * FILLED / len(long) if long else 0.0
    for number, file in enumerate(long):
        ordered += file
        ordered += short[round(number * part) : round((number + 1) * part)]
    return ordered + short[round(len(long) * part) :]


def _is_grouped(file: Sequence[pytest.Item]) -> bool:
    return file[0].get_closest_marker("xdist_group") is not None


def _is_long(file: Sequence[pytest.Item]) -> bool:
    return any(file[0].path.is_relative_to(ROOT / folder) for folder in LONG)
