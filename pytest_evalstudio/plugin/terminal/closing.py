"""End of a session: how pytest ended it, and the last lines on the terminal, from verdict to report."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import Struct

from pytest_evalstudio.analysis.run_info import stored_steps_sentence
from pytest_evalstudio.core.defaults import BASELINE_FILE
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.plugin.display import SafeTerminal
from pytest_evalstudio.plugin.keys import COUNTS, UNCOLLECTED
from pytest_evalstudio.record.schema import FAILED_NAMES, SessionEnd
from pytest_evalstudio.run.planning import CaseOfModel
from pytest_evalstudio.run.recorder import RunOutput, SessionResult
from pytest_evalstudio.run.settings import Settings
from pytest_evalstudio.scoring.masking import shown_line
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    from pytest_evalstudio.analysis.analyse import Analysis
    from pytest_evalstudio.analysis.comparison.results import Comparison
    from pytest_evalstudio.analysis.summary.results import RunSummary
    from pytest_evalstudio.record.schema import StepEntry
    from pytest_evalstudio.report.build import Report

CAUSES = 5
TITLE_CHARS = 60
"""Characters of a cause; pytest's own summary has the whole reason of an error."""
COLUMNS = 80
MIN_CHARS = 16
"""Characters of an example: fewer would not show which question it is."""
COMMAND_CHARS = 120
_EXPECTATIONS = frozenset(("condition", "expected_output"))
_LAST_FAILED = ("--lf", "--last-failed", "--ff", "--failed-first", "--sw", "--stepwise")


class TerminalLine(Struct, frozen=True, kw_only=True):
    """A line of the summary.

    Attributes:
        colour: as pytest's terminal names it, "" for none.
    """

    text: str
    colour: str = ""

    @property
    def markup(self) -> dict[str, bool]:
        return {self.colour: True} if self.colour else {}


class RunEnd(Struct, frozen=True, kw_only=True):
    """Data from which the end of a run is written.

    Attributes:
        start: folder that pytest was started in.
        root: root folder of the run; paths of workflow reports are relative to it.
        rerun: command that runs the failures again, "" where there is none.
        allows_partial: whether a run passes that did not ask for all answers.
        exit_status: of the session, as far as it is known.
        workers: hint on the number of workers, "" for none.
    """

    report: Report
    start: Path
    root: Path
    comparison: Comparison | None = None
    rerun: str = ""
    allows_partial: bool = False
    exit_status: int = 0
    workers: str = ""

    @property
    def headline(self) -> str:
        """Return the verdict; another plugin may have failed the session after the report was built."""
        if self.exit_status and self.report.summary.verdict.outcome == "passed":
            return f"INCOMPLETE – pytest ended with exit status {self.exit_status}"
        return self.report.summary.verdict.headline

    @property
    def is_broken(self) -> bool:
        return self.report.summary.verdict.outcome in ("failed", "error")


def session_result(
    session: pytest.Session, exit_status: int, *, deselected: bool, collected: Collection[CaseOfModel]
) -> SessionResult:
    """Return how pytest ended a session.

    Args:
        session: that ends.
        exit_status: that pytest has so far.
        deselected: whether test cases were left out.
        collected: file, key and model of the items that a comparison does not miss.
    """
    counts = session.config.stash[COUNTS]
    besides = counts.failed_besides()
    end = SessionEnd(
        collected=session.testscollected,
        ended=len(counts.ended),
        failed_besides=len(besides),
        failed_names=tuple(map(shown_line, besides[:FAILED_NAMES])),
        overruled=tuple(map(shown_line, counts.overruled)),
        overruling=_overruling_hooks(session.config) if counts.overruled else (),
    )
    uncollected: dict[str, None] = session.config.stash.get(UNCOLLECTED, {})
    was_stopped = was_interrupted(session, exit_status, end)
    return SessionResult(
        exit_status=int(exit_status),
        was_stopped=was_stopped,
        is_interrupted=was_stopped or int(exit_status) == pytest.ExitCode.INTERRUPTED,
        counts=end,
        uncollected=uncollected,
        deselected=deselected,
        has_tests=bool(session.items),
        collected=collected,
    )


