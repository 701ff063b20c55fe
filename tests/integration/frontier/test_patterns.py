"""What the claim's LIKE patterns let through is what `Reach` lets through, for any glob and any URL."""

import functools
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forager.links.scope import CrawlScope, claim_patterns
from forager.runs.models import RunSpec, Scope
from forager.urls.normalize import normalize

pytestmark = [pytest.mark.both_servers, pytest.mark.xdist_group("patterns")]

SPECIAL = st.sampled_from(
    ["*", "?", "%", "_", "\\", "[", "]", "!", "-", ".", "/", "a", "b", "é", "%41", "\n", "^", "$"]
)
TEXT = st.lists(SPECIAL, max_size=8).map("".join)
GLOBS = st.lists(st.one_of(TEXT, TEXT.map("*{}".format), TEXT.map("*{}*".format)), max_size=3).map(tuple)
SEEDS = st.sampled_from(
    ["http://a.example/", "http://a.example/a_b/a", "http://a.example/a%25/", "http://a.example/b[1]/c"]
)
URLS = st.one_of(SEEDS, TEXT.map("http://a.example/{}".format), TEXT.map("http://a.example/a_b/{}".format))
ASK = """
SELECT ($2::text[] IS NULL OR $1 LIKE ANY ($2)) AND ($3::text[] IS NULL OR $1 LIKE ANY ($3))
       AND ($4::text[] IS NULL OR $1 NOT LIKE ALL ($4))
"""


@st.composite
def questions(draw: st.DrawFn) -> tuple[RunSpec, str]:
    """Often a pattern is made from the URL itself, so that matches are as common as misses."""
    url = draw(URLS)
    cut = draw(st.integers(0, len(url)))
    of_url = st.sampled_from([url, url[:cut] + "*", "*" + url[cut:], url[:cut] + "?" + url[cut + 1 :]])
    globs = st.one_of(GLOBS, st.lists(of_url, min_size=1, max_size=2).map(tuple))
    scope = draw(st.sampled_from(Scope))
    return RunSpec((normalize(draw(SEEDS)),), scope, include=draw(globs), exclude=draw(globs)), url


@functools.cache
def collect() -> list[tuple[RunSpec, str]]:
    """Hypothesis does not wait for databases: its questions are gathered first and asked afterwards, of both."""
    found: list[tuple[RunSpec, str]] = []

    @settings(max_examples=400, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(questions())
    def gather(question: tuple[RunSpec, str]) -> None:
        found.append(question)

    gather()
    return found


async def test_python_and_postgresql_agree(conn: asyncpg.Connection) -> None:
    asked = collect()
    ask: Any = await conn.prepare(ASK)
    answers = [(await ask.fetchval(url, *claim_patterns(spec)), spec, url) for spec, url in asked]
    for is_claimed, spec, url in answers:
        assert is_claimed == (CrawlScope.of(spec).refusal(url, "a.example") is None), (spec, url)
    shares = [is_claimed for is_claimed, _, _ in answers]
    assert 0.1 < sum(shares) / len(shares) < 0.9  # both answers were asked for
