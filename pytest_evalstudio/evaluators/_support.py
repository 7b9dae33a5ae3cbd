"""What the evaluators share that read an answer against its context with a model: premise, sentences, what
cannot be judged.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Entailment, Tools
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import is_empty, worst
from pytest_evalstudio.evaluators._similarity import (
    NO_CONTEXT_WORDS,
    NO_WORDS,
    Sentence,
    has_words,
    sentences,
)

DIGITS = 6
"""Decimals of a probability: what a model computes in batches of other sizes differs from the seventh on."""


def premise(case: Case) -> str:
    """The whole context as one text, each chunk once: what an answer takes from two chunks follows from
    neither alone.
    """
    return "\n\n".join(dict.fromkeys(chunk for chunk in case.context if has_words(chunk)))


def answer_sentences(case: Case, tools: Tools) -> list[Sentence]:
    """The sentences of an answer that can be judged; none of an empty one, or of one without words."""
    return [] if is_empty(case) else sentences(case.actual_output, tools)


def not_judged(
    case: Case,
    answer: Sequence[Sentence],
    basis: str,
    metrics: Sequence[Metric],
    reason: str = NO_CONTEXT_WORDS,
) -> Outcome | None:
    """The worst outcome where the answer is empty or has no words, or what it is read against has none; else
    None.
    """
    if is_empty(case):
        return worst(metrics)
    if not answer:
        return worst(metrics, NO_WORDS)
    return None if basis else worst(metrics, reason)


def judged(pairs: Sequence[tuple[str, str]], tools: Tools) -> dict[tuple[str, str], Entailment]:
    """What the model of inference says of each distinct pair, from one call.

    Raises:
        EvaluationError: if there is no such model.
    """
    if tools.nli is None:
        raise EvaluationError("there is no model of inference to ask")
    distinct = list(dict.fromkeys(pairs))
    return dict(zip(distinct, tools.nli.judge(distinct), strict=True))
