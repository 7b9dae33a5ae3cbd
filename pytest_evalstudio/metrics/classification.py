"""Classification: confusion matrix, accuracy, macro precision, recall and F1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence


def confusion_matrix(pairs: Counter[tuple[str, str]]) -> tuple[list[str], list[list[int]]]:
    """Tabulate expected labels (rows) and predicted labels (columns).

    Args:
        pairs: frequency of each (expected label, predicted label).

    Returns:
        Labels and matrix. The expected labels come first in order, then predicted labels that are never
        expected.

    >>> confusion_matrix(Counter({("b", "b"): 2, ("b", "a"): 1}))
    (['b', 'a'], [[2, 1], [0, 0]])
    """
    expected = sorted({pair[0] for pair in pairs})
    labels = expected + sorted({pair[1] for pair in pairs}.difference(expected))
    return labels, [[pairs[row, column] for column in labels] for row in labels]


def macro_scores(pairs: Counter[tuple[str, str]], expected: Sequence[str]) -> dict[str, float]:
    """Return accuracy and macro-averaged precision, recall and F1.

    Args:
        pairs: frequency of each (expected label, predicted label).
        expected: labels to average over; a division by zero counts as 0.

    Returns:
        Fractions by metric key from 0.0 to 1.0; higher is better.

    Source: scikit-learn, precision_recall_fscore_support with average="macro", labels=expected,
        zero_division=0.

    >>> macro_scores(Counter({("a", "a"): 1, ("b", "a"): 1}), ["a", "b"])
    {'accuracy': 0.5, 'precision': 0.25, 'recall': 0.5, 'f1': 0.3333333333333333}
    """
    truth: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    for (label, answer), count in pairs.items():
        truth[label] += count
        predicted[answer] += count
    hits = {label: pairs[label, label] for label in expected}
    precision = [hits[label] / predicted[label] if predicted[label] else 0.0 for label in expected]
    recall = [hits[label] / truth[label] for label in expected]
    f1 = [2 * hits[label] / (truth[label] + predicted[label]) for label in expected]
    return {
        "accuracy": sum(hits.values()) / truth.total(),
        "precision": sum(precision) / len(expected),
        "recall": sum(recall) / len(expected),
        "f1": sum(f1) / len(expected),
    }


def label_scores(pairs: Mapping[tuple[str, str], int], label: str) -> dict[str, float]:
    """Return precision, recall and F1 of one label.

    Args:
        pairs: frequency of each (expected label, predicted label).
        label: the positive label; a division by zero counts as 0.

    Returns:
        Fractions from 0.0 to 1.0; higher is better.

    Source: scikit-learn, precision_recall_fscore_support with labels=[label], zero_division=0.

    >>> label_scores({("yes", "yes"): 1, ("no", "yes"): 1}, "yes")
    {'precision': 0.5, 'recall': 1.0, 'f1': 0.6666666666666666}
    """
    hits = pairs.get((label, label), 0)
    predicted = sum(count for (_, answer), count in pairs.items() if answer == label)
    truth = sum(count for (expected, _), count in pairs.items() if expected == label)
    return {
        "precision": hits / predicted if predicted else 0.0,
        "recall": hits / truth if truth else 0.0,
        "f1": 2 * hits / (predicted + truth) if predicted + truth else 0.0,
    }


def statement_f1(both: int, answer_only: int, expected_only: int) -> float:
    """Return the F1 of statements: true positives divided by themselves plus half of the errors.

    Args:
        both: number of statements made by both texts; not all three numbers are 0.
        answer_only: number of statements made by the answer only.
        expected_only: number of statements made by the expected answer only.

    Returns:
        Fraction from 0.0 (none in common) to 1.0; higher is better.

    Source: RAGAS, metric answer correctness.

    >>> statement_f1(2, 1, 1)
    0.6666666666666666
    """
    return both / (both + 0.5 * (answer_only + expected_only))


def harmonic_mean(values: Sequence[float]) -> float:
    """Return the harmonic mean of fractions.

    Args:
        values: fractions from 0.0 to 1.0.

    Returns:
        Fraction from 0.0 to 1.0; higher is better; 0.0 if any value is 0.

    >>> harmonic_mean([1.0, 0.5])
    0.6666666666666666
    """
    return 0.0 if not all(values) else len(values) / sum(1.0 / value for value in values)


def highest_probabilities(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the highest probability of each label in any sentence.

    Args:
        rows: probability of each label per sentence, with equal labels; at least one row.

    Returns:
        Probability of each label, 0.0 to 1.0; lower is better.

    Raises:
        IndexError: if there are no sentences.

    Source: Hanu and Unitary team, 2020 (Detoxify), for the probabilities; H2O Eval Studio, toxicity, for the
        maximum.

    >>> highest_probabilities([{"toxicity": 0.1, "insult": 0.3}, {"toxicity": 0.2, "insult": 0.0}])
    {'toxicity': 0.2, 'insult': 0.3}
    """
    return {label: max(row[label] for row in rows) for label in rows[0]}


def verdict_scale(probability: float) -> float:
    """Combine the verdict of a binary classifier and its confidence p: 0.5 + p/2 if biased, else 0.5 - p/2.

    Args:
        probability: probability of bias, 0.0 to 1.0.

    Returns:
        0.75 to 1.0 for a probability above 0.5, else 0.0 to 0.25; lower is better.

    Raises:
        ValueError: if the argument is not a probability.

    Source: H2O Eval Studio, fairness bias.

    >>> verdict_scale(0.9), verdict_scale(0.2)
    (0.95, 0.1)
    """
    if not 0.0 <= probability <= 1.0:
        raise ValueError(f"expected a probability, found {probability}")
    biased = probability > 0.5
    confidence = probability if biased else 1.0 - probability
    return round(0.5 + confidence / 2 if biased else 0.5 - confidence / 2, 9)
