import pytest
from tests.unit.parsing.pages import TEXTS, fetched, reading

from forager.parsing.page import read
from forager.parsing.text import fingerprint

PROSE = TEXTS["en"] + " " + "They waved to him, and he counted them twice before he went home to his breakfast. " * 3


def test_a_page_says_what_it_is() -> None:
    page = reading(
        f"""<!doctype html><html lang="en-gb"><head>
        <title> The   garden
        in spring </title>
        <meta name="Description" content=" All about
        tulips. "><link rel="canonical" href="../tulips?a=1">
        </head><body><h1>Tulips</h1><h2>Red <b>ones</b></h2><h3>Small</h3><h4>no</h4><p>{PROSE}</p></body></html>"""
    )
    assert page.title == "The garden in spring"
    assert page.description == "All about tulips."
    assert page.canonical == "https://site.example/tulips?a=1"
    assert page.language == "en-GB"
    assert page.headings == "Tulips Red ones Small"
    assert page.text.startswith("Tulips Red ones")
    assert page.base_url == "https://site.example/dir/page"
    assert len(page.content_hash) == 16
    assert page.flags == ()


def test_only_the_first_words_are_kept() -> None:
    assert reading("<p>" + "word " * 1000, words=5).text == "word word word word word"
    assert reading("<p>" + "word " * 1000, words=0).text == ""


def test_long_words_and_wide_gaps_are_words_too() -> None:
    long = "x" * 300
    assert reading(f"<p>{long} {long} b c", words=3).text == f"{long} {long} b"
    assert reading("<p>a" + " " * 1000 + "b\n\n<p>c", words=3).text == "a b c"


def test_og_description_stands_in() -> None:
    assert reading('<meta property="og:description" content="From og">').description == "From og"
    both = '<meta property="og:description" content="og"><meta name="description" content="own">'
    assert reading(both).description == "own"


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>One</title><title>Two</title>", "One"),
        ("<svg><title>Icon</title></svg><p>x", None),
        ("<body><svg><title>Icon</title></svg><title>Late</title>", "Late"),
        ("<head><div>oops</div><title>In the body</title>", "In the body"),
        ("<title></title>", None),
        ("<title>a&amp;b &lt;c&gt;</title>", "a&b <c>"),
        ("<title>" + "x" * 5000 + "</title>", "x" * 1000),
        ("<title>unclosed", "unclosed"),
        ("", None),
    ],
)
def test_the_title_is_the_pages_own(html: str, title: str | None) -> None:
    assert reading(html).title == title


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ('<title></title><meta property="og:title" content="From og"><h1>H</h1>', "From og"),
        ('<meta name="twitter:title" content="From twitter">', "From twitter"),
        ("<title> </title><h1> </h1><h1>Heading <b>two</b></h1>", "Heading two"),
        ('<title>Own</title><meta property="og:title" content="From og">', "Own"),
        ("<title>\u202bשלום\u202c So\u00adft ze\u200bro\ufeff</title>", "שלום Soft zero"),
        ("<title>می\u200cخواهم 👩\u200d🚀</title>", "می\u200cخواهم 👩\u200d🚀"),
    ],
)
def test_titles_stand_in_and_are_clean(html: str, title: str) -> None:
    assert reading(html).title == title


def test_the_canonical_is_spelled_as_pages_are_known() -> None:
    assert reading('<link rel=canonical href="HTTPS://Site.Example:443/a/../b?utm_source=x#f">').canonical == (
        "https://site.example/b"
    )
    assert reading("<link rel=canonical href='http://[bad'>").canonical is None


@pytest.mark.parametrize(
    ("base", "base_url"),
    [
        ("/other/", "https://site.example/other/"),
        ("https://cdn.example/x/", "https://cdn.example/x/"),
        ("sub/", "https://site.example/dir/sub/"),
        ("javascript:alert(1)", "https://site.example/dir/page"),
        ("data:text/html,x", "https://site.example/dir/page"),
        ("http://[bad", "https://site.example/dir/page"),
        ("", "https://site.example/dir/page"),
    ],
)
def test_the_base_is_absolute_and_a_web_address(base: str, base_url: str) -> None:
    assert reading(f'<base href="{base}"><base href="/second/"><a href=x>x</a>').base_url == base_url


def test_a_long_heading_is_capped_and_leaves_room_for_the_next() -> None:
    page = reading(f"<h1>{'x' * 500}</h1><h2>\n Next </h2><h2> </h2><h2>Last</h2>")
    assert page.headings == f"{'x' * 200} Next Last"


