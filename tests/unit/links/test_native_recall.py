"""What recalling links has in C does what its Python does, to the letter, and neither changes what a link is worth."""

import gc
import sys
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.builders import HOME, a_reading, a_spec, a_target

from forager.links import compiled, select
from forager.links.scope import CrawlScope
from forager.links.select import OUT_OF_SCOPE, LinkTarget, Selector, lookup_in_python
from forager.runs.models import Scope

RECALLS = [lookup_in_python, *([compiled.recall] if compiled.recall else [])]
ORIGINS = (
    "http://a.example https://a.example http://www.a.example http://b.a.example http://b.example "
    "https://b.example:8443 https://b.example:443 https://B.example https://b.example. http://[::1] http://1.2.3.4 "
    "http://b..example https://b.example:0 httpx://b.example https:/b.example //b.example http://user@b.example "
    f"https://bücher.example https://b_c.example https://{'b.' * 140}example"
).split()
ENDINGS = ["", ".html", ".HTM", ".php", ".aspx", ".jpg", ".PNG", ".xml.gz", ".gz", ".7z", ".", ".x", ".shtml", ".tiff"]
WORDS = ["a", "tea", "/", "//", "/.", "/..", ".", "?", "#", "&", "=", "%41", "%", ":", "é", "\\", "'", "|"]
NAMED = ["utm_source=1", "sid=abcdef12", "S(abcd1)"]
PIECES = st.sampled_from([*WORDS, *NAMED, " ", "\n"]) | st.text(max_size=3)
HREFS = st.builds(
    lambda origin, path, ending, after: origin + path + ending + after,
    st.sampled_from([*ORIGINS, ""]),
    st.lists(PIECES, max_size=6).map(lambda pieces: "/" + "".join(pieces)) | st.just(""),
    st.sampled_from(ENDINGS),
    st.sampled_from(["", "?", "?b=2&a=1", "?x=/./", "#top", "#é", "?a#b", "?q=tea.jpg", "/"]),
)


@given(st.lists(HREFS | st.text(), max_size=30))
def test_links_are_recalled_alike(hrefs: list[str]) -> None:
    known = {href: LinkTarget(href, b"1" * 16, "d", None) for href in hrefs[::2]}
    answers, asked = [], []
    for recall in RECALLS:
        origins: list[str] = []

        def ask(origin: str, origins: list[str] = origins) -> bool:
            origins.append(origin)
            return "b" in origin

        outside: dict[str, bool] = {}
        answers.append((recall(hrefs, known, outside, ask, OUT_OF_SCOPE), outside))
        asked.append(origins)
    assert answers.count(answers[0]) == len(answers)
    assert asked.count(asked[0]) == len(asked)
    assert len(set(asked[0])) == len(asked[0]), "each origin once"


@given(
    st.lists(HREFS | st.text(), max_size=30),
    st.sampled_from(list(Scope)),
    st.sampled_from([HOME, "http://a.example/tea/x"]),
)
@example(["https://b.example/" + "x" * 4090], Scope.HOST, HOME)
def test_no_decision_changes_where_the_origin_decides(hrefs: list[str], scope: Scope, seed: str) -> None:
    for recall in RECALLS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(select, "recall", recall)
            made = a_selector(seed, scope).select(a_reading(*hrefs), a_target())
            patch.setattr(select, "recall", lambda hrefs, known, *_rest: list(map(known.get, hrefs)))
            assert made == a_selector(seed, scope).select(a_reading(*hrefs), a_target())


def a_selector(seed: str, scope: Scope) -> Selector:
    return Selector(CrawlScope.of(a_spec(seed, scope=scope)), max_links_per_page=1000)


def test_links_that_leave_are_not_kept_in_memory() -> None:
    selector = a_selector(HOME, Scope.HOST)
    hrefs = ["https://b.example/tea.html?a=1#b", "/x", "https://b.example/tea.jpg"]
    found = selector.select(a_reading(*hrefs), a_target())
    assert found.dropped == {"scope": 1, "binary": 1}
    assert hrefs[0] not in selector._young["http://a.example"]


def test_origins_that_lie_outside_are_forgotten_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select, "MOST_ORIGINS", 10)
    selector = a_selector(HOME, Scope.HOST)
    for number in range(100):
        selector.select(a_reading(f"https://b{number}.example/"), a_target())
    assert len(selector._outside) <= 11


@pytest.mark.skipif(compiled.recall is None, reason="nothing was compiled here")
def test_wrong_types_are_refused_and_no_reference_is_lost() -> None:
    recall: Any = compiled.recall
    href, place = "https://b.example/" + "x" * 9, LinkTarget("u", b"k", "d", None)
    known, outside = {href: place}, {"https://b.example": False}

    def fail(_origin: str) -> bool:
        raise KeyError

    wrong: list[tuple[Any, ...]] = [
        *((), ([href], known, outside, fail), ([href], [], outside, fail, place), ([href], known, None, fail, place)),
        *(([1], known, outside, fail, place), (1, known, outside, fail, place), ([href], known, {}, fail, place)),
    ]
    counts = [sys.getrefcount(thing) for thing in (href, place, fail)]
    for _ in range(200):
        assert recall([href] * 3, known, outside, fail, OUT_OF_SCOPE) == [place] * 3
        for arguments in wrong:
            with pytest.raises((TypeError, KeyError)):
                recall(*arguments)
    gc.collect()
    assert [sys.getrefcount(thing) for thing in (href, place, fail)] == counts
