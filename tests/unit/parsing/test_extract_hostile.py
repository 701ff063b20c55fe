"""Pages made to stall a parser. The time limit of each test is the promise: they end, and soon."""

import random
import resource
import sys

import pytest
from tests.unit.parsing.pages import TEXTS, reading

from forager.parsing.tree import bounded, parse

END = '<title>Still here</title><a href="/next">next</a>'


def peak_bytes() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def attributes(count: int, pattern: str = "a%d") -> str:
    return "<p " + " ".join(pattern % i for i in range(count)) + ">"


def open_formatting(count: int) -> str:
    return "<p>" + "".join(f"<b a={i}>" for i in range(count)) + "</p>" + "<p>x" * count


JSON_LD, PRODUCT = '<script type="application/ld+json">', '"@type":"Product" "name":'
REFERENCES = ",".join(f'{{"@id":"{number}"}}' for number in range(150))

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
    "bodies and html with attributes": "".join(f"<body a{i}=\">\"><html b{i}='>'>" for i in range(40_000)),
    "formatting left open, quoted ends": "<p>"
    + "".join(f"<b a='>' b=\"</b>\" c={i}>" for i in range(3_000))
    + "</p>"
    + "<p>x" * 3_000,
    "formatting left open behind cells without a table": "<p>"
    + "".join(f"<i a={i}>" for i in range(3_000))
    + "<td></p>"
    + "<p>x" * 3_000,
    "formatting left open behind many elements": "<p>"
    + "".join(f"<b a={i}><q>" for i in range(900))
    + "</p>"
    + "<p>x" * 900,
    "nested in a drawing that looks like a formula": "<svg>" + "<mi><style>" + "<mi a>=</nobr>" * 30_000,
    "nested in a form that ended": "<form><div></form>" * 40_000,
    "nested in list items": "<li><section>" * 40_000,
    "text interrupted in a table": "<table>" + ("x" * 20 + "<input type=hidden>") * 20_000,
    "text interrupted by cells without a table": ("x" * 20 + "<td a=1>") * 20_000,
    "text interrupted by end tags": ("x" * 20 + "</q a=1>") * 20_000,
    "hidden by a script that never ended": "<script><!--<script></script>"
    + "<b>" * 300_000
    + "</script>"
    + "<i>" * 99_999,
    "hidden by a comment that ended": "<!--->" + "<div>" * 100_000,
    "hidden by a raw text in a formula": "<math><annotation-xml><title>" + "<g>" * 50_000 + "</title></q>" * 20_000,
    "hidden by unquoted values": "<p a=b'" + "<div>" * 100_000 + "'>",
    "nested behind rows in a template": "<template>" + "x<h2><caption><tr><option>" * 20_000,
    "formatting closed in a title": "".join(f"<i a{i}><title></i></title><p>" for i in range(20_000)),
    "formatting closed in a value": "".join(f'<i a{i}><p title="</i>">' for i in range(20_000)),
    "formatting closed in a comment": "".join(f"<i a{i}><!--</i>--><p>" for i in range(20_000)),
    "formatting closed in a script in a script": "".join(
        f"<i a{i}><script><!--<script></script></i>--></script><p>" for i in range(10_000)
    ),
    "formatting closed in a table": "".join(f"<i a{i}><table></i></table><p>x" for i in range(10_000)),
    "formatting closed in a cell": "".join(f"<i a{i}><table><tr><td></i></table><p>x" for i in range(10_000)),
    "formatting closed by another": "".join(f"<i a{i}></b><p>x" for i in range(10_000)),
    "formatting closed behind ten blocks": "".join(f"<i a{i}>{'<div>' * 10}</i>{'</div>' * 10}x" for i in range(3_000)),
    "formatting closed in a drawing": "".join(
        f"<i a{i}><svg><foreignObject><style></i></style></foreignObject></svg><p>x" for i in range(10_000)
    ),
    "formatting in drawings": "<svg><foreignObject>"
    + "".join(f"<i a{i}><style></i></style><p>x" for i in range(10_000)),
    "html with attributes": "".join(f"<html a{i}>" for i in range(100_000)),
    "gaps in JSON that is none": '<script type="application/ld+json">"@type":"Product" "name":'
    + " " * 90_000
    + "x</script>",
    "gaps in a string of JSON": '<script type="application/ld+json">"@type":"Product" "name":"'
    + " " * 90_000
    + "</script>",
    "items that are values of many properties": "<div itemscope>" + '<div itemscope itemprop="a b c d e">' * 40,
    "offers that refer to each other": JSON_LD
    + '{"@graph":['
    + ",".join(
        f'{{"@id":"{number}","@type":"ProductGroup","name":"x","hasVariant":[{REFERENCES}],"offers":[{REFERENCES}]}}'
        for number in range(150)
    )
    + "]}</script>",
    "gaps in nested properties": "<div itemscope>"
    + "<div itemprop=name>" * 3_000
    + ("<b>x" + " " * 60_000 + "</b>") * 80,
    "many small elements": "<p>x" * 2_000_000,
    "many comments": "<!---->" * 1_000_000,
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_is_read_soon(name: str) -> None:
    before = peak_bytes()
    page = reading((END + HOSTILE[name]).encode("utf-8", "surrogateescape"))
    assert page.title == "Still here"
    assert [link.href for link in page.links][:1] == ["/next"]
    assert peak_bytes() - before < 200_000_000


