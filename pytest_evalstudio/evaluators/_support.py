"""Base of the evaluators that read an answer with its context by a model: premise, sentences, entailment."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.tools import Entailment, Tools, provided
from pytest_evalstudio.evaluators._similarity import has_words

DIGITS = 6
"""Decimals of a probability: results for batches of other sizes differ from the seventh decimal on."""


def premise(case: Case) -> str:
    """Return the whole context as one text, each chunk once.

    A statement that combines two chunks follows from neither of them alone.
    """
    return "\n\n".join(dict.fromkeys(chunk for chunk in case.context if has_words(chunk)))


def judged(pairs: Sequence[tuple[str, str]], tools: Tools) -> dict[tuple[str, str], Entailment]:
    """Return the entailment of each distinct pair (premise, hypothesis), from one call."""
    distinct = list(dict.fromkeys(pairs))
    return dict(zip(distinct, provided(tools.nli, "NLI model").judge(distinct), strict=True))
