"""A memory of what PostgreSQL makes of words, so that it need not parse and stem the same ones on every page.

Words of pages repeat, and `to_tsvector` was three fifths of what a page cost the database. It is asked once for each
word, which need not be one to it: `e-mail` has three lexemes, `the` none. Its answers are put together here as
`to_tsvector`, `setweight` and `||` do it, to the letter, so a query finds the same pages either way. Losing the memory
loses nothing. Only tags go over spaces, and a sign like `~` is another at the beginning than behind a space: where
there may be one, and in texts without end, PostgreSQL does it all.
"""

from collections.abc import Sequence
from typing import Any

from forager.db import statements
from forager.frontier import compiled
from forager.frontier.compiled import Heard, Weave
from forager.records import Keywords

SQL = statements.load("forager.frontier", "lexemes.sql")
REMEMBERED = 50_000
"""Words kept per generation, about 200 bytes each; at most two generations live."""
LONGEST_REMEMBERED = 40
MOST_WORDS = 4000
"""Of a page; positions end at 16,383, and a word may take several."""
MOST_PLACES = 250
"""Of a lexeme in one page: PostgreSQL leaves out those behind the 255th."""
MARK = "7777777"
"""A number is itself in every configuration."""

PLAIN = ("", " ")
"""How a piece may begin besides, for its first word to be like others."""
STOP = " "
"""Of a word that takes a position and has no lexeme; told from lexemes by identity."""
Word = tuple[str, str]
"""With its configuration."""
NOTHING: dict[str, Heard] = {}
PLACES = tuple(tuple(f"{place}{weight}" for place in range(MOST_WORDS * 2 + 1)) for weight in ("A", "B", "C", ""))
"""Positions as a tsvector spells them, by weight: title, headings, description, text."""


class Lexemes:
    """Of one worker."""

    def __init__(self) -> None:
        self._young: dict[str, dict[str, Heard]] = {}
        self._old: dict[str, dict[str, Heard]] = {}
        """Configuration → word → what was heard."""
        self._remembered = 0

    async def spell(self, conn: Any, pages: Sequence[tuple[str, Keywords | None]]) -> list[str | None]:
        """The tsvector of each page, given its configuration, as text; None where PostgreSQL has to make it."""
        young = {config: self._young.get(config, NOTHING) for config, _ in pages}
        woven = [None if keywords is None else weave(keywords, young[config], NOTHING) for config, keywords in pages]
        strange: dict[str, dict[str, None]] = {}
        for (config, _), made in zip(pages, woven, strict=True):
            if isinstance(made, list):
                strange.setdefault(config, {}).update(dict.fromkeys(made))
        if strange:
            more = await self._find_out(conn, strange)
            woven = [
                weave(keywords, young[config], more[config])
                if keywords is not None and isinstance(made, list)
                else made
                for (config, keywords), made in zip(pages, woven, strict=True)
            ]
        return [None if isinstance(made, list) else made for made in woven]

    async def _find_out(self, conn: Any, strange: dict[str, dict[str, None]]) -> dict[str, dict[str, Heard]]:
        """By configuration, what was heard of words that are not young: the old ones, and those PostgreSQL is asked."""
        found = {config: {w: old[w] for w in words if w in old} for config, words, old in self._with_old(strange)}
        asked = [(config, word) for config, words in strange.items() for word in words if word not in found[config]]
        if asked:
            for (config, word), heard in (await ask(conn, asked)).items():
                found[config][word] = heard
        self._remember({(config, word): heard for config, words in found.items() for word, heard in words.items()})
        return found

    def _with_old(self, strange: dict[str, dict[str, None]]) -> list[tuple[str, dict[str, None], dict[str, Heard]]]:
        return [(config, words, self._old.get(config, NOTHING)) for config, words in strange.items()]

    def _remember(self, answers: dict[Word, Heard]) -> None:
        for (config, word), heard in answers.items():
            if len(word) <= LONGEST_REMEMBERED:
                self._young.setdefault(config, {})[word] = heard
                self._remembered += 1
        if self._remembered > REMEMBERED:
            self._old, self._young, self._remembered = self._young, {}, 0


async def ask(conn: Any, words: Sequence[Word]) -> dict[Word, Heard]:
    rows = await conn.fetch(SQL["lex"], [config for config, _ in words], [word for _, word in words], MARK)
    found: list[list[tuple[str, list[int]]]] = [[] for _ in words]
    for number, lexeme, positions in rows:
        found[number - 1].append((lexeme, positions))
    return {word: _hear(lexemes) for word, lexemes in zip(words, found, strict=True)}


def _hear(lexemes: Sequence[tuple[str, Sequence[int]]]) -> Heard:
    """The mark has the last position."""
    last = max(max(positions) for _, positions in lexemes)
    parts = tuple((quote(lexeme), place) for lexeme, positions in lexemes for place in positions if place < last)
    if last == 2 and len(parts) < 2:
        return parts[0][0] if parts else STOP
    return last - 1, parts


def quote(lexeme: str) -> str:
    doubled = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{doubled}':"


def weave_in_python(keywords: Keywords, young: dict[str, Heard], more: dict[str, Heard]) -> str | list[str] | None:
    """The tsvector of a page, from what was heard of its words; where some are in neither memory, these, as often as
    they occur; None where PostgreSQL has to look at the whole."""
    if any("<" in piece or not (piece[:1].isalnum() or piece[:1] in PLAIN) for piece in keywords):
        return None
    pieces = [piece.split(" ") for piece in keywords]
    if sum(map(len, pieces)) > MOST_WORDS:
        return None
    heard = [_recall(words, young, more) for words in pieces]
    strange = [
        word
        for words, answers in zip(pieces, heard, strict=True)
        if not all(answers)
        for word, answer in zip(words, answers, strict=True)
        if answer is None
    ]
    return strange or spell(heard)  # type: ignore[arg-type]  # all were heard


def _recall(words: list[str], young: dict[str, Heard], more: dict[str, Heard]) -> list[Heard | None]:
    known: list[Heard | None] = list(map(young.get, words))
    if more and not all(known):  # four times as fast as `None in`: no answer is empty
        return [more.get(word) if heard is None else heard for word, heard in zip(words, known, strict=True)]
    return known


def spell(pieces: Sequence[Sequence[Heard]]) -> str | None:
    """Each piece's positions go on where those of the pieces before end."""
    found: dict[str, str] = {}
    highest = 0
    for places, heard in zip(PLACES, pieces, strict=True):
        at = highest
        for answer in heard:
            if answer is STOP:
                at += 1
            elif isinstance(answer, str):
                at = highest = at + 1
                found[answer] = f"{found[answer]},{places[at]}" if answer in found else answer + places[at]
            else:
                takes, lexemes = answer
                if at + takes > MOST_WORDS:
                    return None
                for lexeme, place in lexemes:
                    spelled = places[at + place]
                    found[lexeme] = f"{found[lexeme]},{spelled}" if lexeme in found else lexeme + spelled
                    highest = max(highest, at + place)
                at += takes
    if sum(map(len, pieces)) > MOST_PLACES and any(spelled.count(",") > MOST_PLACES for spelled in found.values()):
        return None
    return " ".join(found.values())


weave: Weave = compiled.weave or weave_in_python
