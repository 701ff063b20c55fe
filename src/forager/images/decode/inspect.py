"""Inspects one file. Pure, and bounded: the header gives the number of pixels before any is decoded.

Runs in the process that `client.py` starts, so that files that crash a decoder crash only that process.
"""

import warnings
from io import BytesIO

from PIL import (  # importing a plugin registers its decoder; the others stay unregistered
    AvifImagePlugin,
    BmpImagePlugin,
    GifImagePlugin,
    IcoImagePlugin,
    Image,
    ImageFile,
    ImageOps,
    JpegImagePlugin,
    MpoImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    UnidentifiedImageError,
    WebPImagePlugin,
)

from forager.images.decode.dhash import dhash
from forager.images.decode.result import Look
from forager.images.decode.thumbnail import THUMBNAIL_PIXELS, make_thumbnail, resize

FORMATS = {
    JpegImagePlugin.JpegImageFile.format: "jpeg",
    MpoImagePlugin.MpoImageFile.format: "jpeg",
    PngImagePlugin.PngImageFile.format: "png",
    GifImagePlugin.GifImageFile.format: "gif",
    WebPImagePlugin.WebPImageFile.format: "webp",
    AvifImagePlugin.AvifImageFile.format: "avif",
    BmpImagePlugin.BmpImageFile.format: "bmp",
    IcoImagePlugin.IcoImageFile.format: "ico",
    TiffImagePlugin.TiffImageFile.format: "tiff",
}
OPENERS = tuple(name for name in FORMATS if name in Image.OPEN)
"""Only these decoders are tried: Pillow has seventy, and some start other programs."""
ORIENTATION, LYING = 0x0112, frozenset({5, 6, 7, 8})
SNIFF_BYTES = 2048
BEGINNINGS = (b"\x89PNG", b"GIF8", b"\xff\xd8\xff")
TEXT_STARTS = (b"<!doctype", b"<html", b"<head", b"<body", b"{", b"<script", b"<title", b"<h1", b"<p>", b"<div")

ImageFile.LOAD_TRUNCATED_IMAGES = False
Image.MAX_IMAGE_PIXELS = None  # our own limit is checked first, and gives a reason


def look(body: bytes, max_pixels: int) -> tuple[Look, bytes]:
    """Returns the result with its thumbnail, which is empty if there is none."""
    if not body:
        return Look("broken", "the file is empty"), b""
    if is_svg(body):
        return Look("stored", format="svg"), b""
    warnings.simplefilter("ignore")
    try:
        picture = Image.open(BytesIO(body), formats=OPENERS)
    except UnidentifiedImageError:
        return _no_image(body), b""
    except Exception as error:
        return Look("broken", f"its header cannot be read: {_say(error)}"), b""
    return _look_inside(picture, max_pixels)


def _look_inside(picture: Image.Image, max_pixels: int) -> tuple[Look, bytes]:
    kind = FORMATS[picture.format or ""]
    width, height = picture.size
    if width * height > max_pixels:
        reason = f"it has {width:,} x {height:,} pixels; at most {max_pixels:,} are taken"
        return Look("too_big", reason, kind, width, height), b""
    if width < 1 or height < 1:
        return Look("broken", "it has no pixels", kind), b""
    try:
        frames = getattr(picture, "n_frames", 1)
        picture.seek(0)
        if kind == "jpeg":
            picture.draft("RGB", (2 * THUMBNAIL_PIXELS, 2 * THUMBNAIL_PIXELS))  # photos decode at 1/8 size
        picture.load()
        small = ImageOps.exif_transpose(resize(picture))
        bits, thumbnail = dhash(small), make_thumbnail(small)
    except Exception as error:
        return Look("broken", f"it cannot be decoded: {_say(error)}", kind, width, height), b""
    if picture.getexif().get(ORIENTATION, 1) in LYING:
        width, height = height, width  # in its displayed orientation
    return Look("stored", None, kind, width, height, frames, bits), thumbnail


def is_svg(body: bytes) -> bool:
    """Detects SVG by its beginning. An SVG can contain scripts, and is never run."""
    head = body[:SNIFF_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return head.startswith(b"<svg") or (head.startswith((b"<?xml", b"<!doctype svg", b"<!--")) and b"<svg" in head)


def _no_image(body: bytes) -> Look:
    if body.startswith(BEGINNINGS):
        return Look("broken", "it ends within its header")
    head = body[:SNIFF_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    what = "a page or other text" if head.startswith(TEXT_STARTS) else "no format we know"
    return Look("not_an_image", f"the file is {what}")


def _say(error: Exception) -> str:
    words = " ".join(str(error).split())
    return "".join(sign for sign in words if sign.isprintable())[:200] or type(error).__name__
