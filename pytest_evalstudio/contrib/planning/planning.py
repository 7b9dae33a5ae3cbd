"""Size of a suite: the cases and repeats with which a comparison sees a drop, from a pilot run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from msgspec import Struct

from pytest_evalstudio.analysis.comparison.sides import model_labels, original_key
from pytest_evalstudio.core.codes import ItemCode
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.record.schema import EvaluatorEntry, Item, Run
from pytest_evalstudio.stats.power import (
    Pilot,
    PlannedTest,
    VarianceComponents,
    cases_for,
    power_curve,
)
from pytest_evalstudio.stats.types import Floats
from pytest_evalstudio.text.figures import counted, figure, percent

REPEATS = (1, 2, 3, 5, 10)
"""Numbers of repeats whose cases are named."""
MAX_REPEATS = 50
_ENDLESS_REPEATS = 10_000  # leave less than a hundredth of the noise of one
PASS_RATE = "pass rate"
Measure = tuple[EvaluatorEntry, Metric]
"""An evaluator of the run and one of its metrics."""


class SuiteSize(Struct, frozen=True, kw_only=True):
    """A size of a run that sees the drop.

    Attributes:
        repeats: of each question.
        cases: original cases.
        answers: of one run, perturbations included.
        cost_usd, duration_s: of the answers of one run; None where the pilot recorded none.
    """

    repeats: int
    cases: int
    answers: int
    cost_usd: float | None
    duration_s: float | None


class SuitePlan(Struct, frozen=True, kw_only=True):
    """Sizes with which a drop of a model is seen.

    Attributes:
        metric: "pass rate", or evaluator and metric.
        mean: of the pilot.
        cases, items, repeats: original cases, cases with perturbations, and most repeats of the pilot.
        level: of the one-sided test, after the correction for `tests` metrics.
        tests: metrics of the run that a comparison corrects for.
        components: variance of one answer.
        judged: whether a judge gives the scores; the record does not tell its variation from that of answers.
        current_power: of the pilot's cases and repeats.
        noiseless_power: of the pilot's cases if repeats left no variation.
        sizes: by number of repeats.
        repeated: the pilot's cases with the fewest repeats that see the drop; None where none do.
        varying_cases: cases with one repeat if answers vary as much as they can; None where the pilot has
            repeats.
    """

    model: str
    metric: str
    drop: float
    power: float
    even: bool
    level: float
    tests: int
    mean: float
    cases: int
    items: int
    repeats: int
    components: VarianceComponents
    judged: bool
    current_power: float
    noiseless_power: float
    sizes: tuple[SuiteSize, ...]
    repeated: SuiteSize | None
    varying_cases: int | None


class PlanRequest(Struct, frozen=True, kw_only=True):
    """Drop that a comparison is to see, as the user asks for it.

    Attributes:
        drop: of the pass rate, or of the mean in the metric's unit; positive.
        model: "" for all models of the run.
        metric: "" for the pass rate.
    """

    drop: float
    power: float = 0.8
    alpha: float = 0.05
    model: str = ""
    metric: str = ""
    even: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.drop) and self.drop > 0):
            raise ConfigurationError(f"--drop {self.drop:g}: expected a number above 0")
        for option, value in (("power", self.power), ("alpha", self.alpha)):
            if not 0 < value < 1:
                raise ConfigurationError(f"--{option} {value:g}: expected a number between 0 and 1")


@dataclass(slots=True)
class _PilotScores:
    """Scores of a model by original case, and the means of its answers."""

    cases: dict[tuple[str, str], list[Floats]] = field(default_factory=dict)
    costs: list[float] = field(default_factory=list)
    durations: list[float] = field(default_factory=list)


def plans(run: Run, items: Iterable[Item], request: PlanRequest) -> Iterator[SuitePlan]:
    """Yield the plan of each model.

    Args:
        run: header of the pilot's record.
        items: of the record.
        request: what is to be seen.

    Raises:
        ConfigurationError: if there is no such model or metric, or the drop is larger than the mean permits.
    """
    labels = model_labels(run)
    if request.model and request.model not in labels.values():
        names = list(labels.values())
        raise unknown_name("model", request.model, names, f"The run has {', '.join(names)}.")
    measure = _measure(run, request.metric) if request.metric else None
    by_model: dict[str, _PilotScores] = {}
    for item in items:
        label = labels.get(item.model_key, item.model_key)
        values = _values(item, measure)
        if values and request.model in ("", label):
            scores = by_model.setdefault(label, _PilotScores())
            case = item.file, original_key(item.rows[0] if item.rows else None, item.key)
            scores.cases.setdefault(case, []).append(np.asarray(values))
            scores.costs += [row.answer.cost_usd for row in item.rows if row.answer.cost_usd is not None]
            # The time of a failed answer may be that of a timeout.
            scores.durations += [row.answer.duration_s for row in item.rows if not row.answer.error]
    if not by_model:
        raise ConfigurationError(f"{request.metric or PASS_RATE}: the run has no scores; give another run")
    for label, scores in by_model.items():
        yield _plan(run, label, scores, measure, request)


def _measure(run: Run, name: str) -> Measure:
    """Return the metric of a name: evaluator and metric, metric, or evaluator with its primary one."""
    measures = {
        f"{entry.id}.{metric.key}": (entry, metric)
        for entry in run.evaluators.values()
        for metric in entry.metrics
    }
    matches = [
        full
        for full, (entry, metric) in measures.items()
        if name in (full, metric.key) or (name == entry.id and metric.primary)
    ]
    if len(matches) == 1:
        return measures[matches[0]]
    if matches:
        raise ConfigurationError(f"--metric {name}: is ambiguous; write one of {', '.join(matches)}")
    raise unknown_name("metric", name, list(measures), f"The run has {', '.join(measures)}.")


def _values(item: Item, measure: Measure | None) -> list[float]:
    """Return the score of each repeat, better where higher; the pass rate counts repeats that pass."""
    if measure is None:
        return repeat_passes(item)
    evaluator, metric = measure
    sign = 1.0 if metric.better == "higher" else -1.0
    outcomes = [row.outcomes.get(evaluator.id) for row in item.rows]
    scores = [outcome.scores.get(metric.key) for outcome in outcomes if outcome is not None]
    return [sign * score for score in scores if score is not None and math.isfinite(score)]


def repeat_passes(item: Item) -> list[float]:
    """Return 1.0 for each repeat of an item that passes, 0.0 for others; [] where it did not run."""
    if item.verdict in ("skipped", "not_run"):
        return []
    repeats = [verdict.repeats for verdict in item.verdicts.values() if verdict.repeats]
    decides = item.perturbed is None or item.perturbed.meaning_kept
    # A perturbation that changes the meaning must flip: the verdicts of its repeats do not decide the item.
    if repeats and decides and item.verdict != "error":
        return [float(False not in states) for states in zip(*repeats, strict=False)]
    return [float(item.verdict in ("passed", "xpassed") and item.code != ItemCode.EXPECTED_ERROR)]


def _worst(cases: Iterable[Sequence[Floats]], measure: Measure | None) -> float:
    """Return the score of a case that breaks: the end of the range, else the worst score of the pilot."""
    if measure is None:
        return 0.0
    _, metric = measure
    end = metric.range[0] if metric.better == "higher" else -metric.range[1]
    return end if math.isfinite(end) else min(float(item.min()) for case in cases for item in case)


def _plan(
    run: Run, model: str, scores: _PilotScores, measure: Measure | None, request: PlanRequest
) -> SuitePlan:
    worst = _worst(scores.cases.values(), measure)
    # The pilot takes scores as distances from that of a case that breaks.
    cases = [[item - worst for item in case] for case in scores.cases.values()]
    repeats = max(len(item) for case in cases for item in case)
    pilot = Pilot(cases, noise="pilot" if repeats > 1 else "none")
    name = f"{measure[0].id}.{measure[1].key}" if measure else PASS_RATE
    sign = -1.0 if measure and measure[1].better == "lower" else 1.0
    mean = sign * (pilot.mean + worst)
    if request.drop > pilot.mean:
        raise ConfigurationError(
            f"--drop {request.drop:g}: the {name} of {model} is {mean:.3g}, so it can get worse by at most"
            f" {pilot.mean:.3g}; give a smaller drop"
        )
    tests = _tests(run, measure)
    test = PlannedTest(
        drop=request.drop,
        level=request.alpha / tests,
        power=request.power,
        even=request.even,
        seed=request.seed,
    )

    def power_of(number: int) -> float:
        return float(power_curve(pilot, test, number, len(cases))[-1])

    # Without noise, one answer says as much as any number.
    current, noiseless = power_of(repeats), power_of(_ENDLESS_REPEATS if pilot.varies else 1)
    repeated = None
    if pilot.varies and current < request.power <= noiseless:
        number = next(
            (count for count in range(2, MAX_REPEATS + 1) if power_of(count) >= request.power), None
        )
        repeated = _size(scores, pilot, number, len(cases)) if number else None
    numbers = sorted({*REPEATS, repeats}) if pilot.varies else [1]
    sizes = tuple(_size(scores, pilot, number, cases_for(pilot, test, number)) for number in numbers)
    return SuitePlan(
        model=model,
        metric=name,
        drop=request.drop,
        power=request.power,
        even=request.even,
        level=test.level,
        tests=tests,
        mean=mean,
        cases=len(cases),
        items=sum(map(len, cases)),
        repeats=repeats,
        components=pilot.components,
        judged=any(entry.judge for entry in ([measure[0]] if measure else run.evaluators.values())),
        current_power=current,
        noiseless_power=noiseless,
        sizes=sizes,
        repeated=repeated,
        varying_cases=None if repeats > 1 else _varying_cases(cases, test, sizes[0].cases),
    )


def _size(scores: _PilotScores, pilot: Pilot, repeats: int, cases: int) -> SuiteSize:
    answers = math.ceil(cases * pilot.variants_per_case) * repeats
    cost, duration = (
        answers * float(np.mean(values)) if any(values) else None
        for values in (scores.costs, scores.durations)
    )
    return SuiteSize(repeats=repeats, cases=cases, answers=answers, cost_usd=cost, duration_s=duration)


def _varying_cases(cases: Sequence[Sequence[Floats]], test: PlannedTest, constant_cases: int) -> int:
    """Return the cases that a drop takes if answers vary as much as they can.

    They are never fewer than those of answers that do not vary: the normal approximation for scores with a
    little noise may see a drop that the exact test of scores without noise does not.
    """
    return max(constant_cases, cases_for(Pilot(cases, noise="all"), test, 1))


def _tests(run: Run, measure: Measure | None) -> int:
    """Return the number of tests that a comparison corrects for, if it corrects the metric."""
    if measure is None or not (measure[1].primary or measure[1].decides):
        return 1
    metrics = [metric for entry in run.evaluators.values() for metric in entry.metrics]
    return len(run.models) * sum(metric.primary or metric.decides for metric in metrics)


def plan_lines(plan: SuitePlan) -> Iterator[str]:
    """Yield a plan for a terminal."""
    variants = f" ({counted(plan.items, 'item')} with perturbations)" if plan.items > plan.cases else ""
    yield (
        f"{plan.metric} of {plan.model}: {figure(plan.mean)} over {counted(plan.cases, 'case')}{variants},"
        f" {counted(plan.repeats, 'answer')} each"
    )
    yield _variance_line(plan)
    correction = f", divided by {plan.tests} for the metrics of the run" if plan.tests > 1 else ""
    manner = "every case loses the same share" if plan.even else "some cases break"
    yield (
        f"a drop of {figure(plan.drop)} ({manner}) is seen with {percent(plan.power)} power by a paired test"
        f" at {figure(plan.level)}{correction}; each of the two runs has"
    )
    for size in plan.sizes:
        yield f"  {_size_words(size)}"
    yield (
        f"{counted(plan.cases, 'case')} with {counted(plan.repeats, 'answer')} each see it with a power of"
        f" {percent(plan.current_power)}"
    )
    yield _answer_line(plan)


def _variance_line(plan: SuitePlan) -> str:
    parts = plan.components
    if parts.repeat is None:
        text = "variance: not split, since the pilot has one answer per question"
    else:
        values = {"cases": parts.case, "perturbations": parts.variant, "repeats": parts.repeat}
        total = sum(value or 0.0 for value in values.values())
        shares = (
            f"{name} {figure(value)} ({percent(value / total if total else 0.0)})"
            for name, value in values.items()
            if value is not None
        )
        text = f"variance of one answer: {', '.join(shares)}"
    if not plan.judged:
        return text
    return f"{text}; the judge's part is not known, since the record has one judgement of each answer"


def _size_words(size: SuiteSize) -> str:
    words = f"{counted(size.cases, 'case')} with {counted(size.repeats, 'answer')} each"
    parts = [f"{counted(size.answers, 'answer')} in all" if size.answers != size.cases else ""]
    parts.append(f"{figure(size.cost_usd)} USD" if size.cost_usd is not None else "")
    parts.append(f"{figure(size.duration_s)} s of answering" if size.duration_s is not None else "")
    details = ", ".join(filter(None, parts))
    return f"{words}: {details}" if details else words


def _answer_line(plan: SuitePlan) -> str:
    if plan.current_power >= plan.power:
        return "enough: the pilot's cases and repeats see the drop"
    size = next((size for size in plan.sizes if size.repeats == plan.repeats), plan.sizes[0])
    # Both powers are simulated, and differ a little at the same size.
    words = f"needed: {counted(max(1, size.cases - plan.cases), 'more case')}"
    if plan.repeats > 1:
        words += f" with {counted(plan.repeats, 'answer')} each"
    if plan.varying_cases is not None:
        more = counted(max(1, plan.varying_cases - plan.cases), "more case")
        return (
            f"{words} if answers do not vary, {more} if they vary as much as they can; a pilot with runs = 3"
            " shows which"
        )
    if plan.repeated is not None:
        return f"{words}, or {_size_words(plan.repeated)}"
    if plan.noiseless_power < plan.power:
        return (
            f"{words}; more repeats cannot replace them: without any variation of answers the power would be"
            f" {percent(plan.noiseless_power)}"
        )
    return f"{words}; repeats alone take more than {MAX_REPEATS} of each"
