"""Shares of flipped cases with their intervals, by perturbator, topic and kind of question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_evalstudio.mrm.steps.robustness_input_variations.method import is_beyond
from pytest_evalstudio.plots.axes import Scale
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import BAD, COLOURS, QUIET, RULE
from pytest_evalstudio.plots.text import fitted

WIDTH, LINE, TOP = 720, 26, 24
NAMES, FIGURES = 250, 150
"""Pixels for the names on the left and the figures on the right."""
_ROW_HEADS = (
    ("by_perturbator", "By perturbator: share of cases that flip"),
    ("meaning_changed", "Meaning changed (another answer may be right)"),
    ("by_topic", "By topic: share of cases that some perturbator flips"),
    ("by_kind", "By kind of question: share of cases that some perturbator flips"),
)


def flips_picture(title: str, found: Mapping[str, Any]) -> str:
    """Each row a share with its 95 % interval (Wilson); orange where it is more than chance.

    Args:
        found: as `variations.find_flips` returns it.
    """
    groups = _groups(found)
    height = TOP + sum(LINE * (len(rows) + 1.6) for _, rows in groups) + 30
    canvas = Canvas(title, width=WIDTH, height=height, description=_described(groups))
    scale = Scale(0, 1, NAMES, WIDTH - FIGURES)
    y = float(TOP)
    for head, rows in groups:
        canvas.text(12, y, head, classes="b")
        top = y + LINE * 0.4
        bottom = top + LINE * len(rows)
        for tick in scale.ticks():
            canvas.line(scale(tick), top, scale(tick), bottom, stroke=RULE)
        for number, row in enumerate(rows):
            _row(canvas, scale, top + LINE * (number + 0.5), row)
        y = bottom + LINE * 1.2
    for tick in scale.ticks():
        canvas.text(scale(tick), y - 8, f"{tick:.0%}", anchor="middle", classes="q s")
    return canvas.finish()


def _groups(found: Mapping[str, Any]) -> list[tuple[str, Sequence[Mapping[str, Any]]]]:
    groups: list[tuple[str, Sequence[Mapping[str, Any]]]] = []
    for key, head in _ROW_HEADS:
        rows = list(found[key])
        if key == "by_perturbator" and found["copies"]:
            rows.append({**found["copies"], "name": "asked again unchanged"})
        if rows:
            groups.append((head, rows))
    return groups


def _row(canvas: Canvas, scale: Scale, y: float, row: Mapping[str, Any]) -> None:
    low, high = row["interval"]
    colour = BAD if _is_beyond(row) else COLOURS[0] if row["name"] != "asked again unchanged" else QUIET
    short = fitted(row["name"], NAMES - 24)
    canvas.text(NAMES - 10, y + 4, short, anchor="end", title=row["name"] if short != row["name"] else "")
    canvas.line(scale(low), y, scale(high), y, stroke=colour, width=2)
    canvas.circle(scale(row["rate"]), y, 5, fill=colour, title=_figures(row))
    canvas.text(WIDTH - FIGURES + 12, y + 4, _short_figures(row), classes="q s")


def _is_beyond(row: Mapping[str, Any]) -> bool:
    return "drops" in row and is_beyond(row)


def _short_figures(row: Mapping[str, Any]) -> str:
    return (
        f"{row.get('flipped', row['pass_to_fail'] + row['fail_to_pass'])} of {row['cases']}"
        f" (−{row['pass_to_fail']} +{row['fail_to_pass']})"
    )


def _figures(row: Mapping[str, Any]) -> str:
    low, high = row["interval"]
    ways = f"{row['pass_to_fail']} pass to fail, {row['fail_to_pass']} fail to pass"
    return f"{row['name']}: {row['rate']:.0%}, 95 % interval {low:.0%} to {high:.0%}, {ways}"


def _described(groups: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]) -> str:
    return " ".join(f"{head}. " + "; ".join(map(_figures, rows)) + "." for head, rows in groups)
