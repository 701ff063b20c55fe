"""What the frontier has in C does what its Python does, to the letter, whatever it is given, and loses no memory."""

import gc
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.builders import a_discovery

from forager.frontier import compiled, lexemes, url_set
from forager.frontier.compiled import Heard
from forager.frontier.lexemes import (
    FIRST_MARK,
    STOP,
    build_tsvector_in_python,
    lookup_in_python,
    parse_marked_in_python,
    parse_plain_in_python,
)
from forager.frontier.store import join_links_in_python
from forager.frontier.url_set import (
    find_known_in_python,
    make_segments,
    put_known_in_python,
    take_known_in_python,
)
from forager.links.models import Discovery
from forager.parsing.models import Keywords

if not compiled.IS_THERE:
    pytest.skip("nothing was compiled here", allow_module_level=True)

from forager.frontier import _native

ANY = st.characters(codec=None, categories=None)
"""Surrogates and NUL among them."""
LETTERS = st.sampled_from("ab,'é東𝔘\ud800\0")
PLAIN = st.builds(str.__add__, st.sampled_from("aé東𝔘"), st.text(LETTERS, max_size=3))
"""What may begin a piece, and is not left to PostgreSQL for it."""
WORD = st.one_of(PLAIN, PLAIN, PLAIN, st.text(ANY, max_size=6))
LEXEME = st.text(st.sampled_from("ab,'\\\\é東𝔘"), min_size=1, max_size=3).map(str.encode)


def quote(lexeme: bytes) -> str:
    """As the text of a vector has it."""
    doubled = lexeme.decode().replace("\\", "\\\\").replace("'", "''")
    return f"'{doubled}':"


@st.composite
def several(draw: st.DrawFn) -> Heard:
    takes = draw(st.integers(0, 12))
    places = st.integers(1, takes) if takes else st.nothing()
    return takes, tuple(draw(st.lists(st.tuples(LEXEME, places), max_size=6 if takes else 0)))


ANSWER: st.SearchStrategy[Heard] = st.one_of(LEXEME, st.just(STOP), several())
MEMORY = st.dictionaries(WORD.filter(lambda word: " " not in word), ANSWER, max_size=12)


@st.composite
def a_page(draw: st.DrawFn) -> tuple[Keywords, dict[str, Heard], dict[str, Heard]]:
    young, more = draw(MEMORY), draw(MEMORY)
    if draw(st.booleans()):
        young[""] = 0, ()  # as PostgreSQL says of nothing
    remembered = st.sampled_from([*young, *more, ""])
    words = draw(st.sampled_from([remembered, remembered, WORD]))
    return Keywords(*(" ".join(draw(st.lists(words, max_size=12))) for _ in range(4))), young, more


@given(a_page())
@example((Keywords("a b", "", "a", "b a"), {"a": b"x", "b": (2, ((b"x", 1), (b"y", 2)))}, {"": (0, ())}))
@example((Keywords("<a", "a<", "~a", "a ~"), {"a": b"a"}, {}))
def test_pages_are_woven_alike(page: tuple[Keywords, dict[str, Heard], dict[str, Heard]]) -> None:
    assert _native.weave(*page) == build_tsvector_in_python(*page)


@given(st.builds(Keywords, *[st.text(ANY, max_size=20)] * 4))
def test_what_is_left_to_postgres_is_the_same(keywords: Keywords) -> None:
    memory: dict[str, Heard] = {
        word: b"=" + word.encode(errors="surrogatepass") for piece in keywords for word in piece.split(" ")
    }
    assert _native.weave(keywords, memory, {}) == build_tsvector_in_python(keywords, memory, {})