def test_the_main_text_leaves_navigation_out() -> None:
    nav = "<nav>" + "<a href=/x>Menu</a> " * 50 + "</nav>"
    for html in (
        f"<body>{nav}<main><p>{PROSE}</p></main><footer>Imprint</footer>",
        f"<body>{nav}<article><p>{PROSE}</p></article><footer>Imprint</footer>",
        f"<body><header>Logo</header>{nav}<div><p>{PROSE}</p></div><aside>Advert</aside><footer>Imprint</footer>",
    ):
        text = reading(html).text
        assert text == " ".join(PROSE.split()), html


def test_an_empty_main_element_does_not_hide_the_page() -> None:
    assert "lighthouse" in reading(f"<main></main><div>{PROSE}</div>").text


def test_scripts_and_styles_are_no_text() -> None:
    page = reading(f"<body><script>var secret</script><style>.x{{}}</style><noscript>no js</noscript><p>{PROSE}</p>")
    assert page.text == " ".join(PROSE.split())


def test_the_fingerprint_sees_text_and_not_markup() -> None:
    plain = reading(f"<title>T</title><body><p>{PROSE}</p><script>id=1</script>")
    dressed = reading(
        f"<title>T</title>\n<body class=z>\n<div><p id=7><b>{PROSE[:10]}</b>{PROSE[10:]}</p></div><script>id=2</script>"
    )
    other = reading(f"<title>T</title><body><p>{PROSE} New.</p>")
    retitled = reading(f"<title>U</title><body><p>{PROSE}</p>")
    assert plain.content_hash == dressed.content_hash
    assert len({plain.content_hash, other.content_hash, retitled.content_hash}) == 3


@pytest.mark.parametrize("words", ["plain", "café ©", "“quoted” – 日本語"])
def test_the_fingerprint_ignores_white_space_in_any_script(words: str) -> None:
    text = f"{PROSE} {words}"
    wrapped = text.replace(" ", "\n\t  ")
    assert reading(f"<p>{text}</p>").content_hash == reading(f"<p>{wrapped}</p>\r\n").content_hash
    assert reading(f"<p>{text}</p>").content_hash != reading(f"<p>{text}é</p>").content_hash


def test_repaired_characters_are_a_change() -> None:
    garbled = "€".encode().decode("latin-1")
    assert fingerprint("T", f"{PROSE} {garbled}") != fingerprint("T", f"{PROSE} €")


def test_plain_text_is_read_as_text() -> None:
    page = reading(PROSE + " <a href=/x>no link</a>", content_type="text/plain")
    assert list(page.links) == []
    assert page.title is None
    assert "lighthouse" in page.text
    assert page.language == "en"


def test_a_page_without_a_type_is_recognised() -> None:
    assert reading("\n <!DOCTYPE html><title>T</title>", content_type="").title == "T"
    assert reading("just some words", content_type="").title is None


def test_xhtml_elements_may_end_themselves() -> None:
    html = """<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><script src="a.js" />
    <title>T</title><meta name="description" content="D"/></head><body><a name="top"/><p/>
    <a href="/x">link</a></body></html>"""
    page = reading(html, content_type="application/xhtml+xml")
    assert (page.title, page.description) == ("T", "D")
    assert [link.href for link in page.links] == ["/x"]


@pytest.mark.parametrize("body", [b"\x89PNG\r\n\x1a\n" + bytes(500), bytes(range(256)) * 8])
def test_binary_data_is_no_page(body: bytes) -> None:
    page = reading(body)
    assert page.flags == ("binary",)
    assert (page.title, page.text, list(page.links)) == (None, "", [])


def test_a_truncated_body_is_flagged() -> None:
    assert read(fetched("<title>T</title><p>x", is_truncated=True), keyword_words=9).flags == ("truncated",)


def test_nul_and_broken_characters_never_reach_the_reading() -> None:
    page = reading(b"<title>a\0b&#0;&#xD800;\xed\xa0\x80c</title><a href='/x\0y'>t\0</a>", content_type="text/html")
    everything = repr(page) + (page.title or "") + page.text + "".join(link.href + link.anchor for link in page.links)
    assert "\0" not in everything
    everything.encode()
    assert "nul" in page.flags


def test_a_frameset_has_links_and_no_body() -> None:
    page = reading("<title>F</title><frameset><frame src=/left><frame src=/right></frameset>")
    assert [(link.href, link.rel) for link in page.links] == [("/left", "iframe"), ("/right", "iframe")]
    assert page.title == "F"
    assert page.text == ""


def test_a_page_of_ten_megabytes() -> None:
    page = reading(f"<title>Big</title><p>{PROSE}</p>" + "<p>some words in a paragraph</p>\n" * 300_000)
    assert page.title == "Big"
    assert page.language == "en"
