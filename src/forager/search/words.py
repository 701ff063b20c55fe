"""Parses a search query as typed by a user. Pure; every text is a valid query.

All words must match; "words in quotes" match as a phrase; a minus excludes; OR, in capitals, joins its two neighbours;
`title:`, `url:`, `site:`, `language:`, `date:`, `since:` and `until:` say where; they can be excluded and joined too.
Excess words are ignored: results for a thousand words are of no use.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from forager.search.dates import read_span
from forager.search.url_words import url_parts

MOST_WORDS = 32
LONGEST_WORD = 100
LONGEST_QUERY = 4000

QUOTES = str.maketrans("“”„‟«»", '""""""')
TOKEN = re.compile(r'(-?)((?:(?<![^\s-])[A-Za-z]+:)?)(?:"([^"]*)"?|([^\s"]+))')
WORD = re.compile(r"\w+")
LANGUAGE = re.compile(r"[A-Za-z0-9]{1,8}(?:[-_][A-Za-z0-9]{1,8}){0,4}")
ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""Whether a text is a date does not depend on the time."""


class Field(StrEnum):
    TEXT = ""
    TITLE = "title"
    URL = "url"
    SITE = "site"
    LANGUAGE = "language"
    DATE = "date"
    SINCE = "since"
    UNTIL = "until"


DATES = frozenset({Field.DATE, Field.SINCE, Field.UNTIL})
FIELDS: Mapping[str, Field] = {**{field.value: field for field in Field if field}, "lang": Field.LANGUAGE}
IS_VALID: Mapping[Field, Callable[[str], object]] = {
    Field.TITLE: WORD.search,
    Field.URL: url_parts,
    Field.SITE: WORD.search,
    Field.LANGUAGE: LANGUAGE.fullmatch,
    **{field: lambda text, field=field: read_span(field.value, text, ANY_TIME) for field in DATES},  # type: ignore[misc]
}


@dataclass(frozen=True, slots=True)
class Leaf:
    """A word or a phrase, or a value that a page must have."""

    text: str
    is_phrase: bool = False
    field: Field = Field.TEXT

    @property
    def is_text(self) -> bool:
        """Whether it is looked up among the words of a page."""
        return self.field in {Field.TEXT, Field.TITLE}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Every group must match with at least one of its leaves; no unwanted leaf may match."""

    groups: tuple[tuple[Leaf, ...], ...] = ()
    unwanted: tuple[Leaf, ...] = ()
    is_cut: bool = False
    """The query was longer than the limit and was truncated."""
    problems: tuple[str, ...] = ()
    """What looks like `date:` with a value that is none, as typed; it is searched as words."""

    @property
    def leaves(self) -> list[Leaf]:
        return [*(leaf for group in self.groups for leaf in group), *self.unwanted]

    @property
    def terms(self) -> list[Leaf]:
        """Returns the leaves that are looked up among the words of a page."""
        return [leaf for leaf in self.leaves if leaf.is_text]

    @property
    def filters(self) -> list[Leaf]:
        return [leaf for leaf in self.leaves if not leaf.is_text]


def parse(text: str) -> Wanted:
    clean = text.replace("\0", " ").encode(errors="replace").decode()
    groups: list[tuple[Leaf, ...]] = []
    unwanted: list[Leaf] = []
    problems: list[str] = []
    is_joined = False
    count = 0
    for is_minus, leaf, problem in _parse_tokens(clean[:LONGEST_QUERY].translate(QUOTES)):
        if problem:
            problems.append(problem)
        if leaf is None:
            is_joined = bool(groups)
            continue
        count += len(leaf.text.split())
        if count > MOST_WORDS:
            break
        if is_minus:
            unwanted.append(leaf)
        elif is_joined:
            groups[-1] = (*groups[-1], leaf)
        else:
            groups.append((leaf,))
        is_joined = False
    is_cut = count > MOST_WORDS or len(clean) > LONGEST_QUERY
    return Wanted(tuple(dict.fromkeys(groups)), tuple(dict.fromkeys(unwanted)), is_cut, tuple(dict.fromkeys(problems)))


def _parse_tokens(text: str) -> Iterator[tuple[bool, Leaf | None, str | None]]:
    """Yields whether a minus precedes the leaf, and the leaf, None for OR; and what could not be a field's value."""
    for minus, name, phrase, word in TOKEN.findall(text):
        if word in {"OR", "|"} and not minus and not name:
            yield False, None, None
            continue
        is_minus = bool(minus) or (word.startswith("-") and not name)
        value = phrase or word
        field, problem = FIELDS.get(name[:-1].lower(), Field.TEXT) if name else Field.TEXT, None
        if field and not IS_VALID[field](value):
            field, problem = Field.TEXT, f"{name}{value}"[:LONGEST_WORD]
        if name and not field:
            value = f"{name}{value}"
        if field and field is not Field.TITLE:
            yield is_minus, Leaf(" ".join(value.split())[:LONGEST_WORD], field=field), None
            continue
        words = [each[:LONGEST_WORD] for each in value.split() if WORD.search(each)]
        if words:
            yield is_minus, Leaf(" ".join(words[: MOST_WORDS + 1]), is_phrase=len(words) > 1, field=field), problem
