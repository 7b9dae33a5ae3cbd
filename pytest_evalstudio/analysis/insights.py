"""Insights of a run: the leading models, and the cases that all models fail.

Only statements that the data supports are made.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from pytest_evalstudio.analysis.aggregators import FIRST_KEYS, Aggregator, CaseMarks
from pytest_evalstudio.analysis.flip_rates import COPY, FlipRate
from pytest_evalstudio.analysis.leaderboards import Cell, Leaderboard, Standing
from pytest_evalstudio.analysis.wording import row_attributes
from pytest_evalstudio.core.problems import INSIGHT_TYPES, Insight
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.record.schema import EvaluatorEntry
from pytest_evalstudio.stats.intervals import student_quantile
from pytest_evalstudio.stats.ranking import is_tie
from pytest_evalstudio.stats.types import Interval
from pytest_evalstudio.text.figures import counted, figure, percent

_QUESTION_CHARS = 60
"""Characters of each of several questions in one sentence."""


def find_insights(
    aggregator: Aggregator, boards: Mapping[str, Leaderboard], rates: Sequence[FlipRate] = ()
) -> list[Insight]:
    """Return the insights of a run: comparisons of models, then the hardest prompts and perturbations.

    Models are compared if there are two or more of them, and the first or last one stands apart: its 95 %
    interval does not overlap that of the next one.

    Args:
        rates: the run's flip rates.
    """
    insights: list[Insight] = []
    for board in boards.values():
        insights += best_and_worst(board)
        insights += retrieval_and_generation(board)
    insights += fastest_and_slowest(aggregator)
    insights += cheapest_and_dearest(aggregator)
    for id, info in aggregator.evaluators.items():
        insights += prompts(aggregator, info, aggregator.marks[id])
    insights += least_grounded(aggregator)
    insights += retrieval_alone(aggregator)
    insights += sensitive_to(rates)
    return insights


def best_and_worst(board: Leaderboard) -> Iterator[Insight]:
    """Yield the best and the worst model on the primary metric.

    For a boolean evaluator, these are the most and the least accurate model.
    """
    info = board.evaluator
    kind = info.domain if info.domain in INSIGHT_TYPES else info.problem_type
    best, worst = ("most accurate", "least accurate") if info.boolean else ("best", "worst")
    if info.domain == "retrieval":
        best, worst = "best retrieving", "worst retrieving"
    yield from _extremes(board, info.primary.key, best, worst, kind if kind in INSIGHT_TYPES else "accuracy")


def retrieval_and_generation(board: Leaderboard) -> Iterator[Insight]:
    """Yield the best and worst retrieval, from a boolean evaluator that separates it from generation."""
    key = "model_retrieval_failures"
    if board.evaluator.boolean and any(metric.key == key for metric in board.evaluator.metrics):
        yield from _extremes(board, key, "best retrieving", "worst retrieving", "retrieval")


def fastest_and_slowest(aggregator: Aggregator) -> Iterator[Insight]:
    """Yield the fastest and the slowest model by mean answer time.

    Each is named only if its 95 % interval does not overlap that of any other model. Yields nothing if a
    model has fewer than two times: one answer says nothing about the next one.
    """
    times = {model: counts.durations for model, counts in aggregator.models.items()}
    if len(times) < 2 or any(len(durations) < 2 for durations in times.values()):
        return
    intervals = {model: _mean_interval(durations) for model, durations in times.items()}
    order = sorted(times, key=lambda model: (sum(times[model]) / len(times[model]), model))
    fast, slow = (
        _Model(model, aggregator.run.model_name(model), sum(times[model]) / len(times[model]))
        for model in (order[0], order[-1])
    )
    fast_apart = intervals[fast.key][1] < min(intervals[model][0] for model in order[1:])
    slow_apart = intervals[slow.key][0] > max(intervals[model][1] for model in order[:-1])
    statements: list[str] = []
    attributes: dict[str, str | float] = {}
    if fast_apart:
        statements.append(
            f"the fastest model is {fast.name!r} with {figure(fast.value)} s per answer on average"
        )
        attributes |= {
            "fastest_model": fast.key,
            "fastest_model_name": fast.name,
            "fastest_s": fast.value,
        }
    if slow_apart:
        statements.append(
            f"the slowest{'' if fast_apart else ' model'} is {slow.name!r} with {figure(slow.value)} s"
            + ("" if fast_apart else " per answer on average")
        )
        attributes |= {
            "slowest_model": slow.key,
            "slowest_model_name": slow.name,
            "slowest_s": slow.value,
        }
    if statements:
        text = "; ".join(statements)
        yield Insight(
            description=f"{text[0].upper()}{text[1:]}.",
            insight_type="efficiency",
            attributes=attributes,
            actions="Weigh the difference against the leaderboards before you decide by speed alone.",
        )


def _mean_interval(values: Sequence[float]) -> Interval:
    """Return Student's 95 % interval of the mean of two or more values."""
    mean = float(np.mean(values))
    error = float(np.std(values, ddof=1)) / len(values) ** 0.5
    half_width = student_quantile(0.975, len(values) - 1) * error
    return mean - half_width, mean + half_width


