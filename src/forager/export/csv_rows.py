"""Rows as lines of CSV, the same for files of `forager export` and for responses of the API. Pure.

A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@` as a formula, and crawled text may begin with anything.
So a text that begins with one of these, with white space that hides one, or with `'` gets one `'` as a prefix; removing
one leading `'` restores the text. Numbers, moments and JSON are never changed.
"""

import json
import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

DANGEROUS = tuple("=+-@\t\r\n'＝＋－＠")
TO_QUOTE = re.compile(r'[",;\t\r\n]|^\s|\s$|^$')
"""In some locales a semicolon or tab separates cells too: the text after it would begin a cell."""


def line(values: Sequence[Any]) -> str:
    return ",".join([cell(value) for value in values])


def cell(value: Any) -> str:
    """Returns one value: nothing for a null, `""` for an empty text."""
    match value:
        case None:
            return ""
        case str():
            return quoted(escape_formula(value))
        case bool():
            return "true" if value else "false"
        case date():
            return value.isoformat()
        case Decimal():
            return f"{value.normalize():f}"
        case int() | float():
            return str(value)
        case _:
            return quoted(json.dumps(value, ensure_ascii=False, default=_plain))


def _plain(value: object) -> str:
    match value:
        case date():
            return value.isoformat()
        case bytes():
            return value.hex()
        case _:
            return str(value)


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if TO_QUOTE.search(text) else text


def escape_formula(text: str) -> str:
    return f"'{text}" if text.startswith(DANGEROUS) else text


def restore(text: str) -> str:
    """Inverts `escape_formula`."""
    return text[1:] if text.startswith("'") else text
