"""A perceptual hash of 64 bits: whether each pixel of a small grey copy is brighter than its right neighbour.

Resizing, recompressing and small changes of colour change a few bits; different images differ in about half of them.
Pure.
"""

from PIL import Image

SIDE = 8
SIMILAR = 6
"""The number of bits that may differ between copies of one image."""


def dhash(picture: Image.Image) -> int:
    """Returns the hash as a signed integer, as the database stores 64 bits. Transparent pixels count as white."""
    small = _on_white(picture).convert("L").resize((SIDE + 1, SIDE), Image.Resampling.BOX, reducing_gap=None)
    spots = small.tobytes()
    bits = 0
    for row in range(SIDE):
        first = row * (SIDE + 1)
        for column in range(first, first + SIDE):
            bits = bits << 1 | (spots[column] > spots[column + 1])
    return bits - (1 << 64) if bits >> 63 else bits


def distance(one: int, other: int) -> int:
    """Returns how many of the 64 bits differ."""
    return ((one ^ other) & (1 << 64) - 1).bit_count()


def _on_white(picture: Image.Image) -> Image.Image:
    if picture.mode not in {"RGBA", "LA"}:
        return picture
    picture = picture.convert("RGBA")
    white = Image.new("RGBA", picture.size, (255, 255, 255, 255))
    white.alpha_composite(picture)
    return white
