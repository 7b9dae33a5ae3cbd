"""What is worth knowing after a run: who leads, where all models struggle. Nothing the data cannot
support.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_evalstudio.core.problems import INSIGHT_TYPES, Insight
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.engine.analysis.aggregators import FIRST_KEYS, Aggregator, CaseMarks
from pytest_evalstudio.engine.analysis.flip_rates import COPY, FlipRate
from pytest_evalstudio.engine.analysis.leaderboards import Leaderboard, Standing
from pytest_evalstudio.engine.analysis.run_info import EvaluatorInfo
from pytest_evalstudio.engine.analysis.wording import rounded, row_attributes
from pytest_evalstudio.stats.ranking import is_tie


def find_insights(
    aggregator: Aggregator, boards: Mapping[str, Leaderboard], rates: Sequence[FlipRate] = ()
) -> list[Insight]:
    """The insights of a run: models against each other (two or more, no ties), then the hardest prompts and
    perturbations.

    Args:
        rates: the run's flip rates.
    """
    found: list[Insight] = []
    for board in boards.values():
        found += best_and_worst(board)
        found += retrieval_and_generation(board)
    found += fastest_and_slowest(aggregator)
    found += cheapest_and_dearest(aggregator)
    for id, info in aggregator.evaluators.items():
        found += prompts(aggregator, info, aggregator.marks[id])
    found += least_grounded(aggregator)
    found += retrieval_alone(aggregator)
    found += sensitive_to(rates)
    return found


def best_and_worst(board: Leaderboard) -> Iterator[Insight]:
    """Best and worst model on the primary metric; of a boolean evaluator the most and the least accurate
    one.
    """
    info = board.evaluator
    kind = info.domain if info.domain in INSIGHT_TYPES else info.problem_type
    best, worst = ("most accurate", "least accurate") if info.boolean else ("best", "worst")
    if info.domain == "retrieval":
        best, worst = "best retrieving", "worst retrieving"
    yield from _extremes(board, info.primary.key, best, worst, kind if kind in INSIGHT_TYPES else "accuracy")


def retrieval_and_generation(board: Leaderboard) -> Iterator[Insight]:
    """Best and worst retrieval by a boolean evaluator that tells retrieval from generation."""
    key = "model_retrieval_failures"
    if board.evaluator.boolean and any(metric.key == key for metric in board.evaluator.metrics):
        yield from _extremes(board, key, "best retrieving", "worst retrieving", "retrieval")


def fastest_and_slowest(aggregator: Aggregator) -> Iterator[Insight]:
    """By mean answer time; none where a model has no times or all are zero."""
    means = {
        model: sum(counts.durations) / len(counts.durations)
        for model, counts in aggregator.models.items()
        if counts.durations
    }
    pair = _ends(means) if len(means) == len(aggregator.models) and all(means.values()) else None
    if pair is None:
        return
    fast, slow = (_Model(model, aggregator.run.model_name(model), means[model]) for model in pair)
    yield Insight(
        description=(
            f"The fastest model is {fast.name!r} with {rounded(fast.value)} s per answer on average;"
            f" the slowest is {slow.name!r} with {rounded(slow.value)} s."
        ),
        insight_type="efficiency",
        attributes={
            "fastest_model": fast.key,
            "fastest_model_name": fast.name,
            "slowest_model": slow.key,
            "slowest_model_name": slow.name,
            "fastest_s": fast.value,
            "slowest_s": slow.value,
        },
        actions="Weigh the difference against the leaderboards before you change the model for speed alone.",
    )


def cheapest_and_dearest(aggregator: Aggregator) -> Iterator[Insight]:
    """By mean cost of an answer; none where a cost is not known or all are zero."""
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
            f"The cheapest model is {cheap.name!r} with {rounded(cheap.value)} per answer on average;"
            f" the most expensive is {dear.name!r} with {rounded(dear.value)}."
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
        actions="Where the leaderboards show no difference that matters, take the cheaper one.",
    )


def prompts(aggregator: Aggregator, info: EvaluatorInfo, marks: CaseMarks) -> Iterator[Insight]:
    """The prompt that most models fail, and the prompts that no model answers; needs two models."""
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
                " what the answers have in common."
            ),
        )
    if by_all:
        keys = [aggregator.cases.keys[case][1] for case in by_all]
        one = len(keys) == 1
        yield Insight(
            description=(
                f"{info.name}: {len(keys)} {'prompt is' if one else 'prompts are'} answered by no model"
                f" ({', '.join(repr(key) for key in keys[:3])}{', …' if len(keys) > 3 else ''})."
            ),
            insight_type="weak_point",
            attributes={"evaluator": info.id, "count": len(keys), "test_case_keys": keys[:FIRST_KEYS]},
            actions=(
                "A prompt that no model answers tells nothing about which one is better: mend it, or add what"
                " the models lack."
            ),
        )


def hardest_cases(info: EvaluatorInfo, marks: CaseMarks, limit: int, *, models: int = 2) -> list[int]:
    """Numbers of the cases that the largest share of models fails, the lower mean score first; at most
    `limit`.

    Args:
        models: how many models must have been judged on a case.
    """
    failed = [case for case, count in enumerate(marks.failed) if count and marks.judged[case] >= models]
    return sorted(failed, key=lambda case: (_difficulty(info, marks, case), case))[:limit]


def least_grounded(aggregator: Aggregator) -> Iterator[Insight]:
    """The sentence with the lowest score of each evaluator that compares answers with their context."""
    for id, lowest in aggregator.lowest.items():
        info = aggregator.evaluators[id]
        if info.sentence_metric.passes(lowest.score):
            continue
        name = aggregator.run.model_name(lowest.model)
        yield Insight(
            description=(
                f"{info.name}: the least grounded sentence is {excerpt(lowest.text)!r} of model {name!r}"
                f" ({info.sentence_metric.name} {rounded(lowest.score)})."
            ),
            insight_type="weak_point",
            attributes={
                "evaluator": id,
                "metric": info.sentence_metric.key,
                "score": lowest.score,
                **row_attributes(lowest.model, name, [lowest.key]),
            },
            actions=(
                "See whether the context could have supported it: if so the model made it up, if not the"
                " retrieval missed a chunk."
            ),
        )


def retrieval_alone(aggregator: Aggregator) -> Iterator[Insight]:
    """Prompts whose context misses what is asked although the answer has it: the model knew it by heart."""
    for id, by_model in aggregator.scores.items():
        for model, scores in sorted(by_model.items()):
            sample = scores.retrieval_alone
            if sample.count:
                name = aggregator.run.model_name(model)
                yield Insight(
                    description=(
                        f"{aggregator.evaluators[id].name}: for {sample.count}"
                        f" {'prompt' if sample.count == 1 else 'prompts'} the retrieval of model {name!r}"
                        " failed and its answer did not."
                    ),
                    insight_type="retrieval",
                    attributes={
                        "evaluator": id,
                        "count": sample.count,
                        **row_attributes(model, name, sample.keys),
                    },
                    actions=(
                        "Such answers come from the model's own memory and change with the model: mend the"
                        " retrieval."
                    ),
                )


def sensitive_to(rates: Sequence[FlipRate]) -> Iterator[Insight]:
    """The perturbation that turns most verdicts, where that is clearly more than what unchanged copies
    turn.
    """
    kept = [rate for rate in rates if rate.group == "perturbator" and rate.meaning_kept and rate.name != COPY]
    clear = [
        rate for rate in kept if rate.noise_interval is not None and rate.interval[0] > rate.noise_interval[1]
    ]
    if not clear:
        return
    most = max(clear, key=lambda rate: (rate.rate, rate.name))
    yield Insight(
        description=(
            f"The models are most sensitive to {most.name}: {most.rate:.1%} of {most.compared} comparisons"
            f" flip (95 % interval {most.interval[0]:.1%} to {most.interval[1]:.1%}), against"
            f" {most.noise or 0.0:.1%} of unchanged copies."
        ),
        insight_type="robustness",
        attributes={
            "perturbator": most.name,
            "rate": most.rate,
            "compared": most.compared,
            "noise": most.noise,
        },
        actions=(
            "Run it at other intensities to see where the models break, and look at the flipped cases: what"
            " do they share?"
        ),
    )


@dataclass(frozen=True, slots=True)
class _Model:
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
    if ranked[0][0] != ranked[1][0]:
        yield _extreme(
            info,
            name,
            metric,
            best,
            ranked[0][1],
            insight_type,
            "Compare the intervals: where they overlap widely, the lead may be chance.",
        )
    if ranked[-1][0] != ranked[-2][0]:
        yield _extreme(
            info,
            name,
            metric,
            worst,
            ranked[-1][1],
            insight_type,
            "Its failures, lowest score first, show what it lacks.",
        )


def _extreme(
    info: EvaluatorInfo, name: str, metric: str, word: str, line: Standing, insight_type: str, actions: str
) -> Insight:
    cell = line.cells[metric]
    between = (
        f", 95 % interval {rounded(cell.interval[0])} to {rounded(cell.interval[1])}" if cell.interval else ""
    )
    return Insight(
        description=(
            f"{info.name}: the {word} model is {line.name!r} ({name} {rounded(cell.value or 0.0)}{between})."
        ),
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
    """Keys of the lowest and the highest value; None for fewer than two, or where either end is shared."""
    order = sorted(values, key=lambda key: (values[key], key))
    if (
        len(order) < 2
        or is_tie(values[order[0]], values[order[1]])
        or is_tie(values[order[-1]], values[order[-2]])
    ):
        return None
    return order[0], order[-1]


def _difficulty(info: EvaluatorInfo, marks: CaseMarks, case: int) -> tuple[float, float]:
    """Smaller is harder: the share of models that pass, then the mean score in the direction of better."""
    mean = marks.score[case] / marks.judged[case]
    return 1 - marks.failed[case] / marks.judged[case], mean if info.primary.better == "higher" else -mean
