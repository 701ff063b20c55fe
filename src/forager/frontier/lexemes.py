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

Heard = str | tuple[int, tuple[tuple[str, int], ...]]
"""A word's lexeme, as a tsvector spells it; or how many positions the word takes, and its lexemes, each with its own
among them."""
PLAIN = ("", " ")
"""How a piece may begin besides, for its first word to be like others."""
STOP = " "
"""Of a word that takes a position and has no lexeme; told from lexemes by identity."""
Word = tuple[str, str]
"""With its configuration."""
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
        asked = [(config, _split(keywords)) for config, keywords in pages]
        heard = [[self._recall(config, words) for words in pieces] for config, pieces in asked]
        # All is told from `None in` by being four times as fast: no answer is empty.
        strange = {
            (config, word): None
            for (config, pieces), answers in zip(asked, heard, strict=True)
            for words, known in zip(pieces, answers, strict=True)
            if not all(known)
            for word, answer in zip(words, known, strict=True)
            if answer is None
        }
        if strange:
            told = await ask(conn, list(strange))
            self._remember(told)
            for (config, pieces), answers in zip(asked, heard, strict=True):
                for words, known in zip(pieces, answers, strict=True):
                    if not all(known):
                        known[:] = [
                            told[config, word] if a is None else a for a, word in zip(known, words, strict=True)
                        ]
        return [spell(answers) if answers else None for answers in heard]  # type: ignore[arg-type]  # all were heard

    def _recall(self, config: str, words: list[str]) -> list[Heard | None]:
        young, old = self._young.get(config, {}), self._old.get(config, {})
        known: list[Heard | None] = list(map(young.get, words))
        if old and not all(known):
            again = {word: old[word] for word, heard in zip(words, known, strict=True) if heard is None and word in old}
            self._remember({(config, word): heard for word, heard in again.items()})
            known = [again.get(word) if heard is None else heard for word, heard in zip(words, known, strict=True)]
        return known

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


def _split(keywords: Keywords | None) -> list[list[str]]:
    """What stands between spaces, by weight; nothing where PostgreSQL has to look at the whole."""
    if keywords is None or any("<" in piece or not (piece[:1].isalnum() or piece[:1] in PLAIN) for piece in keywords):
        return []
    pieces = [piece.split(" ") for piece in keywords]
    return pieces if sum(map(len, pieces)) <= MOST_WORDS else []


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
