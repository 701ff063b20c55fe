"""What is written in C gives what the Python beside it gives, to the letter; Python does it all where it is missing."""

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.fuzz.pages import SITES
from tests.quality.products.corpus import pages as product_pages
from tests.quality.reading.corpus import samples
from tests.unit.parsing.pages import TEXTS, fetched

from forager.fetch.models import Fetched
from forager.parsing import compiled
from forager.parsing.byte_search import holds
from forager.parsing.charset import utf8_surplus
from forager.parsing.page import read
from forager.parsing.simhash import SHORT, simhash_in_python
from forager.parsing.text import (
    LIKELY_WORD,
    first_words,
    first_words_in_python,
    squeeze,
    text_length_in_python,
)
from forager_playground import DEMO_SITES, make_sites

_native = pytest.importorskip("forager.parsing._native", reason="there was no C compiler")

GAPS = " \t\n\r\f\v\x1c\x1f\x85\xa0\u2028"
LETTERS = st.one_of(
    st.text("ab 1\n" + GAPS, max_size=1500),
    st.text("aé €\n" + GAPS, max_size=1500),
    st.text("日 😀a7\n", max_size=1500),
)
ANY_TEXT = st.one_of(st.text(), LETTERS, st.sampled_from(sorted(TEXTS.values())).map(lambda text: text * 20))
WRITABLE = ANY_TEXT.map(lambda text: text.encode("utf-8", "replace").decode())
"""As a tree gives it: without halves of surrogates."""


@given(WRITABLE)
@settings(deadline=None)
def test_texts_weigh_the_same(text: str) -> None:
    assert _native.weigh(text) == text_length_in_python(text)
    assert _native.squeeze(text) == squeeze(text)


PARTS_OF_UTF8 = st.sampled_from(
    [
        b"plain ascii, thirty letters or so",
        b"a",
        b"\x00",
        b"\x7f",
        b"\x80",
        b"\xbf",
        b"\xc0\x80",
        b"\xc1\xbf",
        b"\xc2",
        b"\xc3\xbf",
        b"\xc4\x80",
        b"\xe0\x80\x80",
        b"\xe0\xa0\x80",
        b"\xed\x9f\xbf",
        b"\xed\xa0\x80",
        b"\xef\xbf\xbf",
        b"\xe2\x80",
        b"\xf0\x8f\xbf\xbf",
        b"\xf0\x90\x80\x80",
        b"\xf4\x8f\xbf\xbf",
        b"\xf4\x90\x80\x80",
        b"\xf8\xff",
    ]
)


@given(st.one_of(st.text(max_size=600).map(lambda text: text.encode(errors="replace")), st.binary(max_size=300)))
@example(b"")
@settings(deadline=None)
def test_valid_utf8_is_known_and_nothing_else(page: bytes) -> None:
    assert _native.utf8_surplus(page) == surplus_of(page)


@given(st.lists(PARTS_OF_UTF8, max_size=40).map(b"".join), PARTS_OF_UTF8)
@settings(deadline=None)
def test_bytes_that_look_like_utf8_are_told_from_it(page: bytes, last: bytes) -> None:
    for cut in (page, page + last, page.decode(errors="ignore").encode(), page.decode(errors="ignore").encode() + last):
        assert _native.utf8_surplus(cut) == surplus_of(cut)


def surplus_of(page: bytes) -> int:
    with compiled.left_out():
        return utf8_surplus(page)


