"""Figures of a verbose run on the terminal: leaderboards, findings, steps, judges, flips and gates."""

from __future__ import annotations

import os
import shlex
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.analysis.flip_rates import COPY
from pytest_evalstudio.analysis.run_info import stored_steps_sentence
from pytest_evalstudio.core.outcomes import SEVERITIES
from pytest_evalstudio.core.plugins.contrib import contribs, loaded
from pytest_evalstudio.plugin.terminal.closing import TerminalLine
from pytest_evalstudio.record.schema import JudgeSpend, StepEntry
from pytest_evalstudio.report.repeats import terminal_lines
from pytest_evalstudio.text.figures import counted, figure, interval, percent, plural

if TYPE_CHECKING:
    from pytest_evalstudio.analysis.analyse import Analysis
    from pytest_evalstudio.analysis.corrections import CorrectedRate
    from pytest_evalstudio.analysis.flip_rates import FlipRate
    from pytest_evalstudio.analysis.leaderboards import Leaderboard, Standing
    from pytest_evalstudio.analysis.summary.findings import RunFinding
    from pytest_evalstudio.report.build import Report
    from pytest_evalstudio.run.recorder import RunOutput
    from pytest_evalstudio.run.settings import CommandLine

ROWS = 10
FINDINGS = 3
TITLE_CHARS = 120
LABEL_CHARS = 40


def write_details(terminal: Any, output: RunOutput, command_line: CommandLine) -> None:
    """Write the figures of a verbose run below the test results.

    Args:
        output: of the run, with a report.
        command_line: names the folders that paths are relative to.
    """
    report = output.report
    assert report is not None
    terminal.ensure_newline()
    terminal.section("evaluation details")
    for line in detail_lines(report, command_line):
        terminal.write_line(line.text, **line.markup)
    if output.history is not None and len(output.history.runs) > 1:
        from pytest_evalstudio.analysis.comparison.history import history_lines

        _write_section(terminal, "history", history_lines(output.history))
    for extra in report.extras:
        _write_section(terminal, extra.title, extra.lines())
    if output.comparison is not None:
        from pytest_evalstudio.analysis.comparison.text import comparison_lines

        _write_section(terminal, "comparison with the baseline", comparison_lines(output.comparison))


def _write_section(terminal: Any, title: str, lines: Iterable[str]) -> None:
    terminal.section(title)
    for line in lines:
        terminal.write_line(line)


def detail_lines(report: Report, command_line: CommandLine) -> Iterator[TerminalLine]:
    """Yield the figures of a run, warnings in colour."""
    analysis = report.analysis
    texts: list[tuple[str, Iterable[str]]] = [
        ("", leaderboard_lines(analysis)),
        ("", review_lines(analysis, os.path.relpath(report.page.parent, command_line.start))),
        ("", _shown_findings(report)),
        ("", workflow_lines(analysis, command_line.root)),
        ("", judging_lines(analysis)),
        ("", flip_lines(analysis)),
        ("", smallest_edit_lines(analysis)),
        ("red", no_answer_lines(analysis)),
        ("", terminal_lines(analysis.repeats, ROWS)),
        ("yellow", confirmation_lines(analysis)),
        ("yellow", flaky_lines(analysis)),
        ("green", (f"gate {gate.text}" for gate in analysis.gates if gate.met)),
    ]
    for colour, lines in texts:
        for text in lines:
            yield TerminalLine(text=text, colour=colour)


def _shown_findings(report: Report) -> Iterator[str]:
    """Yield the findings; that there are none is shown unless the failures say more."""
    analysis = report.analysis
    has_failures = any(analysis.verdicts.get(verdict) for verdict in ("failed", "error"))
    if report.summary.findings or (analysis.dataset.items and not has_failures):
        yield from finding_lines(report.summary.findings)


def leaderboard_lines(analysis: Analysis) -> Iterator[str]:
    """Yield a table per evaluator: models, best first."""
    for board in analysis.leaderboards.values():
        if any(line.scored for line in board.standings):
            yield from _board(board)


