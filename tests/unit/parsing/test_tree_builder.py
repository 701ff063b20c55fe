"""The parser in C builds the tree the HTML standard asks for: cases with known trees, and random pages as turbohtml,
another implementation of the standard, parses them."""

import random

import pytest
from tests.unit.parsing.random_pages import make_page

from forager.parsing import compiled
from forager.parsing.tree import parse
from forager.parsing.tree_types import Tree

pytestmark = pytest.mark.skipif(compiled.native is None, reason="nothing was compiled")
HTML = "<!doctype html>"


def outline(tree: Tree) -> str:
    """`body(p(b)div)`: the elements inside each other."""

    def write(number: int) -> str:
        children = "".join(
            write(child) for child in range(number + 1, tree.end(number)) if tree.parent(child) == number
        )
        return tree.tag(number) + (f"({children})" if children else " ")

    return write(0).replace(" )", ")").strip()


def body_of(page: str) -> str:
    return outline(parse(HTML + "<body>" + page)).removeprefix("html(head body").removesuffix(")")


@pytest.mark.parametrize(
    ("page", "expected"),
    {
        "": "",
        "<p>a<p>b": "p p",
        "<p>a<div>b</p>c": "p div(p)",
        "<ul><li>a<li>b<ul><li>c</ul><li>d": "ul(li li(ul(li))li)",
        "<b>1<i>2</b>3</i>4": "b(i)i",
        "<b><p>a</b>b</p>": "b p(b)",
        "<a href=1>x<p>y<a href=2>z": "a p(a a)",
        "<p><b><p>x<p>y": "p(b)p(b)p(b)",
        "<p><b class=x><b class=x><b class=x><b class=x><p>y": "p(b(b(b(b))))p(b(b(b)))",
        "<table><tr><td>a<td>b<tr><th>c</table>": "table(tbody(tr(td td)tr(th)))",
        "<table>text<b>bold<tr><td>cell</table>": "b table(tbody(tr(td)))",
        "<table><form><tr><td><input></form></table>": "table(form tbody(tr(td(input))))",
        "<table><caption>c<tr><td>d": "table(caption tbody(tr(td)))",
        "<table><col><col><tr><td>": "table(colgroup(col col)tbody(tr(td)))",
        "<table><td><table><td>x</table></table>": "table(tbody(tr(td(table(tbody(tr(td)))))))",
        "<select><option>a<option>b<optgroup><option>c</select>d": "select(option option optgroup(option))",
        "<select><p>a<hr><input>": "select(p hr)input",
        "<svg><circle/><foreignObject><p>a</foreignObject></svg>b": "svg(circle foreignobject(p))",
        "<svg><g><p>out": "svg(g)p",
        "<svg><title><b>x</b></title></svg>": "svg(title(b))",
        "<math><mi><b>x</b></mi><mtext><p>y": "math(mi(b)mtext(p))",
        "<button>a<p>b<button>c": "button(p)button",
        "<form><div><form><p></form>x": "form(div(p))",
        "<dl><dt>a<dd>b<dt>c": "dl(dt dd dt)",
        "<h1>a<h2>b</h3>c": "h1 h2",
        "<ruby>a<rt>b<rt>c<rp>d": "ruby(rt rt rp)",
        "<nobr>a<nobr>b": "nobr nobr",
        "<template><td>x</td></template><p>y": "template p",
        "</p>x</br>y": "p br",
        "<image src=x>": "img",
        "<object><b>x</object>y": "object(b)",
        "<p><table><td><p>x</table>y": "p table(tbody(tr(td(p))))",
        "<x-y><p>a</x-y>b": "x-y(p)",
        "<noscript><p>a</p></noscript>": "noscript(p)",
        "<div/><span/>x": "div(span)",
    }.items(),
)
def test_a_body_has_this_tree(page: str, expected: str) -> None:
    assert body_of(page) == (f"({expected})" if expected else "")


@pytest.mark.parametrize(
    ("page", "expected"),
    {
        "": "html(head body)",
        "<title>a</title><p>b": "html(head(title)body(p))",
        "<meta a><html lang=x><head><link></head><body>": "html(head(meta link)body)",
        "<head></head><link><p>": "html(head(link)body(p))",
        "<noscript><link></noscript><p>": "html(head(noscript(link))body(p))",
        "<frameset><frame></frameset>": "html(head frameset(frame))",
        "<p>a</body><p>b</html><p>c": "html(head body(p p p))",
        "<script><!--<script></script>--></script><p>": "html(head(script)body(p))",
        "<style><p></style><textarea><p></textarea>": "html(head(style)body(textarea))",
        "<template><p>": "html(head(template)body)",
    }.items(),
)
def test_a_page_has_this_tree(page: str, expected: str) -> None:
    assert outline(parse(page)) == expected


