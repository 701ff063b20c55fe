"""Makes the thumbnail of an image."""

from io import BytesIO

from PIL import (  # importing a plugin registers its decoder; the others stay unregistered
    Image,
)

THUMBNAIL_PIXELS = 256
THUMBNAIL_QUALITY = 75


def resize(picture: Image.Image) -> Image.Image:
    """Returns a copy of a few hundred pixels a side, so that the next steps cost the same for any size."""
    if picture.mode.startswith(("I", "F")):  # the upper 8 of 16 bits per pixel
        picture = picture.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    elif picture.mode in {"P", "PA", "1"} or "transparency" in picture.info:
        picture = picture.convert("RGBA" if picture.mode == "PA" or "transparency" in picture.info else "RGB")
    elif picture.mode not in {"RGB", "RGBA", "L", "LA"}:
        picture = picture.convert("RGB")
    picture.thumbnail((2 * THUMBNAIL_PIXELS, 2 * THUMBNAIL_PIXELS), Image.Resampling.BOX)
    return picture


def make_thumbnail(picture: Image.Image) -> bytes:
    """Returns a new image of at most 256 pixels a side, without the metadata of the file, such as its location."""
    small = picture.convert("RGBA" if picture.mode in {"RGBA", "LA"} else "RGB")
    small.thumbnail((THUMBNAIL_PIXELS, THUMBNAIL_PIXELS), Image.Resampling.LANCZOS)
    small.info.clear()
    out = BytesIO()
    small.save(out, "WEBP", quality=THUMBNAIL_QUALITY, method=3)
    return out.getvalue()
