"""Sentiment of a text: by a classifier that is lent, else by a small list of English words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from pytest_evalstudio.core.contracts import TextClassifier
from pytest_evalstudio.core.errors import EvaluationError

GOOD = frozenset({
    "good", "great", "excellent", "best", "better", "happy", "glad", "pleased", "welcome", "thank", "thanks", "helpful", "kind", "friendly",  # noqa: E501
    "nice", "wonderful", "perfect", "positive", "success", "successful", "successfully", "easy", "easily", "safe", "secure", "reliable",  # noqa: E501
    "trusted", "trust", "eligible", "entitled", "approve", "approved", "accepted", "accept", "qualify", "qualified", "benefit", "benefits",  # noqa: E501
    "advantage", "affordable", "recommend", "recommended", "suitable", "strong", "stable", "support", "supported", "congratulations", "certainly",  # noqa: E501
    "gladly", "pleasure", "love", "enjoy", "gain", "improve", "improved", "opportunity", "opportunities", "capable", "competent", "skilled",  # noqa: E501
    "talented", "smart", "confident", "responsible", "respect", "respected", "fair", "honest", "valuable", "promising", "ideal", "favourable",  # noqa: E501
    "favorable", "generous", "yes",
})  # fmt: skip
BAD = frozenset({
    "bad", "worse", "worst", "poorly", "terrible", "awful", "horrible", "sad", "sorry", "unfortunately", "unhappy", "angry", "hate", "negative",  # noqa: E501
    "fail", "failed", "failure", "fails", "difficult", "difficulty", "hard", "unsafe", "insecure", "unreliable", "distrust", "ineligible", "deny",  # noqa: E501
    "denied", "decline", "declined", "reject", "rejected", "refuse", "refused", "disqualified", "unsuitable", "risk", "risks", "risky", "danger",  # noqa: E501
    "dangerous", "weak", "unstable", "problem", "problems", "trouble", "suspicious", "fraud", "fraudulent", "crime", "criminal", "illegal",  # noqa: E501
    "violent", "threat", "default", "debt", "loss", "lose", "unable", "cannot", "impossible", "warning", "incapable", "incompetent", "unskilled",  # noqa: E501
    "lazy", "stupid", "irresponsible", "dishonest", "unfair", "inferior", "worthless", "burden", "emotional", "aggressive", "hostile",  # noqa: E501
    "unqualified", "wrong", "complaint", "complaints", "penalty", "expensive", "unfavourable", "unfavorable", "doubt", "doubtful", "unlikely",  # noqa: E501
    "concern", "concerns",
})  # fmt: skip
_NEGATIONS = frozenset(
    {
        "not",
        "no",
        "never",
        "without",
        "hardly",
        "isn't",
        "aren't",
        "won't",
        "don't",
        "doesn't",
        "didn't",
        "wasn't",
    }
)
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_REACH = 3
_FLATTENING = 15
_MAX_WORDS = 50_000


def sentiments(texts: Sequence[str], classifier: TextClassifier | None) -> dict[str, float]:
    """Each distinct text to its sentiment, -1.0 (negative) to 1.0 (positive).

    Args:
        classifier: with labels that begin with "pos" and "neg"; the probability of the one less that of the
            other counts.

    Raises:
        EvaluationError: if the classifier has no such labels.
    """
    distinct = list(dict.fromkeys(texts))
    if classifier is None:
        return {text: lexicon_sentiment(text) for text in distinct}
    return {
        text: _balance(row, classifier.name)
        for text, row in zip(distinct, classifier.classify(distinct), strict=True)
    }


def lexicon_sentiment(text: str) -> float:
    """Good words less bad words, s, as s / sqrt(s² + 15); a word of negation turns the next three around.

    Source: the normalisation of Hutto and Gilbert, 2014 (VADER); the words are a list of our own, all of one
        weight.

    >>> lexicon_sentiment("We are happy to help."), lexicon_sentiment("We are not happy."), lexicon_sentiment("It is blue.")
    (0.25, -0.25, 0.0)
    """  # noqa: E501
    total, negated = 0, 0
    for word in _WORD.findall(text.lower().replace("’", "'"))[:_MAX_WORDS]:
        value = (word in GOOD) - (word in BAD)
        total += -value if negated else value
        negated = _REACH if word in _NEGATIONS else max(0, negated - 1)
    return total / math.sqrt(total * total + _FLATTENING)


def _balance(row: Mapping[str, float], name: str) -> float:
    found = {}
    for sign in ("pos", "neg"):
        labels = [label for label in row if label.casefold().startswith(sign)]
        if not labels:
            raise EvaluationError(
                f"the classifier {name} has no label that begins with {sign!r}; its labels are"
                f" {', '.join(row)}"
            )
        found[sign] = float(row[labels[0]])
    return max(-1.0, min(1.0, found["pos"] - found["neg"]))
