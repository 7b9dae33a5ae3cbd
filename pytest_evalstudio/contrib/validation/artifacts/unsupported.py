"""Sentences of answers that neither the context nor the question supports, whatever the metrics say."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_evalstudio.contrib.questions.api import content_words
from pytest_evalstudio.text.refusals import clause_kind
from pytest_evalstudio.text.sentences import split_sentences

MIN_WORDS = 5
"""Distinct content words of the shortest sentence that counts: introductions and greetings have fewer."""
MAX_SUPPORT = 0.2
"""Share of supported content words below which a sentence counts as unsupported: one word in six may occur in
any text.
"""
MAX_SHARE = 0.05
"""Maximum share of passing answers with such a sentence that leaves a conclusion."""


def has_unsupported_sentence(answer: str, sources: Iterable[str]) -> bool:
    """Report whether a sentence of an answer has hardly a word of its sources; courtesies do not count.

    Args:
        answer: of the model; time is linear in its length and in that of the sources.
        sources: context, question and expected answer.

    >>> has_unsupported_sentence("It is 30 USD. All visitors receive a golden key and pears.", ["The fee is 30 USD."])
    True
    >>> has_unsupported_sentence("According to the document, the fee is 30 USD.", ["The fee is 30 USD."])
    False
    """  # noqa: E501
    known = frozenset(content_words(" ".join(sources)))
    for start, end in split_sentences(answer):
        sentence = answer[start:end]
        words = frozenset(content_words(sentence))
        if (
            len(words) >= MIN_WORDS
            and len(words & known) < MAX_SUPPORT * len(words)
            and clause_kind(sentence.lower()) == "content"
        ):
            return True
    return False