@pytest.mark.parametrize("words", [253, 254, 255, 256, 257, 258, 16_382, 16_385, 40_000, 65_536, 65_537])
@pytest.mark.parametrize(
    "answer", [b"w", b"," * 300, STOP, (1, ((b"w", 1),)), (2, ((b"w", 2), (b"v", 1))), (2, ((b"w", 2), (b"w", 1)))]
)
def test_the_limits_are_the_same(words: int, answer: Heard) -> None:
    for keywords in (Keywords("", "", "", "w " * (words - 1) + "w"), Keywords("", "w", "w", "w " * (words - 3) + "w")):
        memory: dict[str, Heard] = {"w": answer, "": (0, ())}
        assert _native.weave(keywords, memory, {}) == build_tsvector_in_python(keywords, memory, {})
    different = Keywords("", "", "", " ".join(map(str, range(words))))
    many: dict[str, Heard] = {"": (0, ()), **{str(number): b"%d" % number for number in range(words)}}
    assert _native.weave(different, many, {}) == build_tsvector_in_python(different, many, {})


SIGNED = st.builds(
    "".join,
    st.tuples(
        st.text("(\"'a", max_size=3),
        st.sampled_from(["tea", "Tea", "TEA", "t", "x" * 39, "x" * 40, "x" * 41, "té", ""]),
        st.text(",.;:!?)\"'-", max_size=4),
    ),
)
"""Words with signs around them, some of which have a core."""


@given(st.lists(SIGNED | WORD, max_size=12), MEMORY, MEMORY, st.lists(SIGNED, max_size=4))
def test_words_are_recalled_alike(
    words: list[str], young: dict[str, Heard], old: dict[str, Heard], remembered: list[str]
) -> None:
    young |= dict.fromkeys(remembered[:2], STOP)
    old |= {word.lower(): b"x" for word in remembered[2:]}
    asked = dict.fromkeys([*words, *remembered, *old])
    assert _native.recall(asked, young, old) == lookup_in_python(asked, young, old)


MARKS = st.integers(FIRST_MARK - 1, FIRST_MARK + 6).map(lambda mark: b"%d" % mark)
VECTOR = st.dictionaries(
    LEXEME | MARKS, st.lists(st.integers(1, 12), min_size=1, max_size=4), min_size=1, max_size=12
).map(lambda found: " ".join(quote(lexeme) + ",".join(map(str, places)) for lexeme, places in found.items()))


@st.composite
def a_marked_vector(draw: st.DrawFn) -> tuple[str, int]:
    """As PostgreSQL tells it: the marks in their order, and lexemes between them."""
    takes = draw(st.lists(st.integers(0, 4), min_size=1, max_size=6))
    places: dict[bytes, list[int]] = {}
    at = 0
    for mark, taken in enumerate(takes, FIRST_MARK):
        for place in range(at + 1, at + taken + 1):
            for lexeme in draw(st.lists(LEXEME, max_size=2, unique=True)):
                places.setdefault(lexeme, []).append(place)
        at += taken + 1
        places[b"%d" % mark] = [at]
    return " ".join(f"{quote(lexeme)}{','.join(map(str, found))}" for lexeme, found in places.items()), len(takes)


@given(VECTOR, st.integers(1, 8))
@example("'a':1 'b':1,2 'c''d':3 'e\\\\':4", 4)
@example("'a':1,2", 1)
def test_vectors_are_heard_alike(vector: str, words: int) -> None:
    assert _native.hear_plain(vector, words) == parse_plain_in_python(vector, words)
    assert _native.hear_marked(vector, words) == parse_marked_in_python(vector, words)


@given(a_marked_vector())
def test_marked_vectors_are_heard_alike(given_: tuple[str, int]) -> None:
    heard = parse_marked_in_python(*given_)
    assert heard is not None
    assert len(heard) == given_[1]
    assert _native.hear_marked(*given_) == heard


