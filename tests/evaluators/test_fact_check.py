"""The agent that checks facts, and the judge that copies out steps."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.engine.scoring.plan import Plan
from pytest_evalstudio.formats.config import configuration
from support.judging import ScriptedJudge, outcome, outcomes

ROW = {"input": "When was it?", "actual_output": "It was in 1912."}
REPLY = {
    "statements": [{"statement": "It was in 1912.", "reason": "The archive says 1911.", "verdict": "false"}],
    "answer": "It was in 1911.",
    "evaluation_score": 0.25,
    "evaluation_summary": "The year is wrong.",
}


def test_the_score_is_what_the_agent_says() -> None:
    found = outcome("fact_check", {"Check the facts": REPLY}, ROW)
    assert found.scores == {"fact_check": 0.25}
    assert found.reason == "The year is wrong."
    assert found.details == REPLY


@pytest.mark.parametrize("score", [1.5, -0.1, "high", None])
def test_a_score_out_of_range_cannot_be_read(score: Any) -> None:
    found = outcome("fact_check", {"Check the facts": {**REPLY, "evaluation_score": score}}, ROW)
    assert found.status == "error"
    assert "evaluation_score" in found.reason


def test_a_score_in_quotes_can() -> None:
    assert outcome("fact_check", {"Check the facts": {**REPLY, "evaluation_score": "0.5"}}, ROW).scores == {
        "fact_check": 0.5
    }


def test_only_the_first_rows_are_checked() -> None:
    judge = ScriptedJudge({"Check the facts": REPLY})
    found = outcomes(
        "fact_check",
        judge,
        *({**ROW, "actual_output": f"In {year}."} for year in range(1910, 1915)),
        options={"max_dataset_rows": 2},
    )
    assert [one.status for one in found] == ["score", "score", *["not_applicable"] * 3]
    assert "max_dataset_rows" in found[-1].reason
    assert len(judge.prompts) == 2


def test_an_agent_of_its_own_is_asked() -> None:
    judge, agent = ScriptedJudge({}), ScriptedJudge({"Check the facts": REPLY})
    found = outcome(
        "fact_check",
        judge,
        ROW,
        options={"agent_host": "agent"},
        model=[{"name": "agent", "host": "python", "target": agent}],
    )
    assert found.scores == {"fact_check": 0.25}
    assert not judge.prompts


def test_without_a_judge_the_first_agent_is_chosen() -> None:
    models = [
        {"name": "plain", "host": "h2ogpte_llm", "url": "http://127.0.0.1:9", "api_key": "k"},
        {"name": "agent", "host": "h2ogpte_llm", "url": "http://127.0.0.1:9", "api_key": "k"},
    ]
    models[1]["llm_args"] = {"use_agent": True}
    for table, chosen in ((models, "agent"), (models[:1], None)):
        plan = Plan(Registry(), configuration({"model": table, "evaluators": ["fact_check"]}))
        assert plan.selected[0].own_judge.get("model") == chosen


def test_an_agent_that_is_not_configured_is_a_usage_error() -> None:
    with pytest.raises(ConfigurationError, match="no model named 'agent'"):
        outcome("fact_check", {}, ROW, options={"agent_host": "agent"})


STEPS = {
    "input": "How?",
    "actual_output": "First open the app. Pay.",
    "context": ["1. Open the app.\n2. Choose a card.\n3. Pay."],
}


def test_steps_that_the_judge_copies_out_are_aligned() -> None:
    def judge(prompt: str) -> str:
        return (
            '{"steps": ["Open the app.", "Choose a card.", "Pay."]}'
            if "Choose" in prompt
            else '{"steps": ["open the app.", "Pay."]}'
        )

    found = outcome("step_alignment", judge, STEPS, options={"step_extractor": "llm"})
    assert {key: found.scores[key] for key in ("edits", "insertions", "deletions", "mismatches")} == {
        "edits": 1.0,
        "insertions": 1.0,
        "deletions": 0.0,
        "mismatches": 0.0,
    }
    assert [STEPS["actual_output"][one.start : one.end] for one in found.fragments] == [
        "open the app.",
        "Pay.",
    ]
    assert found.judging.calls == 2


def test_a_context_in_which_the_judge_finds_no_steps_is_not_applicable() -> None:
    found = outcome(
        "step_alignment", lambda prompt: '{"steps": []}', STEPS, options={"step_extractor": "llm"}
    )
    assert found.status == "not_applicable"


def test_of_an_empty_answer_only_the_context_is_asked_about() -> None:
    judge = ScriptedJudge({"List the steps": {"steps": ["Open the app."]}})
    found = outcome(
        "step_alignment", judge, {**STEPS, "actual_output": ""}, options={"step_extractor": "llm"}
    )
    assert found.scores["insertions"] == 1.0
    assert len(judge.prompts) == 1


def test_rules_need_no_judge() -> None:
    judge = ScriptedJudge({})
    assert outcome("step_alignment", judge, STEPS).status == "score"
    assert not judge.prompts
