"""The sentences pages are made of: one file per language in `text/`, combined by the seed."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from forager_playground.seeded import number, pick_many

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "ru", "ja")


@dataclass(frozen=True, slots=True)
class Language:
    code: str
    name: str
    home: str
    archive: str
    tags: str
    older: str
    newer: str
    topics: tuple[str, ...]
    titles: tuple[str, ...]
    sentences: tuple[str, ...]

    def paragraph(self, sentences: int, *key: object) -> str:
        glue = "" if self.code == "ja" else " "
        return glue.join(pick_many(self.sentences, sentences, self.code, *key))

    def paragraphs(self, count: int, *key: object) -> list[str]:
        return [self.paragraph(3 + number(3, "length", n, *key), n, *key) for n in range(count)]


@cache
def load_language(code: str) -> Language:
    text = files("forager_playground").joinpath("text", f"{code}.toml").read_text(encoding="utf-8")
    content: dict[str, Any] = tomllib.loads(text)
    for name in ("topics", "titles", "sentences"):
        content[name] = tuple(content[name])
    return Language(code, **content)


def english() -> Language:
    return load_language("en")
