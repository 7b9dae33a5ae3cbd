"""Map of the failed test cases in the colours of their clusters; passed cases are pale."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_evalstudio.contrib.validation.methods.failures.results import Cluster, MapPoint
from pytest_evalstudio.plots.axes import Scale, legend
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import COLOURS, INK, RULE

WIDTH, HEIGHT, MARGIN = 720, 480, 28
LINE = 22
PALE = "#cfd4d8"
_TEXT_CHARS = 120
_RADIUS, _SMALL_RADIUS, _MANY = 6, 4, 300


def failure_map(title: str, clusters: Sequence[Cluster], points: Sequence[MapPoint]) -> str:
    """Draw the cases as SVG; a dark rim distinguishes clusters whose colour is used again."""
    colours = {cluster.id: COLOURS[number % len(COLOURS)] for number, cluster in enumerate(clusters)}
    across, up = Scale(0, 1, MARGIN, WIDTH - MARGIN), Scale(0, 1, HEIGHT - MARGIN, MARGIN)
    passed = [point for point in points if point.cluster is None]
    failed = [(point, point.cluster) for point in points if point.cluster is not None]
    lines = len(clusters) + bool(passed)
    description = (
        f"{len(failed)} failed test cases in {_counted(len(clusters), 'cluster')}, {len(passed)} that passed;"
        " near points are alike."
    )
    canvas = Canvas(title, width=WIDTH, height=HEIGHT + LINE * lines + MARGIN, description=description)
    canvas.rect(1, 1, WIDTH - 2, HEIGHT - 2, stroke=RULE)
    radius = _RADIUS if len(points) < _MANY else _SMALL_RADIUS
    for point in passed:
        canvas.circle(across(point.x), up(point.y), radius - 1, fill=PALE, opacity=0.8, title=_title(point))
    again = {cluster.id for cluster in clusters[len(COLOURS) :]}
    for point, id in failed:
        rim = {"stroke": INK} if id in again else {}
        canvas.circle(
            across(point.x), up(point.y), radius, fill=colours[id], opacity=0.8, title=_title(point), **rim
        )
    for cluster in clusters:
        members = [point for point, id in failed if id == cluster.id]
        x = sorted(point.x for point in members)[len(members) // 2]
        y = sorted(point.y for point in members)[len(members) // 2]
        canvas.text(across(x), up(y) + 5, cluster.id, anchor="middle", classes="b h")
    entries = [(colours[cluster.id], _label(cluster)) for cluster in clusters]
    entries += [(PALE, _counted(len(passed), "test case") + " passed")] if passed else []
    legend(canvas, MARGIN - 6, HEIGHT + LINE, entries, width=WIDTH - 2 * MARGIN, line_height=LINE)
    return canvas.finish()


def _title(point: MapPoint) -> str:
    return f"{point.key}: {point.question[:_TEXT_CHARS]}"


def _label(cluster: Cluster) -> str:
    words = ", ".join(cluster.words[:8]) or "no characteristic words"
    return f"{cluster.id} ({_counted(cluster.size, 'failure')}): {words}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
