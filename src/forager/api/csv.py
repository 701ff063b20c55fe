"""Rows as lines of CSV. A spreadsheet runs a cell that begins with `=` as a formula, and crawled text may begin with
anything: such a text gets one `'` in front, as in files of `forager export`; taking one leading `'` away gives it back.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from forager.api.reply import as_json

DANGEROUS = tuple("=+-@\t\r\n'＝＋－＠")
TO_QUOTE = re.compile(r'[",;\t\r\n]|^\s|\s$|^$')


def line(values: Sequence[Any]) -> str:
    return ",".join([cell(value) for value in values])


def cell(value: Any) -> str:
    """Nothing at all for a null, `""` for an empty text."""
    match value:
        case None:
            return ""
        case str():
            return _quoted(f"'{value}" if value.startswith(DANGEROUS) else value)
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat()
        case Decimal():
            return f"{value.normalize():f}"
        case int() | float():
            return str(value)
        case _:
            return _quoted(as_json(value).decode())


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if TO_QUOTE.search(text) else text
