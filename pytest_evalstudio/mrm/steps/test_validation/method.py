"""Quality of generated test cases, measured on their chunks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.engine.scoring.plan import ConfiguredEvaluator, Plan
from pytest_evalstudio.engine.scoring.score import score
from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.formats.suite import TestCase
from pytest_evalstudio.mrm.steps.test_generation.generating import WRITTEN_BY
from pytest_evalstudio.mrm.texts.vectors import pair_cosines
from pytest_evalstudio.mrm.texts.words import content_words, share_in
from pytest_evalstudio.mrm.workflow.context import StepContext

CUTOFFS: Mapping[str, float] = {"cosine": 0.2, "support": 0.8, "condition": 1.0, "nli": 0.5, "bertscore": 0.5}
"""Metrics, and the least score of a valid test case."""
BERTSCORE = "bertscore"
"""The evaluator that measures it, and its table in the configuration."""
FEWEST_NLI_WORDS = 4
"""Of an expected answer that can follow from a text: an amount alone says nothing."""
_MARKS = re.compile(r"^(?:Yes|No)\. |^[A-Z]\) ")


@dataclass(slots=True)
class Measured:
    """Scores of a metric, in the order of the cases.

    Attributes:
        scores: None for a case that it says nothing about.
        method: how they were measured.
        note: why not otherwise, "" where there is nothing to say.
    """

    scores: list[float | None]
    method: str
    note: str = ""
    outliers: set[int] = field(default_factory=set)


def measure(
    context: StepContext, cases: Sequence[TestCase], metrics: Sequence[str], vectors: str
) -> dict[str, Measured]:
    """The metrics of test cases; a case that no document answers has its condition alone."""
    how: dict[str, Callable[[], Measured]] = {
        "cosine": lambda: _cosine(context, cases, vectors),
        "support": lambda: Measured(
            [support(case) for case in cases],
            "share of the expected answer's content words that stand in the chunk",
        ),
        "condition": lambda: Measured(
            [_condition(case) for case in cases], "whether the expected answer meets the case's own condition"
        ),
        "nli": lambda: _nli(context, cases),
        "bertscore": lambda: _bertscore(context, cases),
    }
    found = {metric: how[metric]() for metric in metrics}
    for measured in found.values():
        measured.outliers = low_outliers(measured.scores)
    return found


def source_of(case: TestCase) -> str:
    """The text that a case was made of, "" for one that no document answers."""
    extra = case.model_extra or {}
    return str(extra.get("source_text", "")) if extra.get("evidence") else ""


def said(case: TestCase) -> str:
    """The expected answer without a yes, a no or a letter before it."""
    return _MARKS.sub("", case.expected_output, count=1)


def support(case: TestCase) -> float | None:
    """The share of the expected answer's content words that stand in its chunk; None where it has no chunk.

    An answer that a language model has written may take words of the question, too.
    """
    source = source_of(case)
    if not source:
        return None
    question = case.prompt if (case.model_extra or {}).get(WRITTEN_BY) else ""
    return share_in(content_words(said(case)), content_words(f"{source} {question}"))


def low_outliers(scores: Sequence[float | None]) -> set[int]:
    """Places of scores below the first quartile by more than 1.5 times the distance of the quartiles.

    Source: Tukey, 1977.

    >>> low_outliers([0.8, 0.9, 0.85, 0.9, 0.1, None])
    {4}
    """
    known = [score for score in scores if score is not None]
    if len(known) < 4:
        return set()
    first, third = np.percentile(known, [25, 75])
    return {
        at
        for at, score in enumerate(scores)
        if score is not None and score < first - 1.5 * (third - first) - 1e-9
    }


def lacks(context: StepContext) -> dict[str, str]:
    """The metrics that cannot be had without asking a network or somebody's choice, and why."""
    found = {} if context.config.nli.is_chosen else {"nli": "no [nli] model is configured"}
    reason = context.provider.lacks(context.config, _bertscore_evaluator(context))
    return {**found, **({"bertscore": reason} if reason else {})}


def _bertscore_evaluator(context: StepContext) -> ConfiguredEvaluator:
    return Plan(context.registry, context.config.model_copy(update={"evaluators": [BERTSCORE]})).selected[0]


def _condition(case: TestCase) -> float | None:
    condition = case.condition_text()
    return float(bool(parse_condition(condition).check(case.expected_output))) if condition else None


def _cosine(context: StepContext, cases: Sequence[TestCase], vectors: str) -> Measured:
    sourced = [at for at, case in enumerate(cases) if source_of(case)]
    scores: list[float | None] = [None] * len(cases)
    if not sourced:
        return Measured(scores, "none")
    texts = [f"{cases[at].prompt} {said(cases[at])}" for at in sourced]
    cosines, method, note = pair_cosines(context, texts, [source_of(cases[at]) for at in sourced], vectors)
    for at, cosine in zip(sourced, cosines, strict=True):
        scores[at] = cosine
    return Measured(scores, f"question and answer with the chunk, {method}", note)


def _nli(context: StepContext, cases: Sequence[TestCase]) -> Measured:
    model: Any = context.provider.tools(context.config).nli
    if model is None:
        raise ConfigurationError("metric 'nli' needs a model: give [nli] model in the configuration")
    asked = [
        at for at, case in enumerate(cases) if source_of(case) and len(said(case).split()) >= FEWEST_NLI_WORDS
    ]
    judged = model.judge([(source_of(cases[at]), said(cases[at])) for at in asked]) if asked else []
    scores: list[float | None] = [None] * len(cases)
    for at, entailment in zip(asked, judged, strict=True):
        scores[at] = round(float(entailment.entailment), 6)
    return Measured(scores, f"entailment of the answer by the chunk, {model.name}")


def _bertscore(context: StepContext, cases: Sequence[TestCase]) -> Measured:
    """Precision by the evaluator of that name: whether what the answer says is found in the chunk, which says
    more.
    """
    selected = _bertscore_evaluator(context)
    context.provider.open(context.config, [selected])
    sourced = [at for at, case in enumerate(cases) if source_of(case)]
    answers = [
        Case(key=case.key, question=case.prompt, actual_output=said(case), expected_output=source_of(case))
        for case in (cases[at] for at in sourced)
    ]
    scores: list[float | None] = [None] * len(cases)
    for at, outcome in zip(
        sourced, score(selected, answers, context.provider.tools_of(context.config, selected)), strict=True
    ):
        if outcome.status == "error":
            raise EvaluationError(f"metric 'bertscore': {outcome.reason}")
        scores[at] = outcome.scores.get("bertscore_precision")
    return Measured(scores, f"BERTScore precision of the answer on the chunk, {selected.parameters['model']}")
