"""Small real PNG pictures from a seed: a sky, a sun, hills. Written with zlib alone, so no image library is needed."""

import struct
import zlib

from forager_playground.seeded import numbers

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def render_png(width: int, height: int, *key: object) -> bytes:
    draws = numbers(12, *key)
    rows = [_draw_row(y, width, height, draws) for y in range(height)]
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\x00" + row for row in rows), 6)
    return SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _draw_row(y: int, width: int, height: int, draws: tuple[int, ...]) -> bytes:
    if y > height * 2 // 3:
        return _row_color(draws[3:6], y, height) * width
    row = bytearray(_row_color(draws[:3], y, height) * width)
    radius = height // 5
    reach = radius * radius - (y - height // 3) ** 2
    if reach > 0:
        half = int(reach**0.5)
        middle = radius + draws[6] % max(1, width - 2 * radius)
        left, right = max(0, middle - half), min(width, middle + half)
        row[left * 3 : right * 3] = bytes((250, 210 + draws[7] % 40, 90)) * (right - left)
    return bytes(row)


def _row_color(draws: tuple[int, ...], y: int, height: int) -> bytes:
    """A colour that grows lighter towards the bottom."""
    return bytes(min(255, draw % 150 + 90 * y // height) for draw in draws)
