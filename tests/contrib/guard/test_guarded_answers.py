"""Bad answers that a guard stops by rules, and good ones that it lets through, over real HTTP."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.contrib.guard.client import GuardClient
from support.guard_server import Serving, configure, serving

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[2] / "data" / "answers" / "guarded_answers.json"
ANSWERS: dict[str, list[dict[str, Any]]] = json.loads(DATA.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    file = configure(tmp_path_factory.mktemp("guard") / "guardrails.json", "context_contradictions")
    with serving(file) as running:
        yield running


def verdicts(service: Serving, kind: str) -> list[dict[str, Any]]:
    checks = [{key: each[key] for key in ("question", "context", "answer")} for each in ANSWERS[kind]]
    response = service.post("/v1/check/batch", {"checks": checks})
    assert response.status_code == 200
    results: list[dict[str, Any]] = response.json()["results"]
    return results


def test_swapped_values_scopes_and_negations_are_not_reliable(service: Serving) -> None:
    """Eight of nine are found; "free at other banks" has the words of a sentence that says it of own ones."""
    words = [result["verdict"] for result in verdicts(service, "bad")]
    assert len(words) == 9
    assert words.count("reliable") <= 1
    fault_counts = Counter(
        each["fault"] for each, word in zip(ANSWERS["bad"], words, strict=True) if word == "unreliable"
    )
    assert fault_counts == {"numbers": 3, "scope": 2, "product": 1, "negation": 2}


def test_good_full_sentences_are_not_unreliable(service: Serving) -> None:
    words = [result["verdict"] for result in verdicts(service, "good")]
    assert len(words) == 20
    assert words.count("unreliable") == 0


@pytest.mark.parametrize("answer", ["", "I am sorry, but I do not know."])
def test_an_answer_that_states_nothing_is_not_called_contradictory(service: Serving, answer: str) -> None:
    result = service.post("/v1/check", {"context": ["The fee is 5 USD."], "answer": answer}).json()
    assert result["verdict"] == ("reliable" if answer else "unreliable")
    assert not any("context_contradictions" in reason for reason in result["reasons"])


@pytest.mark.parametrize(
    ("configuration", "is_uncalibrated"),
    [
        ({"evaluator_ids": ["context_contradictions"]}, False),
        ({"evaluator_ids": ["lexical_groundedness"]}, True),
        (
            {
                "calibrated_thresholds": {
                    "lexical_groundedness": {
                        "supported_words": 0.5,
                        "supported_numbers": 1.0,
                    }
                }
            },
            False,
        ),
        (
            {
                "calibrated_thresholds": {
                    "lexical_groundedness": {"supported_words": 0.5, "supported_numbers": 1.0}
                },
                "not_calibrated": {"lexical_groundedness": ["supported_words"]},
            },
            True,
        ),
    ],
    ids=["yes or no", "default threshold", "calibrated thresholds", "marked as not calibrated"],
)
def test_a_verdict_says_whether_its_thresholds_were_calibrated(
    tmp_path: Path, configuration: dict[str, Any], is_uncalibrated: bool
) -> None:
    file = tmp_path / "guardrails.json"
    file.write_text(json.dumps(configuration))
    with serving(file) as running, GuardClient(running.url) as client:
        verdict = client.check("Fee?", "The fee is 5 USD.", ["The fee is 5 USD."])
    assert verdict.verdict == "reliable"
    assert verdict.uncalibrated is is_uncalibrated
    assert {check.uncalibrated for check in verdict.metrics if check.metric == "supported_words"} <= {
        is_uncalibrated
    }
