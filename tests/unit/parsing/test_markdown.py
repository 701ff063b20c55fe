"""Markdown of pages: what they show is there, what Markdown would take for markup is text, nothing hostile passes."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.fuzz.pages import SITES
from tests.unit.parsing.pages import fetched

from forager.parsing import compiled
from forager.parsing.markdown import render, render_text
from forager.parsing.markdown_formats import TextFormat, convert, to_html, to_text
from forager.parsing.page import read, read_markdown
from forager.parsing.tree import parse

BASE = "https://a.example/dir/page"


def markdown(html: str) -> str:
    """Of a whole body, whatever it is."""
    tree = parse(f"<body>{html}</body>")
    return render(tree, tree.tags("body")[0], [], BASE)


BLOCKS = {
    "headings": ("<h1>One</h1><h3>Three <a href='#x'>¶</a></h3>", "# One\n\n### Three"),
    "a heading of marks": ("<h2><b>C#</b> # </h2>", "## C# \\#"),
    "paragraphs": ("<p>one</p><div>two<p>three</p>four</div>", "one\n\ntwo\n\nthree\n\nfour"),
    "breaks": ("<p>one<br>two<br><br>three<br></p>", "one\\\ntwo\n\nthree"),
    "lists": (
        "<ul><li>a<ul><li>b<li>c</ul><li>d<p>e</p></ul><p>f",
        "- a\n  - b\n  - c\n- d\n\n  e\n\nf",
    ),
    "numbers": ("<ol start=3><li>a<li value=9>b<li><p>c</ol>", "3. a\n9. b\n10. c"),
    "lists beside each other": ("<ul><li>a</ul><ul><li>b</ul>", "- a\n\n* b"),
    "definitions": ("<dl><dt>a<dd>b<dd>c<dt>d<dd>e</dl>", "a\n- b\n- c\n\nd\n- e"),
    "quotes": (
        "<blockquote><p>a<p>b<ul><li>c</ul></blockquote><blockquote>d</blockquote>",
        "> a\n>\n> b\n>\n> - c\n\n> d",
    ),
    "code": (
        "<pre class='x language-py'><code><span>if</span> a:\n    <b>b</b>\n\n\n<i>c</i> ```\n</code></pre>",
        "````py\nif a:\n    b\n\n\nc ```\n````",
    ),
    "code in an item": ("<ul><li>a<pre>b\n  c</pre></ul>", "- a\n\n  ```\n  b\n    c\n  ```"),
    "a line": ("<hr>a<hr><hr>b<hr>", "a\n\n---\n\nb"),
    "a table": (
        "<table><caption>T</caption><tr><th>a<th>b|c<tr><td rowspan=2>1<td><p>2<p><b>3</b><tr><td>4</table>",
        "T\n\n| a | b\\|c |\n| --- | --- |\n| 1 | 2 **3** |\n|  | 4 |",
    ),
    "a table without a head": (
        "<table><tr><td>a<td>b<tr><td colspan=2>c</table>",
        "|  |  |\n| --- | --- |\n| a | b |\n| c |  |",
    ),
    "a table of a layout": (
        "<table><tr><td><h2>a</h2>b<td>c<tr><td>d<td>e</table>",
        "## a\n\nb\n\nc\n\nd\n\ne",
    ),
    "a table around a table": (
        "<table><tr><td>x<td><table><tr><th>a<th>b<tr><td>1<td>2</table></table>",
        "x\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
    ),
    "numbers of lines": ("<table><tr><td><pre>1\n2</pre><td><pre>a\nb</pre></table>", "```\na\nb\n```"),
    "controls and scripts": (
        "a<script>x</script><button>y</button><style>z</style> b<select><option>o</select>",
        "a\n\nb",
    ),
}
INLINE = {
    "emphasis": ("a<b> b </b>c<i>d</i>", "a **b** c*d*"),
    "emphasis of one word in pieces": ("<b>a</b><b>b</b>", "**ab**"),
    "emphasis that would be none": ("a<b>(b)</b>c", "a(b)c"),
    "emphasis before a letter": ("<b>«a»</b>b", "«a»b"),
    "emphasis over paragraphs": ("<b>a<p>b</p>c</b>", "**a**\n\n**b**\n\n**c**"),
    "emphasis in itself": ("<b>a<strong>b</strong></b> <del>c</del>", "**ab** ~~c~~"),
    "links": (
        "<a href='../x?a=1&amp;b=2'>a</a> <a href='#f'>b</a>",
        "[a](https://a.example/x?a=1&b=2) [b](" + BASE + "#f)",
    ),
    "a link around blocks": (
        "<a href=/x><h2>a</h2><p>b</p></a>",
        "## [a](https://a.example/x)\n\n[b](https://a.example/x)",
    ),
    "a link to nowhere": (
        "<a href='javascript:alert(1)'>a</a><a href=' java\nscript:x'>b</a><a href='data:text/html,x'>c</a>",
        "abc",
    ),
    "a link without text": ("a<a href=/x> </a>b", "a b"),
    "parentheses": (
        "<a href='/x_(y)'>a</a> <a href='/x)'>b</a>",
        "[a](https://a.example/x_(y)) [b](<https://a.example/x)>)",
    ),
    "mail": ("<a href='mailto:a@b.c'>a</a>", "[a](mailto:a@b.c)"),
    "no image": ("wow!<a href=/x>a</a>", "wow\\![a](https://a.example/x)"),
    "images": (
        (
            "<img src=/a.png alt='a [b]'><img src='data:,x' alt=c><img src=/p.gif width=1 height=1>"
            "<img src=blank.gif data-src=/d.jpg alt=d>"
        ),
        "![a \\[b\\]](https://a.example/a.png)![d](https://a.example/d.jpg)",
    ),
    "an image in a link": ("<a href=/x><img src=a.png></a>", "[![](https://a.example/dir/a.png)](https://a.example/x)"),
    "code": ("<code>a*b</code> <code>`</code> <kbd>x  <b>y</b></kbd>", "`a*b` `` ` `` `x y`"),
    "white space": ("a\n\t b&nbsp;c <span> d</span>", "a b c d"),
}
ESCAPED = {
    "*a* _b_ `c` [d](e) < f a_b ~~g~~": "\\*a\\* \\_b\\_ \\`c\\` \\[d\\](e) < f a_b \\~\\~g\\~\\~",
    "# a": "\\# a",
    "- a": "\\- a",
    "1. a": "1\\. a",
    "1.5 a": "1.5 a",
    "> a": "\\> a",
    "---": "\\---",
    "===": "\\===",
    "&amp;lt; R&amp;D": "\\&lt; R&D",
    "a \\ b": "a \\\\ b",
}


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks(name: str) -> None:
    html, expected = BLOCKS[name]
    assert markdown(html) == expected


@pytest.mark.parametrize("name", INLINE)
def test_what_is_inside_of_blocks(name: str) -> None:
    html, expected = INLINE[name]
    assert markdown(f"<div>{html}</div>") == expected


@pytest.mark.parametrize("html", ESCAPED)
def test_text_is_no_markup(html: str) -> None:
    assert markdown(f"<p>{html}</p>") == ESCAPED[html]
    said = re.sub(r"<[^>]*>", "", to_html(markdown(f"<p>{html}</p>")))
    assert said.strip() == html.replace("<", "&lt;").replace(">", "&gt;").replace("R&D", "R&amp;D")


MARKS = st.text("ab1 \n*_`[]()<>#-+=~!|&;:\\.é日", max_size=60)


@given(st.lists(MARKS, min_size=1, max_size=4))
@settings(deadline=None)
def test_any_text_comes_back(parts: list[str]) -> None:
    escaped = [part.replace("&", "&amp;").replace("<", "&lt;") for part in parts]
    html = to_html(markdown("".join(f"<p>{part}</p>" for part in escaped)))
    assert re.findall(r"<(?!/?p>)", html) == []
    assert " ".join(to_text(markdown("".join(f"<p>{part}</p>" for part in escaped))).split()) == " ".join(
        " ".join(parts).split()
    )


@given(SITES)
@settings(max_examples=200, deadline=None)
def test_a_page_gives_markdown_without_html_and_the_same_in_python(html: str) -> None:
    page = fetched(html.encode("utf-8", "replace"))
    reading = read(page, keyword_words=10**6, markdown=True)
    tokens = MarkdownIt("commonmark").enable(["table"]).parse(reading.markdown)
    inline = [child for token in tokens for child in token.children or []]
    assert not [token for token in (*tokens, *inline) if token.type in {"html_block", "html_inline"}]
    assert not [token for token in inline if str(token.attrGet("href") or "").startswith(("javascript", "data"))]
    with compiled.left_out():
        assert read(page, keyword_words=10**6, markdown=True).markdown == reading.markdown


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 50_000 + "x",
        "<blockquote><ul><li>" * 5_000 + "x",
        "<b>a</b>" * 50_000,
        "<b>" * 20_000 + "x",
        "<table><tr><td>" * 3_000 + "x",
        "<table>" + "<tr><td rowspan=60000 colspan=1000>x" * 5_000,
        "<a href='" + "x" * 1_900 + "'>" + "<p>a" * 20_000,
        "<pre>" + "<span>\n</span>" * 50_000,
        "<p>" + "`" * 100_000,
        "<p>" + "!<a href=x>y</a>" * 20_000,
        "<p>" + "&#10;*_[" * 50_000,
        "<ol>" + "<li value=99999>" * 30_000,
        "<h1>" + "<br>" * 50_000,
    ],
    ids=lambda html: html[:24],
)
def test_hostile_pages_end_soon_and_small(html: str) -> None:
    tree = parse(f"<body>{html}</body>")
    started = time.process_time()
    found = render(tree, 0, [], BASE)
    assert len(found) < 6_000_000
    assert time.process_time() - started < 10  # a page in proportion takes a tenth of a second


def test_text_without_elements_is_paragraphs() -> None:
    assert render_text("a *b*\n\n# c") == "a \\*b\\*\n\n\\# c"


def test_the_quick_way_gives_the_same() -> None:
    html = b"<html><head><base href=/b/></head><body><h1>T</h1>" + b"<p>Some words of a page. <a href=c>d</a></p>" * 20
    page = fetched(html)
    assert read_markdown(page) == read(page, keyword_words=1, markdown=True).markdown
    assert "/b/c" in read_markdown(page)


def test_formats() -> None:
    text = "# A & b\n\n- c **d** [e](https://f.example/)\n\n| g | h |\n| --- | --- |\n| i | j |\n\n```\n<k>\n```"
    assert convert(text, TextFormat.MARKDOWN) == text
    assert convert(text, TextFormat.TEXT) == "A & b\nc d e\ng\th\ni\tj\n<k>"
    assert '<a href="https://f.example/">e</a>' in convert(text, TextFormat.HTML)
    assert "<script" not in to_html("<script>x</script>\n\n[a](javascript:x)")
