"""Whatever the bytes: a clean reading or a typed error."""

from hypothesis import given, settings
from hypothesis import strategies as st

from forager.errors import DecodeError
from forager.fetch.models import Fetched
from forager.parsing.models import Reading
from forager.parsing.page import read
from forager.parsing.text import fingerprint, first_words

PIECES = st.sampled_from(
    [
        "<title>", "</title>", "<a href=", "'/x'>", '"y">', "</a>", "<meta charset=", "utf-16>", "koi8-r>",
        "<base href=x>", "<meta name=robots content=noindex>", "<link rel=canonical href=http://[>", "<svg>", "<!--",
        "-->", "<script>", "</script>", "\0", "&#0;", "&#xD800;", "<html lang=", "<h1>", "<main>", "<frameset>",
        "<meta http-equiv=refresh content='0;", "<template>", "<table>", "<b x=1>", "<p>", " ", "é", "日本語",
        "\ud800", "\u2028",
    ]
)  # fmt: skip
BODIES = st.one_of(
    st.binary(max_size=3000),
    st.lists(PIECES, max_size=60).map(lambda pieces: "".join(pieces).encode("utf-8", "surrogatepass")),
    st.text(max_size=500).map(lambda text: text.encode("utf-16", "surrogatepass")),
)
TYPES = st.one_of(
    st.sampled_from(["text/html", "text/html; charset=utf-8", "application/xhtml+xml", "text/plain", "", "image/png"]),
    st.text(max_size=20).map(lambda label: f"text/html; charset={label}"),
)


@given(BODIES, TYPES, st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=500, deadline=None)
def test_any_bytes_give_a_clean_reading(body: bytes, content_type: str, language: str, robots: str) -> None:
    headers = {"content-type": content_type, "content-language": language, "x-robots-tag": robots}
    try:
        page = read(Fetched("https://a.example/x", 200, headers, body, len(body), 1), keyword_words=20)
    except DecodeError:
        return
    assert_clean(page)


def assert_clean(page: Reading, words: int = 20) -> None:
    texts = [page.title, page.description, page.canonical, page.language, page.headings, page.text, page.base_url]
    texts += [part for link in page.links for part in link]
    for text in texts:
        if text is not None:
            assert isinstance(text, str)
            assert "\0" not in text
            text.encode()
    assert len(page.content_hash) == 16
    assert page.language is None or 2 <= len(page.language) <= 35
    assert len(page.text.split()) <= words
    assert page.base_url.startswith("http")


@given(BODIES)
@settings(max_examples=100, deadline=None)
def test_reading_is_repeatable(body: bytes) -> None:
    answer = Fetched("https://a.example/x", 200, {"content-type": "text/html"}, body, len(body), 1)
    assert read(answer, keyword_words=50) == read(answer, keyword_words=50)


GAPS = st.text(" \t\n\r\f\v", max_size=3)
WORDS = st.one_of(st.text("abé", max_size=4), st.text("a€日â‚¬\x82¬\xa0", max_size=4), st.just("long" * 20))


@given(st.lists(st.tuples(WORDS, GAPS), max_size=12), st.integers(0, 6))
def test_first_words_are_those_of_a_plain_split(pieces: list[tuple[str, str]], count: int) -> None:
    text = "".join(word + gap for word, gap in pieces)
    assert first_words(text, count) == " ".join(text.split()[:count])


@given(st.lists(st.tuples(WORDS, GAPS), max_size=4), st.lists(st.tuples(WORDS, GAPS), max_size=4))
def test_a_fingerprint_is_that_of_the_text_without_white_space(
    one: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    texts = ["".join(word + gap for word, gap in pieces) for pieces in (one, other)]
    bare = ["".join(word for word, _ in pieces) for pieces in (one, other)]
    hashes = [fingerprint("T", text) for text in texts]
    assert hashes == [fingerprint("T", text) for text in bare]
    assert (hashes[0] == hashes[1]) == (bare[0] == bare[1])