@pytest.mark.parametrize("count", [250, 251])
@pytest.mark.parametrize("end", [16_382, 16_383])
def test_what_has_to_be_asked_for_alone_is_the_same(count: int, end: int) -> None:
    vector = f"'{FIRST_MARK}':300 '{FIRST_MARK + 1}':{end} 'a':" + ",".join(map(str, range(1, count + 1)))
    assert _native.hear_marked(vector, 2) == parse_marked_in_python(vector, 2)
    assert (_native.hear_marked(vector, 2) is None) == (count > 250 or end == 16_383)
    assert _native.hear_plain(vector, 2) is None is parse_plain_in_python(vector, 2)


@pytest.mark.parametrize("words", [0, -1, 16_383, 2**70])
def test_a_vector_has_only_so_many_words(words: int) -> None:
    for hear in (_native.hear_plain, _native.hear_marked):
        with pytest.raises((ValueError, OverflowError)):
            hear("'a':1", words)


@pytest.mark.parametrize(
    "text",
    ["'", "'a", "'a'", "'a':", "a:1", "'a':0", "'a':1,", "'a':16384", "'a\\", "'a\\'", "'a'':1", "'a':1x", "'':1"],
)
def test_what_is_no_vector_is_refused(text: str) -> None:
    for hear in (_native.hear_plain, _native.hear_marked):
        with pytest.raises(ValueError, match="no vector"):
            hear(text, 1)


@given(st.text(st.sampled_from("'\\:,1 7é\0")), st.integers(1, 3))
def test_no_text_is_too_odd_to_be_heard(text: str, words: int) -> None:
    for hear in (_native.hear_plain, _native.hear_marked):
        try:
            heard = hear(text, words)
        except ValueError:
            continue
        assert heard is None or len(heard) == words


def test_the_constants_are_the_same() -> None:
    for name in (
        "MOST_WORDS",
        "MOST_PLACES",
        "PIECE_PLACES",
        "PAGE_PLACES",
        "LONGEST_REMEMBERED",
        "LAST_PLACE",
        "FIRST_MARK",
    ):
        assert getattr(_native, name) == getattr(lexemes, name)
    assert _native.DEPTH_BITS == url_set.DEPTH_BITS
    assert Discovery._fields == ("url", "key", "domain", "depth", "redirects", "anchor", "rel")


KEYS = st.sampled_from([bytes([number]) * 16 for number in range(8)])
RELS = st.sampled_from(["a", "a", "a", "area", "a nofollow", "canonical", ""])
LINK = st.builds(
    Discovery,
    st.just("u"),
    KEYS,
    st.just("d"),
    st.integers(-2, 1030) | st.integers(),
    st.just(0),
    st.text(ANY, max_size=5),
    RELS,
)
LINKS = st.lists(LINK, max_size=30)
PACKED = st.integers(0, 2**64 - 1)
MANY_KEYS = st.builds(
    lambda segment, bucket, rest: bytes([segment]) + bytes(7) + bytes([bucket]) + bytes([rest]) * 7,
    *(st.sampled_from([0, 1, 255]), st.integers(0, 40), st.integers(0, 3)),
)
"""Few segments, so that they fill and grow; the key of zeros among them."""
ENTRIES = st.lists(st.builds(url_set.entry_of, MANY_KEYS | KEYS, PACKED), max_size=60).map(b"".join)


@given(st.lists(st.tuples(ENTRIES, st.lists(MANY_KEYS, max_size=20)), max_size=6), st.integers(-1, 40))
@example([(b"".join(url_set.entry_of(bytes(8) + bytes([n]) * 8, n + 1) for n in range(250)), [])], 40)
def test_memories_are_alike(steps: list[tuple[bytes, list[bytes]]], most_buckets: int) -> None:
    ours, wanted = make_segments(), make_segments()
    for entries, keys in steps:
        _native.put_known(ours, entries, most_buckets)
        put_known_in_python(wanted, entries, most_buckets)
        assert ours == wanted
        assert [_native.find_known(ours, key) for key in keys] == [find_known_in_python(wanted, key) for key in keys]
        assert ours == wanted


