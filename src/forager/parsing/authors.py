"""Cleans names of people as pages write them."""

import re

from forager.parsing.clean import collapse

LONGEST_AUTHOR = 200
NOBODY = frozenset(
    {"admin", "administrator", "root", "webmaster", "editor", "user", "unknown", "none", "null", "author"}
)
BY = re.compile(
    r"^(?:(?:written|posted|published|created|recipe|story|text|words|submitted|reported|article|reporting|geschrieben|"
    r"geschreven|escrito|écrit|scritto|verfasst|publié|publicado|rezept|recept|receta|recette|ricetta)\s+(?:\w+\s+)?"
    r"(?:by|von|van|door|par|por|de|di|da)\s"
    r"|(?:by|por|door|av|af|od|от|yazan)(?:\s*:\s*|\s+)"
    r"|(?:von|par|di|da)\s*:\s*|(?-i:von|par|di|da)\s+"
    r"|(?:von|par|di|da)\s+(?!(?:der|den|dem|de|di|la)\b)(?=[^\s,&]+\s+(?!(?:and|und|et|y|e|en)\b)[^\W\d_])"
    r"|(?:authors?|autore?s?|autora|auteurs?|автор|writer|written by|skribent|redaktør)(?:\s*[:：]\s*|\s+)"
    r"|(?:text|words|story|foto|作者|著者|記者|文)\s*[:：/]\s*)",
    re.IGNORECASE,
)
"""With a capital, "Da Chen" and "Von Miller" are names, but "Von Anna Schmidt" is not: there two words follow."""
FIRST_NAMES = ("Da ", "Di ")
"""For values that markup declares as a person: "Da Wei Zhang". "Von Anna Schmidt" occurs there too; "Von" is not a
first name."""


def clean_author(text: str | None, *, is_person: bool = False) -> str | None:
    """Returns a name without "by"; None for a URL, a handle or a text that names no person. `is_person`: markup
    declares it as a name."""
    name = collapse(text, LONGEST_AUTHOR)
    if name is None or name.startswith(("http://", "https://", "/", "@")):
        return None
    if not (is_person and name.startswith(FIRST_NAMES)):
        name = BY.sub("", name)
    name = name.strip(" ,|·-:")
    return None if not name or name.lower() in NOBODY or name.isdecimal() else name
