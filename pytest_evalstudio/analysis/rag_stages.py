"""Stages at which the failing answers of RAG models went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pytest_evalstudio.analysis.aggregators import Aggregator
from pytest_evalstudio.analysis.wording import row_attributes
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    from pytest_evalstudio.metrics.rag_stages import RagStage

_DESCRIPTIONS: Mapping[RagStage, tuple[str, str]] = {
    "not_retrieved": ("Not in the context", "whose context lacks the expected content"),
    "not_used": ("Retrieved and not used", "whose context has the expected content, and the answer has not"),
    "contradicted": ("Contradicted", "that contradict the expected content of their context"),
}
_ACTIONS: Mapping[RagStage, str] = {
    "not_retrieved": (
        "The model could not know it: see whether the documents have it; then look at the chunks, and at the"
        " search."
    ),
    "not_used": "Retrieval works: look at the prompt, the order and the number of chunks, and at the model.",
    "contradicted": "Retrieval works: look at the model and its temperature, and judge groundedness.",
}


def stage_title(stage: RagStage, count: int, of: str = "") -> str:
    """Return the stage and its failing answers.

    Args:
        of: the models, e.g. " of 2 of 3 models".

    >>> stage_title("not_used", 1)
    'Retrieved and not used: 1 failing answer whose context has the expected content, and the answer has not'
    """
    name, description = _DESCRIPTIONS[stage]
    return f"{name}: {counted(count, 'failing answer')}{of} {description}"


def rag_stage_problems(aggregator: Aggregator) -> Iterator[Problem]:
    """Yield a problem per model and stage at which failing answers went wrong."""
    for model, counts in sorted(aggregator.models.items()):
        name = aggregator.run.model_name(model)
        for stage in _DESCRIPTIONS:
            sample = counts.rag_stages.get(stage)
            if sample is None:
                continue
            yield Problem(
                description=f"{stage_title(stage, sample.count, f' of model {name!r}')}.",
                severity="medium",
                problem_type="retrieval" if stage == "not_retrieved" else "accuracy",
                avid="P0200",
                code="rag_stage",
                attributes={
                    "stage": stage,
                    "count": sample.count,
                    **row_attributes(model, name, sample.keys),
                },
                actions=_ACTIONS[stage],
            )