_DECIDING_HOOKS = (
    "pytest_runtest_makereport",
    "pytest_runtest_logreport",
    "pytest_runtest_call",
    "pytest_runtest_protocol",
    "pytest_report_from_serializable",
)
"""Hooks that can change the outcome that pytest counts."""
_OF_PYTEST = ("_pytest", "xdist", "pytest_evalstudio")


def _overruling_hooks(config: pytest.Config) -> tuple[str, ...]:
    """Return file and line of the hooks that can have changed an outcome.

    Installed plugins are named where the project has no such hook itself: most of theirs only look on.
    """
    hooks = list(_foreign_hooks(config))
    own = [(path, line) for path, line in hooks if _is_of_project(path, config.rootpath)]
    return tuple(
        shown_line(f"{os.path.relpath(path, config.rootpath)}:{line}") for path, line in own or hooks
    )


def _foreign_hooks(config: pytest.Config) -> Iterator[tuple[Path, int]]:
    """Yield file and line of the hooks of other plugins that can change an outcome."""
    for name in _DECIDING_HOOKS:
        for each in getattr(config.hook, name).get_hookimpls():
            code = getattr(each.function, "__code__", None)
            if code is not None and each.function.__module__.partition(".")[0] not in _OF_PYTEST:
                yield Path(code.co_filename), code.co_firstlineno


def _is_of_project(path: Path, root: Path) -> bool:
    # An environment is often a folder of the project.
    return path.is_relative_to(root) and not {"site-packages", "dist-packages"} & {*path.parts}


def was_interrupted(session: pytest.Session, exit_status: int, end: SessionEnd) -> bool:
    """Return whether a session was stopped from outside, and not by the failures that may stop it."""
    stopped = session.shouldstop or session.shouldfail
    maxfail = session.config.getoption("maxfail", None) or 0
    by_failures = bool(stopped) or 0 < maxfail <= session.testsfailed
    is_broken_off = int(exit_status) in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
    return (is_broken_off or end.ended < end.collected) and not by_failures


def write_end(
    config: pytest.Config,
    terminal: SafeTerminal,
    output: RunOutput,
    settings: Settings,
    exit_status: int,
    *,
    workers: str = "",
) -> None:
    """Write the end of a run, if it has a report.

    Args:
        workers: hint on the number of workers, "" for none.
    """
    if output.report is None or output.failure:
        return
    # pytest's own section does not end the line of the last file, so that an empty line would follow.
    terminal.ensure_newline()
    terminal.section("evalstudio")
    end = RunEnd(
        report=output.report,
        start=settings.command_line.start,
        root=settings.command_line.root,
        comparison=output.comparison,
        rerun=rerun_command(config),
        allows_partial=settings.allows_partial,
        exit_status=exit_status,
        workers=workers,
    )
    for line in closing_lines(end):
        terminal.write_line(line.text, **line.markup)


def closing_lines(end: RunEnd) -> Iterator[TerminalLine]:
    """Yield the end of a run: four lines, and one for each thing that needs attention."""
    report, analysis = end.report, end.report.analysis
    yield from _verdict_lines(end)
    yield from _gap_lines(analysis)
    if end.comparison is not None:
        yield from _comparison_lines(analysis, end.comparison)
    for extra in report.extras:
        yield from (TerminalLine(text=text, colour="yellow") for text in extra.closing_lines())
    notes = {
        "stored": analysis.stored.sentence if analysis.stored.count else "",
        "spans": analysis.traced.sentence,
        "not run": not_run(analysis, allows_partial=end.allows_partial),
        "workers": end.workers,
    }
    yield from _note_lines(notes)
    for warning in report.warnings:
        yield TerminalLine(text=f"warning: {warning}", colour="yellow")
    for text in workflow_lines(analysis, end.root):
        yield TerminalLine(text=text)
    if end.rerun and end.is_broken and _has_failures(analysis):
        yield TerminalLine(text=f"rerun: {end.rerun}")
    if text := next_line(end):
        yield TerminalLine(text=text)
    page = report.page if report.page.is_file() else report.archive
    yield TerminalLine(text=f"report: {os.path.relpath(page, end.start)}")


