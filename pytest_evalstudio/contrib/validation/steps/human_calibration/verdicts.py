"""Labels of people against verdicts of yes and no, where no metric is graded and can be calibrated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.contrib.calibration.labelling.cases import (
    AnswerPopulation,
    NothingVaries,
    measured,
    population_of,
)
from pytest_evalstudio.contrib.calibration.labelling.state import Labelling, LabellingResults
from pytest_evalstudio.contrib.validation.methods.typed_results import shallow
from pytest_evalstudio.contrib.validation.workflow.calibration import ID, CalibrationOutcome
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.record.reader import read_run
from pytest_evalstudio.record.score_table import Scores
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.text.figures import percent

MAX_BAD_PASSES = 0.05
"""Share of passing answers that people may call bad."""


@dataclass(frozen=True, kw_only=True)
class VerdictAgreement(CalibrationOutcome, LabellingResults):
    """Agreement of people's labels with the verdicts; nothing is calibrated.

    Attributes:
        good_passes, bad_passes: labelled answers that pass, by label.
        good_failures, bad_failures: labelled answers that fail, by label.
    """

    good_passes: int
    bad_passes: int
    good_failures: int
    bad_failures: int

    @property
    def judged(self) -> int:
        """Return the number of answers with a label and a verdict."""
        return self.good_passes + self.bad_passes + self.good_failures + self.bad_failures

    @property
    def agreed(self) -> int:
        """Return the number of answers whose verdict people share."""
        return self.good_passes + self.bad_failures


def verdict_population(record: Path, scores: Scores, order: Sequence[str]) -> AnswerPopulation:
    """Return the answers with a verdict of the first evaluator of yes and no.

    Args:
        record: of the evaluation.
        scores: read from it.
        order: evaluators in the order in which one is looked for.

    Raises:
        NothingVaries: if there is no such evaluator.
    """
    evaluators = read_run(record).evaluators
    ids = sorted(evaluators, key=lambda id: order.index(id) if id in order else len(order))
    for id in ids:
        key = measured(id, evaluators[id])
        if evaluators[id].scope != "model" and key in scores.columns:
            name = evaluators[id].name or id
            return population_of(
                record, scores, [scores.columns[key]], chosen_by=f"the verdicts of {name}: no score is graded"
            )
    raise NothingVaries("no evaluator of the automated evaluation scores single answers")


def verdict_agreement(state: Labelling, progress: LabellingResults) -> VerdictAgreement:
    """Return the agreement of the labels with the verdicts."""
    pairs = [(case.verdict, state.is_good(case.identity)) for case in state.cases]
    return VerdictAgreement(
        **shallow(progress),
        good_passes=pairs.count((True, True)),
        bad_passes=pairs.count((True, False)),
        good_failures=pairs.count((False, True)),
        bad_failures=pairs.count((False, False)),
        to_review={"disagreement": pairs.count((True, False)) + pairs.count((False, True)), "uncertain": 0},
        accepted=tuple(
            case.key for case in state.cases if case.verdict is False and state.is_good(case.identity)
        ),
    )


def describe_agreement(results: VerdictAgreement) -> str:
    """Return the agreement in words."""
    if not results.judged:
        return "no label has a verdict to compare with"
    low, high = wilson_interval(results.agreed, results.judged)
    return (
        f"people share {results.agreed} of {results.judged} verdicts (95 % interval {percent(low)} to"
        f" {percent(high)}); {results.bad_passes} bad answers pass, {results.good_failures} good ones fail"
    )


def verdict_problems(results: VerdictAgreement, state: Labelling) -> Iterator[Problem]:
    """Yield a problem where people call passing answers bad: the share of passes is too high then."""
    passes = results.good_passes + results.bad_passes
    if not results.bad_passes:
        return
    low, high = wilson_interval(results.bad_passes, passes)
    keys = [
        case.key for case in state.cases if case.verdict is True and state.is_good(case.identity) is False
    ]
    metric = results.metrics[0]
    yield Problem(
        description=(
            f"{results.bad_passes} of {passes} passing answers are bad by people's labels (95 % interval"
            f" {percent(low)} to {percent(high)})."
        ),
        severity="high" if low > MAX_BAD_PASSES else "low",
        problem_type="accuracy",
        avid="P0200",
        attributes={
            "kind": "bad_passes",
            "step": ID,
            "metric": metric,
            "evaluator": metric.partition(".")[0],
            "cases": passes,
            "test_case_keys": keys,
        },
        actions="Read these answers, and correct the conditions of their test cases.",
    )
