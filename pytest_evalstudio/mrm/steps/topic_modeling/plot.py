"""The topics of a corpus as a picture: each chunk a point, each topic a colour and a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_evalstudio.plots.axes import Scale, legend
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import COLOURS, RULE

WIDTH, HEIGHT, MARGIN = 720, 480, 28
LINE = 22
_TEXT_CHARS = 120
_RADIUS, _SMALL_RADIUS, _MANY = 6, 4, 300


def topic_map(title: str, topics: Sequence[dict[str, Any]], chunks: Sequence[dict[str, Any]]) -> str:
    """An SVG picture that stands for itself.

    Args:
        topics: with id, words and size.
        chunks: with text, topic, x and y, the latter from 0 to 1.
    """
    colours = {topic["id"]: COLOURS[number % len(COLOURS)] for number, topic in enumerate(topics)}
    across, up = Scale(0, 1, MARGIN, WIDTH - MARGIN), Scale(0, 1, HEIGHT - MARGIN, MARGIN)
    canvas = Canvas(
        title,
        width=WIDTH,
        height=HEIGHT + LINE * len(topics) + MARGIN,
        description="Near points are chunks that say alike things.",
    )
    canvas.rect(1, 1, WIDTH - 2, HEIGHT - 2, stroke=RULE)
    radius = _RADIUS if len(chunks) < _MANY else _SMALL_RADIUS
    for chunk in chunks:
        said = f"{chunk['id']}: {chunk['text'][:_TEXT_CHARS]}"
        canvas.circle(
            across(chunk["x"]), up(chunk["y"]), radius, fill=colours[chunk["topic"]], opacity=0.75, title=said
        )
    for topic in topics:
        mine = [chunk for chunk in chunks if chunk["topic"] == topic["id"]]
        x, y = (sum(chunk[axis] for chunk in mine) / len(mine) for axis in ("x", "y"))
        canvas.text(across(x), up(y) + 5, topic["id"], anchor="middle", classes="b h")
    entries = [(colours[topic["id"]], _named(topic)) for topic in topics]
    legend(canvas, MARGIN - 6, HEIGHT + LINE, entries, width=WIDTH - 2 * MARGIN, line_height=LINE)
    return canvas.finish()


def _named(topic: dict[str, Any]) -> str:
    return (
        f"{topic['id']} ({topic['size']} chunk{'s' if topic['size'] != 1 else ''}):"
        f" {', '.join(topic['words'][:8])}"
    )
