"""URLs: one spelling for each, which stays what it is, and of which every reader sees the same host."""

from hypothesis import strategies as st
from tests.fuzz.target import over

from forager.errors import BadUrlError
from forager.fetch.origin import split_url
from forager.urls.domain import domain_of, origin_of
from forager.urls.normalize import normalize, url_key
from forager.urls.resolve import resolve_link, resolve_links

PIECES = st.sampled_from(
    [
        "http", "https", "HTTP", "file", "ftp", "javascript", ":", "/", "//", "\\", "?", "#", "@", "&", "=", ";", ".",
        "..", "%", "%2", "%2F", "%2f", "%41", "%00", "%zz", "%C3%A9", "é", "日本", "ß", "xn--", "xn--nxasmq6b",
        "a.example", "www.", "WWW.A.EXAMPLE", "localhost", "127.0.0.1", "0x7f.1", "017700000001", "2130706433",
        "[::1]", "[::ffff:1.2.3.4]", "[fe80::1%25eth0]", "１２７", "。", "①", ":80", ":443", ":8080", ":99999", ":0",
        "utm_source=x", "a=1", "b=2&a=1", "PHPSESSID=1", " ", "\t", "\n", "\r", "\0", "\x7f", "\u200d", "\u2028",
        "\ud800", "+", "*", "'", '"', "<", ">", "|", "^", "`", "{", "}", "~", "user:pass@", "index.html", "a/../b",
        "./", "/./", "/../", "-", "_", "A", "z", "9",
    ]
)  # fmt: skip
GLUED = st.lists(PIECES, max_size=14).map("".join)
STRINGS = st.one_of(GLUED, GLUED.map("http://".__add__), GLUED.map("https://a.example/".__add__), st.text(max_size=80))


@over(STRINGS)
def spellings_are_one(text: str) -> None:
    try:
        url = normalize(text)
    except BadUrlError:
        return
    assert normalize(url) == url
    assert url.isascii()
    assert url.isprintable()
    assert "#" not in url
    origin, target = split_url(url)
    assert origin_of(url) == f"{'https' if origin.is_tls else 'http'}://{origin.authority}"
    assert url == origin_of(url) + target
    assert "@" not in origin.authority
    assert domain_of(url) == origin.domain
    assert len(url_key(url)) == 16


@over(GLUED.map("http://a.example/".__add__), st.lists(STRINGS, max_size=6))
def fast_and_slow_links_agree(base: str, links: list[str]) -> None:
    found = resolve_links(base, links)
    for link, fast in zip(links, found, strict=True):
        try:
            slow = resolve_link(base, link)
        except BadUrlError:
            slow = None
        assert fast == slow
