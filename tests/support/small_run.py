"""A small run of two models, whose report is read file by file."""

from __future__ import annotations

import json

from pytest_evalstudio.core.plugins.evaluator import ModelScore
from support.records import RecordBuilder, boolean_evaluator, evaluator, flip, leak, metric, perturbed

RUN = "00000000-0000-4000-8000-000000000001"


def small_run():
    classification = evaluator(
        "classification", metric("accuracy"), metric("f1", primary=False), domain="classification"
    )
    builder = RecordBuilder(
        evaluator("rouge", metric("rouge_1", primary=False), metric("rouge_l")),
        boolean_evaluator(),
        classification,
        models=("one", "two"),
        gates=["rouge >= 0.1"],
    )
    for name, value in (("one", 0.9), ("two", 0.2)):
        outcomes = {
            "rouge": {"status": "score", "scores": {"rouge_1": value, "rouge_l": value}, "reason": "words"},
            "text_matching": {
                "status": "score",
                "scores": {"model_passes": 1.0},
                "findings": [leak("a key")],
            },
            "classification": {"status": "score", "scores": {"accuracy": 1.0, "f1": None}},
        }
        builder.add(
            "a", name, {"outcomes": outcomes, "context": ["chunk"], "categories": ["fees"], "cost": 0.1}
        )
        outcomes = {**outcomes, "rouge": {"status": "not_applicable", "reason": "no expected output"}}
        builder.add(
            "a-comma",
            name,
            {"outcomes": outcomes, **perturbed("a", "comma:HIGH")},
            flips=[flip("a", "rouge", metric="rouge_l")],
        )
    return builder


class Macro:
    def aggregate(self, rows):
        return ModelScore(
            scores={"accuracy": 1.0, "f1": 0.5}, table={"labels": ["x"], "matrix": [[len(list(rows))]]}
        )


def read(path):
    def refuse(word):
        raise AssertionError(f"{path} holds {word}")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def explanation_of(folder):
    return read(folder / "global_llm_eval_results" / "application_json" / "explanation.json")
