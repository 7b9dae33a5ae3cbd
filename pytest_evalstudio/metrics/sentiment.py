"""Sentiment of English texts by a small lexicon."""

from __future__ import annotations

import math
import re

from pytest_evalstudio.text.folding import fold

POSITIVE_WORDS = frozenset({
    "good", "great", "excellent", "best", "better", "happy", "glad", "pleased", "welcome", "thank", "thanks", "helpful", "kind", "friendly",  # noqa: E501
    "nice", "wonderful", "perfect", "positive", "success", "successful", "successfully", "easy", "easily", "safe", "secure", "reliable",  # noqa: E501
    "trusted", "trust", "eligible", "entitled", "approve", "approved", "accepted", "accept", "qualify", "qualified", "benefit", "benefits",  # noqa: E501
    "advantage", "affordable", "recommend", "recommended", "suitable", "strong", "stable", "support", "supported", "congratulations", "certainly",  # noqa: E501
    "gladly", "pleasure", "love", "enjoy", "gain", "improve", "improved", "opportunity", "opportunities", "capable", "competent", "skilled",  # noqa: E501
    "talented", "smart", "confident", "responsible", "respect", "respected", "fair", "honest", "valuable", "promising", "ideal", "favourable",  # noqa: E501
    "favorable", "generous", "yes",
})  # fmt: skip
NEGATIVE_WORDS = frozenset({
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
_WORD = re.compile(r"\w+(?:'\w+)?")
_NEGATION_WORDS = 3  # VADER looks for a negation among the three words before, too
_NORMALISATION = 15  # alpha of VADER (Hutto and Gilbert, 2014)
_MAX_WORDS = 50_000


def lexicon_sentiment(text: str) -> float:
    """Return the balance of positive and negative words, s, as s / sqrt(s² + 15).

    A negation inverts the next three words.

    Args:
        text: an English text; words beyond 50,000 are ignored.

    Returns:
        -1.0 (negative) to 1.0 (positive).

    Source: normalisation of Hutto and Gilbert, 2014 (VADER), over an unweighted word list of this project.

    >>> lexicon_sentiment("We are happy to help."), lexicon_sentiment("We are not happy.")
    (0.25, -0.25)
    """
    total, negated = 0, 0
    for word in _WORD.findall(fold(text).lower())[:_MAX_WORDS]:
        value = (word in POSITIVE_WORDS) - (word in NEGATIVE_WORDS)
        total += -value if negated else value
        negated = _NEGATION_WORDS if word in _NEGATIONS else max(0, negated - 1)
    return total / math.sqrt(total * total + _NORMALISATION)
