"""Relation of a question and its answer to the sentences of the documents."""

from __future__ import annotations

import re

from pytest_evalstudio.mrm.texts.quantities import quantities
from pytest_evalstudio.mrm.texts.retrieval import SentenceIndex, asked_words, stems

ANSWERED = 0.9
"""Minimum share of a question's word weights in a sentence that answers it."""
NAME = re.compile(r"(?<=[a-z,] )(?:[A-Z][a-z]+\s[A-Z][a-z]+|[A-Z]+\d+)|“")
"""A name of two words, a code or a quoted term within a question."""
NEEDS_CONTEXT = re.compile(
    r"(?i)\b(?:is|are|does|do|must|can|may|should|will|has|have)\s(?:the|you\s\w+\sthe)\s[a-z]|\b(?:did|was|were)\b"
)
"""A definite subject, or the past: a reader of several documents asks "which one?"."""
_CHOICES = re.compile(r"\sA\)\s.*$", re.DOTALL)
_TITLE = re.compile(r"^According to “[^”]*”, ")
_LEAD = re.compile(r"^(?:Yes|No)\. |^[A-Z]\) ")


def without_choices(question: str) -> str:
    """Return a question without the choices that it offers."""
    return _CHOICES.sub("", question)


def bare_question(question: str) -> str:
    """Return a question without choices and without the title of its document.

    >>> bare_question("According to “Fees”, how much is a draft? A) £5 B) £6")
    'how much is a draft?'
    """
    return _TITLE.sub("", without_choices(question))


def rivals(question: str, answer: str, evidence: str, index: SentenceIndex) -> list[str]:
    """Return other sentences that could answer a question as well as its evidence, with another answer.

    A rival has as much of the question as the evidence, is a sentence or table, and has a quantity of the
    answer's kind if the answer has one.
    """
    shares = index.shares(question)
    wanted = set(asked_words(question))
    total = sum(index.weight(word) for word in wanted)
    known = set(stems(evidence))
    share = sum(index.weight(word) for word in wanted if word in known) / total if total else 0.0
    kinds = {quantity.kind for quantity in quantities(_LEAD.sub("", answer))}
    texts = {quantity.text for quantity in quantities(_LEAD.sub("", answer))}
    result = []
    for place in (shares >= max(share, 0.5) - 1e-9).nonzero()[0]:
        sentence = index.sentences[int(place)]
        if sentence == evidence or sentence[-1:] not in (".", "|"):
            continue
        stated = [quantity for quantity in quantities(sentence) if quantity.kind in kinds]
        if kinds and (not stated or texts & {quantity.text for quantity in stated}):
            continue
        result.append(sentence)
    return result