@given(LINKS, ENTRIES, st.booleans())
def test_known_links_are_taken_alike(links: list[Discovery], entries: bytes, as_tuple: bool) -> None:
    ids: dict[bytes, int] = {}
    wanted: dict[bytes, int] = {}
    ours, theirs = make_segments(), make_segments()
    _native.put_known(ours, entries, 4)
    put_known_in_python(theirs, entries, 4)
    others = _native.take_known(tuple(links) if as_tuple else iter(links), ours, ids)
    in_python = take_known_in_python(links, theirs, wanted)
    assert list(map(id, others)) == list(map(id, in_python))
    assert list(ids.items()) == list(wanted.items())
    assert ours == theirs


@pytest.mark.parametrize("put_known", [_native.put_known, put_known_in_python])
def test_half_an_entry_is_refused(put_known: Callable[..., None]) -> None:
    with pytest.raises(ValueError, match="24 bytes"):
        put_known(make_segments(), bytes(25), 1)


@given(LINKS, st.integers(-(2**63), 2**63 - 1))
def test_links_are_joined_alike(links: list[Discovery], first: int) -> None:
    ids = {link.key: min(first + link.key[0], 2**63 - 1) for link in links}
    assert _native.join_links(links, ids) == join_links_in_python(links, ids)
    assert _native.join_links(tuple(links), ids) == join_links_in_python(links, ids)


def test_a_link_nobody_learned_is_an_error_in_both() -> None:
    for join in (_native.join_links, join_links_in_python):
        with pytest.raises(KeyError) as error:
            join([a_discovery("http://a.example/")], {})
        assert error.value.args == (a_discovery("http://a.example/").key,)


WORDS = Keywords("w", "w", "w", "w")
LINK_AT_HAND = a_discovery("http://a.example/")
FULL = make_segments()
put_known_in_python(FULL, url_set.entry_of(LINK_AT_HAND.key, 5 << 10 | 1), 1)
WRONG_ANSWERS: list[Any] = [
    *(1, None, (), (1, []), ("1", ())),
    *((1, (b"x",)), (1, (("x", 1),)), (1, ((b"x", "1"),))),
]
WRONG: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (_native.weave, ()),
    (_native.weave, (WORDS, {})),
    (_native.weave, (list(WORDS), {}, {})),
    (_native.weave, (WORDS[:3], {}, {})),
    (_native.weave, (("w", "w", "w", b"w"), {}, {})),
    (_native.weave, (("~", "w", "w", None), {}, {})),
    (_native.weave, (WORDS, None, {})),
    (_native.weave, (WORDS, {}, [])),
    *[(_native.weave, (WORDS, {"w": answer}, {})) for answer in WRONG_ANSWERS],
    (_native.recall, ()),
    (_native.recall, ({}, {}, [])),
    (_native.recall, ({b"w": None}, {}, {})),
    (_native.hear_plain, ("'a':1",)),
    (_native.hear_plain, (b"'a':1", 1)),
    (_native.hear_marked, ("'a':1", "1")),
    (_native.take_known, ()),
    (_native.take_known, (1, make_segments(), {})),
    (_native.take_known, ([1], make_segments(), {})),
    (_native.take_known, ([LINK_AT_HAND], {}, {})),
    (_native.take_known, ([LINK_AT_HAND], make_segments(), None)),
    (_native.take_known, ([LINK_AT_HAND], make_segments()[:255], {})),
    (_native.take_known, ([LINK_AT_HAND], [bytearray(24 + 193)] * 256, {})),
    (_native.take_known, ([LINK_AT_HAND], [bytearray(24)] * 256, {})),
    (_native.take_known, ([LINK_AT_HAND], [bytes(24 + 192)] * 256, {})),
    (_native.take_known, ([LINK_AT_HAND._replace(depth="1")], FULL, {})),  # type: ignore[arg-type]
    (_native.take_known, ([LINK_AT_HAND._replace(key=b"short")], make_segments(), {})),
    (_native.take_known, ([("u", [], "d", 1, 0, "", "a")], make_segments(), {})),
    (_native.find_known, (make_segments(),)),
    (_native.find_known, (make_segments(), b"short")),
    (_native.find_known, (make_segments(), "x" * 16)),
    (_native.find_known, (None, bytes(16))),
    (_native.put_known, (make_segments(), bytes(24))),
    (_native.put_known, (make_segments(), bytearray(24), 1)),
    (_native.put_known, (make_segments(), bytes(24), None)),
    (_native.put_known, ([bytearray(24)] * 256, bytes(24), 1)),
    (_native.join_links, ([LINK_AT_HAND],)),
    (_native.join_links, ([LINK_AT_HAND], {LINK_AT_HAND.key: "1"})),
    (_native.join_links, ([LINK_AT_HAND._replace(anchor=1)], {LINK_AT_HAND.key: 1})),  # type: ignore[arg-type]
    (_native.join_links, ([LINK_AT_HAND._replace(rel=1)], {LINK_AT_HAND.key: 1})),  # type: ignore[arg-type]
    (_native.join_links, ([LINK_AT_HAND[:3]], {LINK_AT_HAND.key: 1})),
    (_native.join_links, (None, {})),
]


