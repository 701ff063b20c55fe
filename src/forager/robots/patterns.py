"""Matches robots.txt path patterns. RFC 9309 §2.2.2–2.2.3: octets are compared, `*` matches any sequence, a final `$`
matches the end. Linear in the path: the parts between stars are searched in order, without backtracking."""

import re
from dataclasses import dataclass

from forager.urls.normalize import ESCAPE, SPELLINGS

SPELLINGS_OF_RULES = {**SPELLINGS, "%2A": "%2A", "%2a": "%2A"}
"""As of URLs, but a star of a rule that is escaped is no wildcard."""

# Everything but unreserved characters and those delimiters whose escaped form means something else (RFC 3986 §2.2).
# Quotes and brackets belong to neither: browsers disagree on them, so both spellings are equal.
TO_SPELL = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9_.~/?:@!&()+,;=%-]")
NOT_ASCII = re.compile("[\x80-\xff]")
AUTHORITY = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#;]*")
URL_IN_QUERY = re.compile("[:/]|%2F|%3A")
INDEX_PAGE = re.compile(r"(.*/)index\.htm[^/]*")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern split at its stars. `octets` is its specificity."""

    head: str
    middle: tuple[str, ...]
    tail: str | None
    """The part after the last star; None without a star."""
    is_anchored: bool
    octets: int
    opens_query: bool = False
    """Compare with `open_query(path)` instead of the path."""

    @property
    def matches_all(self) -> bool:
        """Whether the pattern matches every path; every path starts with a slash."""
        return self.head in {"", "/"} and not self.middle and not self.tail and self.is_open_ended

    @property
    def is_open_ended(self) -> bool:
        return not self.is_anchored or self.tail == ""

    def matches(self, path: str) -> bool:
        if not path.startswith(self.head):
            return False
        if self.tail is None:
            return not self.is_anchored or len(path) == len(self.head)
        at = len(self.head)
        for piece in self.middle:
            at = path.find(piece, at)
            if at < 0:
                return False
            at += len(piece)
        if self.is_anchored:
            return len(path) - len(self.tail) >= at and path.endswith(self.tail)
        return path.find(self.tail, at) >= 0


def compile_pattern(text: str, *, opens_query: bool = False) -> Pattern:
    """Compiles the value of a rule whose non-ASCII octets are already escaped."""
    body = text.removesuffix("$")
    pieces = [normalize_path(piece) for piece in body.split("*")]
    return Pattern(
        head=pieces[0],
        middle=tuple(piece for piece in pieces[1:-1] if piece),
        tail=pieces[-1] if len(pieces) > 1 else None,
        is_anchored=body != text,
        octets=len(text),
        opens_query=opens_query,
    )


def compile_variants(text: str, *, is_allow: bool) -> list[Pattern]:
    """Returns the pattern, and variants that the same rule also matches."""
    found = [compile_pattern(text)]
    if URL_IN_QUERY.search(text.partition("?")[2]):
        found.append(compile_pattern(open_query(text), opens_query=True))
    if is_allow and (index := INDEX_PAGE.fullmatch(text)):
        # As in Google's parser: a rule that allows a folder's index page also allows the folder's own URL.
        found.append(compile_pattern(index[1] + "$"))
    return found


def escape_octets(raw: bytes) -> str:
    """Returns text with non-ASCII octets escaped and unnecessary escapes decoded; specificity is counted on it."""
    text = NOT_ASCII.sub(lambda match: f"%{ord(match.group()):02X}", raw.decode("latin-1"))
    return ESCAPE.sub(lambda match: SPELLINGS_OF_RULES[match.group()], text) if "%" in text else text


def normalize_path(text: str) -> str:
    """Returns the spelling in which rules and paths are compared. A literal `*` or `$` is escaped in it."""
    return TO_SPELL.sub(_encode_match, text)


def path_of(url: str) -> str:
    """Returns path and query of a URL in the spelling used for comparison."""
    match = AUTHORITY.match(url)
    rest = (url[match.end() :] if match else url).partition("#")[0]
    return normalize_path(rest if rest.startswith("/") else "/" + rest)


def open_query(text: str) -> str:
    """Returns the text with `:` and `/` of the query unescaped: RFC 9309's table lets `?u=https://x` and
    `?u=https%3A%2F%2Fx` match each other, while in a path `%2F` is not a slash."""
    path, mark, query = text.partition("?")
    return path + mark + query.replace("%2F", "/").replace("%3A", ":") if mark else text


def _encode_match(match: re.Match[str]) -> str:
    found = match.group()
    if len(found) == 3:
        return SPELLINGS_OF_RULES[found]
    return "".join([f"%{octet:02X}" for octet in found.encode("utf-8", "replace")])
