"""Draws the chart of the example: `python make_chart.py` writes sales.png."""

import struct
import zlib
from pathlib import Path

WIDTH, HEIGHT = 96, 64
BARS = ((8, 44, 20, (0, 114, 178)), (52, 88, 50, (213, 94, 0)))
"""Left and right edge, height and colour of each bar."""


def pixel(x: int, y: int) -> tuple[int, int, int]:
    """Return the colour of a place in the chart."""
    for left, right, height, colour in BARS:
        if left <= x < right and HEIGHT - 6 - height <= y < HEIGHT - 6:
            return colour
    return (90, 90, 90) if y == HEIGHT - 6 else (255, 255, 255)


def chunk(kind: bytes, data: bytes) -> bytes:
    """Return a chunk of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def chart() -> bytes:
    """Return the chart as a PNG file."""
    rows = b"".join(b"\0" + b"".join(bytes(pixel(x, y)) for x in range(WIDTH)) for y in range(HEIGHT))
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    chunks = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows, 9)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


if __name__ == "__main__":
    Path(__file__).with_name("sales.png").write_bytes(chart())
