"""The security page names a test for each promise; each of them exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/explanation/security.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)))


@pytest.mark.parametrize("file", sorted({file for file, _ in NAMED}))
def test_every_test_it_names_exists(file: str) -> None:
    text = (ROOT / "tests" / file).read_text(encoding="utf-8")
    missing = [name for each, name in NAMED if each == file and f"def {name}(" not in text]
    assert missing == []


def test_it_names_many() -> None:
    assert len(NAMED) > 40
