"""What names of elements say, and that C and Python say the same."""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.parsing import compiled
from forager.parsing.class_names import BEGINNINGS, PASSED_OVER, ROLES, TOKENS, WORDS, NameClass, classify_names
from forager.parsing.tree import parse
from forager.parsing.tree_types import Marked, Tree

PARTS = sorted({*WORDS, *TOKENS, *BEGINNINGS, *PASSED_OVER, "x", "12", "Side", "Bar", "HTML", "ähnlich", "&", "é"})
NAMES = st.lists(
    st.tuples(st.sampled_from(PARTS), st.sampled_from(["", "-", "_", " ", "\t", "--", "\xa0"])), max_size=12
).map(lambda parts: "".join(word + gap for word, gap in parts))


@pytest.mark.parametrize(
    ("names", "verdict"),
    [
        ("cookie-bar", NameClass.CONSENT),
        ("siteCookieNotice", NameClass.CONSENT),
        ("main_navigation", NameClass.AROUND),
        ("side-bar", NameClass.BESIDE),
        ("pageSidebar", NameClass.BESIDE),
        ("HTMLFooter", NameClass.AROUND),
        ("search-results", NameClass.LIKELY_AROUND),
        ("advertisement-top", NameClass.AROUND),
        ("post-share", NameClass.AROUND),
        ("post-cookies", NameClass.NOTHING),
        ("has-sidebar", NameClass.NOTHING),
        ("tag-cookies category-ads", NameClass.NOTHING),
        ("elementor-widget", NameClass.NOTHING),
        ("shareholders", NameClass.NOTHING),
        ("headline", NameClass.NOTHING),
        ("adventure", NameClass.NOTHING),
        ("navigator-story", NameClass.NOTHING),
        ("entry-content", NameClass.CONTENT),
        ("articleBody", NameClass.CONTENT),
        ("tab-pane fade", NameClass.FOLDED),
        ("comment-list", NameClass.COMMENTS),
        ("page-top", NameClass.NOTHING),
        ("top", NameClass.LIKELY_AROUND),
        ("", NameClass.NOTHING),
    ],
)
def test_a_class_says_what_its_element_is(names: str, verdict: NameClass) -> None:
    assert classify_names(names, None, None) is verdict


def test_an_id_made_of_a_heading_says_nothing() -> None:
    assert classify_names(None, "share-bar", None) is NameClass.AROUND
    assert classify_names(None, "sharing-changes-with-other-people", None) is NameClass.NOTHING


def test_a_role_overrules_a_name() -> None:
    assert classify_names("content", None, "Navigation") is NameClass.AROUND
    assert classify_names("content", None, "presentation") is NameClass.CONTENT


def marks_of(tree: Tree) -> list[Marked]:
    found = []
    at = 0
    while (marked := tree.next_marked(at)) is not None:
        found.append(marked)
        at = marked[2] + 1
    return found


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
    assert [marked[4] for marked in marks_of(tree)] == [
        verdict for verdict in [classify_names(*given_names)] if verdict
    ]
    assert [tree.next_marked(number + 1) for number in tree.tags("div")] == [None]


@pytest.mark.skipif(compiled.native is None, reason="nothing was compiled")
@given(
    st.sampled_from(["display:none", "Display : NONE", "visibility:\thidden", "display:block", "", "x" * 190]),
    st.sampled_from(["display: none", ";color:red", "é" * 20, "none"]),
    st.sampled_from(["hidden", 'aria-hidden="true"', 'aria-hidden="false"', ""]),
)
def test_c_and_python_hide_alike(style: str, more: str, attribute: str) -> None:
    html = f'<p style="{style};{more}" {attribute}>text</p><p hidden></p>'
    with compiled.left_out():
        expected = marks_of(parse(html))
    assert marks_of(parse(html)) == expected


@pytest.fixture(params=["c", "python"])
def build(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Tree]]:
    if request.param == "c":
        if compiled.native is None:
            pytest.skip("nothing was compiled")
        yield parse
    else:
        with compiled.left_out():
            yield parse


def test_an_element_without_text_says_nothing_and_hides_nothing(build: Callable[[str], Tree]) -> None:
    tree = build("<nav class=menu></nav><nav class=menu>Menu</nav><nav hidden></nav><div class=menu></div>")
    marks = marks_of(tree)
    assert [marked[2] for marked in marks] == tree.tags("nav")
    assert [marked[4] for marked in marks] == [0, NameClass.LIKELY_AROUND, 0]
    assert not any(is_hidden for _, is_hidden, *_ in marks)


def test_marks_tell_tag_and_weights_of_what_stands_out(build: Callable[[str], Tree]) -> None:
    tree = build(
        f"<div><p hidden>gone</p><footer><a href=/>{'word ' * 20}</a></footer><ul class=share>Share</ul></div>"
    )
    (hidden,), (footer,), (share,) = tree.tags("p"), tree.tags("footer"), tree.tags("ul")
    assert marks_of(tree) == [
        ("", True, hidden, hidden + 1, NameClass.NOTHING, 4, 0, 0),
        ("footer", False, footer, footer + 2, NameClass.NOTHING, 80, 80, 0),
        ("", False, share, share + 1, NameClass.AROUND, 5, 0, 0),
    ]
    with pytest.raises(IndexError):
        tree.next_marked(-1)


def test_what_says_something_is_found_where_it_has_paragraphs(build: Callable[[str], Tree]) -> None:
    asks = f"<div class=cookie-bar><p>{'We use them. ' * 10}</div>"
    tree = build(f"<div class=cookie-bar>OK?</div><div class=share>{'word ' * 20}</div>{asks}")
    assert [marked[2] for marked in tree.saying(NameClass.CONSENT)] == tree.tags("div")[2:]


def test_a_token_is_judged_again_as_it_was_judged_first(build: Callable[[str], Tree]) -> None:
    tokens = [f"{word}-{number}" for number in range(2000) for word in ("sidebar", "side", "comment", "x")]
    tree = build("".join(f'<div class="{token}">text</div>' for token in tokens * 2))
    verdicts = {token: classify_names(token, None, None) for token in tokens}
    assert [marked[4] for marked in marks_of(tree)] == [verdicts[token] for token in tokens * 2 if verdicts[token]]
