"""Scores of tests in Python: numbers that name their case where an assertion on them fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import structs

from pytest_evalstudio.core.errors import EvaluationError, nearest
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.scoring.messages import short
from pytest_evalstudio.text.figures import figure

if TYPE_CHECKING:
    from pytest_evalstudio.core.cases import Case

# pytest cuts explanations of more than 8 lines or 640 characters, unless the run is verbose.
REASON_CHARS = 200
TEXT_CHARS = 120


class Score(float):
    """Value of a metric for one case.

    It is a float in all it does; a failing comparison prints the reason, the question and the answer, too.

    Attributes:
        name: evaluator and metric.
        reason: why the value is low, as the evaluator says.
        case: the case that was scored.
    """

    __slots__ = ("case", "name", "reason")

    name: str
    reason: str
    case: Case

    @classmethod
    def of(cls, value: float, name: str, reason: str, case: Case) -> Score:
        """Return the score of a case."""
        score = cls(value)
        score.name, score.reason, score.case = name, reason, case
        return score

    def __reduce__(self) -> tuple[type[float], tuple[float]]:
        return float, (float(self),)


class Scores(dict[str, float | None]):
    """Scores of one case by metric; a metric that is not there is an error with its reason."""

    def __init__(self, scores: Mapping[str, float | None], evaluator: str, absence: str) -> None:
        super().__init__(scores)
        self._evaluator = evaluator
        self._absence = absence

    def __missing__(self, metric: str) -> float:
        __tracebackhide__ = True
        if self._absence:
            raise EvaluationError(f"{self._evaluator} has no score: {self._absence}")
        hint = nearest(metric, self) or f"It has: {', '.join(self)}."
        raise EvaluationError(f"{self._evaluator} has no metric {metric!r}. {hint}")


def readable(outcome: Outcome, evaluator: str, case: Case) -> Outcome:
    """Return an outcome whose scores explain themselves where an assertion fails."""
    scores = {
        metric: None if value is None else Score.of(value, f"{evaluator}.{metric}", outcome.reason, case)
        for metric, value in outcome.scores.items()
    }
    absence = "" if outcome.status == "score" else f"{outcome.status.replace('_', ' ')}: {outcome.reason}"
    return structs.replace(outcome, scores=Scores(scores, evaluator, masked(absence)))


def explained(op: str, left: object, right: object) -> list[str]:
    """Return the lines of a failing comparison of scores, [] where neither side is one."""
    sides = [side for side in (left, right) if isinstance(side, Score)]
    if not sides:
        return []
    return [f"{_side(left)} {op} {_side(right)}", *_lines(sides[0])]


def _side(value: object) -> str:
    return f"{value.name} {figure(value)}" if isinstance(value, Score) else repr(value)


def _lines(score: Score) -> Iterator[str]:
    case = score.case
    if score.reason:
        yield f"reason:   {short(score.reason, REASON_CHARS)}"
    yield f"question: {short(case.question, TEXT_CHARS)}"
    if case.expected_output:
        yield f"expected: {short(case.expected_output, TEXT_CHARS)}"
    yield f"answer:   {short(case.actual_output, TEXT_CHARS) if case.has_text else '(empty)'}"


def differences(left: Outcome, right: Outcome) -> list[str]:
    """Return a headline, then a line per field and metric that differs."""
    lines = [f"Outcome({left.status}) == Outcome({right.status})"]
    for field in structs.fields(Outcome):
        first, other = getattr(left, field.name), getattr(right, field.name)
        if first == other:
            continue
        if field.name == "scores":
            lines += _score_differences(first, other)
        else:
            lines.append(f"{field.name}: {first!r} != {other!r}")
    return lines


def _score_differences(left: Mapping[str, float | None], right: Mapping[str, float | None]) -> Iterator[str]:
    for metric in dict.fromkeys((*left, *right)):
        if metric not in left or metric not in right:
            yield f"{metric}: only on the {'left' if metric in left else 'right'}"
        elif left[metric] != right[metric]:
            yield f"{metric}: {left[metric]!r} != {right[metric]!r}"