def _board(board: Leaderboard) -> Iterator[str]:
    metric = board.evaluator.primary
    sign = ">=" if metric.better == "higher" else "<="
    embedder = f"; embedder {board.evaluator.embedder}" if board.evaluator.embedder else ""
    yield f"{board.evaluator.id}: {metric.key} (threshold {sign} {figure(metric.threshold)}{embedder})"
    if check := board.evaluator.judge_check:
        good, bad = check.sensitivity, check.specificity
        yield (
            f"       judge-check {check.file}: {good.successes} of {good.total} good answers pass,"
            f" {bad.successes} of {bad.total} bad answers fail"
        )
    width = max((min(LABEL_CHARS, len(line.name)) for line in board.standings[:ROWS]), default=0)
    for line in board.standings[:ROWS]:
        cell = line.cells[metric.key]
        if cell.value is None:
            score = "no score"
        else:
            bounds = f" {interval(*cell.interval)}" if cell.interval is not None else ""
            score = f"{figure(cell.value):>8}{bounds}"
        rest = "".join(
            f", {count} {what}"
            for count, what in (
                (line.uncertain, "uncertain"),
                (line.errors, plural(line.errors, "error")),
                (line.not_applicable, "not applicable"),
            )
            if count
        )
        rank = f"{cell.rank:>3}." if cell.rank is not None else "   -"
        yield f"  {rank} {_fitted(line.name, width)} {score}  {line.scored} scored{rest}"
        if line.corrected is not None:
            yield f"       {' ' * width}{_corrected(line, line.corrected)}"
    if len(board.standings) > ROWS:
        yield f"       ... and {len(board.standings) - ROWS} more models in the report"


def _corrected(line: Standing, corrected: CorrectedRate) -> str:
    """Return the pass rate as the judge has it and corrected for its errors."""
    bounds = "" if line.pass_interval is None else " [{}, {}]".format(*map(percent, line.pass_interval))
    rate = f"pass rate {line.passed} of {line.judged}, {percent(line.pass_rate)}{bounds}"
    if corrected.value is None or corrected.interval is None:
        return f"{rate}; not corrected: {corrected.reason}"
    low, high = corrected.interval
    value = f"{percent(corrected.value)} [{percent(low)}, {percent(high)}]"
    return f"{rate}; corrected for the judge's errors {value}"


def _fitted(text: str, width: int) -> str:
    return (text if len(text) <= width else text[: width - 3] + "...").ljust(width)


def review_lines(analysis: Analysis, folder: str) -> Iterator[str]:
    """Yield a command per evaluator with uncertain verdicts, which starts their review by people.

    Args:
        folder: of the report.
    """
    calibrated = [board for board in analysis.leaderboards.values() if board.evaluator.calibration]
    for board in calibrated:
        if any(line.uncertain for line in board.standings):
            sample_lines = (
                ["--metric", f"{board.evaluator.id}.{board.evaluator.primary.key}"]
                if len(calibrated) > 1
                else []
            )
            yield (
                f"uncertain verdicts: `{shlex.join(['evalstudio', 'review', folder, *sample_lines])}` puts"
                " these answers before people"
            )


def workflow_lines(analysis: Analysis, root: Path) -> Iterator[str]:
    """Yield the status of each workflow of the run: its steps in order, and the path of its report."""
    by_file: dict[str, list[StepEntry]] = {}
    for step in analysis.run.steps.values():
        by_file.setdefault(step.file, []).append(step)
    for file, steps in sorted(by_file.items()):
        completed = sum(step.status == "completed" for step in steps)
        yield (
            f"workflow {steps[0].workflow} ({file}): {completed} of {counted(len(steps), 'step')} of this run"
            " completed"
        )
        for step in sorted(steps, key=lambda step: step.number):
            has_result = step.status in ("completed", "waiting")
            text = step.summary if has_result else ", ".join(f"needs {id}" for id in step.lacks)
            yield f"  {step.number}. {step.step}: {step.status}" + (f" - {text}" if text else "")
            yield from (f"     {line}" for line in _step_lines(step))
        if stored := stored_steps_sentence(steps, analysis.run.created):
            yield f"  stored: {stored}"
        if (root / steps[0].page).is_file():
            yield f"  {steps[0].page}"


def _step_lines(step: StepEntry) -> Iterator[str]:
    """Yield what optional parts say of a step."""
    for contrib in contribs():
        if contrib.step_lines:
            lines: Callable[[StepEntry], Iterator[str]] = loaded(contrib.step_lines)
            yield from lines(step)


