"""Caches the lexemes PostgreSQL produces for words, so that it need not parse and stem the same words on every page.

Words repeat between pages, and `to_tsvector` was three fifths of what a page cost the database. PostgreSQL is queried
once for each word, which need not be a single token: `e-mail` has three lexemes, `the` none. This module combines the
results exactly as `to_tsvector`, `setweight` and `||` do, so a query finds the same pages either way. Losing the cache
loses nothing. Only tags span spaces, and a character like `~` is parsed differently at the start of a text than after a
space: where one of these may occur, and for very long texts, PostgreSQL builds the whole tsvector.

Many words are queried in one text. A word of plain letters takes exactly one position of it; every other word is
followed by a marker, a unique number, which shows how many positions the word takes.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from struct import pack

from forager.db import statements
from forager.db.types import Connection
from forager.frontier import compiled
from forager.frontier.compiled import Hear, Heard, Recall, Weave
from forager.parsing.models import Keywords

SQL = statements.load("forager.frontier", "lexemes.sql")
REMEMBERED = 100_000
"""Words kept per generation, about 200 bytes each; at most two generations exist."""
LONGEST_REMEMBERED = 40
MOST_WORDS = 65_536
"""Limit per page: more than the largest `search_words` makes, in any script."""
LAST_PLACE = 16_383
"""The highest position that PostgreSQL stores; all words beyond it are there."""
PIECE_PLACES, PAGE_PLACES = 255, 256
"""Positions that PostgreSQL stores of a lexeme: in one text, and in texts that were joined."""
MOST_PLACES = 250
"""Positions of a lexeme up to which it is certain that none was dropped."""
ASKED_TOGETHER = 200
"""Words in one text: limits the positions of a lexeme."""
FIRST_MARK = 7_770_000
"""Markers are numbers, which every configuration leaves unchanged."""
LETTERS = re.compile(r"[(\"']{0,2}([A-Za-z]{1,40})[,;:!?)\"']?\.?[,;:!?)\"']?")
"""A word of plain letters, with surrounding punctuation that changes nothing; neither does the case of its letters."""
LEXEME = re.compile(r"'((?:[^'\\]|''|\\\\)+)':([0-9,]+)")
"""A lexeme in the text of a vector: as it is quoted, and its positions."""

PLAIN = ("", " ")
"""Other valid starts of a piece whose first word is parsed like any other."""
STOP = b"\0"
"""Sentinel for stop words: they advance the position but produce no lexeme; no lexeme contains a zero byte."""
NOTHING: dict[str, Heard] = {}
WEIGHTS = (3 << 14, 2 << 14, 1 << 14, 0)
"""Weights of title, headings, description and text: the two bits above the fourteen of a position."""
PLACE = (1 << 14) - 1


class Lexemes:
    """The lexeme cache of one worker."""

    def __init__(self) -> None:
        self._young: dict[str, dict[str, Heard]] = {}
        self._old: dict[str, dict[str, Heard]] = {}
        """Configuration → word → its lexemes."""
        self._remembered = 0

    async def build_tsvectors(
        self, conn: Connection, pages: Sequence[tuple[str, Keywords | None]]
    ) -> list[bytes | None]:
        """Returns the tsvector of each page, given its configuration, in the server's binary format; None where
        PostgreSQL has to build it."""
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

    async def _find_out(self, conn: Connection, strange: dict[str, dict[str, None]]) -> dict[str, dict[str, Heard]]:
        """Returns, by configuration, the lexemes of words that are not in the recent generation: from the old one, or
        from PostgreSQL."""
        found: dict[str, dict[str, Heard]] = {}
        cores: dict[str, dict[str, str]] = {}
        plain: list[Text] = []
        odd: list[Text] = []
        for config, words in strange.items():
            young, old = self._young.get(config, NOTHING), self._old.get(config, NOTHING)
            found[config], cores[config], others = recall(words, young, old)
            plain += [Plain(config, each) for each in _batches(list(dict.fromkeys(cores[config].values())))]
            odd += [Marked(config, each) for each in _batches(others)]
        if plain or odd:
            await query_lexemes(conn, [*plain, *odd], found)
        for config, alike in cores.items():
            known = found[config]
            known.update({word: known[core] for word, core in alike.items()})
        self._cache(found)
        return found

    def _cache(self, answers: dict[str, dict[str, Heard]]) -> None:
        for config, words in answers.items():
            short = {word: heard for word, heard in words.items() if len(word) <= LONGEST_REMEMBERED}
            self._young.setdefault(config, {}).update(short)
            self._remembered += len(short)
        if self._remembered > REMEMBERED:
            self._old, self._young, self._remembered = self._young, {}, 0


def core_of(word: str) -> str | None:
    """Returns the normalized form of a word of plain letters, for which PostgreSQL produces the same lexemes; else
    None."""
    match = LETTERS.fullmatch(word)
    return match[1].lower() if match else None


def lookup_in_python(
    words: dict[str, None], young: dict[str, Heard], old: dict[str, Heard]
) -> tuple[dict[str, Heard], dict[str, str], list[str]]:
    """Returns the cached lexemes of words that are in the old generation, or cached in their normalized form; of the
    others, the words of plain letters, each with its normalized form, and the remaining ones."""
    known: dict[str, Heard] = {}
    cores: dict[str, str] = {}
    odd: list[str] = []
    for word in words:
        core = core_of(word)
        heard = old.get(word) or young.get(core or word) or old.get(core or word)  # no entry is empty
        if heard is not None:
            known[word] = heard
        elif core is not None:
            cores[word] = core
        else:
            odd.append(word)
    return known, cores, odd


async def query_lexemes(conn: Connection, texts: Sequence["Text"], answers: dict[str, dict[str, Heard]]) -> None:
    """Queries PostgreSQL for the words of texts and adds their lexemes to `answers`, by configuration."""
    while texts:
        rows = await conn.fetch(SQL["lex"], [text.config for text in texts], [text.text for text in texts])
        alone: list[Text] = []
        for text, (vector,) in zip(texts, rows, strict=True):
            heard = text.hear(vector)
            if heard is None:
                alone += [Marked(text.config, [word]) for word in text.words]
            else:
                answers[text.config].update(zip(text.words, heard, strict=True))
        texts = alone


def _batches(words: list[str]) -> list[list[str]]:
    return [words[first : first + ASKED_TOGETHER] for first in range(0, len(words), ASKED_TOGETHER)]


class Plain:
    """A text of words that take one position each."""

    def __init__(self, config: str, words: list[str]) -> None:
        self.config = config
        self.words = words
        self.text = " ".join(words)

    def hear(self, vector: str) -> list[Heard] | None:
        return hear_plain(vector, len(self.words))


class Marked:
    """A text of words with a marker after each."""

    def __init__(self, config: str, words: list[str]) -> None:
        self.config = config
        self.words = words
        marked = [f" {word} {mark}" for mark, word in enumerate(words, FIRST_MARK)]
        self.text = "".join(marked)

    def hear(self, vector: str) -> list[Heard] | None:
        return hear_marked(vector, len(self.words))


Text = Plain | Marked


def parse_plain_in_python(vector: str, words: int) -> list[Heard] | None:
    """Returns the lexemes of each word; None if a dictionary splits a word into several."""
    found: list[list[bytes]] = [[] for _ in range(words)]
    for lexeme, places in _read_vector(vector).items():
        for place in places:
            if place > words:
                return None
            found[place - 1].append(lexeme)
    return [_pack_lexemes(1, [(lexeme, 1) for lexeme in lexemes]) for lexemes in found]


def parse_marked_in_python(vector: str, words: int) -> list[Heard] | None:
    """Returns the lexemes of each word; None if a word hides the markers, or has more lexemes than can be distinguished
    from those of other words. Each word has to be queried separately then."""
    places = _read_vector(vector)
    marks = [places.get(b"%d" % mark, []) for mark in range(FIRST_MARK, FIRST_MARK + words)]
    if words == 1:
        marks = [[max(max(found) for found in places.values())]]
    elif not all(len(mark) == 1 for mark in marks) or max(map(len, places.values())) > MOST_PLACES:
        return None
    ends = [mark[0] for mark in marks]
    starts = [0, *ends[:-1]]
    if words > 1 and (ends[-1] >= LAST_PLACE or any(end <= start for start, end in zip(starts, ends, strict=True))):
        return None
    found: list[list[tuple[bytes, int]]] = [[] for _ in ends]
    for lexeme, at in places.items():
        for place in at:
            if place > ends[-1]:
                return None
            number = bisect_left(ends, place)
            if place < ends[number]:
                found[number].append((lexeme, place - starts[number]))
    return [_pack_lexemes(end - start - 1, parts) for start, end, parts in zip(starts, ends, found, strict=True)]


def _read_vector(vector: str) -> dict[bytes, list[int]]:
    """Returns lexeme → positions."""
    return {
        quoted.replace("''", "'").replace("\\\\", "\\").encode(): [int(place) for place in places.split(",")]
        for quoted, places in LEXEME.findall(vector)
    }


def _pack_lexemes(takes: int, lexemes: Sequence[tuple[bytes, int]]) -> Heard:
    if takes == 1 and len(lexemes) < 2:
        return lexemes[0][0] if lexemes else STOP
    return takes, tuple(lexemes)


def build_tsvector_in_python(
    keywords: Keywords, young: dict[str, Heard], more: dict[str, Heard]
) -> bytes | list[str] | None:
    """Returns the tsvector of a page, built from the cached lexemes of its words; the list of missing words,
    if some are not cached; None if PostgreSQL has to process the whole page."""
    if any("<" in piece or not (piece[:1].isalnum() or piece[:1] in PLAIN) for piece in keywords):
        return None
    pieces = [piece.split(" ") for piece in keywords]
    if sum(map(len, pieces)) > MOST_WORDS:
        return None
    heard = [_lookup_cached(words, young, more) for words in pieces]
    strange = {
        word: None
        for words, answers in zip(pieces, heard, strict=True)
        if not all(answers)
        for word, answer in zip(words, answers, strict=True)
        if answer is None
    }
    return list(strange) or encode_tsvector(heard)  # type: ignore[arg-type]  # all were heard


def _lookup_cached(words: list[str], young: dict[str, Heard], more: dict[str, Heard]) -> list[Heard | None]:
    known: list[Heard | None] = list(map(young.get, words))
    if more and not all(known):  # four times as fast as `None in`: no entry is empty
        return [more.get(word) if heard is None else heard for word, heard in zip(words, known, strict=True)]
    return known


def encode_tsvector(pieces: Sequence[Sequence[Heard]]) -> bytes | None:
    """Encodes a tsvector. The positions of each piece continue those of the piece before. Returns None if the positions
    of a lexeme do not increase, in which case PostgreSQL sorts them."""
    found: dict[bytes, list[int]] = {}
    for weight, heard in zip(WEIGHTS, pieces, strict=True):
        local = _place(heard)
        if local is None:
            return None
        base = max((places[-1] & PLACE for places in found.values()), default=0)
        for lexeme, places in local.items():
            known = found.setdefault(lexeme, [])
            for place in places:
                if len(known) < PAGE_PLACES and not (known and known[-1] & PLACE == LAST_PLACE):
                    known.append(min(place + base, LAST_PLACE) | weight)
    return pack(">I", len(found)) + b"".join(
        b"%b\0%b" % (lexeme, pack(f">{len(places) + 1}H", len(places), *places))
        for lexeme, places in sorted(found.items())
    )


def _place(heard: Sequence[Heard]) -> dict[bytes, list[int]] | None:
    """Returns lexeme → its positions in one text, as many as `to_tsvector` stores; None if they do not increase."""
    found: dict[bytes, list[int]] = {}
    at = 0
    for answer in heard:
        takes, lexemes = (1, ((answer, 1),)) if isinstance(answer, bytes) else answer
        for lexeme, place in lexemes if answer != STOP else ():
            places, local = found.setdefault(lexeme, []), min(at + place, LAST_PLACE)
            if places and local < places[-1]:
                return None
            if len(places) < PIECE_PLACES and not (places and local == places[-1]):
                places.append(local)
        at = min(at + takes, LAST_PLACE)
    return found


weave: Weave = compiled.weave or build_tsvector_in_python
recall: Recall = compiled.recall or lookup_in_python
hear_plain: Hear = compiled.hear_plain or parse_plain_in_python
hear_marked: Hear = compiled.hear_marked or parse_marked_in_python
