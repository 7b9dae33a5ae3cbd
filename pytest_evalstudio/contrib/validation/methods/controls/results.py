"""Results of the controls: scores of each answer, and what contradicts its known verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from pytest_evalstudio.contrib.validation.methods.controls.answers import CONTROLS, RIGHT
from pytest_evalstudio.contrib.validation.methods.controls.deciding import DecidingMetric, case_passes
from pytest_evalstudio.contrib.validation.methods.typed_results import json_ready
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.reading import read_bytes
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.text.figures import percent

FILE = "controls.json"
VERSION = 1
MAX_CONTRADICTIONS = 0.05
"""Maximum share of test cases that controls may contradict, under one threshold and in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlScore:
    """A control answer with its scores.

    Attributes:
        key: of the test case.
        control: one of CONTROLS.
        text: of the answer.
        response: False for an answer that fails as such (empty, no refusal), True for an expected refusal.
        scores: by `evaluator.metric`, of the controlled primary metrics; None where one does not apply.
    """

    key: str
    control: str
    text: str
    response: bool | None
    scores: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlFile:
    """All control answers of an evaluation.

    Attributes:
        repaired: keys of the cases whose condition now applies to the answer alone.
    """

    version: int = VERSION
    answers: tuple[ControlScore, ...]
    repaired: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlCount:
    """Results of one control.

    Attributes:
        must_pass: True for a right answer.
        tested: number of answers with a verdict, or that should have one.
        contradicted: number of them with the other verdict.
    """

    control: str
    must_pass: bool
    tested: int
    contradicted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlResults:
    """Contradictions between controls and evaluators.

    Attributes:
        counts: by control, without the left out thresholds.
        thresholds: `evaluator.metric` to the share of test cases with a right answer that misses its
            threshold; these metrics do not decide.
        cases: key of a test case to the controls that contradict it; these cases do not count.
        repaired: keys of the cases whose condition now applies to the answer alone.
        not_controlled: evaluators that took no part, to the reason.
        tested: number of test cases with controls.
    """

    counts: tuple[ControlCount, ...] = ()
    thresholds: Mapping[str, float] = field(default_factory=dict)
    cases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    repaired: tuple[str, ...] = ()
    not_controlled: Mapping[str, str] = field(default_factory=dict)
    tested: int = 0

    @property
    def share(self) -> float | None:
        """Return the share of test cases that a control contradicts; None if none was tested."""
        return len(self.cases) / self.tested if self.tested else None

    @property
    def refuses(self) -> bool:
        """Report whether the contradictions leave no conclusion."""
        return self.share is not None and self.share > MAX_CONTRADICTIONS


def judge_controls(
    file: ControlFile, deciding: Sequence[DecidingMetric], not_controlled: Mapping[str, str]
) -> ControlResults:
    """Return what the controls contradict.

    A threshold that right answers of more than 5 % of the cases miss is left out first; metrics of yes and
    no have none, so that the case is at fault. Then each case is left out that fails a right answer or
    passes a wrong one.

    Args:
        file: scores of the controls.
        deciding: metrics with the thresholds in force.
        not_controlled: evaluators that took no part, to the reason.
    """
    thresholds = dict(_contradicted_thresholds(file.answers, deciding))
    remaining = [metric for metric in deciding if metric.metric not in thresholds]
    counts = {control: [0, 0] for control in CONTROLS}
    cases: dict[str, tuple[str, ...]] = {}
    for answer in file.answers:
        contradicts = _contradicts(answer, remaining)
        if contradicts is None:
            continue
        counts[answer.control][0] += 1
        counts[answer.control][1] += contradicts
        if contradicts:
            cases[answer.key] = (*cases.get(answer.key, ()), answer.control)
    return ControlResults(
        counts=tuple(
            ControlCount(control=name, must_pass=name in RIGHT, tested=tested, contradicted=contradicted)
            for name, (tested, contradicted) in counts.items()
            if tested
        ),
        thresholds=thresholds,
        cases=cases,
        repaired=file.repaired,
        not_controlled=dict(not_controlled),
        # No verdict on any control: nothing was tested, and there is no share.
        tested=len({answer.key for answer in file.answers}) if any(map(any, counts.values())) else 0,
    )


def _contradicted_thresholds(
    answers: Sequence[ControlScore], deciding: Sequence[DecidingMetric]
) -> Iterator[tuple[str, float]]:
    for metric in deciding:
        if metric.basis == "yes_or_no":
            continue
        states: dict[str, bool] = {}
        for answer in answers:
            score = answer.scores.get(metric.metric)
            if answer.control in RIGHT and score is not None:
                states[answer.key] = states.get(answer.key, True) and metric.passes(score)
        missed = sum(not state for state in states.values())
        if missed > MAX_CONTRADICTIONS * len(states):
            yield metric.metric, round(missed / len(states), 6)


def _contradicts(answer: ControlScore, deciding: Sequence[DecidingMetric]) -> bool | None:
    """Return whether a control has the wrong verdict; None where a metric without control may decide it."""
    verdict = case_passes(answer.response, answer.scores, deciding)
    if answer.control in RIGHT:
        return None if verdict is None else not verdict
    if verdict is False:
        return False
    is_controlled = all(metric.metric in answer.scores for metric in deciding)
    return True if deciding and is_controlled else None


def write_controls(folder: Path, file: ControlFile) -> None:
    """Write the controls among the artifacts of a step."""
    write_json(folder / FILE, json_ready(file))


def read_controls(folder: Path) -> ControlFile:
    """Read the controls of a step.

    Raises:
        DataError: if the file cannot be read.
    """
    path = folder / FILE
    try:
        return msgspec.json.decode(read_bytes(path), type=ControlFile)
    except OSError as exc:
        fact = str(exc.strerror or exc)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        fact = str(exc)
    raise DataError(f"cannot be read: {fact}; run automated_evaluation again", source=str(path))


def control_summary(results: ControlResults) -> str:
    """Return the outcome of the controls in a sentence for people."""
    if results.share is None:
        return "no controls"
    text = f"controls contradict {len(results.cases)} of {results.tested} test cases"
    if results.thresholds:
        text += f" and {len(results.thresholds)} threshold{'s' if len(results.thresholds) > 1 else ''}"
    return text


def control_notes(results: ControlResults) -> Iterator[str]:
    """Yield the result of each control, and what does not count because of them."""
    yield from control_lines(results)
    yield from exclusion_notes(results)


def control_lines(results: ControlResults) -> Iterator[str]:
    """Yield the result of each control."""
    for count in results.counts:
        word = "pass" if count.must_pass else "fail"
        agreeing = count.tested - count.contradicted
        yield f"control {count.control} must {word}: {agreeing} of {count.tested} do"


def exclusion_notes(results: ControlResults) -> Iterator[str]:
    """Yield the thresholds, cases and evaluators that the controls exclude, repair or do not cover."""
    for metric, share in results.thresholds.items():
        yield (
            f"{metric} does not decide: its threshold fails right answers to {percent(share)} of the test"
            " cases;"
            " set another one, or calibrate it"
        )
    for key, controls in results.cases.items():
        yield f"{key} does not count: contradicted by {', '.join(controls)}; correct its condition"
    if results.repaired:
        yield f"conditions are checked on the answer alone: {', '.join(results.repaired)}"
    for evaluator, reason in results.not_controlled.items():
        yield f"{evaluator} is not controlled: {reason}"
    if results.refuses:
        yield (
            f"no conclusion: controls contradict {percent(results.share)} of the test cases, more than"
            f" {percent(MAX_CONTRADICTIONS)}"
        )