def judging_lines(analysis: Analysis) -> Iterator[str]:
    """Yield the usage of judges in this run, and the judgements that the budget prevented."""
    spend = analysis.run.judging
    if spend is None and not analysis.judging:
        return
    spend = spend or JudgeSpend()
    rows = sum(figures.rows for figures in analysis.judging)
    tokens = f"{spend.input_tokens:,} tokens in, {spend.output_tokens:,} out"
    cost = f", {figure(spend.cost_usd)} USD" if spend.cost_usd else ""
    games = sum(len(pair.battles) for pair in analysis.run.arena.values())
    purpose = [counted(rows, "judgement")] if rows or not games else []
    purpose += [counted(games, "game")] if games else []
    yield f"judge: {counted(spend.calls, 'call')} in this run for {' and '.join(purpose)} ({tokens}{cost})"
    not_asked = sum(figures.not_asked for figures in analysis.judging)
    if not_asked:
        reasons = "; ".join(
            dict.fromkeys(figures.not_asked_reason for figures in analysis.judging if figures.not_asked)
        )
        yield f"judge: {not_asked:,} judgements were not asked for: {reasons}"


def finding_lines(findings: Sequence[RunFinding]) -> Iterator[str]:
    """Yield the number of findings by severity, and the most severe ones."""
    counts = Counter(finding.severity for finding in findings)
    numbers = [f"{counts[severity]} {severity}" for severity in SEVERITIES if counts[severity]]
    yield f"findings: {', '.join(numbers) or 'none'}"
    for finding in findings[:FINDINGS]:
        yield f"    {finding.severity:<6} {textwrap.shorten(finding.title, TITLE_CHARS, placeholder='…')}"
    if len(findings) > FINDINGS:
        yield f"    … and {len(findings) - FINDINGS:,} more in the report"


def no_answer_lines(analysis: Analysis) -> Iterator[str]:
    """Yield the number of empty answers of each model that gave any."""
    for model in analysis.models:
        if model.empty:
            verb = plural(model.empty, "is", "are")
            answers = f"{model.empty:,} of {counted(model.answered, 'answer')}"
            yield f"no answer: {answers} {verb} empty ({model.name})"


def confirmation_lines(analysis: Analysis) -> Iterator[str]:
    """Yield the number of regressions that were asked again, and those that were not confirmed."""
    if sentence := analysis.confirmations.sentence:
        yield f"confirmation: {sentence}"
        yield from (f"    not confirmed: {line}" for line in analysis.confirmations.lines(ROWS))


def flaky_lines(analysis: Analysis) -> Iterator[str]:
    """Yield the items that passed only when a plugin ran them again."""
    if analysis.flaky:
        names = [item.nodeid for item in analysis.reruns if item.flaky][:ROWS]
        cases = counted(analysis.flaky, "test case")
        more = ", ..." if analysis.flaky > len(names) else ""
        yield f"flaky: {cases} passed only after a rerun: {', '.join(names)}{more}"


def flip_lines(analysis: Analysis) -> Iterator[str]:
    """Yield the flips of all perturbators, then of each; copies and changes of the meaning come last."""
    every = next((rate for rate in analysis.flip_rates if rate.group == "all"), None)
    if every is not None:
        yield f"flips: {_share(every)}; {every.pass_to_fail} from pass to fail, {every.fail_to_pass} back"
    rates = [rate for rate in analysis.flip_rates if rate.group == "perturbator"]
    rates_shown = sorted(
        (rate for rate in rates if rate.meaning_kept and rate.name != COPY),
        key=lambda rate: (-rate.rate, rate.name),
    )
    apart = [rate for rate in rates if not rate.meaning_kept]
    width = max((min(LABEL_CHARS, len(rate.name)) for rate in rates), default=0)
    for rate in rates_shown[:ROWS] if len(rates_shown) > 1 else ():
        yield f"  {_fitted(rate.name, width)}  {_share(rate)}"
    if len(rates_shown) > ROWS:
        yield f"  ... and {len(rates_shown) - ROWS} more perturbators in the report"
    for rate in rates:
        if rate.name == COPY:
            yield f"  {_fitted(rate.name, width)}  {_share(rate)}: the models' own noise"
    if apart:
        yield "flips where the meaning changed, which fail nothing:"
        for rate in apart[:ROWS]:
            yield f"  {_fitted(rate.name, width)}  {_share(rate)}"


def smallest_edit_lines(analysis: Analysis) -> Iterator[str]:
    """Yield the number of flips that were shrunk, and the smallest edit of each."""
    if sentence := analysis.shrunk_flips.sentence:
        yield sentence
        yield from (f"  {line}" for line in analysis.shrunk_flips.lines(ROWS))


def _share(rate: FlipRate) -> str:
    low, high = rate.interval
    flips = f"{rate.flips:,} of {counted(rate.compared, 'pair')}"
    return f"{flips} ({percent(rate.rate)}, 95 % interval {percent(low)} to {percent(high)})"
