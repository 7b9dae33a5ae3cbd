"""Model-level gates: conditions on means, percentiles and pass rates that every model must meet.

TERM (>=|<=|>|<) NUMBER        TERM = ID[.METRIC] | pass_rate(ID) | p<1-99>(ID[.METRIC])

Optional parts give further terms that name models, such as elo(MODEL).
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.core.outcomes import out_of_range
from pytest_evalstudio.core.plugins.contrib import contribs, loaded
from pytest_evalstudio.text.figures import figure

if TYPE_CHECKING:  # gates are parsed before the first question, leaderboards made after the last
    from pytest_evalstudio.analysis.leaderboards import Leaderboard

Function = Literal["mean", "pass_rate", "percentile", "named"]


TermValue = Callable[[Sequence[str]], float | None]
"""Value of a term for the models that it names; None where there is none."""


class TermCheck(Protocol):
    """Checks the models that gates of an optional part name.

    Args:
        gates: parsed gates with a term of the part.
        models: labels of the models that the part compares; None where they are not known.
        is_configured: whether the configuration asks for the part.

    Raises:
        ConfigurationError: if a model is not compared, or the part is not configured.
    """

    def __call__(
        self, gates: Sequence[Gate], models: Collection[str] | None, *, is_configured: bool
    ) -> None: ...


_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_SIGN = re.compile(r">=|<=|>|<")
_TERM = re.compile(r"(?:(?P<function>\w+)\(\s*(?P<inner>[^()\s]*)\s*\)|(?P<plain>[^()\s]+))$")
_NAMED = re.compile(r"(?P<function>\w+)\((?P<inner>.*)\)$")
_NAME = re.compile(r"(?P<id>[\w-]+)(?:\.(?P<metric>[\w-]+))?$")
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$")
_FORM = (
    "Write ID[.METRIC], pass_rate(ID) or p95(ID[.METRIC]), then >=, <=, > or <, then a number, e.g."
    " 'rouge.rouge_l >= 0.3'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Condition that every model must meet.

    Attributes:
        text: text of the user.
        evaluator: its id; the name of the term where it names models.
        metric: "" for the evaluator's primary one.
        percent: percentage of a percentile, 1 to 99; else 0.
        sign: >=, <=, > or <.
        names: models that the term names; () for a term that every model must meet.
    """

    text: str
    function: Function
    evaluator: str
    metric: str = ""
    percent: int = 0
    sign: str = ">="
    limit: float = 0.0
    names: tuple[str, ...] = ()

    def meets(self, value: float | None) -> bool:
        return value is not None and _COMPARE[self.sign](value, self.limit)


class GateResult(Struct, frozen=True, kw_only=True):
    """Result of a gate for a run.

    Attributes:
        values: model key to its value, None where no row was scored; by the names of a term that has any.
        missed: keys of the models that do not meet it.
        text: one line for a terminal.
    """

    gate: Gate
    values: Mapping[str, float | None]
    missed: tuple[str, ...]
    met: bool
    text: str


def parse_gate(text: str) -> Gate:
    """Parse the text of a gate, with the terms of optional parts.

    Raises:
        ConfigurationError: if it is malformed; the message has the fault and the correct form.

    >>> parse_gate("p95(perplexity) <= 40").percent
    95
    """
    sign = _SIGN.search(text)
    text_left, number = (text[: sign.start()].strip(), text[sign.end() :].strip()) if sign else ("", "")
    # In "=>" only ">" is a sign: without this check, the message would be that "rouge=" names no evaluator.
    if sign is None or "=" in text_left or len(number.split()) != 1:
        raise _malformed(text, "a comparison with a number is missing")
    if not _NUMBER.match(number) or not math.isfinite(float(number)):
        raise _malformed(text, f"{number!r} is not a number")
    named = _NAMED.match(text_left)
    if named and (count := _model_count(named["function"])):
        return _named_gate(text, named, count, sign[0], float(number))
    term = _TERM.match(text_left)
    if term is None:
        raise _malformed(
            text, f"{text_left!r} is not a term" if text_left else "the term before the sign is missing"
        )
    function, percent = _function(text, term["function"])
    name = _NAME.match(term["plain"] or term["inner"] or "")
    if name is None:
        raise _malformed(text, f"{term['plain'] or term['inner']!r} names no evaluator")
    if function == "pass_rate" and name["metric"]:
        raise _malformed(text, f"pass_rate takes an evaluator without a metric: pass_rate({name['id']})")
    return Gate(
        text=text.strip(),
        function=function,
        evaluator=name["id"],
        metric=name["metric"] or "",
        percent=percent,
        sign=sign[0],
        limit=float(number),
    )


def _model_count(term: str) -> int:
    """Return the number of models that a term of an optional part names, 0 for another term."""
    return next((contrib.terms[term] for contrib in contribs() if term in contrib.terms), 0)


def check_named_gates(gates: Sequence[Gate], models: Collection[str] | None, *, is_configured: bool) -> None:
    """Check the models that gates name; see `TermCheck`."""
    for contrib in contribs():
        gates_of_part = [gate for gate in gates if gate.names and gate.evaluator in contrib.terms]
        if gates_of_part:
            check: TermCheck = loaded(contrib.check_terms)
            check(gates_of_part, models, is_configured=is_configured)


