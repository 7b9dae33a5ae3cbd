"""Verdict of a run in words: title, headline and the facts under it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from pytest_evalstudio.analysis.analyse import Analysis
from pytest_evalstudio.analysis.comparison.results import Comparison
from pytest_evalstudio.record.problems import problem_groups
from pytest_evalstudio.text.figures import counted

UNCOLLECTED = 5
"""Names of files that could not be collected."""
_OF_CASE = "::/"  # node id of a test case that is malformed: its file, and the place in it
Outcome = Literal["passed", "failed", "error", "incomplete", "completed"]


class RunVerdict(Struct, frozen=True, kw_only=True):
    """Verdict of a run.

    Attributes:
        headline: e.g. "FAILED – 1 of 220 tests".
        facts: sentences on what else a reader must know, e.g. gates that are not met.
        title: of the document, e.g. "✗ 1 failed – Northfold Bank".
    """

    outcome: Outcome
    headline: str
    facts: tuple[str, ...]
    title: str

    @property
    def sign(self) -> str:
        return {"passed": "✓", "failed": "✗", "error": "!", "incomplete": "…", "completed": "•"}[self.outcome]


def run_name(analysis: Analysis) -> str:
    """Return the name of a run: its own, else that of its only file, else the number of files."""
    run = analysis.run
    if run.name:
        return run.name
    if len(run.files) == 1:
        return run.files[0].name or run.files[0].path
    workflows = {step.workflow for step in run.steps.values()}
    if not run.files and len(workflows) == 1:
        return workflows.pop()
    return f"{len(run.files)} files" if run.files else "Evaluation"


def verdict_of(analysis: Analysis, comparison: Comparison | None = None) -> RunVerdict:
    """Return the verdict of a run.

    Args:
        comparison: with a baseline, which may fail a run whose tests pass.
    """
    outcome, headline, short = _decision(analysis, comparison)
    headline = ", ".join([headline, *_others(analysis, outcome)])
    facts = (*_facts(analysis, outcome), *analysis.note)
    verdict = RunVerdict(outcome=outcome, headline=headline, facts=facts, title="")
    return msgspec.structs.replace(verdict, title=f"{verdict.sign} {short} – {run_name(analysis)}")


def _decision(analysis: Analysis, comparison: Comparison | None) -> tuple[Outcome, str, str]:
    """Return outcome, headline and short form of a run; they never contradict pytest's exit status.

    A failure comes before what is incomplete. A run passes if all of its tests ended, none of them failed in
    any report, and something was checked.
    """
    run, counts = analysis.run, analysis.verdicts
    failed, error_count = counts["failed"], counts["error"]
    besides = run.session.failed_besides if run.session is not None else 0
    missed = [gate for gate in analysis.gates if not gate.met]
    total = analysis.dataset.items
    outcome: Outcome
    if failed or error_count or besides:
        parts = [f"{failed:,} of {_total(analysis)}"] if failed else []
        if error_count:
            of = "" if failed else f" in {_total(analysis)}"
            parts.append(f"{counted(error_count, 'error')}{of}")
        parts += [f"{counted(besides, 'test')} not by an evaluator"] if besides else []
        shorts = [f"{failed + besides:,} failed"] if failed or besides else []
        if error_count:
            shorts = [*shorts, counted(error_count, "error")]
        short = ", ".join(shorts)
        if run.session is not None and run.exit_status == 0:
            return "incomplete", f"TOLERATED – {', '.join(parts)}; pytest passed", short
        outcome = "failed" if failed or besides else "error"
        return outcome, f"{'ERROR' if outcome == 'error' else 'FAILED'} – {', '.join(parts)}", short
    if missed:
        short = f"{counted(len(missed), 'gate')} not met"
        return "failed", f"FAILED – {short}", short
    if comparison is not None and comparison.fail_reasons:
        short = ", ".join(_comparison_failures(comparison))
        return "failed", f"FAILED – {short}", short
    if run.uncollected:
        short = _uncollected(run.uncollected)
        return "incomplete", f"INCOMPLETE – {short}", short
    if run.steps and not total:
        outcome, headline = _of_workflows(analysis)
        return outcome, headline, headline
    if short := _gap(analysis):
        return "incomplete", f"INCOMPLETE – {short}", short
    return "passed", f"PASSED – {counts['passed']:,} of {_total(analysis)}", f"{counts['passed']:,} passed"


def _gap(analysis: Analysis) -> str:
    """Return what keeps a run without failures from passing, "" for nothing."""
    run, counts, session = analysis.run, analysis.verdicts, analysis.run.session
    if session is not None and session.ended < session.collected:
        return f"interrupted after {session.ended:,} of {counted(session.collected, 'test')}"
    if run.interrupted:
        return "interrupted"
    if not analysis.dataset.items:
        return "nothing evaluated"
    if counts["not_run"]:
        return f"{counts['not_run']:,} of {_total(analysis)} not run"
    if session is not None and run.exit_status:
        return f"pytest ended with exit status {run.exit_status}"
    checked = counts["passed"] - analysis.coverage.unchecked_verdicts.get("passed", 0)
    if not checked and not counts["xfailed"] and not counts["xpassed"] and not run.steps:
        return f"nothing checked in {_total(analysis)}"
    return ""


def _uncollected(names: Sequence[str]) -> str:
    """Return how many files, and single test cases of other files, could not be collected."""
    cases = sum(_OF_CASE in name for name in names)
    files = len(names) - cases
    parts = [counted(files, "file")] if files else []
    parts += [counted(cases, "test case")] if cases else []
    return f"{' and '.join(parts)} not collected"


def _comparison_failures(comparison: Comparison) -> Iterator[str]:
    """Yield why the comparison with the baseline fails a run whose tests pass."""
    if "case" in comparison.fail_reasons:
        yield counted(comparison.new_failures, "regressed case")
    if "mean" in comparison.fail_reasons:
        worse = sum(metric.decides and metric.verdict == "worse" for metric in comparison.metrics)
        yield f"{counted(worse, 'metric')} worse than in the baseline"
    if "gone" in comparison.fail_reasons:
        yield f"{counted(comparison.items['gone'], 'case')} of the baseline gone"
    if "unchecked" in comparison.fail_reasons:
        yield f"{counted(comparison.unchecked_cases, 'case')} no longer checked"
    if "uncompared" in comparison.fail_reasons:
        yield "no case compared with the baseline, since every test changed"
    if "inconclusive" in comparison.fail_reasons:
        yield "comparison with the baseline inconclusive"


def _of_workflows(analysis: Analysis) -> tuple[Outcome, str]:
    """Return outcome and headline of a run of workflows; steps that ran say nothing about the model."""
    steps = analysis.run.steps.values()
    failed = sum(step.verdict == "failed" for step in steps)
    completed = sum(step.status == "completed" for step in steps)
    groups = [group for step in steps for group in problem_groups(step.problems)]
    high = sum(group[0].severity == "high" for group in groups)
    text = f"{completed} of {counted(len(steps), 'step')} completed"
    text += f", {failed} failed" if failed else ""
    text += f", {counted(high, 'finding')} of high severity" if high else ""
    if failed:
        return "failed", text
    return "completed" if completed == len(steps) else "incomplete", text


def _total(analysis: Analysis) -> str:
    """Return the number of tests as pytest counts them, and that of their checks where a test has several."""
    dataset = analysis.dataset
    tests = counted(dataset.tests, "test")
    return tests if dataset.tests == dataset.items else f"{counted(dataset.items, 'check')} in {tests}"


def _others(analysis: Analysis, outcome: Outcome) -> Iterator[str]:
    """Yield what a run has besides passed and failed tests."""
    counts, coverage = analysis.verdicts, analysis.coverage
    if outcome == "passed":
        if counts["xfailed"]:
            yield counted(counts["xfailed"], "expected failure")
        if counts["xpassed"]:
            yield f"{counts['xpassed']:,} passed unexpectedly"
        if skipped := counts["skipped"] - coverage.skipped:
            yield f"{skipped:,} skipped"
    if coverage.unchecked:
        yield f"{coverage.unchecked:,} unchecked"
    if analysis.incomplete.count:
        yield f"{analysis.incomplete.count:,} incomplete"


def _facts(analysis: Analysis, outcome: Outcome) -> Iterator[str]:
    if analysis.run.shards is not None:
        yield f"A part of a run: {analysis.run.shards}."
    if analysis.run.uncollected:
        names = ", ".join(analysis.run.uncollected[:UNCOLLECTED])
        left_out = len(analysis.run.uncollected) - UNCOLLECTED
        more = f" and {left_out:,} more" if left_out > 0 else ""
        yield f"Not collected, so that their tests are missing: {names}{more}."
    if outcome != "incomplete" and analysis.run.interrupted:
        yield "The run was interrupted: figures cover the finished tests only."
    if analysis.gates:
        missed = [gate.gate.text for gate in analysis.gates if not gate.met]
        yield f"Gates not met: {'; '.join(missed)}." if missed else "Gates met."
    if analysis.run.session is not None and (overruled := analysis.run.session.overruled_sentence):
        yield f"{overruled[0].upper()}{overruled[1:]}."
    if analysis.run.session is not None and (failed := analysis.run.session.failed_names):
        hidden = analysis.run.session.failed_besides - len(failed)
        more = f" and {hidden:,} more" if hidden else ""
        yield f"Failed, and not by an evaluator: {', '.join(failed)}{more}."
    if analysis.retrieval_gap:
        yield f"Not retrieved: {analysis.retrieval_gap}."
    if analysis.coverage.sentence:
        yield f"Not checked: {analysis.coverage.sentence}."
    if analysis.incomplete.sentence:
        yield f"Incomplete: {analysis.incomplete.sentence}."
    expected = analysis.verdicts["xfailed"]
    if expected and outcome != "passed":  # the headline of a passing run has them
        yield f"{counted(expected, 'expected failure')}."
    if analysis.confirmations.brief:
        yield analysis.confirmations.brief
    if analysis.stored.count:
        yield analysis.stored.sentence
    if analysis.traced.sentence:
        yield f"Spans of the application: {analysis.traced.sentence}."
    refused = sum(model.access_refused for model in analysis.models)
    over_budget = analysis.verdicts["not_run"] - refused
    if refused:
        yield f"{counted(refused, 'test')} not run: the service of a model refused access."
    if over_budget:
        yield f"{counted(over_budget, 'test')} not run: the budget of a model is used up."
    if analysis.flaky:
        yield f"{analysis.flaky:,} flaky."
