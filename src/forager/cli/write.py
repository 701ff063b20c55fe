"""Rows as JSON lines or CSV.

A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@` as a formula, and crawled text may begin with anything.
So in CSV a text that begins with one of these, with white space that hides one, or with `'` gets one `'` in front;
taking one leading `'` away gives the text back. Numbers, moments and JSON are never changed.
"""

import csv
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, TextIO

from forager.cli.output import as_json

DANGEROUS = tuple("=+-@\t\r\n'＝＋－＠")


class Format(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"

    @classmethod
    def of(cls, path: str | None) -> "Format":
        return cls.CSV if path is not None and path.lower().endswith(".csv") else cls.JSONL


async def write_rows(
    target: TextIO, rows: AsyncIterator[dict[str, Any]], chosen: Format, columns: Sequence[str]
) -> int:
    """Writes every row as it comes; answers how many there were."""
    return await (_write_csv(target, rows, columns) if chosen is Format.CSV else _write_jsonl(target, rows))


async def _write_jsonl(target: TextIO, rows: AsyncIterator[dict[str, Any]]) -> int:
    count = 0
    async for row in rows:
        target.write(as_json(row) + "\n")
        count += 1
    return count


async def _write_csv(target: TextIO, rows: AsyncIterator[dict[str, Any]], columns: Sequence[str]) -> int:
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(columns)
    count = 0
    async for row in rows:
        writer.writerow([cell(row[column]) for column in columns])
        count += 1
    return count


def cell(value: Any) -> str:
    """One value of a CSV file."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    return neutral(value) if isinstance(value, str) else str(value)


def neutral(text: str) -> str:
    return f"'{text}" if text.startswith(DANGEROUS) else text


def restore(text: str) -> str:
    """The inverse of `neutral`."""
    return text[1:] if text.startswith("'") else text
