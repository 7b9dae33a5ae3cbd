"""One observed violation of a hard rule decides: no repeat, policy or baseline takes it back."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from support.project import Project

APP = r'''
from collections import Counter
from pathlib import Path

asked = Counter()
CALLS = {"refund": [{"name": "refund", "arguments": {"booking": "E1"}}], "look": [{"name": "look_up"}]}


def ask(prompt):
    """Answer by the script: one word per time that the prompt is asked, the last one from then on."""
    with open("asked.txt", "a") as file:
        file.write(prompt + "\n")
    words = Path("script.txt").read_text().split()
    word = words[min(asked[prompt], len(words) - 1)]
    asked[prompt] += 1
    texts = {"wrong": "No.", "mail": "right, ask jane.doe@bank.com", "secret": "right, the secret is 7"}
    return {"answer": texts.get(word, "right"), "tool_calls": CALLS.get(word, [])}
'''
CONFIG = """
evaluators = [{evaluators}]
{options}
[[model]]
name = "app"
host = "python"
target = "app:ask"
concurrency = 1
{model}
"""
RULES = '[evaluator.tool_rules]\nrules = [{tool = "refund", never = true}]\n'


def desk(project: Project, script: str, *, evaluators: str, options: str = "", model: str = "") -> None:
    project.write("app.py", APP)
    project.write("script.txt", script)
    names = ", ".join(f'"{each}"' for each in evaluators.split())
    project.write("evalstudio.toml", CONFIG.format(evaluators=names, options=options, model=model))
    (project.folder / "asked.txt").unlink(missing_ok=True)


def question_count(project: Project) -> int:
    return len((project.folder / "asked.txt").read_text().split())


HARD = {
    "rule": ("tool_rules", "refund", RULES),
    "leak": ("pii_leakage", "mail", ""),
    "forbidden word": ("text_matching", "secret", ""),
}


@pytest.mark.parametrize("policy", ["mean", "any", "4/5"])
@pytest.mark.parametrize("kind", HARD)
def test_a_violation_in_one_of_five_answers_fails(project: Project, kind: str, policy: str) -> None:
    evaluators, word, options = HARD[kind]
    project.suite({"key": "k", "prompt": "q", "condition": '"right" AND NOT "secret"'})
    arguments = ("--evalstudio-runs", "5", "-o", f"evalstudio_pass={policy}")

    desk(project, f"fine fine {word} fine fine", evaluators=evaluators, options=options)
    broken = project.run(*arguments)
    broken.assert_outcomes(failed=1)
    assert broken.ret == pytest.ExitCode.TESTS_FAILED
    broken.stdout.fnmatch_lines([f"*{evaluators}: violated in 1 of 5 repeats, and one decides: *"])
    [item] = project.record()[1].values()
    verdict = item["verdicts"][evaluators]
    assert (verdict["passed"], verdict["repeats"].count(True)) == (False, 4)

    desk(project, "fine", evaluators=evaluators, options=options)
    project.run(*arguments).assert_outcomes(passed=1)
    desk(project, word, evaluators=evaluators, options=options)
    project.run(*arguments).assert_outcomes(failed=1)


def test_a_soft_failure_is_still_a_matter_of_the_policy(project: Project) -> None:
    project.suite({"key": "k", "prompt": "q", "condition": '"right" AND NOT "secret"'})
    desk(project, "fine fine wrong fine fine", evaluators="text_matching")
    project.run("--evalstudio-runs", "5").assert_outcomes(passed=1)
    desk(project, "fine fine wrong fine fine", evaluators="text_matching")
    project.run("--evalstudio-runs", "5", "-o", "evalstudio_pass=all").assert_outcomes(failed=1)


@pytest.mark.parametrize("kind", HARD)
def test_a_baseline_does_not_repeat_a_violation_away(project: Project, kind: str) -> None:
    evaluators, word, options = HARD[kind]
    project.suite({"key": "k", "prompt": "q", "condition": '"right" AND NOT "secret"'})
    desk(project, "fine", evaluators=evaluators, options=options)
    project.run("--evalstudio-output", "base").assert_outcomes(passed=1)

    desk(project, f"{word} fine", evaluators=evaluators, options=options)
    result = project.run("--evalstudio-baseline", "base")
    result.assert_outcomes(failed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert question_count(project) == 1
    result.stdout.fnmatch_lines([f"not asked again: one violation decides ({evaluators})"])


def test_a_violation_in_a_repeat_that_confirms_another_failure_fails(project: Project) -> None:
    project.suite({"key": "k", "prompt": "q", "condition": '"right" AND NOT "secret"'})
    desk(project, "fine", evaluators="text_matching")
    project.run("--evalstudio-output", "base").assert_outcomes(passed=1)
    desk(project, "wrong fine secret fine", evaluators="text_matching")
    result = project.run("--evalstudio-baseline", "base")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["confirmed: 2 of * repeats fail; a repeat violates text_matching: *one decides"]
    )


@pytest.mark.parametrize(
    ("model", "outcome", "count"),
    [("", "failed", 1), ("confirm = 30", "passed", 7), ("confirm = 0", "failed", 1)],
    ids=["by default", "allowed", "forbidden"],
)
def test_an_application_with_tools_is_asked_again_only_where_its_table_says_so(
    project: Project, model: str, outcome: str, count: int
) -> None:
    project.suite({"key": "k", "prompt": "q", "condition": '"refund"', "expected_tool_calls": ["look_up"]})
    desk(project, "look", evaluators="tool_calls", model=model)
    project.run("--evalstudio-output", "base").assert_outcomes(passed=1)
    desk(project, "fine look", evaluators="tool_calls", model=model)
    result = project.run("--evalstudio-baseline", "base", "--junitxml", "junit.xml", "-v")
    result.assert_outcomes(**{outcome: 1})
    assert question_count(project) == count
    note = "not asked again: the application has tools, a state or a session; `confirm = N` in its"
    assert (note in result.stdout.str()) == (not model)
    properties = {
        each.get("name"): each.get("value")
        for each in ET.parse(project.folder / "junit.xml").iter("property")
    }
    if outcome == "passed":
        assert properties["evalstudio.confirmation"] == "not_confirmed"
        assert properties["evalstudio.confirmation.repeats"] == "7"
        result.stdout.fnmatch_lines(["*PASSED*passed on repetition: 1 of 7 fail*"])
    else:
        assert "evalstudio.confirmation" not in properties


def test_an_estimate_counts_confirmations(project: Project) -> None:
    project.suite(
        *({"key": f"k{number}", "prompt": f"q{number}", "condition": '"right"'} for number in range(3))
    )
    desk(project, "fine", evaluators="text_matching", model="confirm = 20")
    project.run("--evalstudio-output", "base").assert_outcomes(passed=3)
    result = project.run("--evalstudio-baseline", "base", "--evalstudio-estimate")
    result.stdout.fnmatch_lines(
        [
            "confirmations: 1 to 19 further calls for each case that regresses, at most 57 for 3 cases;*",
        ]
    )
    desk(project, "fine", evaluators="text_matching", model="confirm = 0")
    assert (
        "confirmations:"
        not in project.run("--evalstudio-baseline", "base", "--evalstudio-estimate").stdout.str()
    )


def test_a_table_scored_with_repeats_counts_a_violation(project: Project) -> None:
    rows = [
        {"key": "k", "input": "q", "actual_output": text, "run": run, "output_condition": '"right"'}
        for run, text in enumerate(("right", "right", "right, ask jane.doe@bank.com"), 1)
    ]
    project.write("evalstudio.toml", 'evaluators = ["text_matching", "pii_leakage"]\n')
    project.lab(*rows)
    result = project.run("-o", "evalstudio_pass=any")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*pii_leakage: violated in 1 of 3 repeats, and one decides: *"])
