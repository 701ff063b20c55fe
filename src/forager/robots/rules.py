"""Decides whether an agent may fetch a URL: RFC 9309, and Google's parser where the RFC is silent.

Pure: fetching and storing robots.txt happens elsewhere; `policy_for` interprets the HTTP status of its response.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from forager.robots.parser import ANY_AGENT, MAX_BYTES, Group, RuleLine, read_lines, show
from forager.robots.patterns import Pattern, compile_variants, escape_octets, open_query, path_of

OWN_PATH = "/robots.txt"
LONGEST_TRUST_S = 24 * 3600.0
"""RFC 9309 2.4; exceeded only for a delay that is longer still."""
TURNS_TRUSTED = 10

RobotsPolicy = Literal["parse", "allow_all", "unreachable"]


@dataclass(frozen=True, slots=True)
class RobotsDecision:
    """The decision and the line it is based on, so that callers can explain it."""

    allowed: bool
    rule: str | None = None
    """The text of the line, such as `Disallow: /private`; None when no rule matched."""
    line: int | None = None
    group: str | None = None
    """The agent whose group applied: our name, `*`, or None when no group applies to us."""


class Rules:
    """The rules of one robots.txt for one agent, sorted so that the first match is the most specific one."""

    __slots__ = ("_opens_query", "_ordered", "_otherwise", "crawl_delay_s", "denies_all")

    def __init__(self, group: str | None, lines: list[RuleLine], crawl_delay_s: float | None) -> None:
        self.crawl_delay_s = crawl_delay_s
        self._otherwise = RobotsDecision(allowed=True, group=group)
        self._ordered = sorted(_compile(group, lines), key=_most_specific_first)
        self._opens_query = any(pattern.opens_query for pattern, _ in self._ordered)
        self.denies_all = _denies_all(self._ordered)

    def verdict(self, url: str) -> RobotsDecision:
        if not self._ordered:
            return self._otherwise
        path = path_of(url)
        if path == OWN_PATH:
            return self._otherwise
        opened = open_query(path) if self._opens_query else path
        for pattern, verdict in self._ordered:
            if pattern.matches(opened if pattern.opens_query else path):
                return verdict
        return self._otherwise


@dataclass(frozen=True, slots=True)
class Robots:
    """One robots.txt. Call `rules_for` once per agent when checking many URLs."""

    sitemaps: tuple[str, ...] = ()
    """As written in the file, absolute or not; they belong to no group."""
    rule_groups: tuple[Group, ...] = field(default=(), repr=False)
    delay_groups: tuple[Group, ...] = field(default=(), repr=False)
    _compiled: dict[str, Rules] = field(default_factory=dict, repr=False, compare=False)

    def verdict(self, agent: str, url: str) -> RobotsDecision:
        return self.rules_for(agent).verdict(url)

    def rules_for(self, agent: str) -> Rules:
        """Returns the rules of all groups that name the agent's product token, else of all groups for `*`, else
        none."""
        name = agent.partition("/")[0].strip().lower()
        if name not in self._compiled:
            self._compiled[name] = self._compile_rules(name)
        return self._compiled[name]

    def _compile_rules(self, name: str) -> Rules:
        for token in (name, ANY_AGENT):
            groups = [group for group in self.rule_groups if token in group.agents]
            if groups:
                delays_s = [s for group in self.delay_groups if token in group.agents for s in group.delays_s]
                # Of several delays for one agent the longest applies: a slower crawler harms no site.
                return Rules(token, [rule for group in groups for rule in group.rules], max(delays_s, default=None))
        return Rules(None, [], None)


def parse(content: str | bytes) -> Robots:
    """Parses a robots.txt; any content is valid, in the worst case as an empty file."""
    if isinstance(content, str):  # `text_of` has escaped some bytes as three characters
        reader = read_lines(content.encode("utf-8", "surrogatepass"), 3 * MAX_BYTES)
    else:
        reader = read_lines(content)
    return Robots(tuple(reader.sitemaps), tuple(reader.rule_groups), tuple(reader.delay_groups))


def policy_for(status_code: int | None) -> RobotsPolicy:
    """Returns the policy for the response status of a robots.txt request; None means no response.

    4xx means that there is no such file. 429 means "not now": like 5xx, nothing may be fetched until robots.txt is. A
    redirect remaining after the last hop counts as no file (RFC 9309 §2.3.1.2).
    """
    match status_code:
        case None | 429:
            return "unreachable"
        case code if 200 <= code < 300:
            return "parse"
        case code if 300 <= code < 500:
            return "allow_all"
        case _:
            return "unreachable"


def trusted_s(ttl_s: float, delay_s: float) -> float:
    """Returns how long a copy is used, given the delay: refreshing it is a request too, and must not use every turn."""
    return max(ttl_s, min(TURNS_TRUSTED * delay_s, LONGEST_TRUST_S), 2 * delay_s)


def _compile(group: str | None, lines: list[RuleLine]) -> Iterator[tuple[Pattern, RobotsDecision]]:
    for line in lines:
        text = escape_octets(line.value)
        # `Disallow:` without a value forbids nothing. A value with another first character matches no path.
        if not text.startswith(("/", "*")):
            continue
        word = "Allow" if line.is_allow else "Disallow"
        verdict = RobotsDecision(line.is_allow, f"{word}: {show(line.value)}", line.line, group)
        for pattern in compile_variants(text, is_allow=line.is_allow):
            yield pattern, verdict


def _most_specific_first(rule: tuple[Pattern, RobotsDecision]) -> tuple[int, bool]:
    """Sort key: longest pattern first; among equals, allow before disallow."""
    pattern, verdict = rule
    return -pattern.octets, not verdict.allowed


def _denies_all(ordered: list[tuple[Pattern, RobotsDecision]]) -> bool:
    """Whether a disallow rule matches everything, and no allow rule is specific enough to make an exception."""
    for pattern, verdict in ordered:
        if verdict.allowed and pattern.head != OWN_PATH:
            return False
        if not verdict.allowed and pattern.matches_all:
            return True
    return False
