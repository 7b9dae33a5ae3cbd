"""Markdown of the report: a summary for CI jobs and pull requests, and the leaderboards as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_evalstudio.comparison.markdown import comparison_markdown
from pytest_evalstudio.comparison.results import Comparison
from pytest_evalstudio.core.markdown import code, escaped
from pytest_evalstudio.core.outcomes import SEVERITIES
from pytest_evalstudio.engine.analysis.analyse import Analysis
from pytest_evalstudio.engine.analysis.leaderboards import Cell, Leaderboard, Standing
from pytest_evalstudio.engine.analysis.repeats import RepeatAnalysis
from pytest_evalstudio.engine.analysis.wording import rounded
from pytest_evalstudio.report.commands import pytest_command
from pytest_evalstudio.report.repeats import FLAKY_HEAD, HEAD, flaky_rows, repeat_rows, stopping_lines

PROBLEMS_SHOWN = 10
FAILURES_SHOWN = 10
FLAKY_SHOWN = 10


def summary(analysis: Analysis, failed: Sequence[str] = (), comparison: Comparison | None = None) -> str:
    """Summarise the run on one screen.

    Args:
        failed: node ids of the items that failed or broke.
        comparison: of the run with its baseline.
    """
    run = analysis.run
    lines = ["# Evaluation summary", ""]
    counts = [f"{count} {verdict}" for verdict, count in analysis.verdicts.items() if count]
    lines.append(f"**{analysis.dataset.items} items**: {', '.join(counts) or 'none finished'}.")
    severities = [
        f"{sum(problem.severity == severity for problem in analysis.problems)} {severity}"
        for severity in SEVERITIES
    ]
    lines += ["", f"**Problems**: {', '.join(severities)}. **Insights**: {len(analysis.insights)}."]
    if run.interrupted:
        lines += ["", "The run was interrupted: the figures cover the finished items only."]
    if comparison is not None:
        lines += ["", comparison_markdown(comparison, level=2).rstrip()]
    if analysis.gates:
        lines += [
            "",
            "## Gates",
            "",
            *(f"- {'✓' if gate.met else '✗'} {escaped(gate.text)}" for gate in analysis.gates),
        ]
    if analysis.leaderboards and analysis.models:
        lines += ["", "## Primary metrics", "", *_overview(analysis)]
    lines += _repeats(analysis.repeats)
    if failed:
        lines += ["", "## Failures", "", *_failures(failed)]
    if analysis.problems:
        shown = analysis.problems[:PROBLEMS_SHOWN]
        lines += [
            "",
            "## Problems",
            "",
            *(f"- **{problem.severity}** {escaped(problem.description)}" for problem in shown),
        ]
        if len(analysis.problems) > len(shown):
            lines.append(f"- … and {len(analysis.problems) - len(shown)} more, in interpretation.html")
    lines += ["", f"Run `{run.run_id}`, {run.created}. Full report: interpretation.html.", ""]
    return "\n".join(lines)


def leaderboard(board: Leaderboard) -> str:
    """Return a leaderboard as a table: value, 95 % interval and number of rows."""
    info = board.evaluator
    head = [
        "Rank",
        "Model",
        *(_heading(board, metric.key) for metric in info.metrics),
        "Scored",
        "Errors",
        "Not applicable",
        "Pass rate",
    ]
    rows = [
        [
            _rank(line.cells[info.primary.key]),
            escaped(line.name),
            *(figure(line.cells[metric.key], boolean=info.boolean) for metric in info.metrics),
            str(line.scored),
            str(line.errors),
            str(line.not_applicable),
            _share(line),
        ]
        for line in board.standings
    ]
    parts = [f"# {escaped(info.name)}", "", escaped(info.description), ""]
    if info.embedder:
        parts += [f"Scores and thresholds are of the embedder {escaped(info.embedder)}.", ""]
    parts += _table(head, rows)
    for line in board.standings:
        if line.table:
            parts += ["", f"## Confusion matrix of {escaped(line.name)}", "", *_confusion(line)]
    return "\n".join([*parts, ""])


def figure(cell: Cell, *, boolean: bool) -> str:
    """Return a cell as text: value with interval; for a boolean metric, count and percentage."""
    if cell.value is None:
        return "–"
    between = f" ({rounded(cell.interval[0])}–{rounded(cell.interval[1])})" if cell.interval else ""
    mark = {True: " ✓", False: " ✗", None: ""}[cell.passes]
    if boolean:
        return f"{cell.total:g} of {cell.n}, {100 * cell.value:.1f} %{mark}"
    return f"{rounded(cell.value)}{between}{mark}"


def _failures(failed: Sequence[str]) -> Iterator[str]:
    """Yield the commands that run the first failures again."""
    for nodeid in failed[:FAILURES_SHOWN]:
        command = pytest_command(nodeid)
        yield f"- {code(command)}" if command else f"- {escaped(nodeid)}"
    if len(failed) > FAILURES_SHOWN:
        yield f"- … and {len(failed) - FAILURES_SHOWN} more, in interpretation.html"


def _repeats(repeats: RepeatAnalysis) -> Iterator[str]:
    """Yield the section of repeats, flaky cases and sequential tests; nothing without any."""
    if not (repeats.figures or repeats.flaky or repeats.stopping):
        return
    yield from ("", "## Repeats", "")
    if repeats.figures:
        yield from _table(HEAD, [list(map(escaped, row)) for row in repeat_rows(repeats)])
    for figures in repeats.stopping:
        yield ""
        yield " ".join(f"{escaped(line)}." for line in stopping_lines(figures))
    if repeats.flaky:
        rows = list(flaky_rows(repeats))
        yield ""
        yield from _table(FLAKY_HEAD, [list(map(escaped, row)) for row in rows[:FLAKY_SHOWN]])
        if repeats.flaky_items > FLAKY_SHOWN:
            yield from ("", f"… and {repeats.flaky_items - FLAKY_SHOWN} more flaky cases.")


def _overview(analysis: Analysis) -> Iterator[str]:
    boards = list(analysis.leaderboards.values())
    head = ["Model", *(f"{escaped(board.evaluator.name)}" for board in boards)]
    rows = []
    for model in analysis.models:
        standings = [(board, board.standing(model.key)) for board in boards]
        rows.append(
            [
                escaped(model.name),
                *(
                    "–"
                    if line is None
                    else figure(line.cells[b.evaluator.primary.key], boolean=b.evaluator.boolean)
                    for b, line in standings
                ),
            ]
        )
    return _table(head, rows)


def _heading(board: Leaderboard, key: str) -> str:
    metric = next(metric for metric in board.evaluator.metrics if metric.key == key)
    sign = "≥" if metric.better == "higher" else "≤"
    return f"{escaped(metric.name)} ({sign} {rounded(metric.threshold)})"


def _share(line: Standing) -> str:
    doubt = f", {line.uncertain} uncertain" if line.uncertain else ""
    return (
        "–"
        if line.pass_rate is None
        else f"{line.passed} of {line.judged}, {100 * line.pass_rate:.1f} %{doubt}"
    )


def _rank(cell: Cell) -> str:
    return "–" if cell.rank is None else str(cell.rank)


def _confusion(line: Standing) -> Iterator[str]:
    labels = [escaped(str(label)) for label in line.table.get("labels", ())]
    rows = [
        [label, *(str(count) for count in counts)]
        for label, counts in zip(labels, line.table.get("matrix", ()), strict=False)
    ]
    return _table(["Expected \\\\ answered", *labels], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
