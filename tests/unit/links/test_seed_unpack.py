"""Compressed lists: any cut, several streams, damage, and files made to grow without end."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.errors import BadListError
from forager.seeds.found import BadLine
from forager.seeds.table import read_list
from forager.seeds.unpack import FREE_BYTES, PIECE_BYTES, unpack

LIST = b"".join(b"%d,host%d.example\n" % (number, number) for number in range(1, 2001))


@given(st.binary(max_size=2000), st.integers(1, 50), st.booleans())
def test_it_gives_back_what_was_packed(data: bytes, step: int, is_packed: bool) -> None:
    packed = gzip.compress(data) if is_packed or data.startswith(b"\x1f\x8b") else data
    pieces = [packed[start : start + step] for start in range(0, len(packed), step)]
    assert b"".join(unpack(pieces)) == data


def test_several_streams_are_one_list() -> None:
    packed = gzip.compress(LIST[:999]) + gzip.compress(LIST[999:]) + b"\0" * 512
    assert b"".join(unpack([packed[:700], packed[700:]])) == LIST


def test_pieces_stay_small() -> None:
    packed = gzip.compress(LIST * 100)
    assert max(map(len, unpack([packed]))) <= PIECE_BYTES


@pytest.mark.parametrize("cut", [10, 500, -1])
def test_a_list_that_breaks_off_ends_with_a_bad_line(cut: int) -> None:
    found = list(read_list(unpack([gzip.compress(LIST)[:cut]])))
    assert isinstance(found[-1], BadLine)
    assert "breaks off" in found[-1].why


def test_damage_ends_the_list_and_keeps_what_came_before() -> None:
    packed = gzip.compress(LIST) + b"\x1f\x8b" + b"damaged" * 20
    found = list(read_list(unpack([packed])))
    assert len(found) == 2001
    assert isinstance(found[-1], BadLine)
    assert "damaged" in found[-1].why


def test_a_bomb_is_cut_off() -> None:
    bomb = gzip.compress(b"\n" * (4 * FREE_BYTES))
    sizes: list[int] = []
    with pytest.raises(BadListError, match="grows more than"):
        sizes.extend(map(len, unpack([bomb])))
    assert sum(sizes) <= FREE_BYTES


def test_nothing_is_nothing() -> None:
    assert list(unpack([])) == []
    assert list(unpack([b"\x1f"])) == [b"\x1f"]
