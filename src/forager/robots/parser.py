"""Parses the lines of a robots.txt into groups. Never raises, whatever the bytes.

Accepts what real files contain and Google's parser accepts: any line ending, a byte order mark, missing colons, common
misspellings. Lines that RFC 9309 does not define never close a group.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto

MAX_BYTES = 500 * 1024
"""RFC 9309 §2.5: the minimum a crawler must parse. The rest is ignored, including the line cut by the limit: half of
`Disallow: /private` would forbid the whole site."""
MAX_LINE_BYTES = 2083 * 8 - 1
"""Google's limit; longer lines are truncated."""
LONGEST_DELAY_S = 366 * 86_400.0
"""Longer delays are reduced to a year, which outlasts every crawl and keeps times computable."""

ANY_AGENT = "*"
BYTE_ORDER_MARK = re.compile(rb"\A\xef(?:\xbb\xbf?)?")
PRODUCT = re.compile(r"[A-Za-z_-]*")
WORD = re.compile(r"[^\s/]*")
SECONDS = re.compile(r"\d+(?:\.\d*)?|\.\d+")
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Key(Enum):
    USER_AGENT = auto()
    ALLOW = auto()
    DISALLOW = auto()
    CRAWL_DELAY = auto()
    SITEMAP = auto()


SPELLINGS_OF_KEYS = {
    Key.USER_AGENT: (b"user-agent", b"useragent", b"user agent"),
    Key.ALLOW: (b"allow",),
    Key.DISALLOW: (b"disallow", b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw"),
    Key.CRAWL_DELAY: (b"crawl-delay", b"crawldelay", b"crawl delay"),
    Key.SITEMAP: (b"sitemap", b"site-map"),
}


@dataclass(frozen=True, slots=True)
class RuleLine:
    is_allow: bool
    value: bytes
    line: int


@dataclass(frozen=True, slots=True)
class Group:
    """User agents and the rules they share. Rules and delays are collected separately: see `Reader`."""

    agents: set[str] = field(default_factory=set)
    rules: list[RuleLine] = field(default_factory=list)
    delays_s: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Reader:
    """Collects groups. `Crawl-delay` is not in RFC 9309, so it must not close a group of rules; yet a delay applies
    only to the agents directly above it. Therefore there are two lists of groups, each with its own definition of where
    a group ends."""

    rule_groups: list[Group] = field(default_factory=list)
    delay_groups: list[Group] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    may_add_agent: bool = False
    may_add_agent_to_delay: bool = False

    def take(self, number: int, key: Key, value: bytes) -> None:
        match key:
            case Key.USER_AGENT:
                self.add_agent(value)
            case Key.ALLOW | Key.DISALLOW:
                self.add_rule(RuleLine(key is Key.ALLOW, value, number))
            case Key.CRAWL_DELAY:
                self.add_delay(value)
            case Key.SITEMAP:
                self.sitemaps.append(show(value))

    def add_agent(self, value: bytes) -> None:
        if not self.may_add_agent:
            self.rule_groups.append(Group())
        if not self.may_add_agent_to_delay:
            self.delay_groups.append(Group())
        self.may_add_agent = self.may_add_agent_to_delay = True
        names = names_of_agent(value)
        self.rule_groups[-1].agents.update(names)
        self.delay_groups[-1].agents.update(names)

    def add_rule(self, rule: RuleLine) -> None:
        self.may_add_agent = self.may_add_agent_to_delay = False
        if self.rule_groups:
            self.rule_groups[-1].rules.append(rule)

    def add_delay(self, value: bytes) -> None:
        self.may_add_agent_to_delay = False
        delay_s = read_delay(value)
        if self.delay_groups and delay_s is not None:
            self.delay_groups[-1].delays_s.append(delay_s)


def text_of(body: bytes, *, is_cut: bool = False) -> str:
    """Returns a robots.txt as text that `read_lines` interprets as it does the bytes: invalid UTF-8 becomes the escape
    that rules compare (`/caf\xe9` and `/caf%E9` are one path). An incomplete line at a cut end is dropped."""
    if is_cut:
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
    if body.startswith(UTF_16):
        return body.decode("utf-16", "replace").replace("\0", "")
    return body.decode("utf-8", ESCAPE_OCTETS).replace("\0", "")


def _escape_octets(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    bad = error.object[error.start : error.end]
    return "".join(f"%{octet:02X}" for octet in bad), error.end


ESCAPE_OCTETS = "forager.escape_octets"
codecs.register_error(ESCAPE_OCTETS, _escape_octets)


def read_lines(content: bytes, most_bytes: int = MAX_BYTES) -> Reader:
    reader = Reader()
    for number, line in enumerate(_lines(content, most_bytes), start=1):
        if (pair := _split_line(line)) and (key := _key_of(pair[0])):
            reader.take(number, key, pair[1])
    return reader


def names_of_agent(value: bytes) -> set[str]:
    """Returns the product names of a user-agent line in lower case. `Foo/2.1 (x)` and `Foo Bar` name `foo`; the word
    with its digits counts too, so that an agent called `my2bot` matches its line."""
    text = show(value)
    if text.split(maxsplit=1)[:1] == [ANY_AGENT]:
        return {ANY_AGENT}
    found = {match[0].lower() for match in (PRODUCT.match(text), WORD.match(text)) if match}
    return found - {"", ANY_AGENT}


def read_delay(value: bytes) -> float | None:
    """Returns seconds, decimals allowed; None for anything but a plain positive number (`-1`, `nan`, `1e9`, `soon`)."""
    match = SECONDS.fullmatch(show(value).partition(" ")[0])
    return min(float(match[0]), LONGEST_DELAY_S) if match else None


def show(raw: bytes) -> str:
    """Returns text safe for a log line or a database: no control characters, limited length."""
    text = raw[:2048].decode("utf-8", "replace")
    return text if text.isprintable() else "".join([char if char.isprintable() else "\ufffd" for char in text])


def _lines(content: bytes, most_bytes: int) -> Iterator[bytes]:
    if len(content) > most_bytes:
        content = content[:most_bytes]
        content = content[: max(content.rfind(b"\n"), content.rfind(b"\r")) + 1]
    for line in BYTE_ORDER_MARK.sub(b"", content, count=1).splitlines():
        yield line[:MAX_LINE_BYTES]


def _split_line(line: bytes) -> tuple[bytes, bytes] | None:
    """Returns key and value. Without a colon, exactly two words count as key and value; more words are prose."""
    text = line.partition(b"#")[0].strip()
    key, colon, value = text.partition(b":")
    if colon:
        return key.strip(), value.strip()
    words = text.split()
    return (words[0], words[1]) if len(words) == 2 else None


def _key_of(name: bytes) -> Key | None:
    lowered = name.lower()
    for key, spellings in SPELLINGS_OF_KEYS.items():
        if lowered.startswith(spellings):
            return key
    return None
