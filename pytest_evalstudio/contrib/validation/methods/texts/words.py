"""Key words and similarity of texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from pytest_evalstudio.contrib.questions.corpus import STOP_WORDS, singular

_LETTERS = re.compile(r"[^\W\d_]{3,}(?:['’-][^\W\d_]+)*")


def topic_words(text: str) -> list[str]:
    """Return lower-case words of three letters or more without stop words and numbers."""
    return [singular(word) for word in _LETTERS.findall(text.lower()) if word not in STOP_WORDS]


def class_tf_idf(classes: Sequence[Sequence[str]], most: int) -> list[list[str]]:
    """Return the key words of each class of texts: those that are frequent in it and not elsewhere.

    A word's weight in a class is its share of the class's words times log(1 + A / f), f being its count in
    all classes and A the mean number of words in a class. Own code: scikit-learn's TF-IDF has no classes.

    Args:
        classes: the words of each class, repeats counted.
        most: key words wanted of each.

    Returns:
        For each class its words of greatest weight, greatest first, in the order of the alphabet where they
        are equal.

    Source: Grootendorst, 2022 (BERTopic).

    >>> class_tf_idf([["fee", "fee", "bank"], ["card", "card", "bank"]], 1)
    [['fee'], ['card']]
    """
    counts = [Counter(words) for words in classes]
    overall: Counter[str] = sum(counts, Counter())
    average = overall.total() / len(classes) if classes else 0.0
    ranked = []
    for count in counts:
        total = count.total()
        weights = {
            word: number / total * math.log(1 + average / overall[word]) for word, number in count.items()
        }
        # Rounded, so that the order does not depend on the machine.
        ranked.append(sorted(weights, key=lambda word: (-round(weights[word], 12), word))[:most])
    return ranked


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of the words of either set that both have; 1.0 for two empty sets.

    Source: Jaccard, 1912.
    """
    union = len(first | second)
    return len(first & second) / union if union else 1.0
