"""Usage of judges: calls, tokens and cost, separate from the usage of the judged models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_evalstudio.analysis.aggregators import Aggregator
from pytest_evalstudio.analysis.wording import cases, row_attributes
from pytest_evalstudio.core.judging import Judging
from pytest_evalstudio.core.problems import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingFigures:
    """Judge usage of one evaluator, including replies that were stored before this run.

    Evaluators that ask the same questions share the replies, so that a run takes no more, and often less,
    than the sum over its evaluators.

    Attributes:
        rows: answers that were judged, or could not be.
        usage: calls, tokens and cost.
        not_asked: rows whose judge was not asked, since the budget was used up or cannot be held.
        not_asked_reason: of the first of them, "" for none.
    """

    evaluator: str
    rows: int
    usage: Judging
    not_asked: int
    not_asked_reason: str = ""

    @property
    def cost_usd(self) -> float | None:
        """Return the known cost; None if the host reports no cost for any call."""
        return self.usage.cost_usd if self.usage.unpriced < self.usage.calls else None


def judging_figures(aggregator: Aggregator) -> tuple[JudgingFigures, ...]:
    """Return the judge figures of each evaluator that asks a judge, over all models."""
    figures = []
    for id, by_model in aggregator.scores.items():
        if not aggregator.evaluators[id].judge:
            continue
        figures.append(
            JudgingFigures(
                evaluator=id,
                rows=sum(scores.scored + scores.errors for scores in by_model.values()),
                usage=sum((scores.judging for scores in by_model.values()), Judging()),
                not_asked=sum(scores.not_asked.count for scores in by_model.values()),
                not_asked_reason=next(
                    (text for scores in by_model.values() for text in scores.not_asked.texts), ""
                ),
            )
        )
    return tuple(figures)


def budget_problems(aggregator: Aggregator) -> Iterator[Problem]:
    """Yield a problem for rows that were not judged because the budget was used up."""
    for id, by_model in aggregator.scores.items():
        for model, scores in sorted(by_model.items()):
            sample = scores.not_asked
            if not sample.count:
                continue
            name = aggregator.run.model_name(model)
            yield Problem(
                description=(
                    f"{aggregator.evaluators[id].name} did not ask about {cases(sample, 'answer')} of model"
                    f" {name!r}: {sample.texts[0]}"
                ),
                severity="high" if 2 * sample.count > scores.scored + scores.errors else "medium",
                problem_type="cost",
                avid="P0200",
                attributes={
                    "evaluator": id,
                    "count": sample.count,
                    **row_attributes(model, name, sample.keys),
                },
                actions=(
                    "Raise judge.max_calls or judge.max_cost, or judge fewer cases; existing replies are"
                    " stored and not paid for again."
                ),
            )
