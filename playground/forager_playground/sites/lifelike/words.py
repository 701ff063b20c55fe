"""Text with a vocabulary of real size: the playground's sentences, with words put together from halves of theirs."""

import re
from dataclasses import dataclass
from functools import cache

from forager_playground.language import load_language
from forager_playground.seeded import Draws

POOL = 1500
"""Sentences of a language; pages draw from them."""
INVENTED = 6000
WORD = re.compile(r"\w{4,}")
ENTITIES = ("&nbsp;", "&amp;", "&#8217;", "&#8220;", "&ndash;", "&quot;")
SIGNS = (" – ", " “", "’s ", "… ", " • ", " → ", "\u00a0", " 😋 ")
"""Nearly every real page has some: most of them leave Latin-1, and some the basic plane."""


@dataclass(frozen=True, slots=True)
class Words:
    code: str
    sentences: tuple[str, ...]
    """Escaped, with some entities, as they stand in HTML."""
    names: tuple[str, ...]
    """Single words with a capital, for labels."""

    def text(self, draws: Draws, sentences: int) -> str:
        glue = "" if self.code == "ja" else " "
        return glue.join(draws.some(self.sentences, sentences))

    def label(self, draws: Draws, words: int = 2) -> str:
        return " ".join(draws.some(self.names, words))


@cache
def load_words(code: str, seed: int) -> Words:
    language, draws = load_language(code), Draws(seed, "words", code)
    known = sorted({word.lower() for sentence in language.sentences for word in WORD.findall(sentence)})
    invented = [_generate_word(draws, known) for _ in range(INVENTED)] if code != "ja" else known
    sentences = tuple(_replace_words(draws, draws.pick(language.sentences), invented) for _ in range(POOL))
    names = tuple(dict.fromkeys(word.capitalize() for word in [*language.topics, *known, *invented[:600]]))
    return Words(code, sentences, names)


def _generate_word(draws: Draws, known: list[str]) -> str:
    """The first half of one word and the second of another: letters in the frequencies of the language."""
    first, second = draws.pick(known), draws.pick(known)
    return first[: (len(first) + 1) // 2] + second[len(second) // 2 :]


def _replace_words(draws: Draws, sentence: str, invented: list[str]) -> str:
    """Some words replaced, the frequent ones of the invented more often: a page then has hundreds of different ones."""

    def replace(found: re.Match[str]) -> str:
        if not draws.chance(0.3):
            return found.group()
        word = invented[int(len(invented) * draws.share() ** 3)]
        return word.capitalize() if found.group()[0].isupper() else word

    varied = WORD.sub(replace, sentence)
    if draws.chance(0.9):
        varied = varied.replace(" ", draws.pick(ENTITIES) if draws.chance(0.8) else f" {draws.between(2, 2400)} ", 1)
    if draws.chance(0.25):
        varied = varied.replace(" ", SIGNS[int(len(SIGNS) * draws.share() ** 2)], 1)
    return varied