def test_a_paragraph_holds_a_table_only_where_there_were_no_standards() -> None:
    assert outline(parse("<p><table>")) == "html(head body(p(table)))"
    old = "<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.01 Transitional//EN'{}>"
    assert outline(parse(old.format("") + "<p><table>")) == "html(head body(p(table)))"
    assert (
        outline(parse(old.format(" 'http://www.w3.org/TR/html4/loose.dtd'") + "<p><table>"))
        == "html(head body(p table))"
    )
    assert outline(parse("<!doctype html><p><table>")) == "html(head body(p table))"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("&lt;&gt;&amp;&quot;", '<>&"'),
        ("&copy &copy; &notit; &notin;", "© © ¬it; ∉"),
        ("&#65;&#x41;&#X41 &#128;&#0;&#xD800;&#x110000;", "AAA €���"),
        ("&nGt;&fjlig;", "≫⃒fj"),
        ("& &# &#x; &unknown; &", "& &# &#x; &unknown; &"),
        ("&CounterClockwiseContourIntegral;&" + "a" * 40 + ";", "∳&" + "a" * 40 + ";"),
    ],
)
def test_references_are_decoded(given: str, meant: str) -> None:
    assert parse(f"<title>{given}</title>").raw(2) == meant


def test_references_in_attributes_need_their_semicolon_before_letters() -> None:
    tree = parse('<a href="?a=1&copy=2&copy;&amp=3&ltx&lt">')
    assert tree.get(tree.tags("a")[0], "href") == "?a=1&copy=2©&amp=3&ltx<"


def test_the_first_of_equal_attributes_counts() -> None:
    tree = parse("<body a=1><p A=2 a=3 b><body a=2 c=4>")
    assert tree.attributes(tree.tags("p")[0]) == {"a": "2", "b": ""}
    assert tree.attributes(tree.tags("body")[0]) == {"a": "1", "c": "4"}


def test_many_attributes_are_kept() -> None:
    tree = parse("<p " + " ".join(f"a{number}={number}" for number in range(5_000)) + ">")
    assert len(tree.attributes(tree.tags("p")[0])) == 5_000


def test_a_page_that_ends_in_a_tag_ends_before_it() -> None:
    for end in ("<a", "<a href", "<a href=", "<a href='x", "<a href=x", "<a /", "</a", "<!-- x", "<!doctype"):
        assert outline(parse(HTML + "<p>x" + end)) == "html(head body(p))"


def test_depth_is_bounded() -> None:
    tree = parse("<div>" * 100_000 + "<p>x")
    depth, number = 0, tree.tags("p")[0]
    while number >= 0:
        depth, number = depth + 1, tree.parent(number)
    assert depth <= 512
    assert len(tree.tags("div")) == 100_000


def test_formatting_that_is_opened_again_is_bounded() -> None:
    tree = parse("".join(f"<b a{number}><p>x" for number in range(20_000)))
    assert len(tree) < 450_000


def test_bytes_are_read_as_utf_8_whatever_they_are() -> None:
    assert compiled.native is not None
    tree = compiled.native.Tree("<p>Ж".encode() + b"\xff\xc3<b>\xe2\x82")
    assert tree.text(0) == "Ж\ufffd\ufffd\ufffd"


def answers(tree: Tree) -> object:
    numbers = list(range(len(tree)))
    return (
        [(tree.tag(number), tree.parent(number)) for number in numbers],
        [tree.attributes(number) for number in numbers],
        [tree.raw(number) for number in tree.tags("script", "style", "title", "textarea")],
        tree.runs(0, 1_000_000),
        tree.blocks(0, []),
        [tree.weights(number) for number in numbers],
    )


def test_random_pages_have_the_tree_that_turbohtml_gives_them() -> None:
    chance = random.Random(11)
    for _ in range(1_500):
        page = make_page(chance)
        with compiled.left_out():
            expected = answers(parse(page))
        assert answers(parse(page)) == expected, page
