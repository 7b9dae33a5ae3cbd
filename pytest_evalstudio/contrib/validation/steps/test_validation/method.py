"""Quality of generated test cases, measured on their chunks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pytest_evalstudio.contrib.questions.api import bare_question, content_words, share_in
from pytest_evalstudio.contrib.validation.methods.test_cases.keys import WRITTEN_BY
from pytest_evalstudio.contrib.validation.methods.test_cases.round_trip import RoundTrip
from pytest_evalstudio.contrib.validation.vectors import pair_cosines
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.core.json_data import non_empty
from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.formats.suite import TestCase
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator, Plan
from pytest_evalstudio.scoring.score import score

UNRELATED = (
    "The weather is fine in the mountains today.",
    "Please put our kettle on, and bring a blue umbrella.",
    "Quintavel marbonite.",
    "Grass grows quickly when it rains.",
)
"""Answers to no question: a condition that several of them meet is met by any answer."""
MAX_UNRELATED = 2
"""Unrelated answers of which fewer may meet a condition: a short word may occur in one by chance."""
CUTOFFS: Mapping[str, float] = {
    "cosine": 0.2,
    "support": 0.8,
    "condition": 1.0,
    "evidence": 0.8,
    "round_trip": 0.6,
    "unique": 1.0,
    "readable": 1.0,
    "nli": 0.5,
    "bertscore": 0.5,
}
"""Minimum score of a valid test case by metric."""
BERTSCORE = "bertscore"
"""Name of the evaluator, and of its table in the configuration."""
MIN_NLI_WORDS = 4
"""Minimum length of an expected answer for NLI: an amount alone is no statement."""
_MARKS = re.compile(r"^(?:Yes|No)\. |^[A-Z]\) ")


@dataclass(slots=True)
class Measured:
    """Scores of a metric, in the order of the cases.

    Attributes:
        scores: None for a case that the metric does not apply to.
        method: measurement, for people.
        note: the reason for a fallback method, "" for none.
        outliers: numbers of the cases with a low outlier.
    """

    scores: list[float | None]
    method: str
    note: str = ""
    outliers: set[int] = field(default_factory=set)


def measure(
    context: StepContext, cases: Sequence[TestCase], metrics: Sequence[str], vectors: str, trip: RoundTrip
) -> dict[str, Measured]:
    """Measure test cases.

    A case that no document answers has the metrics "condition", "round_trip" and "readable" only, and one
    that people have written "condition", "evidence" and "unique".
    """
    measurements: dict[str, Callable[[], Measured]] = {
        "cosine": lambda: _cosine(context, cases, vectors),
        "support": lambda: Measured(
            [support(case) for case in cases],
            "share of the expected answer's content words that occur in the chunk",
        ),
        "condition": lambda: Measured(
            [_condition(case, trip.unrelated_sentences(case)) for case in cases],
            "the expected answer meets the condition of the case, and unrelated answers do not",
        ),
        "evidence": lambda: Measured(
            [trip.support(case) for case in cases],
            "share of the answer's words in its evidence; 0 if a quantity is missing there, or the evidence"
            " in the chunk",
        ),
        "round_trip": lambda: Measured(
            [trip.retrieval(case) for case in cases],
            "words of the question in its evidence, as a share of those in the documents' best sentence",
        ),
        "unique": lambda: Measured(
            [trip.uniqueness(case) for case in cases],
            "no other sentence answers the question differently",
        ),
        "readable": lambda: Measured(
            [trip.readability(case) for case in cases],
            "the words of the question are in an order of English",
        ),
        "nli": lambda: _nli(context, cases),
        "bertscore": lambda: _bertscore(context, cases),
    }
    results = {metric: measurements[metric]() for metric in metrics}
    for measured in results.values():
        measured.outliers = low_outliers(measured.scores)
    return results


def source_of(case: TestCase) -> str:
    """Return the text that a case was made from, "" for a case that no document answers."""
    extra = case.model_extra or {}
    return str(extra.get("source_text", "")) if extra.get("evidence") else ""


def statement_of(case: TestCase) -> str:
    """Return the expected answer without a leading yes, no or letter."""
    return _MARKS.sub("", case.expected_output, count=1)


def support(case: TestCase) -> float | None:
    """Return the share of the expected answer's content words that occur in its chunk; None without a chunk.

    An answer that a language model has written may also use words of the question.
    """
    source = source_of(case)
    if not source:
        return None
    question = case.prompt if (case.model_extra or {}).get(WRITTEN_BY) else ""
    return share_in(content_words(statement_of(case)), content_words(f"{source} {question}"))


def low_outliers(scores: Sequence[float | None]) -> set[int]:
    """Return the indices of scores more than 1.5 interquartile ranges below the first quartile.

    Source: Tukey, 1977.

    >>> low_outliers([0.8, 0.9, 0.85, 0.9, 0.1, None])
    {4}
    """
    values = [score for score in scores if score is not None]
    if len(values) < 4:
        return set()
    first, third = np.percentile(values, [25, 75])
    return {
        index
        for index, score in enumerate(scores)
        # Rounding must not make an outlier of one of many equal scores.
        if score is not None and score < first - 1.5 * (third - first) - 1e-9
    }


def lacks(context: StepContext) -> dict[str, str]:
    """Return the metrics that are not available without network or configuration, with the reason."""
    missing = {} if context.config.nli.is_chosen else {"nli": "no [nli] model is configured"}
    reason = context.provider.lacks(context.config, _bertscore_evaluator(context))
    return {**missing, **non_empty(bertscore=reason)}


def _bertscore_evaluator(context: StepContext) -> ConfiguredEvaluator:
    return Plan(context.registry, context.config.model_copy(update={"evaluators": [BERTSCORE]})).selected[0]


def _condition(case: TestCase, sentences: Sequence[str] = ()) -> float | None:
    """Return 1.0 if the expected answer meets the condition and unrelated texts do not; None without one.

    Args:
        case: with or without a condition.
        sentences: of the documents, without the words of the expected answer; half of them may not meet it.
    """
    text = case.condition_text()
    if not text:
        return None
    condition = parse_condition(text)
    passes = sum(bool(condition.check(answer)) for answer in UNRELATED)
    met = sum(bool(condition.check(sentence)) for sentence in sentences)
    is_met_by_any = passes >= MAX_UNRELATED or (bool(sentences) and 2 * met >= len(sentences))
    return float(bool(condition.check(case.expected_output)) and not is_met_by_any)


def _cosine(context: StepContext, cases: Sequence[TestCase], vectors: str) -> Measured:
    sourced = [at for at, case in enumerate(cases) if source_of(case)]
    scores: list[float | None] = [None] * len(cases)
    if not sourced:
        return Measured(scores, "none")
    texts = [f"{bare_question(cases[at].prompt)} {statement_of(cases[at])}" for at in sourced]
    cosines, method, note = pair_cosines(context, texts, [source_of(cases[at]) for at in sourced], vectors)
    for at, cosine in zip(sourced, cosines, strict=True):
        scores[at] = cosine
    return Measured(scores, f"question and answer with the chunk, {method}", note)


def _nli(context: StepContext, cases: Sequence[TestCase]) -> Measured:
    model: Any = context.provider.tools(context.config).nli
    if model is None:
        raise ConfigurationError("metric 'nli' needs a model: give [nli] model in the configuration")
    pairs = [
        at
        for at, case in enumerate(cases)
        if source_of(case) and len(statement_of(case).split()) >= MIN_NLI_WORDS
    ]
    judged = model.judge([(source_of(cases[at]), statement_of(cases[at])) for at in pairs]) if pairs else []
    scores: list[float | None] = [None] * len(cases)
    for at, entailment in zip(pairs, judged, strict=True):
        scores[at] = round(float(entailment.entailment), 6)
    return Measured(scores, f"entailment of the answer by the chunk, {model.name}")


def _bertscore(context: StepContext, cases: Sequence[TestCase]) -> Measured:
    """Return the precision of the evaluator of that name, because the chunk says more than the answer."""
    selected = _bertscore_evaluator(context)
    context.provider.open(context.config, [selected])
    sourced = [at for at, case in enumerate(cases) if source_of(case)]
    answers = [
        Case(
            key=case.key,
            question=case.prompt,
            answer=Answer(text=statement_of(case)),
            expected_output=source_of(case),
        )
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
