"""What a file is, whatever it calls itself; nothing is decoded that is too large."""

import random
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from tests.unit.images.pictures import draw, encode

from forager.images.decode.inspect import look
from forager.images.decode.thumbnail import THUMBNAIL_PIXELS
from forager_playground.sites.gallery_tricks import build_png_bomb

ROOM = 10_000_000


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP", "AVIF", "BMP", "TIFF"])
def test_formats(kind: str) -> None:
    size = (200, 150)
    seen, thumbnail = look(encode(draw(1, size), kind), ROOM)
    assert (seen.status, seen.format, seen.width, seen.height) == ("stored", kind.lower(), 200, 150)
    assert seen.perceptual_hash is not None
    assert Image.open(BytesIO(thumbnail)).format == "WEBP"


def test_of_the_icons_in_a_file_the_largest_counts() -> None:
    seen, thumbnail = look(encode(draw(1, (128, 128)), "ICO", sizes=[(16, 16), (128, 128)]), ROOM)
    assert (seen.status, seen.format, seen.width, bool(thumbnail)) == ("stored", "ico", 128, True)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_modes_of_pixels(mode: str) -> None:
    picture = draw(2, (300, 200))
    changed = picture.convert("I").convert("I;16") if mode == "I;16" else picture.convert(mode)
    seen, thumbnail = look(encode(changed, "PNG"), ROOM)
    assert seen.status == "stored", seen.reason
    assert thumbnail


def test_a_photo_in_print_colours() -> None:
    seen, thumbnail = look(encode(draw(3).convert("CMYK"), "JPEG"), ROOM)
    assert (seen.status, bool(thumbnail)) == ("stored", True)


def test_a_thumbnail_is_small_upright_and_says_nothing_else() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    exif[0x010E] = "taken at home"
    seen, thumbnail = look(encode(draw(4, (1200, 800)), exif=exif, comment=b"secret"), ROOM)
    small = Image.open(BytesIO(thumbnail))
    assert (seen.width, seen.height) == (800, 1200)
    assert small.height == THUMBNAIL_PIXELS > small.width
    assert not dict(small.getexif())
    assert b"home" not in thumbnail
    assert b"secret" not in thumbnail


def test_an_animation_has_frames() -> None:
    frames = [draw(number, (64, 64)) for number in range(5)]
    seen, thumbnail = look(encode(frames[0], "GIF", save_all=True, append_images=frames[1:]), ROOM)
    assert (seen.status, seen.frames, bool(thumbnail)) == ("stored", 5, True)


def test_a_bomb_is_told_by_its_header() -> None:
    seen, thumbnail = look(build_png_bomb(50_000), 40_000_000)
    assert (seen.status, seen.width, thumbnail) == ("too_big", 50_000, b"")
    assert seen.reason == "it has 50,000 x 50,000 pixels; at most 40,000,000 are taken"


def test_svg_is_kept_and_not_decoded() -> None:
    for body in (b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"\xef\xbb\xbf<?xml version='1.0'?>\n<svg/>"):
        assert (look(body, ROOM)[0].status, look(body, ROOM)[0].format) == ("stored", "svg")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", "broken"),
        (b"<!doctype html><title>x</title>", "not_an_image"),
        (b'{"error": 1}', "not_an_image"),
        (b"GIF89a", "broken"),
        (b"\x89PNG\r\n\x1a\n", "broken"),
        (encode(draw(5))[:4000], "broken"),
        (encode(draw(5), "PNG")[:4000], "broken"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not_an_image"),
    ],
)
def test_what_is_no_picture(body: bytes, status: str) -> None:
    seen, thumbnail = look(body, ROOM)
    assert (seen.status, thumbnail) == (status, b"")
    assert seen.reason


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["PNG", "GIF", "BMP", "WEBP", "JPEG", "ICO", "TIFF"]), st.integers(0, 2**32))
def test_damaged_files_are_looked_at(kind: str, seed: int) -> None:
    rng = random.Random(seed)
    body = bytearray(encode(draw(6, (40, 30)), kind))
    for _ in range(rng.randrange(1, 20)):
        body[rng.randrange(len(body))] = rng.randrange(256)
    seen, _ = look(bytes(body), 1_000_000)
    assert seen.status in {"stored", "broken", "too_big", "not_an_image"}
    assert seen.reason is None or seen.reason.isprintable()
