"""Makes the thumbnail of an image."""

from io import BytesIO

from PIL import (  # naming a plugin makes its decoder known; the others stay unknown
    Image,
)

THUMBNAIL_PIXELS = 256
THUMBNAIL_QUALITY = 75


def resize(picture: Image.Image) -> Image.Image:
    """A copy of some hundred pixels a side: what follows costs no more for the largest than for the smallest."""
    if picture.mode.startswith(("I", "F")):  # of 16 bits a pixel the upper 8
        picture = picture.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    elif picture.mode in {"P", "PA", "1"} or "transparency" in picture.info:
        picture = picture.convert("RGBA" if picture.mode == "PA" or "transparency" in picture.info else "RGB")
    elif picture.mode not in {"RGB", "RGBA", "L", "LA"}:
        picture = picture.convert("RGB")
    picture.thumbnail((2 * THUMBNAIL_PIXELS, 2 * THUMBNAIL_PIXELS), Image.Resampling.BOX)
    return picture


def make_thumbnail(picture: Image.Image) -> bytes:
    """A new picture of at most 256 pixels a side: what else was in the file, such as its place, stays behind."""
    small = picture.convert("RGBA" if picture.mode in {"RGBA", "LA"} else "RGB")
    small.thumbnail((THUMBNAIL_PIXELS, THUMBNAIL_PIXELS), Image.Resampling.LANCZOS)
    small.info.clear()
    out = BytesIO()
    small.save(out, "WEBP", quality=THUMBNAIL_QUALITY, method=3)
    return out.getvalue()
