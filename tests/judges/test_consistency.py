"""Replies whose parts contradict each other: for every template, never a pass."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.contrib.arena.judging import judge_games
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.judging import Question, independent
from pytest_evalstudio.formats.dataset import LlmDataset
from support.judge_questions import GAME, QUESTIONS, ROW, good_reply, score
from support.judging import Replies, SaidByTest, ScriptedJudge, outcome, panel_of

CHECKED = [
    (id, question)
    for id, question in QUESTIONS
    if question.consistency is not None and question.consistency is not independent
]


def comparable_parts(schema: Mapping[str, Any]) -> int:
    """Number of choices, numbers and lists in a schema: texts say nothing that a rule can compare."""
    kind = schema.get("type")
    if "enum" in schema or kind in ("number", "integer"):
        return 1
    if kind == "array":
        return 1 + comparable_parts(schema["items"])
    return sum(map(comparable_parts, schema.get("properties", {}).values()))


def random_reply(schema: Mapping[str, Any], rng: random.Random) -> Any:
    if "enum" in schema:
        return rng.choice(schema["enum"])
    match schema.get("type"):
        case "object":
            return {name: random_reply(part, rng) for name, part in schema["properties"].items()}
        case "array":
            least, most = schema.get("minItems", 0), schema.get("maxItems", 3)
            return [random_reply(schema["items"], rng) for _ in range(rng.randint(least, most))]
        case "integer":
            return rng.randint(schema["minimum"], schema["maximum"])
    return "a statement"


def replies(question: Question) -> tuple[list[Any], list[Any]]:
    """Random replies: those that agree with themselves, and those that do not."""
    assert question.consistency is not None
    rng = random.Random(question.prompt)
    samples = [random_reply(question.reply, rng) for _ in range(300)]
    faults = [question.consistency(reply) for reply in samples]
    return (
        [reply for reply, fault in zip(samples, faults, strict=True) if not fault],
        [reply for reply, fault in zip(samples, faults, strict=True) if fault],
    )


@pytest.mark.parametrize(
    "question", [question for _, question in QUESTIONS], ids=lambda question: question.prompt
)
def test_a_template_whose_parts_can_disagree_declares_its_check(question: Question) -> None:
    if comparable_parts(question.reply) > 1:
        assert question.consistency is not None
    for part in question.reply["properties"].values():
        assert part.get("type") != "number", (
            "a score that follows from other parts is computed, not asked for"
        )


def test_the_templates_with_a_check() -> None:
    assert {question.prompt for _, question in CHECKED} == {
        "arena",
        "attribution",
        "claim_support",
        "graded_run",
        "groundedness_judge",
        "statements",
    }


@pytest.mark.parametrize(("id", "question"), CHECKED, ids=[question.prompt for _, question in CHECKED])
def test_a_reply_that_contradicts_itself_is_an_error_after_one_repair(id: str, question: Question) -> None:
    agreeing, contradicting = replies(question)
    assert agreeing
    assert contradicting
    for reply in contradicting[:5]:
        model = SaidByTest(
            lambda prompt, reply=reply: (
                reply if prompt.reply_schema == question.reply else good_reply(prompt.reply_schema)
            )
        )
        if id == "arena":
            judged = judge_games([GAME], panel_of(model), seed=0)
            assert not judged.battles
            assert "contradicts itself" in next(iter(judged.faults))
        else:
            result = score(id, panel_of(model))
            assert (result.status, result.code) == ("error", OutcomeCode.JUDGE_CONTRADICTORY)
            assert not any(result.scores.values())
        assert sum("cannot be used" in prompt for prompt in model.asked) == 1
    for reply in agreeing[:3]:
        model = SaidByTest(
            lambda prompt, reply=reply: (
                reply if prompt.reply_schema == question.reply else good_reply(prompt.reply_schema)
            )
        )
        if id == "arena":
            assert judge_games([GAME], panel_of(model), seed=0).battles
        else:
            assert score(id, panel_of(model)).status == "score"


def test_a_judge_that_agrees_with_itself_when_asked_again_has_a_verdict() -> None:
    judge = ScriptedJudge(
        {
            "grounded in the retrieved context": Replies(
                [
                    {"unsupported_statements": ["It is free."], "rationale": "so", "rating": "yes"},
                    {"unsupported_statements": ["It is free."], "rationale": "so", "rating": "no"},
                ]
            )
        }
    )
    result = outcome("groundedness_judge", judge, ROW)
    assert result.scores == {"rating": 0.0}
    assert "names 1 unsupported statements, and the rating is yes" in judge.prompts[1]
    assert result.judging is not None
    assert (result.judging.calls, result.judging.repairs) == (2, 1)


@pytest.mark.parametrize("empty", [[], [""], ["None."], ["n/a"]])
def test_an_empty_list_in_other_words_agrees_with_yes(empty: list[str]) -> None:
    reply = {"unsupported_statements": empty, "rationale": "All is said.", "rating": "yes"}
    assert outcome("groundedness_judge", lambda prompt: json.dumps(reply), ROW).scores == {"rating": 1.0}


def test_no_contradictory_reply_is_stored(tmp_path: Path) -> None:
    prompts: list[str] = []

    def judge(prompt: str) -> str:
        prompts.append(prompt)
        return json.dumps({"unsupported_statements": ["x y"], "rationale": "so", "rating": "yes"})

    dataset = LlmDataset()
    dataset.add_input("Q?", key="a", actual_output="A.", context=["C."])
    config = {"judge": {"host": "python", "target": judge, "cache": True}, "cache": str(tmp_path)}
    for _ in range(2):
        evaluate(dataset, ["groundedness_judge"], config=config)
    assert len(prompts) == 4
