"""May this agent fetch this URL? RFC 9309, and where it is silent what Google's parser does.

Pure: fetching and storing robots.txt happens elsewhere; `policy_for` says what an HTTP answer to it means.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from forager.robots.parser import ANY_AGENT, MAX_BYTES, Group, RuleLine, read_lines, show
from forager.robots.patterns import Pattern, compile_variants, escape_octets, open_query, path_of

OWN_PATH = "/robots.txt"
LONGEST_TRUST_S = 24 * 3600.0
"""RFC 9309 2.4; only a pace that is slower still makes it longer."""
TURNS_TRUSTED = 10

RobotsPolicy = Literal["parse", "allow_all", "unreachable"]


@dataclass(frozen=True, slots=True)
class RobotsDecision:
    """The answer and the line that gave it, for people who ask why."""

    allowed: bool
    rule: str | None = None
    """The line's own words, such as `Disallow: /private`; None when no rule matched."""
    line: int | None = None
    group: str | None = None
    """The agent whose group applied: our name, `*`, or None when no group speaks to us."""


class Rules:
    """What one robots.txt says to one agent, ordered so that the first match is the most specific one."""

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
    """One robots.txt. Ask `rules_for` once per agent when many URLs follow."""

    sitemaps: tuple[str, ...] = ()
    """As the file has them, absolute or not; they belong to no group."""
    rule_groups: tuple[Group, ...] = field(default=(), repr=False)
    delay_groups: tuple[Group, ...] = field(default=(), repr=False)
    _compiled: dict[str, Rules] = field(default_factory=dict, repr=False, compare=False)

    def verdict(self, agent: str, url: str) -> RobotsDecision:
        return self.rules_for(agent).verdict(url)

    def rules_for(self, agent: str) -> Rules:
        """The rules of all groups that name the agent's product token, else of all for `*`, else none."""
        name = agent.partition("/")[0].strip().lower()
        if name not in self._compiled:
            self._compiled[name] = self._compile_rules(name)
        return self._compiled[name]

    def _compile_rules(self, name: str) -> Rules:
        for token in (name, ANY_AGENT):
            groups = [group for group in self.rule_groups if token in group.agents]
            if groups:
                delays_s = [s for group in self.delay_groups if token in group.agents for s in group.delays_s]
                # Of several delays for one agent the longest: nobody is offended by a slower visitor.
                return Rules(token, [rule for group in groups for rule in group.rules], max(delays_s, default=None))
        return Rules(None, [], None)


def parse(content: str | bytes) -> Robots:
    """Read a robots.txt; anything at all is one, if need be an empty one."""
    if isinstance(content, str):  # `text_of` has written three letters for some bytes
        reader = read_lines(content.encode("utf-8", "surrogatepass"), 3 * MAX_BYTES)
    else:
        reader = read_lines(content)
    return Robots(tuple(reader.sitemaps), tuple(reader.rule_groups), tuple(reader.delay_groups))


def policy_for(status_code: int | None) -> RobotsPolicy:
    """What an answer to the request for robots.txt means; None is no answer at all.

    4xx says that there is no such file. 429 says "not now", so that like 5xx nothing may be asked until it is had.
    A redirect that is still one after the last hop counts as no file (RFC 9309 §2.3.1.2).
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
    """How long a copy is used at a pace: asking for it again is a request like others, and may not take every turn."""
    return max(ttl_s, min(TURNS_TRUSTED * delay_s, LONGEST_TRUST_S), 2 * delay_s)


def _compile(group: str | None, lines: list[RuleLine]) -> Iterator[tuple[Pattern, RobotsDecision]]:
    for line in lines:
        text = escape_octets(line.value)
        # `Disallow:` with nothing after it forbids nothing. A value that starts otherwise can match no path.
        if not text.startswith(("/", "*")):
            continue
        word = "Allow" if line.is_allow else "Disallow"
        verdict = RobotsDecision(line.is_allow, f"{word}: {show(line.value)}", line.line, group)
        for pattern in compile_variants(text, is_allow=line.is_allow):
            yield pattern, verdict


def _most_specific_first(rule: tuple[Pattern, RobotsDecision]) -> tuple[int, bool]:
    """Longest first; of equals the allowing one."""
    pattern, verdict = rule
    return -pattern.octets, not verdict.allowed


def _denies_all(ordered: list[tuple[Pattern, RobotsDecision]]) -> bool:
    """Whether a rule for everything forbids, and no allowing rule is specific enough to open a hole in it."""
    for pattern, verdict in ordered:
        if verdict.allowed and pattern.head != OWN_PATH:
            return False
        if not verdict.allowed and pattern.matches_all:
            return True
    return False