@pytest.mark.parametrize(("function", "given_"), WRONG)
def test_wrong_types_are_refused(function: Callable[..., Any], given_: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        function(*given_)


@pytest.mark.parametrize("answer", [(-1, ()), (2, ((b"x", 0),)), (2, ((b"x", 16_384),))])
def test_positions_that_cannot_be_are_refused(answer: Heard) -> None:
    with pytest.raises(ValueError):
        _native.weave(WORDS, {"w": answer}, {})


def test_no_memory_is_lost() -> None:
    key, memory = LINK_AT_HAND.key, {"w": b"w", "v": (2, ((b"w", 1), ("東".encode(), 2)))}
    held = [LINK_AT_HAND, key, WORDS, *memory.values(), None, STOP]

    def work() -> None:
        _native.weave(Keywords("w v", "w", "v", "w"), memory, {})  # type: ignore[arg-type]
        _native.weave(Keywords("w x", "w", "y", "w"), memory, {})  # type: ignore[arg-type]
        _native.weave(Keywords("w", "<", "", "w"), memory, {})  # type: ignore[arg-type]
        _native.recall({"w": None, "v,": None, "x!": None, "é": None}, memory, memory)  # type: ignore[arg-type]
        _native.hear_plain("'a':1,3 'b':1", 3)
        _native.hear_plain("'a':1,3 'b':1", 2)
        _native.hear_marked(f"'{FIRST_MARK}':3 '{FIRST_MARK + 1}':5 'a':1,2 'b':1,4", 2)
        _native.hear_marked("'a':1,2 'b':1,4", 2)
        with pytest.raises(ValueError):
            _native.hear_marked("'a':1,2 'b':1,4 'c", 1)
        _native.take_known([LINK_AT_HAND] * 3, FULL, {})
        memory_of_pages = make_segments()
        _native.take_known([LINK_AT_HAND] * 3, memory_of_pages, {})
        _native.put_known(memory_of_pages, b"".join(url_set.entry_of(bytes(15) + bytes([n]), 9) for n in range(90)), 4)
        _native.find_known(memory_of_pages, key)
        _native.join_links([LINK_AT_HAND, LINK_AT_HAND._replace(rel="area")], {key: 123456})
        for function, wrong in WRONG:
            with pytest.raises(TypeError):
                function(*wrong)

    for _ in range(20):
        work()
    counts = [sys.getrefcount(thing) for thing in held]
    gc.collect()
    tracemalloc.start()
    try:
        work()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(200):
            work()
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 10_000
    finally:
        tracemalloc.stop()
    assert [
        after - count for after, count in zip(map(sys.getrefcount, held), counts, strict=True) if after > count + 20
    ] == []
