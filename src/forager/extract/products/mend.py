"""JSON as shops write it, mended within reason: comments, stray commas, quotes inside of strings, missing ends.

Every step is linear. What cannot be mended is None.
"""

import json
import re
from decimal import Decimal
from html import unescape
from typing import Any

LONGEST_MENDED = 400_000
AROUND = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)|(?://\s*)?(?:-->|\]\]>)\s*$|/\*\s*\]\]>\s*\*/\s*$"
)
STRAY_COMMA = re.compile(r",(\s*[}\]])")
DOUBLE_COMMA = re.compile(r",(?:\s*,)+")
NO_VALUE = re.compile(r":(\s*)(?=[,}])")
UNDEFINED = re.compile(r":\s*(?:undefined|None)(?=\s*[,}\]])")
BETWEEN_DOCUMENTS = re.compile(r"\}\s*\{")
ENDS_STRING = re.compile(r'\s*(?:[}\]]|:|,\s*(?:["{\[\d\-}\]]|true|false|null)|$)')
CONTROL = dict.fromkeys(range(32), " ")


def read_json(text: str) -> Any:
    """What a script holds; mended where it must be. None: not even then."""
    text = text.strip().lstrip("\ufeff")
    if not text:
        return None
    for attempt in (_as_is, _without_wrapping, _mended):
        found = attempt(text)
        if found is not None:
            return found
    return None


def _load(text: str) -> Any:
    try:
        return json.loads(text, strict=False, parse_float=Decimal, parse_constant=lambda _name: None)
    except (ValueError, RecursionError, ArithmeticError):
        return None


_as_is = _load


def _without_wrapping(text: str) -> Any:
    return _load(AROUND.sub("", AROUND.sub("", text)).strip().rstrip(";"))


def _mended(text: str) -> Any:
    if len(text) > LONGEST_MENDED:
        return None
    text = AROUND.sub("", AROUND.sub("", text)).strip().rstrip(";")
    text = text.replace("\u2028", " ").replace("\u2029", " ").translate(CONTROL)
    if "&quot;" in text or "&#34;" in text:
        text = unescape(text)
    text = _close(_quote(text))
    text = UNDEFINED.sub(":null", text)
    text = DOUBLE_COMMA.sub(",", text)
    text = STRAY_COMMA.sub(r"\1", text)
    text = NO_VALUE.sub(r":null\1", text)
    found = _load(text)
    if found is None and BETWEEN_DOCUMENTS.search(text):
        found = _load("[" + BETWEEN_DOCUMENTS.sub("},{", text) + "]")
    return found


def _quote(text: str) -> str:
    """Quotes inside of strings and bad escapes are escaped, comments between them dropped."""
    out: list[str] = []
    at, end, is_inside, slash = 0, len(text), False, -2
    while at < end:
        if not is_inside:
            stop = text.find('"', at)
            stop = end if stop < 0 else stop
            out.append(_without_comments(text[at:stop]))
            if stop < end:
                out.append('"')
            at, is_inside = stop + 1, True
            continue
        quote = text.find('"', at)
        if -1 != slash < at:  # looked for once only: a search from every quote would be quadratic
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


def _without_comments(text: str) -> str:
    """Step by step: a pattern would look for the end anew from each beginning."""
    kept, at = [], 0
    while (begin := text.find("/*", at)) >= 0:
        kept.append(text[at:begin])
        end = text.find("*/", begin + 2)
        if end < 0:
            return " ".join(kept)
        at = end + 2
    return " ".join((*kept, text[at:])) if kept else text


def _close(text: str) -> str:
    """What was opened and not closed is closed, what was closed and not opened is dropped."""
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
