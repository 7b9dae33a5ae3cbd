"""Runs for looking at the page: several domains, models, failures of every kind."""

from __future__ import annotations

from support.records import RecordBuilder, boolean_evaluator, evaluator, flip, leak, metric, perturbed, score

MODELS = ("alpha", "beta", "gamma")
CASES = 12


def varied_run() -> RecordBuilder:
    """Four evaluators in three domains, three models, twelve cases; beta is poor, gamma breaks on one case.

    Quality is 1 - case/12 for alpha, half of it for beta; the last case is a perturbation of the first, and
    flips for beta.
    """
    builder = RecordBuilder(
        evaluator(
            "quality",
            metric("quality"),
            metric("brevity", primary=False),
            name="Answer quality",
            method=["rules"],
        ),
        evaluator(
            "groundedness",
            *(
                metric(f"m{number}", primary=number == 0, asserted=number == 0, name=f"Facet {number}")
                for number in range(4)
            ),
            domain="generation",
            method=["embeddings"],
            keywords=["nist-ai-rmf-safe"],
        ),
        evaluator("recall", metric("recall"), domain="retrieval", keywords=["sr-11-7-ongoing-monitoring"]),
        boolean_evaluator("pii", domain="privacy", problem_type="privacy", avid="P0300"),
        models=MODELS,
        gates=["pass_rate(pii) >= 0.5"],
    )
    for number in range(CASES):
        for name in MODELS:
            _item(builder, number, name)
    return builder


def _item(builder: RecordBuilder, number: int, name: str) -> None:
    quality = round((1 - number / CASES) * (0.5 if name == "beta" else 1.0), 4)
    answer = f"The first sentence of {name}. A second one about zebra-{number}-{name}."
    fragments = [
        {"part": "answer", "start": 0, "end": answer.index(".") + 1, "scores": {"m0": 0.9}},
        {
            "part": "answer",
            "start": answer.index(".") + 2,
            "end": len(answer),
            "scores": {"m0": 0.1},
            "message": "not in the context",
        },
        {"part": "context:0", "start": 0, "end": 5, "message": "looked at"},
    ]
    outcomes = {
        "quality": {
            "status": "score",
            "scores": {"quality": quality, "brevity": 0.8},
            "reason": f"quality is {quality}",
        },
        "groundedness": {
            "status": "score",
            "scores": {"m0": 0.4, "m1": 0.9, "m2": 0.7, "m3": quality},
            "fragments": fragments,
        },
        "recall": score(1.0, "recall"),
        "pii": {
            "status": "score",
            "scores": {"model_passes": 0.0 if number == 3 else 1.0},
            "findings": [leak("a card")] if number == 3 else [],
        },
    }
    more = {}
    if name == "gamma" and number == 5:
        outcomes["quality"] = {"status": "error", "reason": "could not be judged"}
    row = {
        "input": f"How does case {number} end, in the opinion of 'everybody'?",
        "actual_output": answer,
        "context": ["chunk one of the manual", "chunk two"],
        "context_sources": ["manual.md", "annex.md"],
        "categories": ["even" if number % 2 == 0 else "odd"],
        "output_condition": '"zebra"',
        "cost": 0.002,
        "actual_duration": 1.25,
        "usage": {"input_tokens": 21},
        "outcomes": outcomes,
    }
    if number == CASES - 1:
        row |= perturbed("case-0", "comma:HIGH")
        if name == "beta":
            more = {"flips": [flip("case-0", metric="quality")]}
    item = builder.add(f"case-{number}", name, row, **more)
    for id, verdict in item["verdicts"].items():
        verdict["reason"] = outcomes[id].get("reason", "")


def many_rows(count: int) -> RecordBuilder:
    """One model, one evaluator, so many cases; two in ten miss the threshold."""
    builder = RecordBuilder()
    for number in range(count):
        row = {
            "actual_output": f"needle-{number}",
            "outcomes": {"quality": score(number % 100 / 100 * 0.625 + 0.375)},
        }
        builder.add(f"case-{number}", "one", row)
    return builder
