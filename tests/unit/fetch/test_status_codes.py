"""Status codes as filters write them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.errors import UsageError
from forager.fetch.status_codes import StatusCodes, parse_status_codes


@pytest.mark.parametrize(
    ("text", "codes"), [("404", (404, 404)), ("5xx", (500, 599)), ("2XX", (200, 299)), ("100", (100, 100))]
)
def test_one_code_or_a_class(text: str, codes: tuple[int, int]) -> None:
    assert parse_status_codes(text) == StatusCodes(*codes)


@given(st.integers(100, 599))
def test_every_code_lies_in_its_class(code: int) -> None:
    assert parse_status_codes(str(code)) == (code, code)
    low, high = parse_status_codes(f"{code // 100}xx")
    assert low <= code <= high
    assert high - low == 99


@given(st.text())
def test_anything_else_is_rejected_with_a_sentence(text: str) -> None:
    if re.fullmatch(r"[1-5](\d\d|[xX]{2})", text, re.ASCII):
        return
    with pytest.raises(UsageError, match="404 or 5xx"):
        parse_status_codes(text)


@pytest.mark.parametrize("text", ["", "4", "4x", "40x", "6xx", "099", "4040", " 404", "404\n", "٤٠٤", "-404", "4x4"])
def test_nearly_a_code(text: str) -> None:
    with pytest.raises(UsageError):
        parse_status_codes(text)
