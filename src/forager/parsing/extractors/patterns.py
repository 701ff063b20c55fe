"""Checks of the expressions that a person writes into an extractor: each is compiled, and costly regexes are rejected.

Python's regex engine backtracks, and no dependency brings a linear one. So a repetition inside a repetition, which is
what makes it exponential, is rejected here; texts have a limit; and a page's extraction as a whole has one
(`time_limit`), which the engine heeds while it matches.
"""

import re
from functools import lru_cache
from typing import Any

import turbohtml

_parser: Any = re._parser  # noqa: SLF001 (the only parser of the engine's own syntax)
_constants: Any = re._constants  # noqa: SLF001
REPEATS = frozenset({_constants.MAX_REPEAT, _constants.MIN_REPEAT})
MANY = 16
"""A repetition with at most this many rounds is harmless inside another."""
MOST_DEPTH = 40
EMPTY = turbohtml.parse("<html></html>")
PSEUDO = re.compile(r"^(?P<css>.*?)::(?:(?P<text>text)|attr\(\s*(?P<name>[\w:.-]+)\s*\))\s*$", re.DOTALL)
"""`a::attr(href)`, `h1::text`, as in Scrapy."""


@lru_cache(1024)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compiles a regex; raises ValueError if it is invalid or could take exponential time."""
    try:
        if _has_nested_repeats(_parser.parse(pattern), 0, inside=False):
            raise ValueError("a repetition inside a repetition can take forever; write it without one of them")
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"it is no regular expression: {error}") from None


def _has_nested_repeats(parsed: Any, depth: int, *, inside: bool) -> bool:
    if depth > MOST_DEPTH:
        return True
    for operator, argument in parsed:
        is_long = operator in REPEATS and argument[1] > MANY
        if is_long and inside:
            return True
        for part in _parts(argument):
            if _has_nested_repeats(part, depth + 1, inside=inside or is_long):
                return True
    return False


def _parts(argument: Any) -> list[Any]:
    """Returns the patterns inside an operator's argument."""
    if isinstance(argument, _parser.SubPattern):
        return [argument]
    if isinstance(argument, tuple | list):
        return [part for each in argument for part in _parts(each)]
    return []


@lru_cache(1024)
def split_pseudo(css: str) -> tuple[str, str | None]:
    """Returns a selector without its `::text` or `::attr(name)`, and the attribute: `""` for text, None: neither."""
    if "::" not in css or (found := PSEUDO.match(css)) is None:
        return css, None
    return found["css"].strip() or ":scope", found["name"] or ""


def check_css(css: str) -> None:
    """Raises ValueError for a selector that cannot be parsed."""
    EMPTY.select(split_pseudo(css)[0])


def check_xpath(xpath: str) -> None:
    """Raises ValueError for an expression that cannot be parsed."""
    if xpath.count("//") > MOST_DEPTH or xpath.count("[") > MOST_DEPTH:
        raise ValueError("it has too many steps")
    EMPTY.xpath(xpath)
