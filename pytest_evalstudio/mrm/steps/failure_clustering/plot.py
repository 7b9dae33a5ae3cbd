"""Failed test cases on a map: each cluster a colour and a number, what passed pale behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_evalstudio.plots.axes import Scale, legend
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import COLOURS, INK, RULE

WIDTH, HEIGHT, MARGIN = 720, 480, 28
LINE = 22
PALE = "#cfd4d8"
_TEXT_CHARS = 120
_RADIUS, _SMALL_RADIUS, _MANY = 6, 4, 300


def failure_map(title: str, clusters: Sequence[dict[str, Any]], points: Sequence[dict[str, Any]]) -> str:
    """An SVG picture; a dark rim tells clusters whose colour comes again.

    Args:
        clusters: with id, size and words.
        points: with key, question, cluster (an id, None for a case that passed), x and y, the latter from 0
            to 1.
    """
    colours = {cluster["id"]: COLOURS[number % len(COLOURS)] for number, cluster in enumerate(clusters)}
    across, up = Scale(0, 1, MARGIN, WIDTH - MARGIN), Scale(0, 1, HEIGHT - MARGIN, MARGIN)
    passed = [point for point in points if point["cluster"] is None]
    failed = [point for point in points if point["cluster"] is not None]
    lines = len(clusters) + bool(passed)
    description = (
        f"{len(failed)} failed test cases in {_counted(len(clusters), 'cluster')}, {len(passed)} that passed;"
        " near points are alike."
    )
    canvas = Canvas(title, width=WIDTH, height=HEIGHT + LINE * lines + MARGIN, description=description)
    canvas.rect(1, 1, WIDTH - 2, HEIGHT - 2, stroke=RULE)
    radius = _RADIUS if len(points) < _MANY else _SMALL_RADIUS
    for point in passed:
        canvas.circle(
            across(point["x"]), up(point["y"]), radius - 1, fill=PALE, opacity=0.8, title=_said(point)
        )
    again = {cluster["id"] for cluster in clusters[len(COLOURS) :]}
    for point in failed:
        rim = {"stroke": INK} if point["cluster"] in again else {}
        canvas.circle(
            across(point["x"]),
            up(point["y"]),
            radius,
            fill=colours[point["cluster"]],
            opacity=0.8,
            title=_said(point),
            **rim,
        )
    for cluster in clusters:
        mine = [point for point in failed if point["cluster"] == cluster["id"]]
        x, y = (sorted(point[axis] for point in mine)[len(mine) // 2] for axis in ("x", "y"))
        canvas.text(across(x), up(y) + 5, cluster["id"], anchor="middle", classes="b h")
    entries = [(colours[cluster["id"]], _named(cluster)) for cluster in clusters]
    entries += [(PALE, _counted(len(passed), "test case") + " passed")] if passed else []
    legend(canvas, MARGIN - 6, HEIGHT + LINE, entries, width=WIDTH - 2 * MARGIN, line_height=LINE)
    return canvas.finish()


def _said(point: dict[str, Any]) -> str:
    return f"{point['key']}: {point['question'][:_TEXT_CHARS]}"


def _named(cluster: dict[str, Any]) -> str:
    words = ", ".join(cluster["words"][:8]) or "no words of its own"
    return f"{cluster['id']} ({_counted(cluster['size'], 'failure')}): {words}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
