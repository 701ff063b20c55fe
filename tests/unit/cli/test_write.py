"""JSON lines and CSV, with hostile text."""

import csv
import io
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.cli.write import Format, neutral, restore, write_rows

AT = datetime(2026, 1, 1, tzinfo=UTC)
ROW = {
    "url": "http://a.example/",
    "title": "=1+1",
    "depth": -3,
    "at": AT,
    "is_seed": True,
    "none": None,
    "text": 'a "b"\n,c',
}


async def rows() -> AsyncIterator[dict[str, Any]]:
    yield ROW
    yield ROW | {"title": "日本"}


async def test_json_lines() -> None:
    target = io.StringIO()
    assert await write_rows(target, rows(), Format.JSONL, list(ROW)) == 2
    first, second = map(json.loads, target.getvalue().splitlines())
    assert first == ROW | {"at": "2026-01-01T00:00:00+00:00"}
    assert second["title"] == "日本"


async def test_csv() -> None:
    target = io.StringIO()
    assert await write_rows(target, rows(), Format.CSV, list(ROW)) == 2
    header, first, second = csv.reader(io.StringIO(target.getvalue()))
    assert header == list(ROW)
    assert first == ["http://a.example/", "'=1+1", "-3", AT.isoformat(), "true", "", 'a "b"\n,c']
    assert second[1] == "日本"


@pytest.mark.parametrize(
    "text", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "'=1", "'"]
)
def test_formulas_are_neutralised(text: str) -> None:
    assert neutral(text) == "'" + text


@given(st.text())
def test_neutral_text_comes_back(text: str) -> None:
    assert restore(neutral(text)) == text
    assert not neutral(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_the_format_follows_the_ending() -> None:
    assert [Format.of(name) for name in (None, "-", "a.jsonl", "a.CSV", "csv")] == [
        *(Format.JSONL, Format.JSONL, Format.JSONL, Format.CSV, Format.JSONL)
    ]
