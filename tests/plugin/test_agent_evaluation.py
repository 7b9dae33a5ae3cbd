"""The judges of Agent Evaluation in pytest runs: a suite with a conversation, a service on loopback that
answers and judges.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from support.openai_server import OpenAIServer, Reply, serve
from support.project import Project

CONFIG = """
evaluators = ["correctness_judge", "tone"]

[evaluator.tone]
type = "custom_judge"
definition = "The answer is polite."

[[model]]
name = "bank"
host = "openai_compatible"
url = "{url}"
llm_model_name = "answering"

[judge]
host = "openai_compatible"
url = "{url}"
llm_model_name = "judging"
"""
CASES = (
    {
        "key": "gold",
        "prompt": "And the Gold card?",
        "conversation": [{"role": "user", "content": "What does Basic cost?"}],
        "expected_facts": ["90 USD"],
    },
    {"key": "fees", "prompt": "Are there fees?", "expected_output": "No."},
)


def says(question: str) -> Reply:
    if "Reply with a single JSON object" not in question:
        return Reply(text="Surely 90 USD.")
    rating = "no" if "polite" not in question and "Are there fees?" in question else "yes"
    return Reply(text=json.dumps({"rationale": f"It is a plain {rating}.", "rating": rating}))


@pytest.fixture
def service() -> Iterator[OpenAIServer]:
    pytest.importorskip("openai")
    with serve() as running:
        running.default = says
        yield running


def test_a_suite_is_answered_judged_and_exported(project: Project, service: OpenAIServer) -> None:
    project.write("evalstudio.toml", CONFIG.replace("{url}", service.url))
    project.suite(*CASES)
    result = project.run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["correctness_judge: It is a plain no.", "question:  Are there fees?"])
    conversations = [request["messages"] for request in service.requests if request["model"] == "answering"]
    assert [message["content"] for message in max(conversations, key=len)] == [
        "What does Basic cost?",
        "And the Gold card?",
    ]
    figures = json.loads(
        (project.folder / "evalstudio-report" / "agent_evaluation.json").read_text(encoding="utf-8")
    )
    [model] = figures["models"].values()
    assert model["name"] == "bank"
    assert model["metrics"] == {
        "response/llm_judged/correctness/rating/percentage": 0.5,
        "response/llm_judged/tone/rating/percentage": 1.0,
    }


def test_a_failure_shows_the_turns_before_its_question(project: Project) -> None:
    turns = [
        {"role": role, "content": f"turn {number}"}
        for number, role in enumerate(("user", "assistant", "user", "assistant", "user"))
    ]
    project.suite({"key": "a", "prompt": "2+2?", "condition": '"5"', "conversation": turns})
    result = project.run()
    result.stdout.fnmatch_lines(
        [
            "earlier assistant: turn 1",
            "earlier user: turn 2",
            "earlier assistant: turn 3",
            "earlier user: turn 4",
            "question:  2+2?",
        ]
    )
    result.stdout.no_fnmatch_line("*turn 0*")


def test_all_leaves_out_what_lacks_its_option_and_naming_it_is_a_usage_error(project: Project) -> None:
    project.write("judge.py", 'def judge(prompt):\n    return \'{"rationale": "so", "rating": "yes"}\'\n')
    project.lab({"key": "a", "input": "q", "actual_output": "x"})
    judge = '[judge]\nhost = "python"\ntarget = "judge:judge"\n'
    project.write("evalstudio.toml", f'evaluators = ["custom_judge"]\n{judge}')
    result = project.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        "*evaluator custom_judge: needs its option definition: give it in *evaluator.custom_judge*"
    )
    project.write("evalstudio.toml", f'evaluators = ["all"]\n{judge}')
    result = project.run("-W", "default")
    result.stdout.fnmatch_lines("*leaves out *custom_judge: needs its option definition*")
    header, _ = project.record()
    assert "safety_judge" in header["evaluators"]
    assert "custom_judge" not in header["evaluators"]
