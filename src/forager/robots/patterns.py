"""Does a robots.txt path pattern match a path? RFC 9309 §2.2.2–2.2.3: octets are compared, `*` is any run of them,
a final `$` is the end. Linear in the path: pieces between stars are looked up one after the other, nothing backtracks.
"""

import re
from dataclasses import dataclass

from forager.urls.normalize import ESCAPE, SPELLINGS

# Everything but unreserved characters and those delimiters whose escaped form means something else (RFC 3986 §2.2).
# Quotes and brackets belong to neither: browsers disagree on them, so both spellings are one.
TO_SPELL = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9_.~/?:@!&()+,;=%-]")
NOT_ASCII = re.compile("[\x80-\xff]")
AUTHORITY = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#;]*")
URL_IN_QUERY = re.compile("[:/]|%2F|%3A")
INDEX_PAGE = re.compile(r"(.*/)index\.htm[^/]*")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern taken apart at its stars. `octets` is how specific it is."""

    head: str
    middle: tuple[str, ...]
    tail: str | None
    """What follows the last star; None when there is no star."""
    is_anchored: bool
    octets: int
    opens_query: bool = False
    """Compare with `open_query(path)` instead of the path."""

    @property
    def matches_all(self) -> bool:
        """Every path starts with a slash."""
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
    """From a rule's value whose octets outside ASCII are already escaped."""
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
    """The pattern, and the other ways in which the same rule may be met."""
    found = [compile_pattern(text)]
    if URL_IN_QUERY.search(text.partition("?")[2]):
        found.append(compile_pattern(open_query(text), opens_query=True))
    if is_allow and (index := INDEX_PAGE.fullmatch(text)):
        # As Google's parser does: who allows a folder's index page allows the folder's own address.
        found.append(compile_pattern(index[1] + "$"))
    return found


def escape_octets(raw: bytes) -> str:
    """Text with everything outside ASCII escaped and needless escapes undone; what specificity is counted on."""
    text = NOT_ASCII.sub(lambda match: f"%{ord(match.group()):02X}", raw.decode("latin-1"))
    return ESCAPE.sub(lambda match: SPELLINGS[match.group()], text) if "%" in text else text


def normalize_path(text: str) -> str:
    """The one spelling in which rules and paths are compared. A literal `*` or `$` is an escape here."""
    return TO_SPELL.sub(_encode_match, text)


def path_of(url: str) -> str:
    """Path and query of a URL, spelled for comparing."""
    match = AUTHORITY.match(url)
    rest = (url[match.end() :] if match else url).partition("#")[0]
    return normalize_path(rest if rest.startswith("/") else "/" + rest)


def open_query(text: str) -> str:
    """The same with `:` and `/` of the query unescaped: RFC 9309's table lets `?u=https://x` and `?u=https%3A%2F%2Fx`
    match each other, while in a path `%2F` is no slash."""
    path, mark, query = text.partition("?")
    return path + mark + query.replace("%2F", "/").replace("%3A", ":") if mark else text


def _encode_match(match: re.Match[str]) -> str:
    found = match.group()
    if len(found) == 3:
        return SPELLINGS[found]
    return "".join([f"%{octet:02X}" for octet in found.encode("utf-8", "replace")])