def cheapest_and_dearest(aggregator: Aggregator) -> Iterator[Insight]:
    """Yield the cheapest and the most expensive model by mean cost of an answer.

    Yields nothing if a cost is unknown, or if all costs are zero.
    """
    means = {
        model: counts.cost / counts.priced
        for model, counts in aggregator.models.items()
        if counts.priced and not counts.unpriced
    }
    pair = _ends(means) if len(means) == len(aggregator.models) else None
    if pair is None:
        return
    cheap, dear = (_Model(model, aggregator.run.model_name(model), means[model]) for model in pair)
    yield Insight(
        description=(
            f"The cheapest model is {cheap.name!r} with {figure(cheap.value)} per answer on average;"
            f" the most expensive is {dear.name!r} with {figure(dear.value)}."
        ),
        insight_type="cost",
        attributes={
            "cheapest_model": cheap.key,
            "cheapest_model_name": cheap.name,
            "most_expensive_model": dear.key,
            "most_expensive_model_name": dear.name,
            "lowest_cost": cheap.value,
            "highest_cost": dear.value,
        },
        actions="If the leaderboards show no relevant difference, choose the cheaper model.",
    )


def prompts(aggregator: Aggregator, info: EvaluatorEntry, marks: CaseMarks) -> Iterator[Insight]:
    """Yield the prompt that most models fail, and the prompts that all fail.

    In a run of one model, yield the prompt that it fails with the worst score.
    """
    if len(aggregator.models) == 1:
        yield from _hardest_of_one(aggregator, info, marks)
        return
    by_all = [
        case for case, judged in enumerate(marks.judged) if judged >= 2 and marks.failed[case] == judged
    ]
    hardest = hardest_cases(info, marks, 2)
    if (
        hardest
        and 2 * marks.failed[hardest[0]] > marks.judged[hardest[0]]
        and (
            len(hardest) == 1 or _difficulty(info, marks, hardest[0]) != _difficulty(info, marks, hardest[1])
        )
    ):
        case = hardest[0]
        yield Insight(
            description=(
                f"{info.name}: the most difficult prompt is {excerpt(aggregator.cases.excerpt(case))!r};"
                f" {marks.failed[case]} of {marks.judged[case]} models fail it."
            ),
            insight_type="weak_point",
            attributes={
                "evaluator": info.id,
                "test_case_keys": [aggregator.cases.keys[case][1]],
                "failed": marks.failed[case],
                "judged": marks.judged[case],
            },
            actions=(
                "Check the prompt, the expected answer and the condition first; if they are right, look for"
                " a common property of the answers."
            ),
        )
    if by_all:
        keys = [aggregator.cases.keys[case][1] for case in by_all]
        questions = [repr(excerpt(aggregator.cases.excerpt(case), _QUESTION_CHARS)) for case in by_all[:3]]
        more = ", …" if len(keys) > 3 else ""
        yield Insight(
            description=(
                f"{info.name}: no model passes {counted(len(keys), 'prompt')} ({', '.join(questions)}{more})."
            ),
            insight_type="weak_point",
            attributes={"evaluator": info.id, "count": len(keys), "test_case_keys": keys[:FIRST_KEYS]},
            actions=(
                "A prompt that no model answers does not show which model is better: correct it, or add what"
                " the models lack."
            ),
        )