def next_line(end: RunEnd) -> str:
    """Return the command on baselines that follows, "" for none."""
    if end.comparison is not None:
        step = end.comparison.next_step
        return f"next: `{step.command}`, {step.condition}" if step is not None else ""
    run = end.report.analysis.run
    # A part of a run is refused as a baseline.
    is_comparable = not (run.steps or run.arena or end.exit_status or run.deselected or run.shards)
    has_baseline = any((folder / BASELINE_FILE).exists() for folder in (end.start, end.root))
    if end.report.summary.verdict.outcome == "passed" and is_comparable and not has_baseline:
        return "next: `evalstudio baseline save` keeps this run, to compare later ones with it"
    return ""


def _verdict_lines(end: RunEnd) -> Iterator[TerminalLine]:
    """Yield the verdict, and what fails it."""
    summary, analysis = end.report.summary, end.report.analysis
    if text := nothing_line(analysis):
        yield TerminalLine(text=text, colour="yellow")
    is_passed = summary.verdict.outcome == "passed" and not end.exit_status
    colour = "green" if is_passed else "yellow"
    if end.is_broken:
        colour = "red"
    yield TerminalLine(text=f"result: {end.headline}", colour=colour)
    if end.is_broken:
        yield from (TerminalLine(text=text) for text in cause_lines(summary))
    if text := checked_line(analysis):
        yield TerminalLine(text=text)
    for text in summary.ranking:
        yield TerminalLine(text=text)
    if analysis.run.session is not None and (text := analysis.run.session.overruled_sentence):
        yield TerminalLine(text=text, colour="red")
    if analysis.run.session is not None and (names := analysis.run.session.failed_names):
        yield TerminalLine(text=f"failed, and not by an evaluator: {', '.join(names)}", colour="red")


def _gap_lines(analysis: Analysis) -> Iterator[TerminalLine]:
    """Yield what the answers lack, and the gates that are not met."""
    gaps = {
        "not retrieved": analysis.retrieval_gap,
        "unchecked": analysis.coverage.sentence,
        "incomplete": analysis.incomplete.sentence,
    }
    yield from _note_lines(gaps)
    for gate in analysis.gates:
        if not gate.met:
            yield TerminalLine(text=f"gate {gate.text}", colour="red")


def _comparison_lines(analysis: Analysis, comparison: Comparison) -> Iterator[TerminalLine]:
    """Yield what has changed since the baseline."""
    from pytest_evalstudio.analysis.comparison.sentences import notable_lines

    happened, *others = comparison_texts(analysis, comparison)
    yield TerminalLine(text=f"since {comparison.base}: {happened}")
    for text in others:
        yield TerminalLine(text=f"  {text}")
    if comparison.budget is not None:
        yield TerminalLine(text=f"  {comparison.budget.sentence}")
    for text in notable_lines(comparison):
        yield TerminalLine(text=f"  {text}", colour="yellow")
    yield from _note_lines({"other rules than the baseline": changed_rules(comparison)})


def _note_lines(notes: Mapping[str, str]) -> Iterator[TerminalLine]:
    """Yield a line for each note that says something."""
    for topic, text in notes.items():
        if text:
            yield TerminalLine(text=f"{topic}: {text}", colour="yellow")


def checked_line(analysis: Analysis) -> str:
    """Return how many answers each evaluator scored, as many evaluators as one line has room for.

    Those that compare answers with what the test cases expect come first, since the others hold for any
    question; of both, those with the most answers.
    """
    counts = [
        (board.evaluator, sum(line.scored for line in board.standings))
        for board in analysis.leaderboards.values()
    ]
    counts.sort(key=lambda each: (not _EXPECTATIONS.intersection(each[0].needs), -each[1]))
    scored = {evaluator.name: count for evaluator, count in counts if count}
    if not scored:
        return ""
    line = "checked:"
    for number, (name, count) in enumerate(scored.items()):
        part = f"{', ' if number else ' '}{name} {count:,}"
        more = f" and {counted(len(scored) - number, 'more evaluator')}"
        is_last = number + 1 == len(scored)
        if number and len(line) + len(part) + (0 if is_last else len(more)) > COLUMNS:
            return line + more
        line += part
    return line


def _has_failures(analysis: Analysis) -> bool:
    """Return whether a test or a step of a workflow failed, which the command can run again."""
    verdicts = ("failed", "error")
    return any(analysis.verdicts[verdict] for verdict in verdicts) or any(
        step.verdict in ("failed", "error") for step in analysis.run.steps.values()
    )


