"""Pages: any bytes become clean text, any markup is read, and two ways of reading agree where both understand it."""

import time
from html.parser import HTMLParser

from hypothesis import strategies as st
from tests.fuzz.target import over
from tests.unit.parsing.pages import TEXTS
from tests.unit.parsing.test_extract_properties import assert_clean

from forager.errors import DecodeError
from forager.fetch.models import Fetched
from forager.parsing import compiled
from forager.parsing.charset import to_utf8
from forager.parsing.models import Reading
from forager.parsing.page import read
from forager.parsing.tree import bounded

SLOWEST_S = 5.0
WORDS_READ = 1000
CHARSETS = {
    "windows-1252": "fr", "iso-8859-1": "es", "utf-8": "ja", "windows-1251": "ru", "koi8-r": "ru", "iso-8859-7": "el",
    "windows-1256": "ar", "shift_jis": "ja", "euc-jp": "ja", "gb18030": "zh", "big5": "en", "euc-kr": "ko",
    "windows-1254": "tr", "iso-8859-2": "pl",
}  # fmt: skip


def a_page(body: bytes, content_type: str = "text/html; charset=utf-8", **headers: str) -> Fetched:
    named = {"content-type": content_type} | {name.replace("_", "-"): value for name, value in headers.items()}
    return Fetched("https://a.example/dir/page", 200, named, body, len(body), 1)


def read_soon(page: Fetched) -> Reading | None:
    began = time.process_time()
    try:
        return read(page, keyword_words=WORDS_READ, markdown=True)
    except DecodeError:
        return None
    finally:
        assert time.process_time() - began < SLOWEST_S, "it took too long"


@over(st.sampled_from(sorted(CHARSETS)), st.integers(1, 4), st.sampled_from(["header", "meta", "both"]))
def text_survives_its_charset(charset: str, times: int, where: str) -> None:
    text = TEXTS[CHARSETS[charset]] * times
    meta = f'<meta charset="{charset}">' if where != "header" else ""
    header = f"text/html; charset={charset}" if where != "meta" else "text/html"
    page, _ = to_utf8((meta + text).encode(charset), header)
    assert page.decode() == meta + text


LABELS = st.one_of(st.sampled_from([*CHARSETS, "utf-7", "utf-16", "x-user-defined", "hex", ""]), st.text(max_size=12))


@over(st.one_of(st.binary(max_size=3000), st.text(max_size=300).map(lambda text: text.encode("utf-16"))), LABELS)
def any_bytes_become_utf8(body: bytes, label: str) -> None:
    page, flags = to_utf8(body, f"text/html; charset={label}")
    page.decode()
    assert b"\0" not in page
    assert set(flags) <= {"charset_lie", "nul"}


TAGS = [
    "a", "b", "i", "u", "s", "em", "tt", "big", "code", "font", "small", "strike", "strong", "nobr", "span", "p",
    "div", "ul", "li", "dl", "dd", "dt", "table", "tr", "td", "th", "tbody", "caption", "col", "colgroup", "select",
    "option", "optgroup", "h1", "h2", "form", "input", "button", "object", "applet", "marquee", "svg", "g", "math",
    "mi", "mo", "mtext", "desc", "title", "annotation-xml", "foreignObject", "textarea", "style", "script",
    "noscript", "template", "iframe", "frameset", "frame", "html", "head", "body", "base", "link", "meta",
    "plaintext", "xmp", "ruby", "rt", "rp", "rb", "rtc", "details", "summary", "dialog", "main", "nav", "article",
    "aside", "header", "footer", "br", "hr", "img", "image",
]  # fmt: skip
ATTRIBUTES = st.sampled_from(
    [
        "", " href=/x", " href='/y' rel=nofollow", " a=1", ' a="', " a='>'", " b=<", " src=/f", " lang=de", " /",
        " type=password", " name=robots content=none", " http-equiv=refresh content='0;url=/r'",
        " rel=canonical href=//c.example/",
    ]
)  # fmt: skip
OPEN = st.builds("<{}{}>".format, st.sampled_from(TAGS), ATTRIBUTES)
CLOSE = st.builds("</{}>".format, st.sampled_from(TAGS))
ODD = st.sampled_from(
    [
        "<", ">", "<!--", "-->", "<![CDATA[", "]]>", "<?", "<!doctype html>", "&", "&amp;", "&#0;", "&#xD800;", "\0",
        "&#99999999;", "\x0c", "é", "日本語", "\ud800", "\u2028", "text ", " ", "\n", "</", "<a href='", '<a href="',
        "=", "'", '"',
    ]
)  # fmt: skip
MARKUP = st.lists(st.one_of(OPEN, CLOSE, ODD), max_size=40).map("".join)
REPEATED = st.tuples(
    MARKUP,
    st.lists(st.one_of(OPEN, CLOSE, ODD), min_size=1, max_size=4).map("".join),
    st.sampled_from([1, 10, 300, 3_000, 12_000]),
)
BODIES = st.one_of(MARKUP, REPEATED.map(lambda parts: parts[0] + parts[1] * parts[2]))
TYPES = st.sampled_from(["text/html", "text/html; charset=utf-8", "application/xhtml+xml", "text/plain", ""])


