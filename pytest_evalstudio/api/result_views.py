"""Views of evaluation results for people: pandas frames, a table for the terminal, HTML for notebooks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.tool_calls import call_text
from pytest_evalstudio.text.figures import figure

if TYPE_CHECKING:
    import pandas as pd

    from pytest_evalstudio.analysis.leaderboards import Cell, Leaderboard, Standing
    from pytest_evalstudio.plots.pictures import Pictures
    from pytest_evalstudio.record.schema import Item, RecordRow

_STYLES = {True: "color:#1b7f3b", False: "color:#b3261e;font-weight:600", None: ""}
_HEAD = ("model", "evaluator", "metric", "value", "95 % interval", "threshold", "cases")


def leaderboard_frame(boards: Mapping[str, Leaderboard]) -> pd.DataFrame:
    """Return a frame with a row per evaluator, model and metric.

    Columns: evaluator, model, metric, value, low and high (95 % interval), n, rank, threshold, passes,
    pass_rate (share of the model's cases that passed this evaluator).
    """
    pd = import_extra("pandas", "a data frame", extra="")
    rows = [
        {
            "evaluator": board.evaluator.id,
            "model": line.name,
            "metric": metric.key,
            "value": cell.value,
            "low": cell.interval[0] if cell.interval else None,
            "high": cell.interval[1] if cell.interval else None,
            "n": cell.n,
            "rank": cell.rank,
            "threshold": cell.threshold,
            "passes": cell.passes,
            "pass_rate": line.pass_rate,
            **_corrected(line),
        }
        for board, line, metric, cell in _cells(boards.values(), primary_only=False)
    ]
    return pd.DataFrame(rows)


def _corrected(line: Standing) -> dict[str, float | None]:
    """Return the pass rate corrected for the judge's errors; None where they were not measured."""
    value = line.corrected.value if line.corrected is not None else None
    interval = line.corrected.interval if line.corrected is not None else None
    low, high = interval or (None, None)
    return {"corrected_pass_rate": value, "corrected_low": low, "corrected_high": high}


def item_frame(items: Sequence[Item], names: Mapping[str, str]) -> pd.DataFrame:
    """Return a frame with a row per answer: key, model, run, verdict, texts, and a column per metric.

    Where an answer has calls of tools or is a conversation, there are columns `tool_calls` and `turns`: lists
    of texts.

    Args:
        names: key of each model to its name.
    """
    pd = import_extra("pandas", "a data frame", extra="")
    rows = []
    for item in items:
        for row in item.rows:
            scores = {
                f"{id}.{metric}": value
                for id, outcome in row.outcomes.items()
                for metric, value in outcome.scores.items()
            }
            rows.append(
                {
                    "key": item.key,
                    "model": names.get(item.model_key, item.model_key),
                    "run": row.run,
                    "verdict": item.verdict,
                    "input": row.question,
                    "actual_output": row.answer.text,
                    **_calls_and_turns(row),
                    **scores,
                }
            )
    return pd.DataFrame(rows)


def _calls_and_turns(row: RecordRow) -> dict[str, object]:
    """Return the calls of an answer and the turns of a conversation as texts; {} where there are none."""
    cells: dict[str, object] = {}
    if row.answer.tool_calls:
        cells["tool_calls"] = [
            call_text(call.name, call.arguments, call.arguments_text) for call in row.answer.tool_calls
        ]
    if row.answer.turns:
        cells["turns"] = [f"{turn.prompt} → {turn.answer.text}" for turn in row.answer.turns]
    return cells


def text_table(boards: Mapping[str, Leaderboard], verdicts: Counter[str]) -> str:
    """Return the primary metrics of all models as a table of text."""
    rows = [_HEAD, *(cells for cells, _ in _rows(boards))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join([*lines, counts_text(verdicts)])


def html_table(boards: Mapping[str, Leaderboard], verdicts: Counter[str]) -> str:
    """Return the primary metrics of all models as an HTML table; all text in it is escaped."""
    head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in _HEAD)
    body = "".join(
        f"<tr style='{_STYLES[passes]}'>"
        + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for cells, passes in _rows(boards)
    )
    return (
        f"<div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p>{escape(counts_text(verdicts))}</p></div>"
    )


def pictures_of(boards: Mapping[str, Leaderboard]) -> Pictures:
    """Return a picture per evaluator: the primary metric of each model, its interval, the threshold."""
    from pytest_evalstudio.plots.dots import Dot, dot_plot
    from pytest_evalstudio.plots.pictures import Pictures

    svgs = {}
    for id, board in boards.items():
        metric = board.evaluator.primary
        cells = [(line.name, line.cells[metric.key]) for line in board.standings if metric.key in line.cells]
        dots = [
            # Without an interval the dot has a line of no length.
            Dot(name, cell.value, *(cell.interval or (cell.value, cell.value)))
            for name, cell in cells
            if cell.value is not None and math.isfinite(cell.value)
        ]
        sign = "≥" if metric.better == "higher" else "≤"
        bound = f", threshold {sign} {figure(metric.threshold)}" if math.isfinite(metric.threshold) else ""
        svgs[id] = dot_plot(
            f"{board.evaluator.name}: {metric.name}{bound}",
            dots,
            threshold=metric.threshold if math.isfinite(metric.threshold) else None,
            shown=figure,
        )
    return Pictures(svgs)


def counts_text(verdicts: Counter[str]) -> str:
    """Return the number of cases of each verdict as words."""
    return ", ".join(f"{count} {word}" for word, count in sorted(verdicts.items())) or "no cases"


def _rows(boards: Mapping[str, Leaderboard]) -> Iterator[tuple[tuple[str, ...], bool | None]]:
    for board, line, metric, cell in _cells(boards.values(), primary_only=True):
        low, high = cell.interval or (None, None)
        interval = "" if low is None or high is None else f"{figure(low)} to {figure(high)}"
        sign = "≥" if metric.better == "higher" else "≤"
        cells = (
            line.name,
            board.evaluator.id,
            metric.key,
            figure(cell.value),
            interval,
            f"{sign} {cell.threshold:g}",
            str(cell.n),
        )
        yield cells, cell.passes


def _cells(
    boards: Iterable[Leaderboard], *, primary_only: bool
) -> Iterator[tuple[Leaderboard, Standing, Metric, Cell]]:
    for board in boards:
        metrics = (board.evaluator.primary,) if primary_only else board.evaluator.metrics
        for line in board.standings:
            for metric in metrics:
                if (cell := line.cells.get(metric.key)) is not None:
                    yield board, line, metric, cell