def cause_lines(summary: RunSummary) -> Iterator[str]:
    """Yield a line for each of the largest causes of failures, and the number of the others."""
    causes = [cause for cause in summary.causes if cause.kind in ("failed", "error")]
    width = max((len(f"{cause.total:,}") for cause in causes[:CAUSES]), default=0)
    for cause in causes[:CAUSES]:
        mark = "" if cause.kind == "failed" else " (error)"
        line = f"  {cause.total:>{width},}  {excerpt(cause.title, TITLE_CHARS)}{mark}"
        room = COLUMNS - len(line) - len(', e.g. ""')
        question = excerpt(cause.example.question, room) if room >= MIN_CHARS else ""
        yield f'{line}, e.g. "{question}"' if question else line
    if (more := len(causes) - CAUSES) > 0:
        yield f"  {' ' * width}  and {counted(more, 'more cause')}"


def comparison_texts(analysis: Analysis, comparison: Comparison) -> list[str]:
    """Return which cases changed, how many regressions were asked again, and what follows."""
    from pytest_evalstudio.analysis.comparison.sentences import summary_of

    summary = summary_of(comparison)
    asked_again = analysis.confirmations.brief.rstrip(".")
    return [summary.happened, *filter(None, [asked_again[:1].lower() + asked_again[1:]]), summary.follows]


def changed_rules(comparison: Comparison) -> str:
    """Return the evaluators that no longer decide items and the thresholds that moved since the baseline."""
    dropped = [f"without {id}" for id in comparison.dropped_evaluators]
    # Changed tests, which the sentences of the comparison name, include those with other thresholds.
    moved = [] if comparison.changed_tests else map(str, comparison.moved_thresholds)
    return ", ".join([*dropped, *moved])


def nothing_line(analysis: Analysis) -> str:
    """Return a warning if no evaluator gave a score or an error for any case of the run, else ""."""
    cases = sum(analysis.verdicts.values())
    lines = [line for board in analysis.leaderboards.values() for line in board.standings]
    is_evaluated = any(line.scored or line.errors for line in lines) or analysis.verdicts.get("error")
    if analysis.run.steps or analysis.run.arena or is_evaluated:
        return ""
    ran = f"{counted(cases, 'test case')} ran"
    return f"nothing was evaluated: {ran}, and no evaluator gave a score or an error; -rs shows the reasons"


def not_run(analysis: Analysis, *, allows_partial: bool) -> str:
    """Return the items of each model that was not asked, with the first reason; "" if all were."""
    parts = [
        f"{counted(count, 'item')} of {model.name}, since"
        f" {model.not_run_reason or f'model {model.name!r} was not asked'}"
        for model in analysis.models
        if (count := model.verdicts.get("not_run"))
    ]
    if parts and not allows_partial:
        parts.append("a partial run does not pass; -o evalstudio_allow_partial=true accepts it")
    return "; ".join(parts)


def workflow_lines(analysis: Analysis, root: Path) -> Iterator[str]:
    """Yield each workflow of the run with its report, then the steps that wait for people."""
    by_file: dict[str, list[StepEntry]] = {}
    for step in analysis.run.steps.values():
        by_file.setdefault(step.file, []).append(step)
    for steps in by_file.values():
        completed = sum(step.status == "completed" for step in steps)
        page = f": {steps[0].page}" if (root / steps[0].page).is_file() else ""
        text = f"{completed} of {counted(len(steps), 'step')} of this run completed"
        yield f"workflow {steps[0].workflow}: {text}{page}"
        for step in sorted(steps, key=lambda step: step.number):
            if step.status == "waiting":
                yield f"  {step.number}. {step.step}: waiting - {step.summary}"
        if stored := stored_steps_sentence(steps, analysis.run.created):
            yield f"  stored: {stored}"


def rerun_command(config: pytest.Config) -> str:
    """Return the command that runs the failures of a session again, "" where pytest does not know them."""
    if not config.pluginmanager.hasplugin("lfplugin"):
        return ""
    arguments = [argument for argument in config.invocation_params.args if argument not in _LAST_FAILED]
    command = shlex.join(["pytest", *arguments, "--lf"])
    return command if len(command) <= COMMAND_CHARS else "pytest --lf"
