"""Test cases whose failures have causes that are known, as texts and as records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pytest_evalstudio.contrib.validation.vectors import word_weights
from support.records import RecordBuilder, evaluator, metric, score

CAUSES = (
    "mortgage house deposit valuation surveyor redemption freehold solicitor repayment lender",
    "rain cloud thunder sunshine hail forecast wind barometer drizzle snow",
    "flour butter oven whisk simmer garlic onion saucepan roast pepper",
)
COMMON = (
    "account card fee bank branch transfer limit statement balance customer payment month year office staff"
    " form letter online app"
)


def planted_texts(seed: int, *, failures: int, passes: int, words: int = 6) -> tuple[list[str], list[int]]:
    """Texts of twelve words, so many of them of their cause; the causes of failures in turn, -1 for what
    passed.

    Half of what passed has the words of a cause, too: it is no failure by these alone.
    """
    rng = np.random.default_rng(seed)
    texts, causes = [], []
    for number in range(failures + passes):
        vocabulary = (
            CAUSES[number % len(CAUSES)].split()
            if number < failures or rng.random() < 0.5
            else COMMON.split()
        )
        texts.append(" ".join([*rng.choice(vocabulary, words), *rng.choice(COMMON.split(), 12 - words)]))
        causes.append(number % len(CAUSES) if number < failures else -1)
    return texts, causes


def vectors_of(texts: list[str]) -> Any:
    """TF-IDF by itself, a row of length 1 per text."""
    return word_weights(texts).toarray()


def write_failing(folder: Path, texts: list[str], causes: list[int], **more: Any) -> Path:
    """A record of these cases: those with a cause fail `quality.score`, and are of the topic of their
    cause.
    """
    builder = RecordBuilder(evaluator("quality", metric("score")))
    for number, (text, cause) in enumerate(zip(texts, causes, strict=True)):
        categories = [
            f"topic:{cause if cause >= 0 else number % 4}",
            f"generator:{('simple', 'numbers')[number % 2]}",
        ]
        row = {
            "input": f"What of {text}?",
            "actual_output": "None.",
            "categories": categories,
            "outcomes": {"quality": score(float(cause < 0))},
        }
        builder.add(f"k{number}", "one", {**row, **more})
    folder.mkdir(parents=True, exist_ok=True)
    return builder.write(folder)
