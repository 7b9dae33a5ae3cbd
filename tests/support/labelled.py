"""Records of labelled answers whose truth is known."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from support.records import RecordBuilder, evaluator, metric, score

KEYS = {
    "n",
    "threshold",
    "auc",
    "ece_before",
    "ece_after",
    "brier",
    "type_1",
    "type_2",
    "kappa",
    "conformal",
    "weights",
    "left_out",
    "notes",
}
"""Figures of a calibration."""


def scores_and_labels(seed: int = 0, count: int = 120) -> tuple[list[float], list[int]]:
    """Scores, and labels that are good with a probability that rises with them."""
    rng = np.random.default_rng(seed)
    scores = rng.random(count)
    return scores.tolist(), (rng.random(count) < scores**2).astype(int).tolist()


def write_record(
    folder: Path,
    scores: Sequence[float | str | None],
    *,
    better: str = "higher",
    second: Sequence[float | None] = (),
    categories: Mapping[int, Sequence[str]] | None = None,
) -> Path:
    """A record in which the evaluator `quality` gave these scores to answers k0, k1, …, and `length` those in
    `second`; `categories` are those of an answer by its number.
    """
    evaluators = [
        evaluator("quality", metric("quality", better=better)),
        evaluator("length", metric("words", range=[0.0, "Infinity"])),
    ]
    builder = RecordBuilder(*evaluators[: 1 + bool(second)])
    for number, value in enumerate(scores):
        outcomes: dict[str, Any] = {"quality": {"status": "score", "scores": {"quality": value}}}
        if second:
            outcomes["length"] = score(second[number], "words")
        case_categories = list((categories or {}).get(number, ()))
        builder.add(f"k{number}", "one", {"outcomes": outcomes, "categories": case_categories}, verdicts={})
    folder.mkdir(parents=True, exist_ok=True)
    return builder.write(folder)


def write_labels(path: Path, labels: Sequence[int] | Mapping[str, int], model: str = "m-one") -> Path:
    """Labels of k0, k1, …, or by key."""
    pairs = (
        labels.items()
        if isinstance(labels, Mapping)
        else ((f"k{number}", label) for number, label in enumerate(labels))
    )
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [("key", "model_key", "label"), *((key, model, label) for key, label in pairs)]
        )
    return path
