"""Templates: the common form of the URLs that one script serves. Pure; `repetition.py` decides which of them are traps.

    https://a.example/item/4711?colour=red
        narrow: https://a.example/item/{n}?colour        wide: https://a.example/item/{n}?…
    https://a.example/maze/left/right
        narrow: https://a.example/maze/left/right        wide: https://a.example/maze/…

Words are kept, other segments become {n} (a number), {id} (something with a digit) or {slug}. A parameter is kept by
its name. `pattern_of` returns the template as a regular expression that Python and PostgreSQL interpret alike.
"""

import re
from functools import lru_cache
from itertools import groupby

REST = "…"
"""Matches any remainder. Not ASCII, so it occurs in no URL."""
LONGEST_TEMPLATE = 500
"""Longer templates are ignored; they could not be the key of a row."""
_WORD = re.compile(r"[A-Za-z]{0,20}")
_NUMBER = re.compile(r"[0-9]+")
_DIGIT = re.compile(r"[0-9]")
_END = r"(?:[/?]|$)"
PLACES = {
    "{n}": r"[0-9]+",
    "{id}": rf"(?![0-9]+{_END})[^/?]*[0-9][^/?]*",
    "{slug}": rf"(?![A-Za-z]{{0,20}}{_END})[^/?0-9]+",
}


def templates_of(url: str) -> tuple[str, ...]:
    """Returns the narrow and the wide template; none for a home page, or where they would exceed the length limit."""
    path_at = url.index("/", 8)
    origin, (path, mark, query) = url[:path_at], url[path_at:].partition("?")
    segments = path[1:].split("/")
    if segments == [""] and not mark:
        return ()
    shapes = [_shape(segment) for segment in segments]
    narrow = f"{origin}/{'/'.join(shapes)}"
    if mark:
        wide = f"{narrow}?{REST}"
        names = [name for name, _ in groupby(piece.partition("=")[0] for piece in query.split("&"))]
        narrow = f"{narrow}?{'&'.join(names)}"
    else:
        wide = f"{origin}/{shapes[0]}/{REST}" if len(shapes) > 1 else f"{origin}/{REST}"
    return (narrow, wide) if len(narrow) <= LONGEST_TEMPLATE else ()


def is_prefix(template: str) -> bool:
    return template.endswith(REST)


def is_shared(template: str) -> bool:
    """Whether the template matches more than one URL."""
    return "{" in template or "?" in template


@lru_cache(maxsize=4096)
def pattern_of(template: str) -> str:
    """Returns a regular expression that matches the whole URL."""
    path_at = template.index("/", 8)
    path, mark, query = template[path_at + 1 :].partition("?")
    before = f"^{re.escape(template[:path_at])}/"
    if path == REST:
        return f"{before}[^/?]+$"
    if path.endswith(f"/{REST}"):
        return f"{before}{_pattern_of_segment(path.removesuffix(f'/{REST}'))}/[^?]*$"
    path_pattern = "/".join(map(_pattern_of_segment, path.split("/")))
    if not mark:
        return f"{before}{path_pattern}$"
    if query == REST:
        return rf"{before}{path_pattern}\?.*$"
    return rf"{before}{path_pattern}\?{'&'.join(map(_pattern_of_name, query.split('&')))}$"


@lru_cache(maxsize=4096)
def compiled(template: str) -> re.Pattern[str]:
    return re.compile(pattern_of(template))


def matches(template: str, url: str) -> bool:
    return compiled(template).match(url) is not None


def _shape(segment: str) -> str:
    if _WORD.fullmatch(segment):
        return segment
    if _NUMBER.fullmatch(segment):
        return "{n}"
    return "{id}" if _DIGIT.search(segment) else "{slug}"


def _pattern_of_segment(shape: str) -> str:
    return PLACES.get(shape, shape)


def _pattern_of_name(name: str) -> str:
    """Returns a pattern for one or more occurrences; in a normalised URL they are adjacent."""
    spelled = re.escape(name)
    return rf"{spelled}(?:=[^&]*)?(?:&{spelled}(?:=[^&]*)?)*"
