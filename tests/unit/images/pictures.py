"""Pictures for tests, drawn from a number."""

import random
from io import BytesIO
from typing import Any

from PIL import Image, ImageDraw


def draw(number: int, size: tuple[int, int] = (640, 480)) -> Image.Image:
    rng = random.Random(number)
    picture = Image.new("RGB", size, (rng.randrange(256), 80, 120))
    pen = ImageDraw.Draw(picture)
    for _ in range(30):
        x, y = rng.randrange(size[0]), rng.randrange(size[1])
        w, h = rng.randrange(size[0] // 20, size[0] // 2), rng.randrange(size[1] // 20, size[1] // 2)
        pen.ellipse((x, y, x + w, y + h), fill=tuple(rng.randrange(256) for _ in range(3)))
    return picture


def encode(picture: Image.Image, kind: str = "JPEG", **options: Any) -> bytes:
    out = BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()
