"""Names of people, as pages write them."""

import re

from forager.extract.clean import collapse

LONGEST_AUTHOR = 200
NOBODY = frozenset(
    {"admin", "administrator", "root", "webmaster", "editor", "user", "unknown", "none", "null", "author"}
)
BY = re.compile(
    r"^(?:(?:written|posted|published|created|recipe|story|text|words|submitted|reported|article|reporting|geschrieben|"
    r"geschreven|escrito|écrit|scritto|verfasst|publié|publicado|rezept|recept|receta|recette|ricetta)\s+(?:\w+\s+)?"
    r"(?:by|von|van|door|par|por|de|di|da)\s"
    r"|(?:by|von|par|por|di|da|door|av|af|od|от|yazan)(?:\s*:\s*|\s+)"
    r"|(?:authors?|autore?s?|autora|auteurs?|автор|writer|written by|skribent|redaktør)(?:\s*[:：]\s*|\s+)"
    r"|(?:text|words|story|foto|作者|著者|記者|文)\s*[:：/]\s*)",
    re.IGNORECASE,
)


def clean_author(text: str | None) -> str | None:
    """A name without "by"; None for what is an address, a handle or nobody."""
    name = collapse(text, LONGEST_AUTHOR)
    if name is None or name.startswith(("http://", "https://", "/", "@")):
        return None
    name = BY.sub("", name).strip(" ,|·-:")
    return None if not name or name.lower() in NOBODY or name.isdecimal() else name
