"""JSON lines, CSV and Parquet, packed or not, with hostile text."""

import csv
import gzip
import io
import json
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from forager.errors import ConfigurationError, UsageError
from forager.export.commands.compression import Packing
from forager.export.commands.writers import check_writable, choose_format, write_file, write_lines
from forager.export.csv_rows import escape_formula, restore
from forager.export.csv_rows import line as csv_line
from forager.export.formats import Format

NAMES = (None, "-", "a.jsonl", "a.CSV", "csv", "a.csv.gz", "a.parquet", "a.zst")
AT = datetime(2026, 1, 1, tzinfo=UTC)
ROW = {
    "url": "http://a.example/",
    "title": "=1+1",
    "depth": -3,
    "at": AT,
    "is_seed": True,
    "none": None,
    "text": 'a "b"\n,c',
    "empty": "",
    "price": Decimal("12.3400"),
    "tags": ["=a", 'b"'],
    "evidence": {"price": [["1", "jsonld", 0.9]]},
}
TYPES = {
    "url": "text",
    "title": "varchar",
    "depth": "int2",
    "at": "timestamptz",
    "is_seed": "bool",
    "none": "int8",
    "text": "text",
    "empty": "text",
    "price": "numeric",
    "tags": "text[]",
    "evidence": "jsonb",
}


async def rows(count: int = 2) -> AsyncIterator[dict[str, Any]]:
    for at in range(count):
        yield ROW | {"title": "日本"} if at else ROW


async def text_of(chosen: Format) -> str:
    target = io.BytesIO()
    assert await write_lines(target, rows(), chosen, list(ROW)) == 2
    return target.getvalue().decode()


async def test_json_lines() -> None:
    first, second = map(json.loads, (await text_of(Format.JSONL)).splitlines())
    assert first == ROW | {"at": "2026-01-01T00:00:00+00:00", "price": 12.34}
    assert second["title"] == "日本"
    assert list(first) == list(second) == list(ROW)


async def test_csv() -> None:
    header, first, second = csv.reader(io.StringIO(await text_of(Format.CSV), newline=""))
    assert header == list(ROW)
    assert first[:7] == ["http://a.example/", "'=1+1", "-3", AT.isoformat(), "true", "", 'a "b"\n,c']
    assert first[7:9] == ["", "12.34"]
    assert json.loads(first[9]) == ROW["tags"]
    assert json.loads(first[10]) == ROW["evidence"]
    assert second[1] == "日本"


def test_a_null_is_nothing_and_an_empty_text_is_quoted() -> None:
    assert csv_line(["a", None, "", "b"]) == 'a,,"",b'


@pytest.mark.parametrize(
    "text", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "'=1", "'"]
)
def test_formulas_are_neutralised(text: str) -> None:
    assert escape_formula(text) == "'" + text


@pytest.mark.parametrize("text", ["a;=1+1", "a\t=1+1", "a\n=1+1", "a,=1+1"])
def test_no_formula_hides_behind_what_another_country_separates_cells_with(text: str) -> None:
    assert csv_line([text]) == f'"{text}"'


@pytest.mark.parametrize("number", [-3, -0.5, Decimal("-1.5")])
def test_numbers_stay_numbers(number: Any) -> None:
    assert float(csv_line([number])) == float(number)


@given(st.text())
def test_neutral_text_comes_back(text: str) -> None:
    assert restore(escape_formula(text)) == text
    assert not escape_formula(text).startswith(("=", "+", "-", "@", "\t", "\r"))


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=2))
def test_any_line_is_read_back_as_it_was(texts: list[str]) -> None:
    read = next(csv.reader(io.StringIO(csv_line(texts) + "\n", newline="")))
    assert [restore(text) for text in read] == texts


def test_the_format_follows_the_ending() -> None:
    assert [choose_format(None, name) for name in NAMES] == [
        *(Format.JSONL, Format.JSONL, Format.JSONL, Format.CSV, Format.JSONL, Format.CSV, Format.PARQUET),
        Format.JSONL,
    ]


async def test_packed_files_hold_the_same(tmp_path: Path) -> None:
    plain = await text_of(Format.JSONL)
    gz, zst, flagged = (tmp_path / name for name in ("a.jsonl.gz", "a.jsonl.zst", "a.jsonl"))
    for path, packed in ((gz, None), (zst, None), (flagged, Packing.GZIP)):
        assert await write_file(str(path), rows(), TYPES, packed=packed) == 2
    assert gzip.decompress(gz.read_bytes()).decode() == plain
    assert gzip.decompress(flagged.read_bytes()).decode() == plain
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    assert zstd.decompress(zst.read_bytes()).decode() == plain


async def test_parquet_has_the_right_types_in_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    assert await write_file(str(path), rows(60_000), TYPES) == 60_000
    found = parquet.ParquetFile(path)
    assert {field.name: str(field.type) for field in found.schema_arrow} == {
        "url": "string",
        "title": "string",
        "depth": "int16",
        "at": "timestamp[us, tz=UTC]",
        "is_seed": "bool",
        "none": "int64",
        "text": "string",
        "empty": "string",
        "price": "decimal128(20, 4)",
        "tags": "list<element: string>",
        "evidence": "string",
    }
    assert found.num_row_groups == 2
    first = found.read_row_group(0).slice(0, 1).to_pylist()[0]
    assert first | {"evidence": json.loads(first["evidence"])} == ROW


async def test_parquet_without_rows_still_has_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    assert await write_file(str(path), rows(0), TYPES) == 0
    assert parquet.read_table(path).column_names == list(TYPES)


def test_without_its_library_parquet_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ConfigurationError, match=r"'\.\[parquet\]'"):
        check_writable(str(tmp_path / "a.parquet"))


def test_parquet_is_not_compressed_twice(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="compressed inside"):
        check_writable(str(tmp_path / "a.parquet.gz"))
