"""`evalstudio mutate`: suites of known strength, runs, and what is said of survivors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.formats.condition import parse_condition
from support.command import Result, evalstudio
from support.project import Project

ANSWERS = {
    "fee": ("What does a transfer abroad cost?", "A transfer abroad costs 15 USD in total."),
    "limit": ("What is the limit of the Gold card?", "The limit of the Gold card is 10,000 USD per month."),
    "time": ("How long does it take?", "Every transfer takes at least 3 working days."),
}
STRONG = {key: f'regexp("^{answer}$")' for key, (_, answer) in ANSWERS.items()}
WEAK = dict.fromkeys(ANSWERS, 'NOT "idiot"')
NUMBERS = {"fee": '"15 USD"', "limit": '"10,000 USD"', "time": '"3 working"'}


def suite(folder: Path, conditions: dict[str, str], **more: Any) -> Path:
    cases = [
        {"key": key, "prompt": prompt, "expected_output": answer, "condition": conditions[key], **more}
        for key, (prompt, answer) in ANSWERS.items()
    ]
    (folder / "evalstudio.toml").write_text('evaluators = ["text_matching"]\n')
    path = folder / "bank_suite.json"
    path.write_text(json.dumps({"name": "Bank", "tests": [{"test_cases": cases}]}))
    return path


def mutated(folder: Path, *arguments: str, source: str = "bank_suite.json") -> Result:
    return evalstudio("mutate", source, *arguments, folder=folder)


def result_of(folder: Path, *arguments: str, source: str = "bank_suite.json") -> dict[str, Any]:
    result = mutated(folder, "--json", *arguments, source=source)
    assert result.returncode in (0, 1), result.stderr
    data: dict[str, Any] = json.loads(result.stdout)
    return data


def test_a_suite_that_accepts_only_the_answer_notices_everything(tmp_path: Path) -> None:
    suite(tmp_path, STRONG)
    result = result_of(tmp_path)
    assert result["score"]["failed"] == result["score"]["total"] > 20
    assert result["survivors"] == []
    # It is too strict: right answers pass with further line breaks only.
    assert result["false_alarms"]["failed"] > 0.75 * result["false_alarms"]["total"] > 5
    assert [each["code"] for each in result["findings"]] == ["condition_too_strict"] * 3


def test_a_suite_that_any_answer_passes_notices_nothing(tmp_path: Path) -> None:
    suite(tmp_path, WEAK)
    result = result_of(tmp_path, "--kinds", "number,negation,other_answer,language")
    assert result["score"]["failed"] == 0
    assert result["score"]["total"] == len(result["survivors"]) == 12
    [finding] = result["findings"]
    assert finding["code"] == "condition_always_met"
    assert sorted(finding["keys"]) == ["fee", "limit", "time"]


def test_conditions_on_numbers_notice_numbers_alone(tmp_path: Path) -> None:
    suite(tmp_path, NUMBERS)
    kinds = {share["name"]: share["failed"] / share["total"] for share in result_of(tmp_path)["kinds"]}
    assert kinds["number"] == kinds["refusal"] == kinds["other_answer"] == 1.0
    assert kinds["negation"] == kinds["added_sentence"] == 0.0


def test_advice_tells_the_answers_apart(tmp_path: Path) -> None:
    """The proposed condition, put into the suite, fails the survivor and passes the answer."""
    suite(tmp_path, NUMBERS)
    survivors = [each for each in result_of(tmp_path)["survivors"] if each["advice"]]
    conditions = [each for each in survivors if each["advice"]["code"] == "condition"]
    assert len(conditions) >= 3
    for survivor in conditions:
        condition = parse_condition(survivor["advice"]["text"].removeprefix("add the condition "))
        assert condition.check(survivor["original"])
        assert not condition.check(survivor["text"])


@pytest.mark.parametrize("gap", ["  ", "\t", "\n"], ids=["blanks", "tab", "line break"])
def test_advice_keeps_the_blanks_of_the_answer(gap: str, tmp_path: Path) -> None:
    path = suite(tmp_path, WEAK)
    content = json.loads(path.read_text())
    for case in content["tests"][0]["test_cases"]:
        case["expected_output"] = case["expected_output"].replace("15 USD", f"15{gap}USD")
    path.write_text(json.dumps(content))
    survivors = [each for each in result_of(tmp_path)["survivors"] if each["advice"]]
    conditions = [each for each in survivors if "condition" in each["advice"]["code"]]
    assert any("15" in each["advice"]["text"] for each in conditions)
    for survivor in conditions:
        words = survivor["advice"]["text"].removeprefix("add the condition ")
        condition = parse_condition(words.removesuffix(", which also fails right answers in other words"))
        assert condition.holds(survivor["original"], 1.0)
        assert not condition.holds(survivor["text"], 1.0)


def test_harmless_changes_are_counted_apart(tmp_path: Path) -> None:
    suite(tmp_path, STRONG)
    harmless = {share["name"]: share["failed"] for share in result_of(tmp_path)["harmless"]}
    assert harmless["courtesy"] == 3
    suite(tmp_path, NUMBERS)
    assert {share["failed"] for share in result_of(tmp_path)["harmless"]} == {0}


VALUES = {
    "fee": 'value("15 USD")',
    "limit": 'value("10,000 USD a month")',
    "time": 'value("at least 3 working days")',
}
EXACT = {
    "fee": '"abroad costs 15 USD"',
    "limit": '"is 10,000 USD per month"',
    "time": '"takes at least 3 working days"',
}


def test_a_condition_that_is_too_strict_is_named_with_a_looser_one(tmp_path: Path) -> None:
    """Exact words notice no more damage than values, and fail right answers in another form."""
    suite(tmp_path, EXACT)
    exact = result_of(tmp_path)
    findings = [each for each in exact["findings"] if each["code"] == "condition_too_strict"]
    assert {key for each in findings for key in each["keys"]} == set(ANSWERS)
    assert 'value("15 USD") passes them, and fails' in findings[0]["text"]
    assert {each["failing"][0] for each in exact["alarms"]} == {"text_matching"}
    assert {each["name"]: each["failed"] > 0 for each in exact["alarms_by_case"]} == dict.fromkeys(
        ANSWERS, True
    )

    suite(tmp_path, VALUES)
    by_value = result_of(tmp_path)
    assert by_value["false_alarms"]["failed"] == 0 < by_value["false_alarms"]["total"]
    assert by_value["alarms"] == []
    assert by_value["score"]["failed"] >= exact["score"]["failed"]


def test_false_alarms_decide_the_status(tmp_path: Path) -> None:
    suite(tmp_path, EXACT)
    result = mutated(tmp_path, "--max-false-alarms", "0.05")
    assert result.returncode == 1
    assert "> 0.05" in result.stderr
    assert "false alarms by case:" in result.stdout
    suite(tmp_path, VALUES)
    assert mutated(tmp_path, "--max-false-alarms", "0.05").returncode == 0


def test_right_answers_in_another_form_are_paraphrases_and_short_answers(tmp_path: Path) -> None:
    suite(tmp_path, EXACT)
    texts = {each["text"] for each in result_of(tmp_path)["alarms"]}
    assert {"15 USD.", "A transfer abroad costs $15 in total.", "at least 3 working days."} <= texts


def test_the_limit_decides_the_status(tmp_path: Path) -> None:
    suite(tmp_path, NUMBERS)
    score = result_of(tmp_path)["score"]
    share = score["failed"] / score["total"]
    assert mutated(tmp_path, "--min-score", f"{share - 0.01:.3f}").returncode == 0
    result = mutated(tmp_path, "--min-score", f"{share + 0.01:.3f}")
    assert result.returncode == 1
    assert f"mutation score {share:.3g} < {share + 0.01:.3g}" in result.stderr


def test_the_terminal_names_survivors_with_their_words(tmp_path: Path) -> None:
    suite(tmp_path, NUMBERS)
    out = mutated(tmp_path, "--kinds", "negation").stdout
    assert "mutation score 0 %" in out
    assert "The limit of the Gold card is {+not +}10,000 USD per month." in out
    assert 'to fail it: add the condition value("10,000 USD per month")' in out


def test_the_same_seed_gives_the_same_result(tmp_path: Path) -> None:
    suite(tmp_path, NUMBERS)
    assert result_of(tmp_path) == result_of(tmp_path)
    assert result_of(tmp_path, "--seed", "5")["seed"] == 5


def test_answers_that_fail_undamaged_are_left_out(tmp_path: Path) -> None:
    suite(tmp_path, {**NUMBERS, "fee": '"16 USD"'})
    result = result_of(tmp_path)
    assert (result["answers"], result["failing"]) == (2, 1)
    assert "fee" not in {share["name"] for share in result["by_case"]}


def lab(folder: Path) -> Path:
    calls = [{"name": "find", "arguments": {"code": "E1"}}, {"name": "cancel", "arguments": {"code": "E1"}}]
    row = {
        "key": "cancel",
        "model_key": "m",
        "input": "Cancel E1",
        "actual_output": "Done.",
        "tool_calls": calls,
        "expected_tool_calls": calls,
    }
    (folder / "evalstudio.toml").write_text(
        'evaluators = ["tool_calls"]\n[evaluator.tool_calls]\nmode = "exact"\n'
    )
    path = folder / "agent_lab.json"
    path.write_text(
        json.dumps({"name": "L", "models": [{"key": "m", "name": "m"}], "dataset": {"inputs": [row]}})
    )
    return path


def test_calls_of_an_agent_are_damaged(tmp_path: Path) -> None:
    lab(tmp_path)
    kinds = {
        share["name"]: (share["failed"], share["total"])
        for share in result_of(tmp_path, source="agent_lab.json")["kinds"]
        if "call" in share["name"] or share["name"].startswith("other_")
    }
    assert kinds == dict.fromkeys(("dropped_call", "doubled_call", "other_argument", "other_order"), (1, 1))


def test_a_loose_mode_lets_damaged_calls_pass(tmp_path: Path) -> None:
    lab(tmp_path)
    (tmp_path / "evalstudio.toml").write_text(
        'evaluators = ["tool_calls"]\n[evaluator.tool_calls]\nmode = "superset"\n'
    )
    survivors = {each["kind"]: each for each in result_of(tmp_path, source="agent_lab.json")["survivors"]}
    assert {"doubled_call", "other_order"} <= survivors.keys()
    assert survivors["doubled_call"]["advice"]["code"] == "expectation"


def test_judges_are_asked_only_on_request(tmp_path: Path) -> None:
    suite(tmp_path, NUMBERS)
    (tmp_path / "judge.py").write_text(
        "import json\n"
        "def judge(prompt):\n"
        "    with open('asked.txt', 'a') as log: log.write('x')\n"
        "    return json.dumps({'rationale': 'r', 'rating': 'yes'})\n"
    )
    (tmp_path / "evalstudio.toml").write_text(
        'evaluators = ["text_matching", "relevance_to_query_judge"]\n'
        '[judge]\nhost = "python"\ntarget = "judge:judge"\n'
    )
    result = result_of(tmp_path, "--kinds", "negation")
    assert list(result["not_asked"]) == ["relevance_to_query_judge"]
    assert not (tmp_path / "asked.txt").exists()
    result = result_of(tmp_path, "--kinds", "negation", "--allow-calls")
    assert result["not_asked"] == {}
    assert (tmp_path / "asked.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("--min-score", "3"), "--min-score 3: expected a share from 0 to 1"),
        (("--kinds", "numbers"), "Did you mean 'number'?"),
    ],
)
def test_wrong_options_are_named(tmp_path: Path, arguments: tuple[str, ...], fault: str) -> None:
    suite(tmp_path, NUMBERS)
    result = mutated(tmp_path, *arguments)
    assert result.returncode == 2
    assert fault in result.stderr


def test_what_cannot_be_damaged_is_said(tmp_path: Path) -> None:
    suite(tmp_path, NUMBERS)
    assert "there is no such file or folder" in mutated(tmp_path, source="none.json").stderr
    (tmp_path / "evalstudio.toml").write_text('evaluators = ["pii_leakage"]\n')
    assert "no evaluator judges what its answers say" in mutated(tmp_path).stderr
    suite(tmp_path, dict.fromkeys(ANSWERS, '"other"'))
    result = mutated(tmp_path)
    assert result.returncode == 2
    assert "none of 3 answers passes undamaged, e.g. 'What does a transfer abroad cost?'" in result.stderr


def test_a_run_in_which_nothing_passes_says_so(pytester: pytest.Pytester) -> None:
    project = Project(pytester)
    project.suite({"key": "sum", "prompt": "2+2?", "expected_output": "5", "condition": '"5"'})
    project.run().assert_outcomes(failed=1)

    result = project.run_command("mutate", "evalstudio-report")

    assert result.ret == 2
    result.stderr.fnmatch_lines(
        ["evalstudio: evalstudio-report: has no answers to damage: none of its answers (1) passes; mend the*"]
    )


def test_questions_of_survivors_are_masked_before_they_are_cut(tmp_path: Path) -> None:
    suite(tmp_path, WEAK)
    path = tmp_path / "bank_suite.json"
    secret = f"sk-proj-{'a1B2' * 10}"
    content = json.loads(path.read_text())
    content["tests"][0]["test_cases"][0]["prompt"] = f"{'Is this right? ' * 11}{secret}"
    path.write_text(json.dumps(content))
    result = mutated(tmp_path, "--kinds", "other_answer")
    assert "Is this right?" in result.stdout
    assert "a1B2" not in result.stdout
    assert "sk-" not in result.stdout
