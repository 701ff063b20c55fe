"""A perceptual hash of 64 bits: is each spot of a small grey copy brighter than its right neighbour?

Resizing, recompressing and small changes of colour move a few bits; other pictures differ in about half of them. Pure.
"""

from PIL import Image

SIDE = 8
SIMILAR = 6
"""So many bits may differ between copies of one picture."""


def dhash(picture: Image.Image) -> int:
    """Signed, as the database keeps 64 bits. What is transparent counts as white."""
    small = _on_white(picture).convert("L").resize((SIDE + 1, SIDE), Image.Resampling.BOX, reducing_gap=None)
    spots = small.tobytes()
    bits = 0
    for row in range(SIDE):
        first = row * (SIDE + 1)
        for column in range(first, first + SIDE):
            bits = bits << 1 | (spots[column] > spots[column + 1])
    return bits - (1 << 64) if bits >> 63 else bits


def distance(one: int, other: int) -> int:
    """In how many of the 64 bits they differ."""
    return ((one ^ other) & (1 << 64) - 1).bit_count()


def _on_white(picture: Image.Image) -> Image.Image:
    if picture.mode not in {"RGBA", "LA"}:
        return picture
    picture = picture.convert("RGBA")
    white = Image.new("RGBA", picture.size, (255, 255, 255, 255))
    white.alpha_composite(picture)
    return white
