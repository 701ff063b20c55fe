import gc
import weakref
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from forager.extract import tree as tree_module
from forager.extract.boilerplate import cut_boilerplate
from forager.extract.needle import MOST_BRACKETS, has_url
from forager.extract.text import INVISIBLE, take_text
from forager.extract.tree import OPTIONS, SORTED, Tree, parse

PIECES = st.sampled_from(
    [
        "<main>", "</main>", "<article>", "</article>", "<h1>", "</h1>", "<h2>One</h2>", "<nav>", "</nav>", "<header>",
        "<footer class=nav>", "</footer>", "<div hidden>", "<div class=menu>", "<div class=content>", "</div>", "<ul>",
        "<section style='display:none'>", "</section>", "<form>", "</form>", "<script>x", "</script>", "<style>y",
        "</style>", "<noscript>", "</noscript>", "<svg>", "<svg><style>", "</svg>", "<math><style>", "</math>",
        "<button>", "</button>", "<select>", "</select>", "<template>", "</template>", "<image>", "<img src=/i>",
        "<a href=/x>", "</a>", "<table>", "<td>", "</table>", "<frameset>", "<!--", "-->", "words of some length ",
    ]
)  # fmt: skip
PAGES = st.lists(PIECES, max_size=40).map("".join)


def search(tree: LexborHTMLParser) -> dict[str, list[int]]:
    """By walks of the parser itself."""
    return {name: [node.mem_id for node in LexborHTMLParser.tags(tree, name)] for name in SORTED}


def ask(tree: Tree) -> dict[str, list[int]]:
    return {name: [node.mem_id for node in tree.tags(name)] for name in SORTED}


@given(PAGES)
@settings(max_examples=300, deadline=None)
def test_a_sorted_tree_answers_as_a_searched_one_whatever_is_cut(html: str) -> None:
    tree = parse(html.encode())
    tree.sort()
    assert ask(tree) == search(tree)
    tree.strip_tags(INVISIBLE, recursive=True)
    assert ask(tree) == search(tree)
    cut_boilerplate(tree)
    assert ask(tree) == search(tree)
    tree.strip_tags(["main", "h2"], recursive=True)
    assert ask(tree) == search(tree)
    tree.forget()


@given(PAGES)
@settings(max_examples=200, deadline=None)
def test_sorting_changes_no_text(html: str) -> None:
    plain, sorted_one = parse(html.encode()), parse(html.encode())
    sorted_one.sort()
    assert take_text(sorted_one) == take_text(plain)
    assert sorted_one.html == plain.html
    sorted_one.forget()


def test_a_page_of_too_many_elements_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_module, "MOST_SORTED", 10)
    tree = parse(b"<p>" * 20 + b"<nav>")
    tree.sort()
    assert ask(tree) == search(tree)
    assert len(tree.tags("nav")) == 1


def test_names_are_numbered_alike_in_every_page() -> None:
    other = LexborHTMLParser(
        "<x-strange><y-strange>" + "".join(f"<{name}></{name}>" for name in SORTED), options=OPTIONS
    )
    for name, number in tree_module.NUMBERS.items():
        assert {node.tag_id for node in other.tags(name)} == {number}


def test_a_forgotten_tree_is_freed_at_once() -> None:
    """A page that lies in memory until garbage is collected costs a reader half a megabyte each."""

    class Watched(Tree):
        __slots__ = ("__weakref__",)

    gc.disable()
    try:
        tree = Watched(b"<main><a href=/x>x</a></main>")
        tree.sort()
        take_text(tree)
        tree.forget()
        freed = weakref.ref(tree)
        del tree
        assert freed() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("make", [lambda n: b"(" * n, lambda n: b"url (" * n, lambda n: b"rl(" + b"a(" * n])
def test_brackets_alone_are_no_url(make: Callable[[int], bytes]) -> None:
    assert not any(has_url(make(count)) for count in (0, 1, MOST_BRACKETS, 4 * MOST_BRACKETS))


def test_a_url_is_found_behind_any_number_of_brackets() -> None:
    for count in (0, 1, MOST_BRACKETS - 1, MOST_BRACKETS, 3 * MOST_BRACKETS):
        assert has_url(b"f(x)" * count + b"a{background:url(/x)}")
    assert has_url(b"url(")
    assert has_url(b"uurl(")
