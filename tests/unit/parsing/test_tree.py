"""The tables of a page: what they say, and that C and Python say the same."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.parsing import compiled
from forager.parsing.class_names import NameClass
from forager.parsing.python_tree import PythonTree
from forager.parsing.tree import parse
from forager.parsing.tree_types import Tree

PAGE = """<!doctype html><title>A &amp; B</title><body class="x Price-box"><nav><a href="/menu">Menu</a></nav>
<div id=content><h1>Head <i>line</i></h1><p>One&nbsp;two <b>three</b>four<br>five.</p>
<a href="/i" rel=nofollow><img src=i.png alt="A  cat"></a><a href='/two?a=1&amp;b="2"'>Second<span> link</span></a>
<button>Buy</button><noscript><img src=n.png>none</noscript><template><a href=/no>no</a><p>no</p></template>
<script type="application/ld+json">{"a": "<b>&amp;</b>"}</script><span class=price>12,50 €</span>
<svg><title>drawn</title><style>a&lt;b</style></svg></div>"""


@pytest.fixture(params=["c", "python"])
def tree(request: pytest.FixtureRequest) -> Iterator[Tree]:
    if request.param == "c":
        if compiled.native is None:
            pytest.skip("nothing was compiled")
        yield parse(PAGE)
    else:
        with compiled.left_out():
            yield parse(PAGE)


def test_elements_are_found_by_name(tree: Tree) -> None:
    assert [tree.tag(number) for number in tree.tags("h1", "p", "i")] == ["h1", "i", "p"]
    assert tree.tags("blink") == []
    assert tree.tag(0) == "html"
    assert tree.parent(0) == -1
    with pytest.raises(IndexError):
        tree.tag(len(tree))
    assert tree.above(tree.tags("i")[0]) == [*tree.tags("h1"), *tree.tags("div"), *tree.tags("body"), 0]
    assert [row[0] for row in tree.children(tree.tags("body")[0])] == [*tree.tags("nav"), *tree.tags("div")]


def test_blocks_of_links_are_found_in_an_element(tree: Tree) -> None:
    assert tree.linked(0, 4, 0.7) == tree.tags("nav")
    assert tree.linked(0, 5, 0.7) == []
    assert tree.linked(tree.tags("div")[0], 4, 0.7) == []


def test_an_element_ends_where_what_is_inside_of_it_ends(tree: Tree) -> None:
    (content,), (heading,), (italic,) = tree.having("id"), tree.tags("h1"), tree.tags("i")
    assert content < heading < italic < tree.end(heading) <= tree.end(content)
    assert tree.parent(italic) == heading
    assert tree.block(italic) == heading


def test_attributes_are_as_they_were_meant(tree: Tree) -> None:
    links = tree.tags("a")
    assert tree.column(links, "href") == ["/menu", "/i", '/two?a=1&b="2"']
    assert tree.column(links, "rel") == [None, "nofollow", None]
    assert tree.attributes(links[1]) == {"href": "/i", "rel": "nofollow"}
    assert tree.get(links[1], "title") is None


def test_names_are_found_in_any_case(tree: Tree) -> None:
    assert [tree.tag(number) for number in tree.find(("class", "id"), ("price",))] == ["body", "span"]


def test_text_is_what_a_person_reads(tree: Tree) -> None:
    (paragraph,) = tree.tags("p")
    assert tree.text(paragraph) == "One two threefour five."
    assert tree.texts(tree.tags("a"), 200) == ["Menu", "A cat", "Second link"]
    assert tree.texts(tree.tags("a"), 3) == ["Men", "A c", "Sec"]
    assert tree.text(tree.tags("title")[0]) == "A & B"
    assert tree.text(tree.tags("noscript")[0]) == ""


def test_a_script_is_read_as_it_stands(tree: Tree) -> None:
    assert tree.raw(tree.tags("script")[0]) == '{"a": "<b>&amp;</b>"}'


def test_what_is_in_a_template_is_no_part_of_the_page(tree: Tree) -> None:
    assert "/no" not in tree.column(tree.tags("a"), "href")


def test_lines_leave_out_controls_and_what_is_cut(tree: Tree) -> None:
    assert tree.lines(0, tree.tags("nav")).split("\n") == [
        "Head line",
        "One two threefour",
        "five.",
        "Second link",
        "12,50 €",
    ]


def test_blocks_know_their_links(tree: Tree) -> None:
    blocks = tree.blocks(0, [])
    assert [(tree.tag(number), text, links) for number, text, links in blocks][:3] == [
        ("nav", "Menu", 4),
        ("h1", "Head line", 0),
        ("p", "One two threefour\nfive.", 0),
    ]


def test_numbers_stand_where_a_price_may_be(tree: Tree) -> None:
    assert [(tree.get(number, "class"), text) for number, text in tree.numbers(0, 40)] == [("price", "12,50 €")]


def test_weights_count_text_links_and_paragraphs() -> None:
    tree = parse(f"<p>{'word ' * 40}<p><a href=/>{'link ' * 40}</a><p>short<button>{'x' * 100}</button>")
    assert tree.weights(0) == (325, 160, 160)
    assert tree.weights(tree.tags("p")[1]) == (160, 160, 0)


NAMES = [
    *(
        "a",
        "b",
        "p",
        "div",
        "span",
        "table",
        "td",
        "tr",
        "svg",
        "title",
        "style",
        "script",
        "template",
        "noscript",
        "br",
    ),
    *("select", "option", "button", "img", "math", "mi", "xmp", "textarea", "li", "ul", "x-y", "iframe"),
]
ATTRIBUTES = ["", " href=/x", " alt='a  b'", ' class="p &lt;"', " class=cookies", " hidden", " id=content"]
PIECES = st.one_of(
    st.builds("<{}{}>".format, st.sampled_from(NAMES), st.sampled_from(ATTRIBUTES)),
    st.builds("</{}>".format, st.sampled_from(NAMES)),
    st.sampled_from(["text", " ", "\n", "&amp;", "&nbsp;", "ж", "12,5 €", "<!-- c -->", "<", "word " * 20]),
)


def answers(tree: Tree) -> object:
    numbers = list(range(len(tree)))
    return (
        [tree.tag(number) for number in numbers],
        [(tree.parent(number), tree.end(number), tree.block(number)) for number in numbers],
        [tree.attributes(number) for number in numbers],
        [(tree.text(number), tree.raw(number), tree.weights(number)) for number in numbers],
        tree.texts(numbers, 10),
        tree.tags("a", "img"),
        tree.having("alt", "href"),
        tree.find(("class", "alt"), ("p", "a")),
        [tree.lines(number, tree.tags("span", "td")) for number in numbers],
        [tree.blocks(number, tree.tags("span", "td")) for number in numbers],
        [tree.numbers(number, 12) for number in numbers],
        [(tree.above(number), tree.children(number), tree.next_marked(number)) for number in numbers],
        [tree.linked(number, 4, 0.5) for number in numbers],
        [tree.saying(verdict) for verdict in NameClass if verdict],
    )


@pytest.mark.skipif(compiled.native is None, reason="nothing was compiled")
@given(st.lists(PIECES, max_size=30).map("".join))
def test_c_and_python_say_the_same(page: str) -> None:
    with compiled.left_out():
        expected = answers(parse(page))
    assert answers(parse(page)) == expected


@given(st.lists(st.one_of(PIECES, st.binary(max_size=4).map(bytes.hex)), max_size=30).map("".join))
def test_markup_that_no_parser_wrote_does_no_harm(markup: str) -> None:
    assert len(PythonTree(markup.encode())) <= markup.count("<")
