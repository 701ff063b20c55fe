"""A memory of what PostgreSQL makes of words, so that it need not parse and stem the same ones on every page.

Words of pages repeat, and `to_tsvector` was three fifths of what a page cost the database. It is asked once for each
word, which need not be one to it: `e-mail` has three lexemes, `the` none. Its answers are put together here as
`to_tsvector`, `setweight` and `||` do it, to the letter, so a query finds the same pages either way. Losing the memory
loses nothing. Only tags go over spaces, and a sign like `~` is another at the beginning than behind a space: where
there may be one, and in texts without end, PostgreSQL does it all.

It is asked for many words in one text. A word of plain letters takes one position of it, whatever becomes of it; behind
others stands a mark, a number of their own, that shows how many positions they take.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from struct import pack

from forager.db import statements
from forager.db.types import Connection
from forager.frontier import compiled
from forager.frontier.compiled import Hear, Heard, Recall, Weave
from forager.parsing.models import Keywords

SQL = statements.load("forager.frontier", "lexemes.sql")
REMEMBERED = 50_000
"""Words kept per generation, about 200 bytes each; at most two generations live."""
LONGEST_REMEMBERED = 40
MOST_WORDS = 4000
"""Of a page; positions end at 16,383, and a word may take several."""
LAST_PLACE = 16_383
"""PostgreSQL counts no further."""
MOST_PLACES = 250
"""Of a lexeme in one page: PostgreSQL leaves out those behind the 255th."""
ASKED_TOGETHER = 200
"""Words in one text: a lexeme has no more positions than that."""
FIRST_MARK = 7_770_000
"""A number is itself in every configuration."""
LETTERS = re.compile(r"[(\"']{0,2}([A-Za-z]{1,40})[,;:!?)\"']?\.?[,;:!?)\"']?")
"""A word of plain letters, and the signs around it that change nothing; neither does the size of its letters."""
LEXEME = re.compile(r"'((?:[^'\\]|''|\\\\)+)':([0-9,]+)")
"""In the text of a vector: as it stands in quotes, and its positions."""

PLAIN = ("", " ")
"""How a piece may begin besides, for its first word to be like others."""
STOP = b"\0"
"""Of a word that takes a position and has no lexeme; none has a zero."""
NOTHING: dict[str, Heard] = {}
WEIGHTS = (3 << 14, 2 << 14, 1 << 14, 0)
"""Of title, headings, description and text: two bits before the fourteen of a position."""
PLACE = (1 << 14) - 1


class Lexemes:
    """Of one worker."""

    def __init__(self) -> None:
        self._young: dict[str, dict[str, Heard]] = {}
        self._old: dict[str, dict[str, Heard]] = {}
        """Configuration → word → what was heard."""
        self._remembered = 0

    async def build_tsvectors(
        self, conn: Connection, pages: Sequence[tuple[str, Keywords | None]]
    ) -> list[bytes | None]:
        """The tsvector of each page, given its configuration, as PostgreSQL receives it; None where that makes it."""
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
        """By configuration, what was heard of words that are not young: the old ones, and those PostgreSQL is asked."""
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
    """The word PostgreSQL makes the same of, where this one is of plain letters."""
    match = LETTERS.fullmatch(word)
    return match[1].lower() if match else None


def lookup_in_python(
    words: dict[str, None], young: dict[str, Heard], old: dict[str, Heard]
) -> tuple[dict[str, Heard], dict[str, str], list[str]]:
    """What is remembered of words that are not young by themselves, but old, or by their core; of the others, those of
    plain letters, each with its core, and the odd ones."""
    known: dict[str, Heard] = {}
    cores: dict[str, str] = {}
    odd: list[str] = []
    for word in words:
        core = core_of(word)
        heard = old.get(word) or young.get(core or word) or old.get(core or word)  # no answer is empty
        if heard is not None:
            known[word] = heard
        elif core is not None:
            cores[word] = core
        else:
            odd.append(word)
    return known, cores, odd


async def query_lexemes(conn: Connection, texts: Sequence["Text"], answers: dict[str, dict[str, Heard]]) -> None:
    """What PostgreSQL makes of the words of texts goes into `answers`, by configuration."""
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
    """A text of words with a mark behind each."""

    def __init__(self, config: str, words: list[str]) -> None:
        self.config = config
        self.words = words
        marked = [f" {word} {mark}" for mark, word in enumerate(words, FIRST_MARK)]
        self.text = "".join(marked)

    def hear(self, vector: str) -> list[Heard] | None:
        return hear_marked(vector, len(self.words))


Text = Plain | Marked


def parse_plain_in_python(vector: str, words: int) -> list[Heard] | None:
    """What became of each word; None where a dictionary makes more than one word of some."""
    found: list[list[bytes]] = [[] for _ in range(words)]
    for lexeme, places in _read_vector(vector).items():
        for place in places:
            if place > words:
                return None
            found[place - 1].append(lexeme)
    return [_pack_lexemes(1, [(lexeme, 1) for lexeme in lexemes]) for lexemes in found]


def parse_marked_in_python(vector: str, words: int) -> list[Heard] | None:
    """What became of each word; None where one of them hides the marks, or has more lexemes than can be told from the
    others', and each has to be asked for alone."""
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
    """Lexeme → its positions."""
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
    """The tsvector of a page, from what was heard of its words; where some are in neither memory, these, as often as
    they occur; None where PostgreSQL has to look at the whole."""
    if any("<" in piece or not (piece[:1].isalnum() or piece[:1] in PLAIN) for piece in keywords):
        return None
    pieces = [piece.split(" ") for piece in keywords]
    if sum(map(len, pieces)) > MOST_WORDS:
        return None
    heard = [_lookup_cached(words, young, more) for words in pieces]
    strange = [
        word
        for words, answers in zip(pieces, heard, strict=True)
        if not all(answers)
        for word, answer in zip(words, answers, strict=True)
        if answer is None
    ]
    return strange or encode_tsvector(heard)  # type: ignore[arg-type]  # all were heard


