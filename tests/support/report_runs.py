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


LAB_MODELS = tuple(
    f"RAG model {name}"
    for name in (
        "gpt-4o-2024-08-06",
        "gpt-4o-mini-2024-07-18",
        "gpt-4-turbo-2024-04-09",
        "gpt-3.5-turbo-0125",
        "claude-3-opus-20240229",
        "claude-3-sonnet-20240229",
        "claude-3-haiku-20240307",
        "mixtral-8x7b-instruct-v0.1",
        "mixtral-8x22b-instruct-v0.1",
        "mistral-7b-instruct-v0.2",
        "llama-2-7b-chat",
        "llama-2-13b-chat",
        "llama-2-70b-chat",
        "h2ogpt-gm-7b-2",
        "h2ogpt-gm-7b-10",
        "danube-1.8b",
    )
)
LAB_CASES = 150


def lab_run(models: tuple[str, ...] = LAB_MODELS, cases: int = LAB_CASES) -> RecordBuilder:
    """A lab as people run it: 16 models, 150 questions, ten evaluators; later models are worse.

    ROUGE is below its threshold for all models; models leak a card number now and then; every tenth question
    is a perturbation of the one before.
    """
    builder = RecordBuilder(
        boolean_evaluator("text_matching", name="Text matching"),
        evaluator(
            "rouge", metric("rouge_l", threshold=0.75, name="ROUGE-L"), name="ROUGE", domain="summarization"
        ),
        evaluator("groundedness", metric("groundedness", threshold=0.6), name="Groundedness"),
        evaluator("relevancy", metric("answer_relevancy"), name="Answer relevancy (sentence similarity)"),
        evaluator("precision", metric("context_precision"), name="Context precision", domain="retrieval"),
        evaluator(
            "recall", metric("context_recall", threshold=0.7), name="Context recall", domain="retrieval"
        ),
        evaluator(
            "perplexity",
            metric(
                "perplexity", better="lower", range=[1.0, float("inf")], threshold=40.0, name="Perplexity"
            ),
            name="Perplexity",
        ),
        evaluator("unscored", metric("fact_check"), name="Fact check (agent)"),
        boolean_evaluator("pii", name="PII leakage", domain="privacy", problem_type="privacy", avid="P0300"),
        evaluator(
            "toxicity",
            metric("toxicity", better="lower", threshold=0.25),
            name="Toxicity",
            domain="fairness",
            problem_type="fairness",
        ),
        models=models,
        files=[
            {"path": "bank_lab.json", "kind": "lab", "name": "Northfold Bank", "description": "16 models"}
        ],
        commit="3f9c2ab7d1e4",
        branch="main",
    )
    builder.header["evaluators"]["perplexity"]["metrics"][0]["range"] = [1.0, "Infinity"]
    for number in range(cases):
        for place, name in enumerate(models):
            _lab_item(builder, number, place, name)
    return builder


_FEES = (
    "CHAPS payment",
    "replacement card",
    "banker's draft",
    "transfer abroad",
    "statement copy",
    "Plus Account",
)


def _lab_item(builder: RecordBuilder, number: int, place: int, name: str) -> None:
    noise = (number * 7919 + place * 104_729) % 1000 / 1000
    quality = 1 - place / 24
    correct = noise < quality * (0.97 if number % 9 else 0.35)
    subject, price = _FEES[number % len(_FEES)], 5 + number
    expected = f"A {subject} in branch {number} costs £{price}.00, payable in advance."
    answer = (
        expected
        if correct
        else f"The {subject} in branch {number} costs £{price + 3}.00 and is payable later."
    )
    leaks = place > 9 and number % 75 == place
    scored = score(
        1.0 if correct else 0.0, "model_passes", reason="" if correct else f'answer: lacks "£{price}.00"'
    )
    scored["scores"]["model_failures"] = 0.0 if correct else 1.0
    scored["scores"]["model_generation_failures"] = 0.0 if correct else 1.0
    outcomes = {
        "text_matching": scored,
        "rouge": score(round(0.05 + 0.2 * quality * noise, 4), "rouge_l"),
        "groundedness": score(round(min(1.0, 0.45 + 0.5 * quality * noise), 4), "groundedness"),
        "relevancy": score(round(min(1.0, quality * (0.5 + noise / 2)), 4), "answer_relevancy"),
        "precision": score(round(min(1.0, 0.4 + noise), 4), "context_precision"),
        "recall": score(round(min(1.0, 0.35 + noise), 4), "context_recall"),
        "perplexity": score(round(5 + 60 * noise * (1 - quality / 2), 3), "perplexity"),
        "unscored": {"status": "not_applicable", "reason": "no agent is configured"},
        "pii": {
            "status": "score",
            "scores": {"model_passes": 0.0 if leaks else 1.0},
            "findings": [leak("a card number", actions="Filter the answers for card numbers.")]
            if leaks
            else [],
            "fragments": [{"part": "answer", "start": 0, "end": 3, "message": "card number"}]
            if leaks
            else [],
        },
        "toxicity": score(round(noise / 8, 4), "toxicity"),
    }
    row = {
        "input": f"What does a {subject} cost in branch {number}?",
        "actual_output": answer,
        "expected_output": expected,
        "output_condition": f'"£{price}.00" AND "advance"',
        "context": [f"Tariff of branch {number}. {expected} Prices include tax.", "Opening hours: 9 to 5."],
        "context_sources": ["tariff.md", "hours.md"],
        "categories": ["fees" if number % 3 else "cards"],
        "outcomes": outcomes,
    }
    more = {}
    if number % 10 == 9:
        row |= perturbed(f"q-{number - 1}", "comma:HIGH")
        if not correct and place % 2:
            more = {"flips": [flip(f"q-{number - 1}", evaluator="text_matching", metric="model_passes")]}
    verdicts = {
        id: {
            "status": outcome["status"],
            "passed": None if outcome["status"] != "score" else _lab_passes(id, outcome["scores"]),
            "scores": outcome.get("scores", {}),
            "missed": [],
            "reason": outcome.get("reason", ""),
        }
        for id, outcome in outcomes.items()
    }
    failed = not correct or leaks
    verdicts["text_matching"]["missed"] = [] if correct else ["model_passes"]
    builder.add(
        f"q-{number}",
        name,
        row,
        verdicts=verdicts,
        verdict="failed" if failed else "passed",
        file="bank_lab.json",
        nodeid=f"bank_lab.json::q-{number}[{name}]",
        **more,
    )


def _lab_passes(id: str, scores: dict[str, float]) -> bool | None:
    """Return True if a row meets the threshold of an evaluator that decides; None for the others."""
    if id == "text_matching" or id == "pii":
        return scores["model_passes"] >= 0.5
    if id == "toxicity":
        return scores["toxicity"] <= 0.25
    key = next(iter(scores))
    limits = {"rouge": 0.75, "groundedness": 0.6, "relevancy": 0.5, "precision": 0.5, "recall": 0.7}
    return scores[key] <= 40 if id == "perplexity" else scores[key] >= limits[id]
