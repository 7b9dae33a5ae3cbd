"""Outcomes of evaluators, which may be other people's code, are checked whole before anything reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import msgspec
from msgspec import structs

from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.json_data import json_data
from pytest_evalstudio.core.judging import Judging
from pytest_evalstudio.core.outcomes import (
    SEVERITIES,
    Finding,
    Fragment,
    Metric,
    Outcome,
    Status,
    TurnOutcome,
)
from pytest_evalstudio.core.plugins.evaluator import EvaluatorSpec, ModelScore
from pytest_evalstudio.text.unicode import is_valid, valid_data, valid_text

_STATUSES = get_args(Status)
TOLERANCE = 1e-6
"""Values so near to the end of a range are rounded to it: sums of floats miss it by less."""


class _Invalid(Exception):
    """Part of an outcome that is not as declared, with the fact."""


def checked(spec: EvaluatorSpec, outcomes: Sequence[object], count: int) -> list[Outcome]:
    """Return outcomes with valid parts, as Python's numbers and valid Unicode; else an error in place of one.

    Args:
        spec: declaration of the evaluator's class.
        outcomes: what the evaluator gave.
        count: number of cases that it got.
    """
    if len(outcomes) != count:
        return [invalid(spec, f"{len(outcomes)} outcomes for {count} cases; it must give one each")] * count
    metrics = {metric.key: metric for metric in spec.metrics}
    return [_checked(spec, metrics, outcome) for outcome in outcomes]


def _checked(spec: EvaluatorSpec, metrics: Mapping[str, Metric], outcome: object) -> Outcome:
    try:
        if type(outcome) is not Outcome:
            raise _Invalid(f"{type(outcome).__name__} instead of an Outcome")
        changes = _changes(metrics, "" if spec.may_only_measure else spec.primary.key, outcome)
    except _Invalid as exc:
        return invalid(spec, str(exc))
    return structs.replace(outcome, **changes) if changes else outcome


def invalid(spec: EvaluatorSpec, fact: str) -> Outcome:
    """Return the error of a case whose outcome is not as declared."""
    return Outcome.error(f"evaluator {spec.id} gave {fact}", OutcomeCode.OUTCOME_INVALID)


def _changes(metrics: Mapping[str, Metric], primary: str, outcome: Outcome) -> dict[str, Any]:
    """Return the fields of an outcome that have to be converted.

    Args:
        metrics: those declared, by key.
        primary: key of the metric that must have a value, "" for none.

    Raises:
        _Invalid: for the first field that is wrong.
    """
    # Only what differs is replaced: a copy of every outcome would cost more than the checks.
    changes: dict[str, Any] = {}
    if outcome.status not in _STATUSES:
        raise _Invalid(f"the status {outcome.status!r}; there are {', '.join(_STATUSES)}")
    if type(outcome.code) is not OutcomeCode:
        raise _Invalid(f"a code that is {_kind(outcome.code)}, not an OutcomeCode")
    scores = _scores(metrics, primary, outcome)
    if scores is not outcome.scores:
        changes["scores"] = scores
    for name in ("reason", "sketch"):
        text = getattr(outcome, name)
        # An empty text needs no conversion, and most outcomes have no reason or sketch.
        if text and (valid := _text(name, text)) is not text:
            changes[name] = valid
        elif not text and type(text) is not str:
            raise _Invalid(f"a {name} that is {_kind(text)}, not a text")
    if outcome.fragments != () and not _are_plain(outcome.fragments):
        changes["fragments"] = tuple(map(_fragment, _items("fragments", outcome.fragments)))
    if outcome.findings != ():
        changes["findings"] = tuple(map(_finding, _items("findings", outcome.findings)))
    if outcome.details or not isinstance(outcome.details, Mapping):
        changes["details"] = _details(outcome.details)
    if outcome.judging is not None and not isinstance(outcome.judging, Judging):
        raise _Invalid(f"a judging that is {_kind(outcome.judging)}, not a Judging")
    if type(outcome.turn) is not int:
        raise _Invalid(f"a turn that is {_kind(outcome.turn)}, not a whole number")
    if outcome.turns != ():
        if not all(isinstance(turn, TurnOutcome) for turn in _items("turns", outcome.turns)):
            raise _Invalid("turns that are not all a TurnOutcome")
        changes["turns"] = tuple(outcome.turns)
    return changes


def _scores(metrics: Mapping[str, Metric], primary: str, outcome: Outcome) -> Mapping[str, float | None]:
    """Return the scores as floats and None; the same mapping where they are."""
    scores = outcome.scores
    if not isinstance(scores, Mapping):
        raise _Invalid(f"scores that are {_kind(scores)}, not a mapping")
    is_plain = True
    numbers: dict[str, float | None] = {}
    for key, value in scores.items():
        metric = metrics.get(key)
        if metric is None:
            raise _Invalid(f"a score for {key!r}, which is not one of its metrics")
        number = value if value is None or type(value) is float else _number(metric, value)
        # None: the metric has no value in this case.
        if number is not None:
            low, high = metric.range
            if not low <= number <= high:
                number = _rounded(metric, number)
        is_plain = is_plain and number is value
        numbers[key] = number
    if primary and outcome.status == "score" and numbers.get(primary) is None:
        raise _Invalid(f"no value for {primary!r}, its primary metric")
    return scores if is_plain else numbers


def _number(metric: Metric, value: Any) -> float:
    """Return a number of any library as a float; a whole number stays one."""
    # float() would also read a text such as "0.9", and an array of one number.
    if not hasattr(type(value), "__float__") or getattr(value, "ndim", 0) != 0:
        raise _Invalid(f"{metric.key} = {_kind(value)}, not a number")
    try:
        number = float(value)
    except Exception:  # of other people's classes
        raise _Invalid(f"{metric.key} = {_kind(value)}, not a number of 64 bits") from None
    # A count stays a whole number in the record; one that a float cannot hold exactly does not.
    return value if type(value) is int and number == value else number


def _rounded(metric: Metric, number: float) -> float:
    """Return the end of the range that a number misses by an error of rounding."""
    for end in metric.range:
        if math.isfinite(end) and math.isclose(number, end, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            return end
    low, high = metric.range
    raise _Invalid(f"{metric.key} = {number:g}, which is outside its range, {low:g} to {high:g}")


def _text(name: str, text: object) -> str:
    if not isinstance(text, str):
        raise _Invalid(f"a {name} that is {_kind(text)}, not a text")
    return valid_text(text if type(text) is str else str(text))


def _items(name: str, value: object) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise _Invalid(f"{name} that are {_kind(value)}, not a tuple")
    return tuple(value)


def _are_plain(fragments: object) -> bool:
    """Return True if all fragments are as most are, with their declared types, which is seen quickly."""
    return type(fragments) is tuple and all(
        type(each) is Fragment
        and type(each.start) is type(each.end) is int
        and 0 <= each.start <= each.end
        and type(each.part) is type(each.message) is str
        and (each.message.isascii() or is_valid(each.message))
        and each.part.isascii()
        and isinstance(each.scores, Mapping)
        # NaN is the only number that does not equal itself.
        and all(type(number) is float and number == number for number in each.scores.values())
        for each in fragments
    )


def _fragment(value: object) -> Fragment:
    if not isinstance(value, Fragment):
        raise _Invalid(f"a fragment that is {_kind(value)}, not a Fragment")
    places = [json_data(place) for place in (value.start, value.end)]
    if not all(type(place) is int for place in places) or not 0 <= places[0] <= places[1]:
        raise _Invalid(f"a fragment from {value.start!r} to {value.end!r}")
    if not isinstance(value.scores, Mapping):
        raise _Invalid(f"a fragment with scores that are {_kind(value.scores)}, not a mapping")
    scores = {_text("fragment's metric", key): _plain_number(number) for key, number in value.scores.items()}
    part, message = _text("fragment's part", value.part), _text("fragment's message", value.message)
    return Fragment(start=places[0], end=places[1], part=part, scores=scores, message=message)


def _plain_number(value: object) -> float:
    number = json_data(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or math.isnan(number):
        raise _Invalid(f"a fragment with a score that is {_kind(value)}, not a number")
    return number


def _finding(value: object) -> Finding:
    if not isinstance(value, Finding):
        raise _Invalid(f"a finding that is {_kind(value)}, not a Finding")
    if value.severity not in SEVERITIES:
        raise _Invalid(f"a finding of severity {value.severity!r}; there are {', '.join(SEVERITIES)}")
    for name in ("description", "problem_type", "avid", "actions"):
        _text(f"finding's {name}", getattr(value, name))
    return valid_data(value)


def _details(details: object) -> Mapping[str, Any]:
    if not isinstance(details, Mapping):
        raise _Invalid(f"details that are {_kind(details)}, not a mapping")
    try:
        plain = json_data(dict(details))
        msgspec.json.encode(plain)
    # A lone surrogate in a text, which JSON in UTF-8 cannot hold; `valid_data` replaces it.
    except UnicodeEncodeError:
        return valid_data(plain)
    except ValueError as exc:
        raise _Invalid(f"details that JSON cannot hold: {exc}") from None
    return plain


def checked_figures(metrics: Mapping[str, Metric], score: object) -> ModelScore:
    """Return model-wide figures with valid parts.

    Raises:
        ValueError: for the first part that is wrong.
    """
    if not isinstance(score, ModelScore) or not isinstance(score.scores, Mapping):
        raise ValueError(f"{type(score).__name__} instead of a ModelScore with scores")
    try:
        scores = {
            key: _rounded_in_range(metrics[key], _number(metrics[key], value))
            for key, value in score.scores.items()
            if key in metrics
        }
    except _Invalid as exc:
        raise ValueError(str(exc)) from None
    return ModelScore(scores=scores, table=valid_data(json_data(dict(score.table))))


def _rounded_in_range(metric: Metric, number: float) -> float:
    low, high = metric.range
    return number if math.isnan(number) or low <= number <= high else _rounded(metric, number)


def _kind(value: object) -> str:
    """Describe a value by its type, a number by itself: a text may hold a secret."""
    if type(value) in (float, bool, type(None)) or (type(value) is int and value.bit_length() < 64):
        return repr(value)
    return type(value).__name__
