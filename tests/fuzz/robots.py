"""robots.txt: the verdict is that of a matcher too simple to be wrong, and no bytes break the reader."""

import re
from typing import NamedTuple

from hypothesis import strategies as st
from tests.fuzz.target import over

from forager.robots.parser import LONGEST_DELAY_S
from forager.robots.rules import parse

AGENTS = ("foo", "bar", "*")


class Line(NamedTuple):
    key: str
    value: str


PATHS = st.text("ab/.?=&-_", max_size=10).map("/".__add__)
PATTERNS = st.one_of(
    st.text("ab/.*?=$", max_size=10).map("/".__add__),
    st.text("ab/*", max_size=6).map("*".__add__),
    st.sampled_from(["/", "/*", "*", "/$", "", "/a$b", "/index.html", "/a/index.htm"]),
)
RULES = st.one_of(
    st.builds(Line, st.sampled_from(["user-agent", "User-Agent", "USERAGENT"]), st.sampled_from(AGENTS)),
    st.builds(Line, st.sampled_from(["allow", "Allow"]), PATTERNS),
    st.builds(Line, st.sampled_from(["disallow", "Disallow", "dissalow"]), PATTERNS),
    st.builds(Line, st.sampled_from(["sitemap", "host", "clean-param", "noindex", "x"]), st.just("/a")),
)
ENDS = st.sampled_from(["\n", "\r\n", "\r", "\n\n", " # note\n", "\t\n"])


@over(st.lists(st.tuples(RULES, ENDS), max_size=14), PATHS, st.sampled_from(["foo", "bar", "qux"]), st.booleans())
def verdicts_are_those_of_brute_force(lines: list[tuple[Line, str]], path: str, agent: str, has_mark: bool) -> None:
    text = "".join(f"{line.key}: {line.value}{end}" for line, end in lines)
    raw = (b"\xef\xbb\xbf" if has_mark else b"") + text.encode()
    verdict = parse(raw).rules_for(agent).verdict(f"https://site.example{path}")
    assert verdict.allowed is _allows([line for line, _ in lines], agent, path)


def _allows(lines: list[Line], agent: str, path: str) -> bool:
    """RFC 9309 by the letter: the groups of the agent, else of `*`; the longest pattern that matches; allow wins."""
    rules = _rules_of(lines, agent)
    if rules is None:
        rules = _rules_of(lines, "*") or []
    matching = [(len(pattern), allows) for allows, pattern in rules if _matches(pattern, path)]
    return max(matching)[1] if matching else True


def _rules_of(lines: list[Line], agent: str) -> list[tuple[bool, str]] | None:
    """None when no group names it."""
    found: list[tuple[bool, str]] | None = None
    agents: set[str] = set()
    is_open = False
    for key, value in ((line.key.lower(), line.value) for line in lines):
        if key in {"user-agent", "useragent"}:
            agents = agents | {value} if is_open else {value}
            is_open = True
            found = found or ([] if agent in agents else None) if found is None else found
        elif key in {"allow", "disallow", "dissalow"}:
            is_open = False
            if agent in agents and found is not None and value:
                found.append((key == "allow", value))
                if key == "allow" and (folder := re.fullmatch(r"(.*/)index\.htm[^/]*", value)):
                    found.append((True, folder[1] + "$"))
    return found


def _matches(pattern: str, path: str) -> bool:
    is_anchored = pattern.endswith("$")
    body = ".*".join(re.escape(piece) for piece in pattern.removesuffix("$").split("*"))
    return re.match(body + (r"\Z" if is_anchored else ""), path, re.DOTALL) is not None


BITS = st.one_of(
    st.sampled_from([b"User-agent: *\n", b"user-agent: x", b"Disallow: /", b"Allow:", b"Crawl-delay: ", b"Sitemap: "]),
    st.sampled_from([b"\n", b"\r", b":", b"#", b"*", b"$", b"%2F", b"%", b"/", b" ", b"\0", b"\xef\xbb\xbf", b"\xff"]),
    st.binary(max_size=12),
)


@over(st.lists(BITS, max_size=40).map(b"".join), st.text(max_size=30))
def any_bytes_are_a_file(content: bytes, url: str) -> None:
    robots = parse(content)
    rules = robots.rules_for("x")
    verdict = rules.verdict(url)
    assert verdict == rules.verdict(url)
    assert verdict.rule is None or verdict.rule.isprintable()
    assert rules.verdict("https://site.example/robots.txt").allowed
    assert rules.crawl_delay_s is None or 0 <= rules.crawl_delay_s <= LONGEST_DELAY_S
    assert all(sitemap.isprintable() for sitemap in robots.sitemaps)
    assert parse(content.decode("utf-8", "replace")).rules_for("x").verdict("/") is not None