HONEST = {
    "small": "<p>hello</p>",
    "much text": f"<p>{TEXTS['en']}</p>" * 800,
    "icons": '<li><i class="icon icon-x"></i> <b title="x = y">word</b> <a href=/x>link</a></li>' * 300,
    "code": "<p>Call <code>f(x)</code> or <em>not</em>, <strong class='k'>always</strong>.</p>" * 500,
    "upper case": "<P><FONT COLOR=red>Old</FONT> <B>page</B></P>" * 400,
    "long attribute": '<img src="data:image/png;base64,' + "A" * 20_000 + '">',
    "deep but sane": "<div>" * 200 + "x" + "</div>" * 200,
    "a large script": "<script>" + 'if (a<b) s = "<p a=\\">\\" b>";' * 40_000 + "</script>",
    "a script that writes tags": "<script>document.write('<div class=\">\">')</script>" * 3_000,
    "many arrows": '<button onclick="() => go(1)" title="a > b">x</button>' * 9_000,
    "a large comment": "<!--" + "<b a='>'>" * 100_000 + "-->",
    "a large style": "<style>" + "a>b{c:'<i>'}" * 50_000 + "</style>",
    "utility classes": f"<div class='{'md:[&>p]:mt-2 ' * 40}' data-x='{{\"a\":\">\"}}'><a href=/x>y</a></div>" * 4_000,
    "paragraphs that are not closed": "<p><font size=2 face=Arial>words<br>" * 8_000,
    "list items that are not closed": "<ul>" + "<li><b>word</b><span>x" * 8_000 + "</ul>",
    "a large table that is not closed": "<table>" + "<tr><td>1<td><b>2<td>3" * 15_000,
    "a large list of options": "<select>" + "<option value=1>one" * 40_000 + "</select>",
    "formatting across blocks": "<b><p>one</b></p><i><div>two</i></div>" * 3_000,
    "icons in drawings": "<svg viewBox='0 0 1 1'><title>x</title><style>.a{}</style><path d='M0 0'/></svg><p>x</p>"
    * 4_000,
    "arrows in handlers": '<button onclick="() => go(1)">x</button>' * 20 + f"<p>{TEXTS['en']}</p>" * 900,
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_page_is_parsed_as_it_is(name: str) -> None:
    assert bounded(HONEST[name]) is HONEST[name]


@pytest.mark.parametrize("name", HOSTILE)
def test_what_our_parser_counted_bounds_a_page_for_the_other_one_too(name: str) -> None:
    text = HOSTILE[name].encode("utf-8", "replace").decode()
    assert bounded(text, parse(text).reopened()) == bounded(text)


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
