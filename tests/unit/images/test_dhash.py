"""Copies of a picture are near each other, other pictures are far away."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageEnhance
from tests.unit.images.pictures import draw, encode

from forager.images.decode.dhash import SIMILAR, dhash, distance
from forager.images.decode.inspect import look

MANY = 60


def hash_of(body: bytes) -> int:
    seen, _ = look(body, 10**8)
    assert seen.perceptual_hash is not None
    return seen.perceptual_hash


@pytest.mark.parametrize("number", range(12))
def test_copies_are_near(number: int) -> None:
    picture = draw(number)
    own = hash_of(encode(picture, "PNG"))
    copies = {
        "recompressed": encode(picture, quality=35),
        "half": encode(picture.resize((320, 240)), quality=70),
        "thumbnail": encode(picture.resize((128, 96)), quality=80),
        "larger": encode(picture.resize((1280, 960))),
        "webp": encode(picture, "WEBP", quality=60),
        "gif": encode(picture, "GIF"),
        "brighter": encode(ImageEnhance.Brightness(picture).enhance(1.15)),
        "squeezed": encode(picture.resize((640, 400))),
    }
    assert {name: d for name, body in copies.items() if (d := distance(own, hash_of(body))) > SIMILAR} == {}


def test_other_pictures_are_far_away() -> None:
    hashes = [hash_of(encode(draw(number))) for number in range(MANY)]
    distances = sorted(distance(one, other) for one, other in combinations(hashes, 2))
    assert distances[0] > SIMILAR
    assert distances[len(distances) // 2] > 24


def test_what_is_transparent_is_white() -> None:
    clear, white = Image.new("RGBA", (90, 80), (0, 0, 0, 0)), Image.new("RGBA", (90, 80), (255, 255, 255, 255))
    assert dhash(clear) == dhash(white)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_distance_counts_bits(one: int, other: int) -> None:
    assert distance(one, other) == distance(other, one) <= 64
    assert distance(one, one) == 0
    assert distance(one, ~one) == 64
