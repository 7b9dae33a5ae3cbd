"""Markdown of the report: a summary for CI jobs and pull requests, and the leaderboards as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_evalstudio.analysis.leaderboards import Cell, Leaderboard, Standing
from pytest_evalstudio.analysis.repeats import RepeatAnalysis
from pytest_evalstudio.analysis.summary.findings import RunFinding
from pytest_evalstudio.analysis.summary.models import ScoredCell
from pytest_evalstudio.core.markdown import code, escaped
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.text import short_key
from pytest_evalstudio.report.commands import pytest_command
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.failure_types import FailedItem, reason_of
from pytest_evalstudio.report.repeats import FLAKY_HEAD, HEAD, flaky_rows, repeat_rows, stopping_lines
from pytest_evalstudio.report.worddiff import Stretch
from pytest_evalstudio.text.figures import counted, figure, percent

FINDINGS_SHOWN = 10
FAILURES_SHOWN = 10
CAUSES_SHOWN = 4
FLAKY_SHOWN = 10
TEXT_CHARS = 400
TITLE_CHARS = 200
_KNOWN = ("still_failing", "still_error")
"""Classes of failures that the baseline has too: a line each."""


def summary(content: Content) -> str:
    """Summarise the run on one screen, with the same verdict, causes and diffs as the page.

    The first three lines stand alone. Sections that explain the verdict are written out; the others are
    folded.
    """
    analysis, run, summary = content.analysis, content.analysis.run, content.summary
    lines = [*_head(content), ""]
    commit = f"commit {run.commit[:7]}" if run.commit else ""
    about = [summary.name, commit, run.branch]
    lines += [" · ".join(escaped(part) for part in about if part), ""]
    facts = [*summary.comparison[1:], *summary.verdict.facts, *summary.ranking[1:]]
    lines += [f"- {escaped(fact)}" for fact in facts]
    if summary.failures:
        lines += ["", "## Failures", "", *_failures(content)]
    missed = [gate for gate in analysis.gates if not gate.met]
    if missed:
        lines += ["", "## Gates that are not met", "", *(f"- ✗ {escaped(gate.text)}" for gate in missed)]
    if analysis.leaderboards and summary.models:
        lines += ["", "## Models", "", *_overview(content)]
    if summary.findings:
        lines += _folded("Findings", _findings(summary.findings))
    if content.comparison is not None:
        from pytest_evalstudio.analysis.comparison.markdown import comparison_details

        lines += _folded("Comparison with the baseline", [comparison_details(content.comparison).rstrip()])
    met = [gate for gate in analysis.gates if gate.met]
    if met:
        lines += _folded("Gates that are met", [f"- ✓ {escaped(gate.text)}" for gate in met])
    lines += _repeats(analysis.repeats)
    if analysis.confirmations.not_confirmed:
        unconfirmed = [f"- {escaped(line)}" for line in analysis.confirmations.lines(FLAKY_SHOWN)]
        lines += _folded("Regressions that were not confirmed", unconfirmed)
    if analysis.shrunk_flips.total:
        edits = [f"- {escaped(line)}" for line in analysis.shrunk_flips.lines(FLAKY_SHOWN)]
        lines += _folded("Smallest edits that flip", edits)
    for extra in content.extras:
        lines += ["", extra.markdown().rstrip()]
    lines += ["", f"Run `{run.run_id}`, {run.created}. Full report: interpretation.html.", ""]
    return "\n".join(lines)


def _head(content: Content) -> list[str]:
    """Return three lines that stand alone: verdict with coverage, causes, and what changed or leads."""
    summary = content.summary
    causes = [
        f"{cause.total:,} × {escaped(cause.title)}"
        for cause in summary.causes
        if cause.kind in ("failed", "error")
    ]
    more = len(causes) - CAUSES_SHOWN
    why = "; ".join(causes[:CAUSES_SHOWN]) + (f"; {counted(more, 'more cause')}" if more > 0 else "")
    among = f" (among {summary.causes_of})" if summary.causes_of else ""
    changed = next(iter((*summary.comparison[:1], *summary.ranking[:1])), "")
    lines = [
        f"# {escaped(summary.verdict.sign)} {escaped(summary.verdict.headline)}",
        "",
        f"{escaped(summary.coverage.sentence)}{f'. Why{among}: {why}' if why else ''}",
    ]
    if changed:
        lines += ["", escaped(changed)]
    return lines


def _folded(title: str, lines: Iterable[str]) -> list[str]:
    """Return a section that a click opens; GitHub and GitLab read Markdown after the blank line."""
    return ["", "<details>", f"<summary>{title}</summary>", "", *lines, "", "</details>"]


def leaderboard(board: Leaderboard) -> str:
    """Return a leaderboard as a table: value, 95 % interval and number of rows."""
    info = board.evaluator
    head = [
        "Rank",
        "Model",
        *(_heading(board, metric) for metric in board.columns),
        "Scored",
        "Errors",
        "Not applicable",
        "Pass rate",
    ]
    rows = [
        [
            _rank(line.cells[info.primary.key]),
            escaped(line.name),
            *(cell_text(line.cells[metric.key], boolean=info.boolean) for metric in board.columns),
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
            parts += _positive(line)
    return "\n".join([*parts, ""])


def cell_text(cell: Cell, *, boolean: bool) -> str:
    """Return a cell as text: value with interval; for a boolean metric, count and percentage."""
    if cell.value is None:
        return "–"
    between = f" ({figure(cell.interval[0])}–{figure(cell.interval[1])})" if cell.interval else ""
    mark = {True: " ✓", False: " ✗", None: ""}[cell.passes]
    if boolean:
        return f"{cell.total:g} of {cell.n}, {percent(cell.value)}{mark}"
    return f"{figure(cell.value)}{between}{mark}"


def _failures(content: Content) -> Iterator[str]:
    """Yield each cause with its first failures; those that the baseline has too are folded."""
    groups = [group for group in content.groups if group.kind in ("failed", "error")]
    of_each = max(1, FAILURES_SHOWN // max(1, len(groups)))
    baseline_failures: list[FailedItem] = []
    count = 0
    for group in groups[:FAILURES_SHOWN]:
        new_failures = [item for item in group.items if item.change not in _KNOWN]
        baseline_failures += [item for item in group.items if item.change in _KNOWN]
        if new_failures:
            yield f"**{group.cause.total:,} × {escaped(group.cause.title)}**"
            yield ""
        for item in new_failures[:of_each]:
            count += 1 + item.equal_answers + item.copy_count
            yield from _failure(item)
        if new_failures:
            yield ""
    rest = content.summary.failures - count - len(baseline_failures)
    if baseline_failures:
        head = f"Still failing: {counted(len(baseline_failures), 'test')}"
        yield from _folded(head, map(_title, baseline_failures))
    if rest > 0:
        yield from ("", f"… and {counted(rest, 'more failure')}, in interpretation.html")


def _title(item: FailedItem) -> str:
    mark = "**" if item.change in ("regressed", "error_now") else ""
    change = f"{mark}{item.change.replace('_', ' ')}{mark} " if mark else ""
    title = f"{escaped(item.texts.question, TITLE_CHARS)} (" if item.texts.question else "("
    source = f"{title}{escaped(item.model)}, {escaped(short_key(item.key))})"
    return f"- {change}{source}: {escaped(reason_of(item))}"


def _failure(item: FailedItem) -> Iterator[str]:
    """Yield a failure: reason, question, expected words, answer, and command."""
    yield _title(item)
    missing = [term.text for term in item.texts.terms if not term.met]
    if missing:
        yield f"  - Not met: {' '.join(code(_one_line(text)) for text in missing)}"
    if item.texts.expected:
        yield f"  - Expected: {_marked(item.texts.expected)}"
    if item.texts.changes:
        from pytest_evalstudio.analysis.comparison.markdown import windows_markdown

        yield f"  - Since the baseline: {windows_markdown(item.texts.changes)}"
    elif item.texts.actual:
        yield f"  - Answer: {_marked(item.texts.actual)}"
    if item.copy_count:
        yield f"  - {counted(item.copy_count, 'perturbed copy fails', 'perturbed copies fail')} alike"
    command = pytest_command(item.nodeid)
    yield f"  - {code(command)}" if command else f"  - {escaped(item.nodeid)}"


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


def _marked(stretches: Sequence[Stretch]) -> str:
    """Return a text with the words in bold that the other text does not have."""
    parts, remaining = [], TEXT_CHARS
    for stretch in stretches:
        if remaining <= 0:
            parts.append("…")
            break
        text = stretch.text[:remaining]
        remaining -= len(text)
        words = escaped(text, TEXT_CHARS + 1)
        # Blanks go outside of the asterisks: Markdown reads no bold type that begins or ends with one.
        before, after = text[:1].isspace(), text[-1:].isspace()
        shown = f"**{words}**" if stretch.changed and words else words
        parts.append(f"{' ' if before else ''}{shown}{' ' if after else ''}")
    return "".join(parts).strip()


def _one_line(text: str) -> str:
    return " ".join("".join(char for char in text if char.isprintable() or char == " ").split())


def _overview(content: Content) -> Iterator[str]:
    boards = list(content.analysis.leaderboards.values())
    head = ["Model", "Conditions", "Passed of asked", *(escaped(board.evaluator.name) for board in boards)]
    rows = [
        [
            escaped(model.label),
            model.conformity,
            "–" if model.share is None else f"{model.passed} of {model.asked}",
            *(
                assessed(cell, boolean=board.evaluator.boolean)
                for cell, board in zip(model.cells, boards, strict=True)
            ),
        ]
        for model in content.summary.models
    ]
    return _table(head, rows)


def assessed(cell: ScoredCell, *, boolean: bool) -> str:
    """Return a cell of the overview: value, and whether it meets the threshold."""
    verdict = cell.assessment
    if verdict.state == "not_scored" or verdict.value is None:
        return "not scored" if cell.n else "–"
    mark = {"meets": " ✓", "misses": " ✗"}.get(verdict.state, "")
    if verdict.worst_case:
        return f"{verdict.failing} of {verdict.judged} miss{mark}"
    if boolean:
        return f"{percent(verdict.value)}{mark}"
    return f"{figure(verdict.value)}{mark}"


def _findings(findings: Sequence[RunFinding]) -> Iterator[str]:
    for finding in findings[:FINDINGS_SHOWN]:
        yield f"- **{finding.severity}** {escaped(finding.title)}. {escaped(finding.action)}"
    if len(findings) > FINDINGS_SHOWN:
        yield f"- … and {len(findings) - FINDINGS_SHOWN} more, in interpretation.html"


def _heading(board: Leaderboard, metric: Metric) -> str:
    if metric not in board.evaluator.judged_metrics:
        return escaped(metric.name)
    sign = "≥" if metric.better == "higher" else "≤"
    return f"{escaped(metric.name)} ({sign} {figure(metric.threshold)})"


def _share(line: Standing) -> str:
    if line.pass_rate is None:
        return "–"
    doubt = f", {line.uncertain} uncertain" if line.uncertain else ""
    return f"{line.passed} of {line.judged}, {percent(line.pass_rate)}{doubt}{_corrected(line)}"


def _corrected(line: Standing) -> str:
    """Return the pass rate corrected for the judge's errors, or why there is none; "" without judge-check."""
    corrected = line.corrected
    if corrected is None:
        return ""
    if corrected.value is None or corrected.interval is None:
        return f"; not corrected: {escaped(corrected.reason)}"
    low, high = corrected.interval
    return f"; corrected {percent(corrected.value)} ({percent(low)} – {percent(high)})"


def _rank(cell: Cell) -> str:
    return "–" if cell.rank is None else str(cell.rank)


def _confusion(line: Standing) -> Iterator[str]:
    labels = [escaped(str(label)) for label in line.table.get("labels", ())]
    rows = [
        [label, *(str(count) for count in counts)]
        for label, counts in zip(labels, line.table.get("matrix", ()), strict=False)
    ]
    return _table(["Expected \\\\ answered", *labels], rows)


def _positive(line: Standing) -> list[str]:
    """Return a sentence on the positive label, if the evaluator has one."""
    positive = line.table.get("positive")
    if not positive:
        return []
    figures = ", ".join(f"{name} {figure(positive[name])}" for name in ("precision", "recall", "f1"))
    return ["", f"Positive label {escaped(str(positive['label']))}: {figures}."]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
