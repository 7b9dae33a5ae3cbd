"""Evaluations to be labelled, and people whose judgement is known."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pytest_evalstudio.contrib.calibration.labelling.cases import LabelledCase
from pytest_evalstudio.formats.labels import Label
from pytest_evalstudio.formats.sheets import write_rows
from support.records import RecordBuilder, boolean_evaluator, evaluator, metric

COLUMNS = ("key", "model_key", "label", "rater", "answer_id")


def record_of(
    folder: Path,
    scores: Sequence[float | None],
    *,
    better: str = "higher",
    text: str = "It costs £{}.",
    **header: Any,
) -> Path:
    """The record of an evaluation: answers k000, k001, … with these scores by `quality`, in four topics;
    `text_matching` and `length` beside it.
    """
    metrics = [metric("quality", better=better), metric("other", primary=False, asserted=False)]
    builder = RecordBuilder(
        evaluator("length", metric("words", range=[0.0, "Infinity"])),
        evaluator("quality", *metrics),
        boolean_evaluator(),
        **header,
    )
    for number, value in enumerate(scores):
        outcomes: dict[str, Any] = {
            "quality": {"status": "score", "scores": {"quality": value, "other": 1.0}},
            "text_matching": {"status": "score", "scores": {"model_passes": 1.0}},
            "length": {"status": "score", "scores": {"words": 7.0}},
        }
        row = {
            "input": f"What does service {number} cost?",
            "actual_output": text.format(number),
            "expected_output": f"£{number}.00",
            "context": [f"Service {number} costs £{number}."],
            "context_sources": ["fees.md"],
            "categories": [f"topic:{number % 4}", "generator:simple_factual"],
            "outcomes": outcomes,
        }
        builder.add(f"k{number:03}", "one", row)
    folder.mkdir(parents=True, exist_ok=True)
    return builder.write(folder)


def candidate(key: str, model_key: str, *, place: float, topic: str = "") -> LabelledCase:
    """An answer that may be drawn for labelling."""
    return LabelledCase(
        key=key,
        model_key=model_key,
        model=model_key,
        question="",
        answer="",
        expected="",
        context=(),
        topic=topic,
        categories=(),
        scores={},
        verdict=None,
        answer_id="",
        place=place,
    )


def drawn_scores(count: int = 120, seed: int = 0) -> list[float]:
    return [round(float(value), 4) for value in np.random.default_rng(seed).random(count)]


def judged(cutoff: float = 0.6, *, doubt: float = 0.1) -> Callable[[str, float], int]:
    """Somebody who calls answers good from a score on, and is of another mind on some near it, always the
    same ones.
    """

    def judge(key: str, score: float) -> int:
        shift = int(hashlib.sha256(key.encode()).hexdigest()[:6], 16) / 0xFFFFFF * 2 - 1
        return int(score + doubt * shift >= cutoff)

    return judge


def write(path: Path, labels: Sequence[Label]) -> None:
    """A CSV file of labels, as `evalstudio review` writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        write_rows(COLUMNS, [{name: getattr(label, name) for name in COLUMNS} for label in labels])
    )
