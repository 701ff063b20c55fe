"""Pages made to stall a parser. The time limit of each test is the promise: they end, and soon."""

import random
import resource
import sys

import pytest
from tests.unit.extract.pages import TEXTS, reading

from forager.extract.flatten import flatten
from forager.extract.hostile import may_stall

END = '<title>Still here</title><a href="/next">next</a>'


def peak_bytes() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def attributes(count: int, pattern: str = "a%d") -> str:
    return "<p " + " ".join(pattern % i for i in range(count)) + ">"


def open_formatting(count: int) -> str:
    return "<p>" + "".join(f"<b a={i}>" for i in range(count)) + "</p>" + "<p>x" * count


HOSTILE = {
    "50,000 attributes": attributes(50_000),
    "attributes with hidden ends": attributes(50_000, "a%d='>'"),
    "attributes with hidden starts": attributes(50_000, 'a%d="<b>"'),
    "many tags with many attributes": attributes(1_500) * 200,
    "100,000 nested div": "<div>" * 100_000,
    "100,000 nested lists": "<ul><li>" * 100_000,
    "100,000 nested span, closed wrongly": "<span>" * 100_000 + "</div>" * 100_000,
    "nested in a drawing": "<svg>" + "<g>" * 100_000 + "</x>" * 100_000,
    "anchors in anchors of a drawing": "<svg>" + "<a href=/>x" * 8_700,
    "anchors in anchors, just few enough tags": "<svg>" + "<a href=/>x" * 19_900,
    "anchors in anchors with text": "<svg>" + ("<a href=/>" + "word " * 50) * 9_000,
    "anchors in objects in anchors": ("<a href=/>" + "word " * 200 + "<object>") * 9_000,
    "anchors in cells in anchors": "<a href=/>x<table><tr><td>" * 6_000,
    "some anchors around much text": "<svg>" + "<a href=/>" * 290 + "word " * 1_900_000,
    "titles in drawings": "<svg>" + "<g><title></title>" * 9_900,
    "empty anchors in anchors of a drawing": "<svg>" + "<a>x" * 24_000,
    "a million small tags": "<i>" * 1_000_000,
    "formatting left open": open_formatting(3_000),
    "formatting left open, much": open_formatting(50_000),
    "formatting hidden from a careless eye": "<p>"
    + "".join(f'<b a{i}=">x</b>" c>' for i in range(2_000))
    + "</p>"
    + "<p>x" * 5_000,
    "misnested formatting": "<b><div>" * 30_000 + "</b>" * 30_000,
    "attributes of many bodies": "".join(f"<body a{i}>" for i in range(100_000)),
    "options": "<select><option selected>" + "<option>" * 200_000,
    "unclosed comments": "<!--" * 500_000,
    "quotes": "<a '\"" * 500_000,
    "less-than signs": "<" * 3_000_000,
    "one endless tag": "<a " + "x" * 5_000_000,
    "unclosed scripts": "<script>" * 300_000,
    "unclosed tags in a wrong charset": "<meta charset=utf-8>" + "\udcff" * 3000 + "<x " * 200_000,
    "tables in tables": "<table><tr><td>" * 50_000,
    "entities": "&amp" * 1_000_000,
    "adoption agency": "<a><b><i><p></a></b></i>" * 100_000,
    "foster parents": "<table>" + "<b>x" * 500_000,
    "framesets": "<frameset><frame src=/x>" * 100_000,
    "templates": "<template>" * 300_000,
    "CDATA in a drawing": "<svg>" + "<![CDATA[" * 300_000,
    "formulas": "<math><annotation-xml encoding=text/html><div>" * 60_000,
    "tags in plain text": "<plaintext>" + "<b>" * 1_000_000,
    "one endless comment": "<!--" + "-!" * 2_000_000,
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_is_read_soon(name: str) -> None:
    before = peak_bytes()
    page = reading((END + HOSTILE[name]).encode("utf-8", "surrogateescape"))
    assert page.title == "Still here"
    assert [link.href for link in page.links][:1] == ["/next"]
    assert peak_bytes() - before < 400_000_000


HONEST = {
    "small": "<p>hello</p>",
    "much text": f"<p>{TEXTS['en']}</p>" * 800,
    "icons": '<li><i class="icon icon-x"></i> <b title="x = y">word</b> <a href=/x>link</a></li>' * 300,
    "code": "<p>Call <code>f(x)</code> or <em>not</em>, <strong class='k'>always</strong>.</p>" * 500,
    "upper case": "<P><FONT COLOR=red>Old</FONT> <B>page</B></P>" * 400,
    "long attribute": '<img src="data:image/png;base64,' + "A" * 20_000 + '">',
    "deep but sane": "<div>" * 200 + "x" + "</div>" * 200,
    "arrows in handlers": '<button onclick="() => go(1)">x</button>' * 20 + f"<p>{TEXTS['en']}</p>" * 900,
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_page_is_read_the_fast_way(name: str) -> None:
    assert not may_stall(HONEST[name].encode())


def test_the_careful_way_reads_the_same() -> None:
    html = f"""<!doctype html><html lang="en-GB"><head><title>A &amp; B</title><base href="/b/">
    <meta name="description" content='He said "hi"'><link rel=canonical href=/c><meta name=robots content=nofollow>
    <script>if (a < b) document.write("<a href=/no>no</a>")</script></head>
    <body><nav><a href="/menu">Menu</a></nav><main><h1>Head <i>line</i></h1><p>{TEXTS["en"]}{TEXTS["en"]}
    <a href="/one" rel=nofollow>First <b>link</b></a> 1 < 2 &lt; 3 <a href='/two?a=1&amp;b="2"'>Second</a></p></main>
    <iframe src="/frame"></iframe><footer>Imprint</footer></body></html>"""
    fast = reading(html)
    careful = reading(flatten(html.encode()))
    assert careful == fast


@pytest.mark.parametrize("gap", ["", "\n", " " * 40])
def test_white_space_decides_not_what_the_content_is(gap: str) -> None:
    """The careful way writes other white space than the page had."""
    page = f"<p>a{gap}</p>{gap}<main>{gap}<a href='/'>aa</a></main>"
    assert reading(page).text.split() == reading(flatten(page.encode())).text.split() == ["aa"]


def test_the_careful_way_never_lets_markup_through() -> None:
    assert flatten(b"<<b>script>alert(1)<</b>/script>") == b"&lt;script>alert(1)&lt;/script>"
    assert flatten(b"<a onclick=x href='/y'>z") == b'<a href="/y">z'


@pytest.mark.timeout(120)
def test_random_repetitions_end_soon() -> None:
    chance = random.Random(7)
    inline = ["a", "b", "i", "em", "font", "span", "svg", "g", "title", "button", "object"]
    blocks = ["p", "div", "ul", "li", "dl", "dd", "table", "tr", "td", "select", "option", "h1", "form"]

    def piece() -> str:
        tag = chance.choice(inline + blocks)
        return chance.choice([f"<{tag}>", f"</{tag}>", f"<{tag} a=%d>", f"<{tag} x='>'>", "x"])

    for _ in range(40):
        unit = "".join(piece() for _ in range(chance.randint(1, 5)))
        count = 90_000 // len(unit)
        body = "".join(unit.replace("%d", str(i)) for i in range(count))
        assert reading(END + body).title == "Still here"


@pytest.mark.timeout(20)
def test_a_drawing_full_of_titles_gives_the_page_none() -> None:
    assert reading("<svg>" + "<g><title>drawn</title>" * 9_900).title is None