@given(st.text(max_size=2000) | LETTERS)
@example("\ud800 " * 20)
@example("a b c d e f g\n" * (SHORT // 10))
@settings(deadline=None)
def test_similarity_is_the_same(text: str) -> None:
    assert _native.simhash(text) == simhash_in_python(text)


@given(ANY_TEXT, st.integers(-1, 60))
@settings(deadline=None)
def test_first_words_are_the_same(text: str, count: int) -> None:
    if count > 0:
        assert first_words(text, count) == first_words_in_python(text, count)
    found = _native.first_words(text, count, count * LIKELY_WORD)
    assert found is None or found == " ".join(text.split()[:count])


@given(st.binary(max_size=2000), st.binary(max_size=3))
@example(b"ab" * 500 + b"abc", b"abc")
@example(b"x" * 239 + b"word", b"word")
@settings(deadline=None)
def test_bytes_are_found_where_they_are(page: bytes, word: bytes) -> None:
    assert _native.holds(page, word) == (word in page)
    assert _native.holds(page + word + page, word)
    with compiled.left_out():
        assert holds(page, word or b"x") == ((word or b"x") in page)


@given(SITES)
@settings(max_examples=200, deadline=None)
def test_a_page_is_read_the_same(html: str) -> None:
    page = fetched(html.encode("utf-8", "replace"))
    quickly = read(page, keyword_words=200)
    with compiled.left_out():
        assert read(page, keyword_words=200) == quickly


def corpus() -> Iterator[Fetched]:
    yield from (fetched(sample.html) for sample in samples())
    yield from (fetched(page.html, url=page.url) for page in product_pages())
    for site in make_sites([*DEMO_SITES, "bench=1x40"]):
        for page in site.pages():
            answer = site.answer(*_split(page.path))
            url = f"http://site.example{page.path}"
            yield Fetched(url, 200, {"content-type": answer.content_type}, answer.body, 1, 1)


def _split(path: str) -> tuple[str, str]:
    path, _, query = path.partition("?")
    return path, query


def test_pages_of_all_kinds_are_read_the_same() -> None:
    for page in corpus():
        quickly = read(page, keyword_words=200)
        with compiled.left_out():
            assert read(page, keyword_words=200) == quickly, page.url


def x(letters: int) -> str:
    """One long word after the other."""
    return " ".join(["x" * 9] * (letters // 9) + ["x" * (letters % 9)])


def deep(tag: str, levels: int, inside: str) -> str:
    return f"<{tag}>" * levels + inside + f"</{tag}>" * levels


LIMITS: dict[str, tuple[Callable[[int], str], Iterable[int]]] = {
    "prose in a menu": (lambda n: f"<div class=menu>{'x' * n}</div><p>{x(900)}", range(396, 404)),
    "links in a menu": (
        lambda n: f"<div class=menu>{'x' * 500}<a href=/x>{'y' * n}</a></div><p>{x(900)}",
        range(496, 504),
    ),
    "a form": (lambda n: f"<form>{'x' * n}</form><p>{x(900)}", range(596, 604)),
    "a form in a script's shade": (
        lambda n: f"<form><style>{'y' * 9}</style>{'x' * n}</form>{x(900)}",
        range(590, 604),
    ),
    "a long main element": (lambda n: f"<main><h1>T</h1>{x(n)}</main>{x(9000)}", range(1494, 1504)),
    "most, without a headline": (lambda n: f"<main>{x(n)}</main>{x(1000)}", range(994, 1006)),
    "most, with a headline": (lambda n: f"<main><h1>T</h1>{x(n)}</main>{x(1000)}", range(494, 506)),
    "enough": (lambda n: f"<nav>menu</nav>{x(n)}", range(196, 204)),
    "the block of the headline": (lambda n: f"<div><h1>T</h1>{'x' * n}</div>{'x' * 1000}", range(2326, 2340)),
    "how far the headline's block is": (
        lambda n: f"<div>{deep('p', 1, '')}{x(800)}{deep('div', n, '<h1>T</h1>')}</div>{x(100)}",
        range(4, 12),
    ),
    "how far a header's article is": (
        lambda n: f"<article>{deep('div', n, '<header>H</header>')}{x(900)}</article>",
        range(8, 15),
    ),
    "articles": (lambda n: f"<article>{x(30)}</article>" * n + f"<article>{x(2000)}</article>", range(26, 34)),
    "an article among others": (lambda n: f"<article>{x(n)}</article><article>{x(900)}</article>", range(290, 310)),
    "an article in an article": (
        lambda n: f"<article>{x(300)}<article>{'x' * n}</article></article>{x(50)}",
        range(440, 520, 3),
    ),
    "headlines": (lambda n: "<nav><h1>T</h1></nav>" * n + x(900), range(28, 34)),
    "headings": (lambda n: "<h1>a</h1>" + "<h2>b c</h2>" * n + "<h3>d</h3>" * 5 + x(900), range(14, 24)),
    "empty headings": (lambda n: "<h2> </h2>" * n + "<h2>b</h2>" * 9 + x(900), range(8, 24)),
    "the length of a heading": (lambda n: f"<h1>{'x' * n} y</h1>{x(900)}", range(194, 204)),
    "the length of all headings": (lambda n: f"<h2>{'x' * n} y</h2>" * 12 + x(900), range(140, 180, 5)),
    "menus that are cut": (lambda n: "<div class=menu>m</div>" * n + x(900), range(297, 303)),
    "menus that are looked at": (lambda n: "<ul class=nav>m</ul>" * n + x(900), range(2998, 3003)),
    "an anchor": (lambda n: f"<a href=/x> {'x' * n} y </a>", range(194, 204)),
    "an anchor of gaps": (lambda n: f"<a href=/x>{' ' * n}y z</a>", range(3994, 4003)),
    "an anchor in an anchor": (lambda n: "<table><td><a href=/x>a" * n, range(1, 9)),
    "an address": (lambda n: f"<a href='/{'x' * n}'>x</a>", range(8188, 8194)),
    "links": (lambda n: "<a href=/x>x</a>" * n, range(19_999, 20_002)),
}


@pytest.mark.parametrize("name", LIMITS)
def test_decisions_are_the_same_around_their_limits(name: str) -> None:
    make, sizes = LIMITS[name]
    for size in sizes:
        page = fetched(make(size))
        quickly = read(page, keyword_words=200)
        with compiled.left_out():
            assert read(page, keyword_words=200) == quickly, size


@pytest.mark.parametrize(
    "html",
    [
        "<nav hidden>a<nav class=content>{0}</nav></nav>{1}",
        "<nav hidden>a<div class=content>{0}</div></nav>{1}",
        "<div hidden>a<div class=content>{0}</div><article>{0}</article></div>{1}",
        "<div class=menu>a<div class=content>{0}</div></div>{1}",
        "<div class=content>{0}<div class=nav>b</div></div>{1}",
        "<section style='display:none'>a<ul class=nav>{0}</ul><h2>no</h2></section>{1}",
        "<div class=nav><h1>T</h1>{0}</div>{1}",
        "<div hidden><main>{0}</main></div>{1}",
        "<noscript><h1>no</h1><main>{0}</main></noscript><h1>yes</h1>{1}",
        "<svg><title>t</title><a href=/s>{0}</a></svg>{1}",
        "<template><a href=/t>{0}</a></template>{1}",
        "<frameset><frame src=/f></frameset>",
        "<body><frame src=/f>{1}",
        "<a href=/x><script>s()</script>{0}</a>{1}",
        "<form><dialog>{0}</dialog></form>",
        "<aside>{0}</aside><footer>{1}</footer>",
        "<header><h2>no</h2></header><main><header><h2>yes</h2></header>{1}</main>",
    ],
)
def test_odd_nestings_are_read_the_same(html: str) -> None:
    for inside in ("", x(60), x(700)):
        page = fetched(html.format(inside, x(500)))
        quickly = read(page, keyword_words=200)
        with compiled.left_out():
            assert read(page, keyword_words=200) == quickly


def test_pages_that_are_alike_leave_no_memory_behind() -> None:
    """Ten megabytes would be one text left behind for each of some hundred pages."""
    page = fetched("<main><h1>One</h1>" + "<p>words <a href=/x>é</a>" * 2000 + "</main><div hidden class=menu>no</div>")
    script = (
        "import resource, sys; from forager.parsing.page import read; from tests.unit.parsing.pages import fetched\n"
        f"page = fetched({page.body.decode()!r})\n"
        "grown = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "for _ in range(50): read(page, keyword_words=200)\n"
        "before = grown()\n"
        "for _ in range(500): read(page, keyword_words=200)\n"
        "print(grown() - before)"
    )
    grown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert int(grown) < 10 * 1024


@pytest.mark.parametrize(
    "call",
    [
        lambda: _native.weigh(b"bytes"),
        lambda: _native.squeeze(None),
        lambda: _native.simhash(1),
        lambda: _native.first_words(b"a", 1, 1),
        lambda: _native.holds("a", "b"),
        lambda: _native.Tree(None),
        lambda: _native.Tree(page=b"a"),
        lambda: _native.Tree(b"<p>").tag("p"),
        lambda: _native.Tree(b"<p>").tags(1),
        lambda: _native.Tree(b"<p>").column((0,), "id"),
        lambda: _native.Tree(b"<p>").texts([None], 1),
        lambda: _native.Tree(b"<p>").find(("id",), [1]),
        lambda: _native.Tree(b'<a href=" x">').links(None, None, 200, 10),
        lambda: _native.Tree(b'<a href=" x">').links(len, str, 200, 10),
    ],
)
def test_what_is_no_text_and_no_tree_is_refused(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises((TypeError, AttributeError)):
        call()


def test_python_reads_where_nothing_was_compiled() -> None:
    script = (
        "import sys; sys.modules['forager.parsing._native'] = None\n"
        "from forager.parsing import compiled\nfrom forager.parsing.page import read\n"
        "from tests.unit.parsing.pages import fetched\n"
        "page = read(fetched('<nav>Menu</nav><h1>Title</h1><p>Some words <a href=/x>there</a>'), keyword_words=9)\n"
        "print(compiled.native, page.text.split(), page.headings, [link.href for link in page.links])\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said == "None ['Menu', 'Title', 'Some', 'words', 'there'] Title ['/x']\n"
