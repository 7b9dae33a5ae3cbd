"""Map of the topics of a corpus."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_evalstudio.contrib.validation.methods.topics.results import Chunk, Topic
from pytest_evalstudio.plots.axes import Scale, legend
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import COLOURS, RULE

WIDTH, HEIGHT, MARGIN = 720, 480, 28
LINE = 22
_TEXT_CHARS = 120
_RADIUS, _SMALL_RADIUS, _MANY = 6, 4, 300


def topic_map(title: str, topics: Sequence[Topic], chunks: Sequence[Chunk]) -> str:
    """Draw the chunks as points in the colours of their topics, as SVG."""
    colours = {topic.id: COLOURS[number % len(COLOURS)] for number, topic in enumerate(topics)}
    across, up = Scale(0, 1, MARGIN, WIDTH - MARGIN), Scale(0, 1, HEIGHT - MARGIN, MARGIN)
    canvas = Canvas(
        title,
        width=WIDTH,
        height=HEIGHT + LINE * len(topics) + MARGIN,
        description="Chunks with similar texts are near each other.",
    )
    canvas.rect(1, 1, WIDTH - 2, HEIGHT - 2, stroke=RULE)
    radius = _RADIUS if len(chunks) < _MANY else _SMALL_RADIUS
    for chunk in chunks:
        text = f"{chunk.id}: {chunk.text[:_TEXT_CHARS]}"
        canvas.circle(
            across(chunk.x), up(chunk.y), radius, fill=colours[chunk.topic], opacity=0.75, title=text
        )
    for topic in topics:
        members = [chunk for chunk in chunks if chunk.topic == topic.id]
        x = sum(chunk.x for chunk in members) / len(members)
        y = sum(chunk.y for chunk in members) / len(members)
        canvas.text(across(x), up(y) + 5, topic.id, anchor="middle", classes="b h")
    entries = [(colours[topic.id], _label(topic)) for topic in topics]
    legend(canvas, MARGIN - 6, HEIGHT + LINE, entries, width=WIDTH - 2 * MARGIN, line_height=LINE)
    return canvas.finish()


def _label(topic: Topic) -> str:
    return f"{topic.id} ({topic.size} chunk{'s' if topic.size != 1 else ''}): {', '.join(topic.words[:8])}"
