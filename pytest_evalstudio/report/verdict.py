"""Verdict of a run in words: title, headline and the facts under it; page and summary.md share it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from pytest_evalstudio.arena.results import Ratings
from pytest_evalstudio.comparison.results import Comparison
from pytest_evalstudio.core.figures import counted
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.engine.analysis.analyse import Analysis
from pytest_evalstudio.record.problems import problem_groups
from pytest_evalstudio.report.conclusions import ModelConclusion
from pytest_evalstudio.report.failure_groups import FailureGroup
from pytest_evalstudio.report.leaders import leader_sentences

REASON_CHARS = 160
UNCOLLECTED = 5
"""Names of files that could not be collected."""
_OF_CASE = "::/"  # node id of a test case that is malformed: its file, and the place in it
Outcome = Literal["passed", "failed", "error", "incomplete", "completed"]


class RunVerdict(Struct, frozen=True, kw_only=True):
    """Verdict of a run.

    Attributes:
        headline: e.g. "FAILED – 1 of 220 tests".
        facts: sentences that follow the headline.
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


def verdict_of(
    analysis: Analysis,
    conclusions: Sequence[ModelConclusion],
    comparison: Comparison | None = None,
    ratings: Ratings | None = None,
    errors: Sequence[FailureGroup] = (),
) -> RunVerdict:
    """Return the verdict of a run.

    Args:
        conclusions: of the run's models.
        comparison: with a baseline; its summary comes first.
        ratings: of the arena, which decide what is said about the best model.
        errors: items that could not be judged, by evaluator and reason.
    """
    counts = analysis.verdicts
    failed, error_count = counts["failed"] + counts["xpassed"], counts["error"]
    missed = [gate for gate in analysis.gates if not gate.met]
    total = analysis.dataset.items
    if failed or error_count:
        parts = [f"{failed:,} of {_total(analysis)}"] if failed else []
        parts += [counted(error_count, "error")] if error_count else []
        outcome: Outcome = "failed" if failed else "error"
        headline = f"{'FAILED' if failed else 'ERROR'} – {', '.join(parts)}"
        short = f"{failed:,} failed" if failed else counted(error_count, "error")
    elif missed:
        outcome, short = "failed", f"{counted(len(missed), 'gate')} not met"
        headline = f"FAILED – {short}"
    elif comparison is not None and comparison.fail_reasons:
        outcome, short = "failed", ", ".join(_comparison_failures(comparison))
        headline = f"FAILED – {short}"
    elif analysis.run.uncollected:
        outcome, short = "incomplete", _uncollected(analysis.run.uncollected)
        headline = f"INCOMPLETE – {short}"
    elif analysis.run.steps and not total:
        outcome, headline = _of_workflows(analysis)
        short = headline
    elif analysis.run.interrupted or not total:
        outcome, short = "incomplete", "interrupted" if analysis.run.interrupted else "nothing evaluated"
        headline = f"INCOMPLETE – {short}"
    elif counts["not_run"]:
        outcome, short = "incomplete", f"{counts['not_run']:,} of {_total(analysis)} not run"
        headline = f"INCOMPLETE – {short}"
    else:
        outcome, short = "passed", f"{counts['passed']:,} passed"
        headline = ", ".join([f"PASSED – {counts['passed']:,} of {_total(analysis)}", *_others(analysis)])
    facts = (
        *_error_facts(error_count, errors),
        *_facts(analysis, comparison, outcome),
        *leader_sentences(conclusions, ratings),
        *analysis.note,
    )
    verdict = RunVerdict(outcome=outcome, headline=headline, facts=facts, title="")
    return RunVerdict(
        outcome=outcome,
        headline=headline,
        facts=facts,
        title=f"{verdict.sign} {short} – {run_name(analysis)}",
    )


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


def _others(analysis: Analysis) -> Iterator[str]:
    """Yield what a passing run has besides passed tests."""
    if expected := analysis.verdicts["xfailed"]:
        yield counted(expected, "expected failure")
    if skipped := analysis.verdicts["skipped"]:
        yield f"{skipped:,} skipped"


def _error_facts(count: int, groups: Sequence[FailureGroup]) -> Iterator[str]:
    """Yield the most frequent reason why items could not be judged."""
    if not groups:
        return
    group = max(groups, key=lambda group: group.total)
    item = group.items[0]
    evaluator_reason = next((miss.reason for miss in item.misses), "")
    reason = excerpt(item.error or evaluator_reason or item.reason, REASON_CHARS).rstrip(".")
    head = "Most errors" if len(groups) > 1 else "Errors" if count > 1 else "Error"
    others = f" {counted(len(groups) - 1, 'other kind')} of error." if len(groups) > 1 else ""
    yield f"{head}: {group.title}{f' – {reason}' if reason else ''}.{others}"


def _facts(analysis: Analysis, comparison: Comparison | None, outcome: Outcome) -> Iterator[str]:
    if comparison is not None:
        from pytest_evalstudio.comparison.sentences import summary_of

        yield f"Since the baseline: {summary_of(comparison)}"
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
    expected = analysis.verdicts["xfailed"]
    if expected and outcome != "passed":  # the headline of a passing run has them
        yield f"{counted(expected, 'expected failure')}."
    if analysis.confirmations.sentence:
        yield analysis.confirmations.sentence
    if analysis.stored.count:
        yield analysis.stored.sentence
    if analysis.traced.sentence:
        yield f"Spans of the application: {analysis.traced.sentence}."
    empty = sum(model.empty for model in analysis.models)
    if empty:
        yield f"No answer: {counted(empty, 'answer is', 'answers are')} empty."
    refused = sum(model.access_refused for model in analysis.models)
    over_budget = analysis.verdicts["not_run"] - refused
    if refused:
        yield f"{counted(refused, 'test')} not run: the service of a model refused access."
    if over_budget:
        yield f"{counted(over_budget, 'test')} not run: the budget of a model is used up."
    if analysis.flaky:
        yield f"{analysis.flaky:,} flaky."
