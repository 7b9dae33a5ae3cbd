"""Reads charts with one bar per colour: stands for a model that sees."""

import struct
import zlib
from collections import Counter
from pathlib import Path

COLOURS = {(0, 114, 178): "blue", (213, 94, 0): "orange"}


def answer(prompt: str, images: list[str], files: list[str]) -> str:
    """Name the largest bar of a chart, or quote the line of a file that has the last word of the question."""
    if images:
        pixels = Counter(pixel for pixel in read_png(Path(images[0])) if pixel in COLOURS)
        return f"The {COLOURS[pixels.most_common(1)[0][0]]} bar is the largest."
    word = prompt.rstrip("?").split()[-1]
    lines = Path(files[0]).read_text(encoding="utf-8").splitlines()
    return next((line for line in lines if word in line), "I do not know.")


def read_png(path: Path) -> list[tuple[int, ...]]:
    """Return the pixels of a PNG file with 8-bit colours and no filter, as `make_chart.py` writes it."""
    content, position, packed, width = path.read_bytes(), 8, b"", 0
    while position < len(content):
        length, kind = struct.unpack(">I4s", content[position : position + 8])
        data = content[position + 8 : position + 8 + length]
        width = struct.unpack(">I", data[:4])[0] if kind == b"IHDR" else width
        packed += data if kind == b"IDAT" else b""
        position += length + 12
    rows = zlib.decompress(packed)
    stride = 3 * width + 1
    return [
        tuple(rows[at : at + 3])
        for start in range(0, len(rows), stride)
        for at in range(start + 1, start + stride, 3)
    ]
