"""Thoughts of reasoning models are no answer, wherever the answer comes from."""

import json

import pytest

from support.project import Project

THINKING = "<think>Perhaps 15 USD? No, ask Acme.</think>"
APP = """
import pytest_evalstudio

ANSWERS = {
    "Fee?": "<think>Perhaps 15 USD? No.</think>It is free.",
    "Open?": "<think>Perhaps it is",
    "Beside?": pytest_evalstudio.Answer(text="It is free.", thoughts="Perhaps 15 USD?"),
}


def ask(prompt):
    return ANSWERS[prompt]
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    project = Project(pytester)
    project.write("app.py", APP)
    return project


def test_a_condition_reads_the_answer_alone(project: Project) -> None:
    project.suite(
        {"key": "free", "prompt": "Fee?", "condition": '"free" AND NOT "15 USD"'},
        {"key": "fee", "prompt": "Fee?", "condition": '"15 USD"'},
        {"key": "beside", "prompt": "Beside?", "condition": '"15 USD"'},
    )
    project.run().assert_outcomes(passed=1, failed=2)
    _, items = project.record()
    row = items["free[app]"]["rows"][0]
    assert (row["answer"]["actual_output"], row["answer"]["thoughts"]) == (
        "It is free.",
        "Perhaps 15 USD? No.",
    )
    assert items["beside[app]"]["rows"][0]["answer"]["thoughts"] == "Perhaps 15 USD?"


def test_an_unfinished_thought_is_an_error_that_names_the_limit(project: Project) -> None:
    project.suite({"key": "open", "prompt": "Open?", "condition": 'NOT "x"'})
    result = project.run()
    result.stdout.fnmatch_lines(["*unfinished thought (<think> is never closed); raise the token limit*"])
    _, items = project.record()
    row = items["open[app]"]["rows"][0]
    assert items["open[app]"]["verdict"] == "error"
    assert (row["answer"].get("actual_output", ""), row["answer"]["thoughts"]) == ("", "Perhaps it is")


@pytest.mark.parametrize(
    ("setting", "passed"), [("false", 1), ('["((", "))"]', 1), ('["<think>", "</think>"]', 0), ("true", 0)]
)
def test_the_tags_of_a_model_can_be_given(project: Project, setting: str, passed: int) -> None:
    config = project.folder / "evalstudio.toml"
    project.write("evalstudio.toml", config.read_text() + f"thoughts = {setting}\n")
    project.suite({"key": "fee", "prompt": "Fee?", "condition": '"15 USD"'})
    project.run().assert_outcomes(passed=passed, failed=1 - passed)


def test_a_setting_that_is_no_pair_of_tags_is_an_error(project: Project) -> None:
    config = project.folder / "evalstudio.toml"
    project.write("evalstudio.toml", config.read_text() + 'thoughts = ["<think>"]\n')
    project.suite({"key": "fee", "prompt": "Fee?", "condition": '"15 USD"'})
    result = project.run()
    assert "is not an opening and a closing tag" in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize(
    ("evaluator", "answer", "keys"),
    [
        ("text_matching", THINKING + "It is free.", {"output_condition": 'NOT "Acme"'}),
        ("json_schema", THINKING + '{"fee": 0}', {}),
        ("classification", THINKING + "yes", {"expected_output": "yes"}),
        ("text_matching", THINKING + "I cannot answer this question.", {"expects": "refusal"}),
    ],
)
def test_answers_of_labs_lose_their_thoughts(
    project: Project, evaluator: str, answer: str, keys: dict[str, str]
) -> None:
    config = f'evaluators = ["{evaluator}"]\n'
    project.write("evalstudio.toml", config)
    project.lab({"key": "k", "input": "Fee?", "actual_output": answer, **keys})
    project.run().assert_outcomes(passed=1)
    _, items = project.record()
    (item,) = items.values()
    assert item["rows"][0]["answer"]["thoughts"] == "Perhaps 15 USD? No, ask Acme."


def test_the_setting_of_the_configuration_holds_for_given_answers(project: Project) -> None:
    project.write("evalstudio.toml", 'evaluators = ["text_matching"]\nthoughts = false\n')
    project.lab(
        {"key": "k", "input": "Fee?", "actual_output": THINKING + "It is free.", "output_condition": '"Acme"'}
    )
    project.run().assert_outcomes(passed=1)


def test_python_checks_lose_thoughts(project: Project) -> None:
    project.write(
        "test_fee.py",
        "def test_fee(eval_text_matching, eval_case):\n"
        f"    case = eval_case('Fee?', {THINKING + 'Free.'!r}, condition='NOT \"Acme\"')\n"
        "    eval_text_matching.check(case)\n",
    )
    project.run("test_fee.py").assert_outcomes(passed=1)


def test_the_history_of_a_conversation_has_no_thoughts(project: Project) -> None:
    project.write("app.py", "def ask(messages):\n    return f'<think>Hm.</think>{messages}'\n")
    project.suite({"key": "c", "turns": [{"prompt": "One?"}, {"prompt": "Two?"}], "condition": '"One"'})
    project.run()
    _, items = project.record()
    (item,) = items.values()
    turns = [turn["answer"] for turn in item["rows"][0]["answer"]["turns"]]
    assert [turn["thoughts"] for turn in turns] == ["Hm.", "Hm."]
    assert "Hm." not in json.dumps([turn["actual_output"] for turn in turns])
