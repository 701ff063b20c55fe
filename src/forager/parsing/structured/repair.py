"""Repairs JSON as pages write it: comments, stray commas, quotes inside strings, missing ends.

Every step is linear. JSON that cannot be repaired is None.
"""

import json
import re
from html import unescape
from typing import Any

import orjson

LONGEST_REPAIRED = 400_000
AROUND = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)|(?://\s*)?(?:-->|\]\]>)\s*$|/\*\s*\]\]>\s*\*/\s*$"
)
STRAY_COMMA = re.compile(r",(\s*[}\]])")
DOUBLE_COMMA = re.compile(r",(?:\s*,)+")
NO_VALUE = re.compile(r":(\s*)(?=[,}])")
UNDEFINED = re.compile(r":\s*(?:undefined|None)(?=\s*[,}\]])")
BETWEEN_DOCUMENTS = re.compile(r"\}\s*\{")
ENDS_STRING = re.compile(r'\s*(?:[}\]]|:|/[/*]|,\s*(?:["{\[\d\-}\]]|/[/*]|true|false|null)|$)')
HALF = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
"""Matches half of a surrogate pair."""
STRING_OR_COMMENT = re.compile(r'"|//|/\*|<!--')
COMMENTS = {"//": "\n", "/*": "*/", "<!--": "-->"}
LONGEST_INTEGER = 19
CONTROL = dict.fromkeys(range(32), " ")


def read_json(text: str) -> Any:
    """Returns the content of a script, repaired if necessary; None if that fails."""
    text = text.strip()
    if not text:
        return None
    try:
        return orjson.loads(text)
    except ValueError:
        pass
    text = text.lstrip("\ufeff")
    for attempt in (_load, _without_wrapping, _repaired):
        found = attempt(text)
        if found is not None:
            return found
    return None


def _load(text: str) -> Any:
    """Decodes JSON, also with line breaks inside strings, `NaN` and numbers of any length."""
    try:
        if "\\u" in text:
            text = HALF.sub(r"\\ufffd", text)
        return json.loads(text, strict=False, parse_int=_number, parse_constant=lambda _name: None)
    except (ValueError, RecursionError, ArithmeticError):
        return None


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) < LONGEST_INTEGER else float(digits)


def _without_wrapping(text: str) -> Any:
    return _load(AROUND.sub("", AROUND.sub("", text)).strip().rstrip(";"))


def _repaired(text: str) -> Any:
    if len(text) > LONGEST_REPAIRED:
        return None
    text = AROUND.sub("", AROUND.sub("", text)).strip().rstrip(";")
    text = text.replace("\u2028", " ").replace("\u2029", " ")
    if "&quot;" in text or "&#34;" in text:
        text = unescape(text)
    text = _close(_quote(text).translate(CONTROL))
    text = UNDEFINED.sub(":null", text)
    text = DOUBLE_COMMA.sub(",", text)
    text = STRAY_COMMA.sub(r"\1", text)
    text = NO_VALUE.sub(r":null\1", text)
    found = _load(text)
    if found is None and BETWEEN_DOCUMENTS.search(text):
        found = _load("[" + BETWEEN_DOCUMENTS.sub("},{", text) + "]")
    return found


def _quote(text: str) -> str:
    """Escapes quotes inside strings and bad escapes; drops comments between strings."""
    out: list[str] = []
    at, end, is_inside, slash = 0, len(text), False, -2
    while at < end:
        if not is_inside:
            at, is_inside = _skip_to_string(text, at, out)
            continue
        quote = text.find('"', at)
        if -1 != slash < at:  # searched only once: a search from every quote would be quadratic
            slash = text.find("\\", at)
        if 0 <= slash < quote:
            out.append(text[at:slash])
            pair = text[slash : slash + 2]
            out.append(pair if pair[1:] in '"\\/bfnrtu' and pair[1:] else "\\\\" + pair[1:])
            at = slash + 2
        elif quote < 0:
            out.append(text[at:] + '"')
            at = end
        else:
            ends = ENDS_STRING.match(text, quote + 1) is not None
            out.append(text[at:quote] + ('"' if ends else '\\"'))
            at, is_inside = quote + 1, not ends
    if is_inside and at == end and not out[-1].endswith('"'):
        out.append('"')
    return "".join(out)


def _skip_to_string(text: str, at: int, out: list[str]) -> tuple[int, bool]:
    """Skips to the next string, or past the next comment; returns whether it is a string."""
    sign = STRING_OR_COMMENT.search(text, at)
    if sign is None:
        out.append(text[at:])
        return len(text), False
    out.append(text[at : sign.start()])
    if sign[0] == '"':
        out.append('"')
        return sign.end(), True
    out.append(" ")
    closing = COMMENTS[sign[0]]
    close = text.find(closing, sign.end())
    return (len(text) if close < 0 else close + len(closing)), False


def _close(text: str) -> str:
    """Closes brackets that were opened and not closed; drops those that were closed and not opened."""
    out: list[str] = []
    waiting: list[str] = []
    open_now = {"}": 0, "]": 0}
    at = 0
    for found in BRACKET_OR_STRING.finditer(text):
        sign = found.group()
        out.append(text[at : found.start()])
        at = found.end()
        if sign[0] == '"':
            out.append(sign)
        elif sign in "{[":
            waiting.append("}" if sign == "{" else "]")
            open_now[waiting[-1]] += 1
            out.append(sign)
        elif open_now[sign]:
            while (end := waiting.pop()) != sign:
                open_now[end] -= 1
                out.append(end)
            open_now[sign] -= 1
            out.append(sign)
    out.append(text[at:])
    return ("".join(out).rstrip().rstrip(",") if waiting else "".join(out)) + "".join(reversed(waiting))


BRACKET_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*+\\?(?:"|\Z)|[{}\[\]]', re.DOTALL)
