"""What selecting has in C does what its Python does, to the letter, whatever it is given, and loses no memory."""

import gc
import sys
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.links import compiled
from forager.links.models import Discovery
from forager.links.select import LinkTarget, gather_in_python

if compiled.gather is None:
    pytest.skip("nothing was compiled here", allow_module_level=True)

GATHER = compiled.gather
ANY = st.characters(codec=None, categories=None)
PLACES = st.builds(
    LinkTarget,
    st.sampled_from(["http://a.example/", "http://a.example/é", ""]),
    st.sampled_from([b"", b"1" * 16, b"2" * 16, b"3" * 16, b"4"]),
    st.sampled_from(["a.example", "b.example"]),
    st.sampled_from([None, None, "", "scope", "trap:calendar", "nofollow", "duplicate"]),
)
RELS = st.sampled_from(["a", "a", "a", "a nofollow", "area", "nofollow", "nofollo", "xnofollow東"]) | st.text(
    ANY, max_size=9
)
ROWS = st.lists(st.tuples(PLACES, st.text(ANY, max_size=4), RELS), max_size=40)
PLACE = LinkTarget("http://a.example/x", b"x" * 16, "a.example", None)


@given(ROWS, st.sampled_from([b"1" * 16, b"9" * 16, b""]), st.integers())
def test_links_are_gathered_alike(rows: list[tuple[LinkTarget, str, str]], own_key: bytes, depth: int) -> None:
    places, anchors, rels = [list(column) for column in zip(*rows, strict=True)] or ([], [], [])
    made: tuple[list[Discovery], dict[str, int]] = GATHER(places, anchors, rels, own_key, depth)
    wanted = gather_in_python(places, anchors, rels, own_key, depth)
    assert made == wanted
    assert list(made[1]) == list(wanted[1]), "also the reasons' order"
    assert {type(link) for link in made[0]} <= {Discovery}
    assert list(map(hash, made[0])) == list(map(hash, wanted[0]))


def test_links_outlive_what_they_were_made_of() -> None:
    (link,) = GATHER([LinkTarget("u" + "x" * 50, b"k" * 16, "d" * 9, None)], ["word " * 9], ["area"], b"", 3)[0]
    gc.collect()
    assert link == Discovery("u" + "x" * 50, b"k" * 16, "d" * 9, 3, 0, "word " * 9, "area")
    assert link._replace(depth=4).depth == 4


WRONG: list[tuple[Any, ...]] = [
    (),
    ([PLACE], [""], ["a"], b""),
    ([PLACE], [""], ["a"], "", 1),
    ([PLACE], [""], ["a"], b"", "1"),
    ([PLACE], [""], [1], b"", 1),
    ([PLACE], [None], ["a"], b"", 1),
    ([None], [""], ["a"], b"", 1),
    ([PLACE[:3]], [""], ["a"], b"", 1),
    ([PLACE._replace(key="x")], [""], ["a"], b"", 1),  # type: ignore[arg-type]
    ([PLACE._replace(refusal=1)], [""], ["a"], b"", 1),  # type: ignore[arg-type]
    (1, [""], ["a"], b"", 1),
    ([PLACE], 1, ["a"], b"", 1),
    ([PLACE], [""], None, b"", 1),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_types_are_refused(wrong: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        GATHER(*wrong)


@pytest.mark.parametrize(("anchors", "rels"), [([], ["a"]), ([""], []), (["", ""], ["a"])])
def test_columns_are_equally_long(anchors: list[str], rels: list[str]) -> None:
    for gather in (GATHER, gather_in_python):
        with pytest.raises(ValueError):
            gather([PLACE], anchors, rels, b"", 1)


def test_other_classes_than_of_tuples_are_refused() -> None:
    from forager.links import _native

    for wrong in (int, list, Discovery(*"1234567")):
        with pytest.raises(TypeError):
            _native.gather(wrong, [PLACE], [""], ["a"], b"", 1)  # type: ignore[arg-type]


def test_no_memory_is_lost() -> None:
    held = [*PLACE, PLACE, Discovery, "word"]
    places = [PLACE, PLACE, LinkTarget("", b"", "", "scope"), PLACE._replace(key=b"y" * 16)]

    def work() -> None:
        GATHER(places, ["word"] * 4, ["a", "a", "a", "a nofollow"], b"", 1)
        for wrong in WRONG:
            with pytest.raises(TypeError):
                GATHER(*wrong)

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
    assert [after for after, count in zip(map(sys.getrefcount, held), counts, strict=True) if after > count + 20] == []