def _hardest_of_one(aggregator: Aggregator, info: EvaluatorEntry, marks: CaseMarks) -> Iterator[Insight]:
    hardest = hardest_cases(info, marks, 2, models=1)
    # Of several that are equally hard none stands out.
    if not hardest or (
        len(hardest) > 1 and _difficulty(info, marks, hardest[0]) == _difficulty(info, marks, hardest[1])
    ):
        return
    case, failed = hardest[0], sum(count > 0 for count in marks.failed)
    judged = sum(count > 0 for count in marks.judged)
    score = marks.score[case] / marks.judged[case]
    yield Insight(
        description=(
            f"{info.name}: the hardest prompt is {excerpt(aggregator.cases.excerpt(case))!r}"
            f" ({info.primary.name} {figure(score)}); {failed} of {judged} prompts fail."
        ),
        insight_type="weak_point",
        attributes={
            "evaluator": info.id,
            "test_case_keys": [aggregator.cases.keys[case][1]],
            "score": score,
            "failed": failed,
        },
        actions=(
            "Check the prompt, the expected answer and the condition first; if they are right, look for a"
            " common property of the prompts that fail."
        ),
    )


def hardest_cases(info: EvaluatorEntry, marks: CaseMarks, limit: int, *, models: int = 2) -> list[int]:
    """Return the numbers of the cases that the largest share of models fails, at most `limit`.

    Among equal shares, the case with the lower mean score comes first.

    Args:
        models: how many models must have been judged on a case.
    """
    failed = (case for case, count in enumerate(marks.failed) if count and marks.judged[case] >= models)
    return heapq.nsmallest(limit, failed, key=lambda case: (_difficulty(info, marks, case), case))


def least_grounded(aggregator: Aggregator) -> Iterator[Insight]:
    """Yield the least supported sentence of each evaluator that compares answers with their context."""
    for id, lowest in aggregator.lowest.items():
        info = aggregator.evaluators[id]
        if info.sentence_metric.passes(lowest.score):
            continue
        name = aggregator.run.model_name(lowest.model)
        yield Insight(
            description=(
                f"{info.name}: the least grounded sentence is {excerpt(lowest.text)!r} of model {name!r}"
                f" ({info.sentence_metric.name} {figure(lowest.score)})."
            ),
            insight_type="weak_point",
            attributes={
                "evaluator": id,
                "metric": info.sentence_metric.key,
                "score": lowest.score,
                **row_attributes(lowest.model, name, [lowest.key]),
            },
            actions=(
                "Check whether the context has the required information: if it has, the model invented the"
                " sentence; if not, the retrieval missed a chunk."
            ),
        )


def retrieval_alone(aggregator: Aggregator) -> Iterator[Insight]:
    """Yield prompts whose answer has the expected content although the context lacks it.

    The model knew these answers without retrieval.
    """
    for id, by_model in aggregator.scores.items():
        for model, scores in sorted(by_model.items()):
            sample = scores.retrieval_alone
            if sample.count:
                name = aggregator.run.model_name(model)
                yield Insight(
                    description=(
                        f"{aggregator.evaluators[id].name}: for {counted(sample.count, 'prompt')} the"
                        f" retrieval of model {name!r} failed and its answer did not."
                    ),
                    insight_type="retrieval",
                    attributes={
                        "evaluator": id,
                        "count": sample.count,
                        **row_attributes(model, name, sample.keys),
                    },
                    actions=(
                        "Such answers come from the model's training data and change with the model: fix"
                        " retrieval."
                    ),
                )