def _lookup_cached(words: list[str], young: dict[str, Heard], more: dict[str, Heard]) -> list[Heard | None]:
    known: list[Heard | None] = list(map(young.get, words))
    if more and not all(known):  # four times as fast as `None in`: no answer is empty
        return [more.get(word) if heard is None else heard for word, heard in zip(words, known, strict=True)]
    return known


def encode_tsvector(pieces: Sequence[Sequence[Heard]]) -> bytes | None:
    """Each piece's positions go on where those of the pieces before end. None where that is too far, or a lexeme comes
    too often, or does not go forward."""
    found: dict[bytes, list[int]] = {}
    highest = 0
    for weight, heard in zip(WEIGHTS, pieces, strict=True):
        at = highest
        for answer in heard:
            if answer == STOP:
                at += 1
            elif isinstance(answer, bytes):
                at = highest = at + 1
                found.setdefault(answer, []).append(at | weight)
            else:
                takes, lexemes = answer
                if at + takes > MOST_WORDS:
                    return None
                for lexeme, place in lexemes:
                    found.setdefault(lexeme, []).append(at + place | weight)
                    highest = max(highest, at + place)
                at += takes
    if not all(len(places) <= MOST_PLACES and _is_sorted(places) for places in found.values()):
        return None
    return pack(">I", len(found)) + b"".join(
        b"%b\0%b" % (lexeme, pack(f">{len(places) + 1}H", len(places), *places))
        for lexeme, places in sorted(found.items())
    )


def _is_sorted(places: Sequence[int]) -> bool:
    return all(one & PLACE < other & PLACE for one, other in pairwise(places))


weave: Weave = compiled.weave or build_tsvector_in_python
recall: Recall = compiled.recall or lookup_in_python
hear_plain: Hear = compiled.hear_plain or parse_plain_in_python
hear_marked: Hear = compiled.hear_marked or parse_marked_in_python
