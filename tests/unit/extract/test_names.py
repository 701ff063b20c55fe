"""What names of elements say, and that C and Python say the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.extract import compiled
from forager.extract.names import BEGINNINGS, PASSED_OVER, ROLES, TOKENS, WORDS, Verdict, judge_names
from forager.extract.tree import parse

PARTS = sorted({*WORDS, *TOKENS, *BEGINNINGS, *PASSED_OVER, "x", "12", "Side", "Bar", "HTML", "ähnlich", "&", "é"})
NAMES = st.lists(
    st.tuples(st.sampled_from(PARTS), st.sampled_from(["", "-", "_", " ", "\t", "--", "\xa0"])), max_size=12
).map(lambda parts: "".join(word + gap for word, gap in parts))


@pytest.mark.parametrize(
    ("names", "verdict"),
    [
        ("cookie-bar", Verdict.CONSENT),
        ("siteCookieNotice", Verdict.CONSENT),
        ("main_navigation", Verdict.AROUND),
        ("side-bar", Verdict.BESIDE),
        ("pageSidebar", Verdict.BESIDE),
        ("HTMLFooter", Verdict.AROUND),
        ("search-results", Verdict.LIKELY_AROUND),
        ("advertisement-top", Verdict.AROUND),
        ("post-share", Verdict.AROUND),
        ("post-cookies", Verdict.NOTHING),
        ("has-sidebar", Verdict.NOTHING),
        ("tag-cookies category-ads", Verdict.NOTHING),
        ("elementor-widget", Verdict.NOTHING),
        ("shareholders", Verdict.NOTHING),
        ("headline", Verdict.NOTHING),
        ("adventure", Verdict.NOTHING),
        ("navigator-story", Verdict.NOTHING),
        ("entry-content", Verdict.CONTENT),
        ("articleBody", Verdict.CONTENT),
        ("tab-pane fade", Verdict.FOLDED),
        ("comment-list", Verdict.COMMENTS),
        ("page-top", Verdict.NOTHING),
        ("top", Verdict.LIKELY_AROUND),
        ("", Verdict.NOTHING),
    ],
)
def test_a_class_says_what_its_element_is(names: str, verdict: Verdict) -> None:
    assert judge_names(names, None, None) is verdict


def test_an_id_made_of_a_heading_says_nothing() -> None:
    assert judge_names(None, "share-bar", None) is Verdict.AROUND
    assert judge_names(None, "sharing-changes-with-other-people", None) is Verdict.NOTHING


def test_a_role_overrules_a_name() -> None:
    assert judge_names("content", None, "Navigation") is Verdict.AROUND
    assert judge_names("content", None, "presentation") is Verdict.CONTENT


def page(names: str, identity: str, role: str) -> str:
    def quoted(text: str) -> str:
        return text.replace("&", "&amp;").replace('"', "&quot;")

    return f'<div class="{quoted(names)}" id="{quoted(identity)}" role="{quoted(role)}">text</div>'


@pytest.mark.skipif(compiled.native is None, reason="nothing was compiled")
@given(
    st.one_of(NAMES, st.text(max_size=300)),
    st.one_of(NAMES, st.text(max_size=40)),
    st.one_of(st.sampled_from(sorted(ROLES)), st.text(max_size=40)),
)
def test_c_and_python_judge_alike(names: str, identity: str, role: str) -> None:
    tree = parse(page(names, identity, role))
    (number,) = tree.tags("div")
    given_names = (tree.get(number, name) for name in ("class", "id", "role"))
    assert tree.judge([number]) == bytes([judge_names(*given_names)])


@pytest.mark.skipif(compiled.native is None, reason="nothing was compiled")
@given(
    st.sampled_from(["display:none", "Display : NONE", "visibility:\thidden", "display:block", "", "x" * 190]),
    st.sampled_from(["display: none", ";color:red", "é" * 20, "none"]),
    st.sampled_from(["hidden", 'aria-hidden="true"', 'aria-hidden="false"', ""]),
)
def test_c_and_python_hide_alike(style: str, more: str, attribute: str) -> None:
    html = f'<p style="{style};{more}" {attribute}>text</p><p hidden></p>'
    with compiled.left_out():
        expected = parse(html).hidden()
    assert parse(html).hidden() == expected


def test_an_element_without_text_is_not_judged() -> None:
    tree = parse("<nav class=menu></nav><nav class=menu>Menu</nav><nav hidden></nav>")
    assert tree.judge(tree.tags("nav")) == bytes([0, Verdict.LIKELY_AROUND, 0])
    assert tree.hidden() == []