@over(BODIES, TYPES, st.text(max_size=20))
def any_markup_is_read(markup: str, content_type: str, robots: str) -> None:
    page = read_soon(a_page(markup.encode("utf-8", "surrogatepass"), content_type, x_robots_tag=robots))
    if page is not None:
        assert_clean(page, words=WORDS_READ)


WORDS = st.text("abc é日", min_size=1, max_size=12)
HREFS = st.builds("/{}".format, st.text("abc-_.?=", max_size=8))
LINK = st.builds('<a href="{}">{}</a>'.format, HREFS, WORDS)
BLOCK = st.one_of(
    st.builds("<p>{}</p>".format, WORDS),
    st.builds("<p>{} {}</p>".format, WORDS, LINK),
    st.builds("<h1>{}</h1>".format, WORDS),
    st.builds("<main>{}</main>".format, LINK),
    st.builds("<ul><li>{}</li></ul>".format, LINK),
    st.builds("<nav>{}</nav>".format, LINK),
    st.builds("<div><div>{}</div></div>".format, LINK),
    st.builds("<b>{}</b>".format, WORDS),
    st.builds("<!-- {} -->".format, WORDS),
    st.builds("<script>{}</script>".format, WORDS),
)
DOCUMENT = st.builds(
    '<!doctype html><html lang="en"><head><title>{}</title></head><body>{}</body></html>'.format,
    WORDS,
    st.lists(BLOCK, max_size=12).map("".join),
)


NAMES = st.sampled_from(
    [
        "", " class=menu", " class='content'", " class=post-content id=x", " id=sidebar", " role=navigation", " hidden",
        " aria-hidden=true", " style='display: none'", " style='color:red'", " class='nav' hidden", " class=ad",
        " role=main", " class", " id='' class=''", " class=shareBar", " class=promo", " itemscope", " CLASS=Menu",
    ]
)  # fmt: skip
REGIONS = ["nav", "aside", "footer", "header", "form", "dialog", "div", "section", "ul", "article", "main", "h1", "h2"]
NAMED = st.builds("<{}{}>".format, st.sampled_from(REGIONS), NAMES)
LONG = st.sampled_from(["words of some length ", "\n\t ", "Größe ", "日本語の文章 ", "😀 "]).flatmap(
    lambda words: st.sampled_from([1, 3, 12, 40, 120]).map(lambda times: words * times)
)
REGION_ENDS = st.builds("</{}>".format, st.sampled_from(REGIONS))
LINKS = st.sampled_from(
    [
        "<a href=/x>", "<a href=' /y '>", "<a href='/a\nb'>", "<a href>", "<a src=/s>", "<a href='' src=h>", "</a>",
        "<a href='javascript:x' rel=nofollow>", "<a rel='NoFollow x' href=?q>", "<a href='é/ü'>",
        "<svg><a xlink:href=/z>", "<a href=#top>", "<a href='/p  '>", "<a href='http://b.example/\x7f'>",
        "<iframe src=/f>", "<area href=/m>",
    ]
)  # fmt: skip
SITES = st.lists(st.one_of(NAMED, NAMED, REGION_ENDS, LONG, LONG, LINKS, OPEN, CLOSE, ODD), max_size=60).map("".join)
# Nested as a person would, with texts about as long as those that decide what is content.
SOME_TEXT = st.builds(
    lambda word, length: (word * length)[:length],
    st.sampled_from(["words of it ", "Grüße ", "文章。"]),
    st.sampled_from([20, 110, 195, 205, 310, 395, 405, 550, 610, 1100, 1600]),
)
TEXT_BLOCK = st.one_of(
    SOME_TEXT,
    SOME_TEXT.map("<p>{}</p>".format),
    SOME_TEXT.map("<a href=/x>{}</a>".format),
    st.sampled_from(["<h1>One</h1>", "<h2> Two \n two</h2>", "<h3></h3>", "<script>x</script>", "<button>y</button>"]),
)
NESTED = st.recursive(
    TEXT_BLOCK,
    lambda inner: st.builds(
        lambda tag, names, parts: f"<{tag}{names}>{''.join(parts)}</{tag}>",
        st.sampled_from(REGIONS[:-2]),
        NAMES,
        st.lists(inner, min_size=1, max_size=5),
    ),
    max_leaves=14,
)


@over(st.one_of(SITES, BODIES, *[st.lists(NESTED, min_size=1, max_size=4).map("".join)] * 3), st.sampled_from([3, 200]))
def c_and_python_read_the_same(markup: str, words: int) -> None:
    page = a_page(markup.encode("utf-8", "replace"))
    assert _read_whole(page, words) == _in_python(page, words)


def _read_whole(page: Fetched, words: int) -> Reading | str:
    try:
        return read(page, keyword_words=words)
    except DecodeError as error:
        return str(error)


def _in_python(page: Fetched, words: int) -> Reading | str:
    with compiled.left_out():
        return _read_whole(page, words)


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if tag == "a" and href:
            self.hrefs.append(href)


@over(DOCUMENT)
def links_are_those_of_the_standard_library(document: str) -> None:
    oracle = _Links()
    oracle.feed(document)
    page = read_soon(a_page(document.encode()))
    assert page is not None
    assert [link.href for link in page.links] == oracle.hrefs
    assert bounded(document) is document
