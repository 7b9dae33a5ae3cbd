"""Sums of scores on the texts of this repository.

A faster way to read a text changes no score. The sums of BLEU, ROUGE and the step alignment are those of
the version that read each text anew; those of the others, of the first version that read all texts by the
package `text`.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import defaultdict
from pathlib import Path

import pytest

from pytest_evalstudio import make_case
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.text.sentences import split_sentences

ROOT = Path(__file__).parents[2]
LAB = ROOT / "example_suites" / "lab" / "four_models_lab.json"
DOCUMENTS = ROOT / "tests" / "data" / "documents"
ADDED = "independent_eleventh"
SUMS = {
    "groundedness_signals": {
        "groundedness_signals": 96.98222,
        "min_groundedness_signals": 87.089292,
        "supported_numbers": 132.88888888888889,
        "supported_names": 155.55508658008657,
        "agreeing_sentences": 155.8452380952381,
    },
    "bleu": {
        "bleu_1": 90.89734031808975,
        "bleu_2": 77.06797239794417,
        "bleu_3": 72.73233248660881,
        "bleu_4": 70.13601366659182,
    },
    "looping_detection": {
        "unique_sentences": 152.89736842105262,
        "longest_repeated_substring": 7.599352240032842,
        "compression_ratio": 112.45896607604345,
    },
    "lexical_groundedness": {
        "supported_words": 149.9448886865472,
        "unsupported_words": 137.0,
        "supported_bigrams": 139.49485012090173,
        "worst_sentence_bigrams": 110.83757272139626,
        "supported_numbers": 132.88888888888889,
    },
    "rouge": {"rouge_1": 101.38584996952069, "rouge_2": 86.96807517381583, "rouge_l": 91.15107880451973},
    "step_alignment": {
        "edits": 216.0,
        "insertions": 190.0,
        "deletions": 1.0,
        "mismatches": 25.0,
        "retrieved_context_steps": 352.0,
        "actual_answer_steps": 163.0,
    },
}


def cases() -> list[Case]:
    """Return the answers of a lab, and parts of documents with other parts as contexts."""
    rows = json.loads(LAB.read_text(encoding="utf-8"))["dataset"]["inputs"]
    lab = [
        make_case(
            row["input"], row["actual_output"], expected_output=row["expected_output"], context=row["context"]
        )
        for row in rows
    ]
    # Of the subfolders: the pages beside them are about the documents, and change.
    # Documents that were added later would move all parts.
    paths = [path for path in sorted(DOCUMENTS.glob("*/**/*.md")) if ADDED not in path.parts]
    text = "\n\n".join(path.read_text(encoding="utf-8") for path in paths)
    parts = [text[start : start + 850] for start in range(0, 80_000, 850)]
    return lab + [
        make_case(
            part[:80],
            part[:600] + next_part[:250],
            expected_output=part[300:] + next_part[:100],
            context=[part, next_part],
        )
        for part, next_part in itertools.pairwise(parts)
    ]


@pytest.fixture(scope="module")
def all_cases() -> list[Case]:
    return cases()


@pytest.mark.parametrize("evaluator", SUMS)
def test_scores_are_those_of_texts_that_are_read_anew(evaluator: str, all_cases: list[Case]) -> None:
    tools = Tools(split_sentences=split_sentences)
    sums = defaultdict[str, list[float]](list)
    for outcome in Registry().evaluators.get(evaluator)().score(all_cases, tools):
        for metric, score in outcome.scores.items():
            sums[metric].append(math.nan if score is None else score)
    assert {metric: math.fsum(filter(math.isfinite, scores)) for metric, scores in sums.items()} == SUMS[
        evaluator
    ]