def sensitive_to(rates: Sequence[FlipRate]) -> Iterator[Insight]:
    """Yield the perturbation that flips most verdicts, if it flips clearly more than unchanged copies do."""
    preserving = [
        rate for rate in rates if rate.group == "perturbator" and rate.meaning_kept and rate.name != COPY
    ]
    clear = [
        rate
        for rate in preserving
        if rate.noise_interval is not None and rate.interval[0] > rate.noise_interval[1]
    ]
    if not clear:
        return
    most = max(clear, key=lambda rate: (rate.rate, rate.name))
    yield Insight(
        description=(
            f"The models are most sensitive to {most.name}: {percent(most.rate)} of"
            f" {counted(most.compared, 'pair')} flip (95 % interval {percent(most.interval[0])} to"
            f" {percent(most.interval[1])}), against {percent(most.noise or 0.0)} of unchanged copies."
        ),
        insight_type="robustness",
        attributes={
            "perturbator": most.name,
            "rate": most.rate,
            "compared": most.compared,
            "noise": most.noise,
        },
        actions=(
            "Run it at other intensities to see where the models break, and search the flipped"
            " cases for a common property."
        ),
    )


class _Model(Struct, frozen=True):
    key: str
    name: str
    value: float


def _extremes(board: Leaderboard, metric: str, best: str, worst: str, insight_type: str) -> Iterator[Insight]:
    ranked = [
        (line.cells[metric].rank, line) for line in board.standings if line.cells[metric].rank is not None
    ]
    ranked.sort(key=lambda entry: entry[0] or 0)
    if len(ranked) < 2:
        return
    info = board.evaluator
    name = next(entry.name for entry in info.metrics if entry.key == metric)
    first = ranked[0][1]
    if _stands_apart(ranked[0][1].cells[metric], ranked[1][1].cells[metric]):
        yield _extreme(
            info,
            name,
            metric,
            "the model closest to the threshold"
            if first.cells[metric].passes is False
            else f"the {best} model",
            first,
            insight_type,
            "Its interval does not overlap that of the next model; weigh the lead against cost and time.",
        )
    if _stands_apart(ranked[-1][1].cells[metric], ranked[-2][1].cells[metric]):
        yield _extreme(
            info,
            name,
            metric,
            f"the {worst} model",
            ranked[-1][1],
            insight_type,
            "Its failures, lowest score first, show its weaknesses.",
        )


def _stands_apart(cell: Cell, neighbour: Cell) -> bool:
    """Return True if the intervals of two models do not overlap; one answer has no interval."""
    if cell.interval is None or neighbour.interval is None:
        return False
    return cell.interval[0] > neighbour.interval[1] or cell.interval[1] < neighbour.interval[0]


def _extreme(
    info: EvaluatorEntry, name: str, metric: str, model: str, line: Standing, insight_type: str, actions: str
) -> Insight:
    cell = line.cells[metric]
    between = (
        f", 95 % interval {figure(cell.interval[0])} to {figure(cell.interval[1])}" if cell.interval else ""
    )
    return Insight(
        description=f"{info.name}: {model} is {line.name!r} ({name} {figure(cell.value or 0.0)}{between}).",
        insight_type=insight_type,
        attributes={
            "evaluator": info.id,
            "metric": metric,
            "score": cell.value,
            "model": line.model,
            "model_name": line.name,
        },
        actions=actions,
    )


def _ends(values: Mapping[str, float]) -> tuple[str, str] | None:
    """Return the keys of the lowest and the highest value.

    Returns None for fewer than two values, or if either extreme is shared.
    """
    order = sorted(values, key=lambda key: (values[key], key))
    if (
        len(order) < 2
        or is_tie(values[order[0]], values[order[1]])
        or is_tie(values[order[-1]], values[order[-2]])
    ):
        return None
    return order[0], order[-1]


def _difficulty(info: EvaluatorEntry, marks: CaseMarks, case: int) -> tuple[float, float]:
    """Return a sort key by which harder cases are smaller.

    The key is the share of models that pass, then the mean score, negated where lower scores are better.
    """
    mean = marks.score[case] / marks.judged[case]
    return 1 - marks.failed[case] / marks.judged[case], mean if info.primary.better == "higher" else -mean
