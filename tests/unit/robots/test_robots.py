"""robots.txt: RFC 9309 and what Google's parser does with files people really write."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protego import Protego

from forager.robots.parser import LONGEST_DELAY_S, MAX_BYTES
from forager.robots.rules import Robots, RobotsDecision, parse, policy_for, trusted_s

VECTORS = tomllib.loads(Path(__file__).with_name("robots_vectors.toml").read_text(encoding="utf-8"))["vector"]
QUESTIONS = [
    pytest.param(vector["file"], *question.rsplit(" ", 1), answer == "may", id=f"{vector['title']}: {question}")
    for vector in VECTORS
    for answer in ("may", "may_not")
    for question in vector.get(answer, [])
]


@pytest.mark.parametrize(("text", "agent", "path", "allowed"), QUESTIONS)
def test_vector(text: str, agent: str, path: str, allowed: bool) -> None:
    assert parse(text).verdict(agent, f"https://site.example{path}").allowed is allowed


def test_there_are_enough_vectors() -> None:
    assert len(QUESTIONS) >= 120


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://site.example", False),
        ("https://site.example?a", True),
        ("https://site.example/#/private", False),
        ("https://site.example:8443/private", False),
        ("https://site.example/private#x", False),
        ("//site.example/private", False),
        ("/private", False),
        ("", False),
    ],
)
def test_path_and_query_are_taken_from_any_url(url: str, allowed: bool) -> None:
    robots = parse("User-agent: *\nDisallow: /private\nDisallow: /$\n")
    assert robots.verdict("x", url).allowed is allowed


def test_a_verdict_names_the_line_that_gave_it() -> None:
    robots = parse("# hello\r\nUser-agent: *\r\n\r\nDisalow: /private/\xfcber # keep out\r\nAllow: /\r\n")
    verdict = robots.verdict("Forager", "https://site.example/private/%C3%BCber")
    assert verdict == RobotsDecision(allowed=False, rule="Disallow: /private/über", line=4, group="*")
    assert robots.verdict("Forager", "https://site.example/x") == RobotsDecision(True, "Allow: /", 5, "*")


def test_without_a_matching_rule_the_verdict_names_the_group() -> None:
    robots = parse("User-agent: Forager\nDisallow: /private\n")
    assert robots.verdict("Forager/1.0", "https://site.example/") == RobotsDecision(True, group="forager")
    assert robots.verdict("Other", "https://site.example/private") == RobotsDecision(True)


def test_a_rule_is_shown_without_control_characters_and_not_endless() -> None:
    rule = parse(b"User-agent: *\nDisallow: /\x00\x1b[31m\xff" + b"a" * 9000).rules_for("x")
    shown = rule.verdict("/%00%1B%5B31m%FF" + "a" * 9000).rule
    assert shown is not None
    assert shown.isprintable()
    assert len(shown) < 2100


def test_rules_are_compiled_once_per_agent() -> None:
    robots = parse("User-agent: *\nDisallow: /a\n")
    assert robots.rules_for("Forager/1.0") is robots.rules_for("forager")


@pytest.mark.parametrize(
    ("text", "agent", "delay_s"),
    [
        ("User-agent: *\nCrawl-delay: 5\n", "x", 5.0),
        ("User-agent: *\nCrawl-delay: 0.25\n", "x", 0.25),
        ("User-agent: *\nCrawl-delay: .5\nDisallow: /a\n", "x", 0.5),
        ("User-agent: *\ncrawl delay : 2 # seconds\n", "x", 2.0),
        ("User-agent: *\nCrawl-delay: 10 s\n", "x", 10.0),
        ("User-agent: *\nCrawl-delay: 0\n", "x", 0.0),
        ("User-agent: *\nCrawl-delay: 5\nCrawl-delay: 9\nCrawl-delay: 1\n", "x", 9.0),
        ("User-agent: *\nDisallow: /a\nCrawl-delay: 5\n\nUser-agent: x\nDisallow: /b\n", "x", None),
        ("User-agent: *\nCrawl-delay: 5\n\nUser-agent: x\nCrawl-delay: 60\n", "x", 60.0),
        ("User-agent: *\nCrawl-delay: 5\n\nUser-agent: x\nCrawl-delay: 60\n", "y", 5.0),
        ("User-agent: *\nUser-agent: x\nCrawl-delay: 5\n", "x", 5.0),
        ("User-agent: x\nDisallow: /a\nUser-agent: x\nCrawl-delay: 3\n", "x", 3.0),
        ("Crawl-delay: 5\nUser-agent: *\nDisallow: /a\n", "x", None),
        ("User-agent: y\nCrawl-delay: 5\n", "x", None),
        ("User-agent: *\nCrawl-delay: -1\n", "x", None),
        ("User-agent: *\nCrawl-delay: nan\n", "x", None),
        ("User-agent: *\nCrawl-delay: inf\n", "x", None),
        ("User-agent: *\nCrawl-delay: 1e9\n", "x", None),
        ("User-agent: *\nCrawl-delay: soon\n", "x", None),
        ("User-agent: *\nCrawl-delay:\n", "x", None),
        ("User-agent: *\nCrawl-delay: 86400\n", "x", 86400.0),
        ("User-agent: *\nCrawl-delay: " + "9" * 500 + "\n", "x", LONGEST_DELAY_S),
    ],
)
def test_crawl_delay(text: str, agent: str, delay_s: float | None) -> None:
    assert parse(text).rules_for(agent).crawl_delay_s == delay_s


def test_sitemaps_belong_to_no_group_and_are_kept_as_found() -> None:
    robots = parse(
        "Sitemap: https://site.example/a.xml\nUser-agent: y\nsite-map: /b.xml\nDisallow: /\nSITEMAP:https://c.example/?d\n"
    )
    assert robots.sitemaps == ("https://site.example/a.xml", "/b.xml", "https://c.example/?d")


@pytest.mark.parametrize(
    ("text", "denies_all"),
    [
        ("", False),
        ("User-agent: *\nDisallow: /\n", True),
        ("User-agent: *\nDisallow: /*\n", True),
        ("User-agent: *\nDisallow: *\n", True),
        ("User-agent: *\nDisallow: /*$\n", True),
        ("User-agent: *\nDisallow: /\nAllow: /robots.txt\n", True),
        ("User-agent: *\nDisallow: /\nDisallow: /a\n", True),
        ("User-agent: *\nDisallow: /*****\nAllow: /a\n", True),
        ("User-agent: *\nDisallow: /\nAllow: /a\n", False),
        ("User-agent: *\nDisallow: /\nAllow: /\n", False),
        ("User-agent: *\nDisallow: /\nAllow: /$\n", False),
        ("User-agent: *\nDisallow: /a\n", False),
        ("User-agent: *\nDisallow: /$\n", False),
        ("User-agent: *\nDisallow:\n", False),
        ("User-agent: other\nDisallow: /\n", False),
        ("User-agent: *\nDisallow: /\nUser-agent: x\nDisallow: /a\n", False),
    ],
)
def test_a_file_that_denies_everything_is_known_as_such(text: str, denies_all: bool) -> None:
    assert parse(text).rules_for("x").denies_all is denies_all


@pytest.mark.parametrize(
    ("status_code", "policy"),
    [
        (200, "parse"), (204, "parse"), (301, "allow_all"), (304, "allow_all"), (400, "allow_all"), (401, "allow_all"),
        (403, "allow_all"), (404, "allow_all"), (410, "allow_all"), (429, "unreachable"), (500, "unreachable"),
        (503, "unreachable"), (599, "unreachable"), (None, "unreachable"), (0, "unreachable"), (999, "unreachable"),
    ],
)  # fmt: skip
def test_what_an_answer_to_the_request_for_robots_txt_means(status_code: int | None, policy: str) -> None:
    assert policy_for(status_code) == policy


def test_only_the_first_500_kib_count_and_a_cut_line_does_not() -> None:
    filler = b"# " + b"x" * 97 + b"\n"
    start = b"User-agent: *\nDisallow: /a\n" + filler * ((MAX_BYTES - 100) // 100)
    cut = start + b"#" * (MAX_BYTES - len(start) - len(b"\nDisallow: /")) + b"\nDisallow: /private\nDisallow: /b\n"
    assert cut[:MAX_BYTES].endswith(b"\nDisallow: /")
    rules = parse(cut).rules_for("x")
    assert not rules.verdict("/a").allowed
    assert rules.verdict("/b").allowed
    assert rules.verdict("/private").allowed
    assert rules.verdict("/").allowed


def test_a_file_of_one_endless_line_says_nothing() -> None:
    assert parse(b"User-agent: *" * MAX_BYTES) == Robots()


def test_an_overlong_line_is_cut() -> None:
    path = "/x/" + "a" * 20_000
    rules = parse(f"User-agent: *\nDisallow: {path}/b\n").rules_for("x")
    assert not rules.verdict(path + "/c").allowed
    assert rules.verdict("/x/").allowed


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"])
def test_whole_and_broken_byte_order_marks_are_skipped(mark: bytes) -> None:
    assert not parse(mark + b"User-agent: *\nDisallow: /a\n").verdict("x", "/a").allowed


def test_hostile_patterns_are_matched_without_backtracking() -> None:
    """A backtracking matcher would need longer than the universe for this one."""
    rules = parse("User-agent: *\nDisallow: /" + "a*" * 4000 + "b$\n").rules_for("x")
    assert rules.verdict("/" + "a" * 4000 + "c").allowed
    assert not rules.verdict("/" + "a" * 8000 + "b").allowed


LINE = st.one_of(
    st.binary(max_size=30),
    st.sampled_from([b"User-agent: *", b"user-agent x", b"Disallow: /", b"Allow: /a*$", b"Crawl-delay: 1"]),
    st.binary(max_size=20).map(b"Sitemap: ".__add__),
    st.binary(max_size=20).map(b"Disallow: /".__add__),
    st.binary(max_size=20).map(b"Crawl-delay: ".__add__),
)


@given(st.one_of(st.binary(max_size=200), st.lists(LINE, max_size=12).map(b"\n".join)), st.text(max_size=20))
@settings(max_examples=500, deadline=None)
def test_no_bytes_are_too_strange(content: bytes, url: str) -> None:
    robots = parse(content)
    rules = robots.rules_for("x")
    assert rules.verdict(url).allowed in {True, False}
    assert rules.verdict("https://site.example/robots.txt").allowed
    assert rules.crawl_delay_s is None or 0 <= rules.crawl_delay_s <= LONGEST_DELAY_S
    if rules.denies_all:
        assert rules.verdict(url).allowed is (rules.verdict(url).rule is None)
    assert all(sitemap.isprintable() for sitemap in robots.sitemaps)


PATHS = st.text("ab/.?=", max_size=8).map("/".__add__)
RULE_PATHS = st.text("ab/.*", max_size=8).map("/".__add__).flatmap(lambda path: st.sampled_from([path, path + "$"]))
SIMPLE_RULES = st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), RULE_PATHS), min_size=1, max_size=6)
SIMPLE_GROUPS = st.dictionaries(st.sampled_from(["*", "foo", "bar"]), SIMPLE_RULES)


@given(SIMPLE_GROUPS, PATHS, st.sampled_from(["foo", "bar", "qux"]))
@settings(max_examples=500, deadline=None)
def test_simple_files_mean_what_protego_says(groups: dict[str, list[tuple[str, str]]], path: str, agent: str) -> None:
    text = "\n\n".join(
        f"User-agent: {name}\n" + "\n".join(f"{key}: {rule}" for key, rule in rules) for name, rules in groups.items()
    )
    url = f"https://site.example{path}"
    assert parse(text).verdict(agent, url).allowed is Protego.parse(text).can_fetch(url, agent)


# Trust --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ttl_s", "delay_s", "expected_s"),
    [
        (3600.0, 1.0, 3600.0),
        (3600.0, 3600.0, 36_000.0),
        (60.0, 36_000.0, 86_400.0),
        (60.0, 86_400.0, 172_800.0),
        (0.0, 0.0, 0.0),
    ],
)
def test_a_copy_is_trusted_for_some_turns_of_a_slow_pace(ttl_s: float, delay_s: float, expected_s: float) -> None:
    assert trusted_s(ttl_s, delay_s) == expected_s