def _named_gate(text: str, term: re.Match[str], count: int, sign: str, limit: float) -> Gate:
    names = tuple(name.strip() for name in term["inner"].split(","))
    if len(names) != count or not all(names):
        operands = ", ".join(["MODEL", "OTHER"][:count])
        raise ConfigurationError(
            f"gate {text.strip()!r}: write {term['function']}({operands}) with the names of {count} models"
        )
    return Gate(
        text=text.strip(), function="named", evaluator=term["function"], sign=sign, limit=limit, names=names
    )


class GatedMetric(Protocol):
    """The part of a metric that a gate needs; see `core.outcomes.Metric`."""

    @property
    def key(self) -> str: ...
    @property
    def range(self) -> tuple[float, float]: ...
    @property
    def primary(self) -> bool: ...


def check_gate(gate: Gate, metrics: Mapping[str, Sequence[GatedMetric]]) -> None:
    """Check that the evaluator and the metric of a gate are in the run, and that its limit can be reached.

    Args:
        metrics: the run's evaluators with their metrics.

    Raises:
        ConfigurationError: if it names an unknown evaluator or metric (the nearest known name is proposed),
            or if its limit is outside the range of the metric or pass rate.
    """
    if gate.names:
        return
    if gate.evaluator not in metrics:
        fault = unknown_name(
            "evaluator of this run",
            gate.evaluator,
            metrics,
            "Choose it with --evalstudio-evaluators, or change the gate.",
        )
        raise ConfigurationError(f"gate {gate.text!r}: {fault}")
    keys = [metric.key for metric in metrics[gate.evaluator]]
    if gate.metric and gate.metric not in keys:
        fault = unknown_name(f"metric of {gate.evaluator}", gate.metric, keys, f"It has: {', '.join(keys)}.")
        raise ConfigurationError(f"gate {gate.text!r}: {fault}")
    for metric in metrics[gate.evaluator]:
        is_named = metric.key == gate.metric or (not gate.metric and metric.primary)
        if is_named and (range_fault := _limit_fault(gate, metric)):
            raise ConfigurationError(f"gate {gate.text!r}: {range_fault}")


def _limit_fault(gate: Gate, metric: GatedMetric) -> str:
    if gate.function == "pass_rate":
        return out_of_range("a pass rate", gate.limit, (0.0, 1.0))
    return out_of_range(metric.key, gate.limit, metric.range)


def evaluate_gates(
    gates: Iterable[Gate],
    boards: Mapping[str, Leaderboard],
    models: Mapping[str, str],
    terms: Mapping[str, TermValue] = NOTHING,
) -> list[GateResult]:
    """Check gates against a run's leaderboards: every evaluated model must meet them.

    A model without a scored row does not meet a gate, and neither does a run without a model for the
    evaluator.

    Args:
        models: keys of the models that ran, with their labels.
        terms: values of the terms that name models, by term.
    """
    return [
        _evaluate_named(gate, terms.get(gate.evaluator))
        if gate.names
        else _evaluate(gate, boards.get(gate.evaluator), models)
        for gate in gates
    ]


def _evaluate_named(gate: Gate, term: TermValue | None) -> GateResult:
    value = None if term is None else term(gate.names)
    names = ", ".join(gate.names)
    met = gate.meets(value)
    shown = "no games" if value is None else figure(value)
    return GateResult(
        gate=gate,
        values={names: value},
        missed=() if met else (names,),
        met=met,
        text=f"{gate.text}: {'met' if met else 'not met'} ({shown})",
    )


def _evaluate(gate: Gate, board: Leaderboard | None, models: Mapping[str, str]) -> GateResult:
    # A model that the evaluator was not put to has nothing to meet, except where that is so for all models.
    put_to = [model for model in models if board is not None and board.standing(model) is not None]
    values = {model: None if board is None else _value(gate, board, model) for model in put_to or models}
    missed = tuple(model for model, value in values.items() if not gate.meets(value))
    met = bool(values) and not missed
    shown = "; ".join(
        f"{models[model]} {'no scored row' if value is None else figure(value)}"
        for model, value in values.items()
    )
    return GateResult(
        gate=gate,
        values=values,
        missed=missed,
        met=met,
        text=f"{gate.text}: {'met' if met else 'not met'} ({shown or 'no model ran'})",
    )


def _value(gate: Gate, board: Leaderboard, model: str) -> float | None:
    standing = board.standing(model)
    if standing is None:
        return None
    if gate.function == "pass_rate":
        return standing.pass_rate
    metric = gate.metric or board.evaluator.primary.key
    if gate.function == "percentile":
        return board.percentile(model, metric, gate.percent)
    cell = standing.cells.get(metric)
    return None if cell is None else cell.value


def _function(text: str, name: str | None) -> tuple[Function, int]:
    if name is None:
        return "mean", 0
    if name == "pass_rate":
        return "pass_rate", 0
    if re.fullmatch(r"p[1-9]\d?", name):
        return "percentile", int(name[1:])
    raise _malformed(text, f"{name!r} is neither pass_rate nor a percentile p1 to p99")


def _malformed(text: str, fact: str) -> ConfigurationError:
    return ConfigurationError(f"gate {text.strip()!r}: {fact}. {_FORM}")
