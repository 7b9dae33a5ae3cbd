"""The topics of a corpus as a picture: each chunk a point, each topic a colour and a number."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

WIDTH, HEIGHT, MARGIN = 720, 480, 28
LINE = 22
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a7a00", "#555f6b")
"""The report's colours of series."""
_STYLE = "text{font:13px system-ui,sans-serif;fill:#1c2530}.n{font-weight:600;text-anchor:middle;paint-order:stroke;stroke:#fff;stroke-width:4px}"
_TITLE_CHARS = 120


def topic_map(title: str, topics: Sequence[dict[str, Any]], chunks: Sequence[dict[str, Any]]) -> str:
    """An SVG picture that stands for itself: no script, no font, no address but its own name space.

    Args:
        topics: with id, words and size.
        chunks: with text, topic, x and y, the latter from 0 to 1.
    """
    colours = {topic["id"]: COLOURS[number % len(COLOURS)] for number, topic in enumerate(topics)}
    height = HEIGHT + LINE * len(topics) + MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="t">',
        f'<title id="t">{_safe(title)}</title>',
        f"<style>{_STYLE}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" fill="none" stroke="#d9dcd8"/>',
    ]
    for chunk in chunks:
        x, y = _place(chunk["x"], chunk["y"])
        said = _safe(f"{chunk['id']}: {chunk['text'][:_TITLE_CHARS]}")
        lines.append(
            f'<circle cx="{x}" cy="{y}" r="6" fill="{colours[chunk["topic"]]}" fill-opacity=".75" stroke="#fff"><title>{said}</title></circle>'
        )
    for number, topic in enumerate(topics):
        mine = [chunk for chunk in chunks if chunk["topic"] == topic["id"]]
        x, y = _place(sum(chunk["x"] for chunk in mine) / len(mine), sum(chunk["y"] for chunk in mine) / len(mine))
        lines.append(f'<text class="n" x="{x}" y="{y + 5:g}">{_safe(topic["id"])}</text>')
        level = HEIGHT + LINE * (number + 1)
        size = f"{topic['size']} chunk{'s' if topic['size'] != 1 else ''}"
        lines.append(f'<circle cx="{MARGIN}" cy="{level - 5}" r="6" fill="{colours[topic["id"]]}"/>')
        lines.append(f'<text x="{MARGIN + 16}" y="{level}">{_safe(topic["id"])}: {_safe(", ".join(topic["words"][:8]))} ({size})</text>')
    return "\n".join([*lines, "</svg>", ""])


def _place(x: float, y: float) -> tuple[float, float]:
    return round(MARGIN + x * (WIDTH - 2 * MARGIN), 2), round(HEIGHT - MARGIN - y * (HEIGHT - 2 * MARGIN), 2)


def _safe(text: str) -> str:
    """Text for XML, which has no place for control characters and lone surrogates."""
    return escape("".join(char if char.isprintable() else " " for char in text))
