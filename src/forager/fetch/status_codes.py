"""Status codes as filters write them: one code, or a class such as `5xx`."""

import re
from typing import NamedTuple

from forager.errors import UsageError

PATTERN = "^[1-5]([0-9]{2}|[xX]{2})$"


class StatusCodes(NamedTuple):
    """A range of status codes, both ends included."""

    low: int
    high: int


def parse_status_codes(text: str) -> StatusCodes:
    """Returns the codes of `404` or `5xx`."""
    if not re.match(PATTERN, text, re.ASCII) or text != text.strip():
        raise UsageError(f"{text!r} is no status code; write it like 404 or 5xx.", field="status_code")
    if text[1:].lower() == "xx":
        return StatusCodes(int(text[0]) * 100, int(text[0]) * 100 + 99)
    return StatusCodes(int(text), int(text))
