"""A pass means that something was checked: test cases that no evaluator checks, and empty retrievals."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from support.project import Project

DEFAULTS = '\n[[model]]\nname = "app"\nhost = "python"\ntarget = "app:ask"\n'
WRONG = {"key": "wrong", "prompt": "2+2?", "expected_output": "5."}
RIGHT = {"key": "right", "prompt": "2+2?", "condition": '"4"'}
LEAK = "Card 4111 1111 1111 1111."


def configured(project: Project, text: str = "") -> None:
    project.write("evalstudio.toml", text + DEFAULTS)


def end(result: pytest.RunResult) -> str:
    text = result.stdout.str()
    return text[text.rindex("= evalstudio =") :]


@pytest.mark.parametrize(
    ("expectation", "reader"),
    [
        ({"expected_output": "5."}, "rouge"),
        ({"expected_facts": ["It is 5."]}, "correctness_judge"),
        ({"guidelines": ["Say please."]}, "guideline_adherence_judge"),
        ({"expected_documents": ["fees.md"]}, "document_recall"),
        ({"expected_chunks": ["5"]}, "labelled_retrieval"),
        ({"expected_tool_calls": []}, "tool_calls"),
        ({"expected_state": {"/balance": 5}}, "final_state"),
        ({"json_schema": {"type": "object"}}, "json_schema"),
        ({"expected_artifacts": ["a.csv"]}, "agent_sanity_check"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_case_whose_expectation_nothing_reads_is_skipped_by_default(
    project: Project, expectation: Mapping[str, Any], reader: str
) -> None:
    configured(project)
    project.suite(RIGHT, {"key": "unread", "prompt": "2+2?", **expectation})

    result = project.run("sums_suite.json", "-rs")

    result.assert_outcomes(passed=1, skipped=1)
    [name] = expectation
    skipped = next(line for line in result.outlines if line.startswith("SKIPPED"))
    assert f"unchecked: no selected evaluator reads {name}" in skipped
    assert reader in skipped or "more read it" in skipped
    assert "result: PASSED – 1 of 2 tests, 1 unchecked" in end(result)
    _, items = project.record()
    item = items["unread[app]"]
    assert (item["verdict"], item["code"], item["unread"], item["unchecked"]) == (
        "skipped",
        "unchecked",
        [name],
        True,
    )


def test_a_detector_alone_checks_nothing_and_still_fails(project: Project) -> None:
    configured(project)
    project.write("app.py", f"def ask(prompt):\n    return {LEAK!r} if 'card' in prompt else 'Hello.'\n")
    project.suite({"key": "hello", "prompt": "Say hello"}, {"key": "card", "prompt": "Say a card"})

    result = project.run("sums_suite.json", "-rs")

    result.assert_outcomes(failed=1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*unchecked: the case states no expectation*"])


def test_a_run_in_which_nothing_is_checked_does_not_pass(project: Project) -> None:
    configured(project)
    project.suite(WRONG)

    result = project.run("sums_suite.json")

    assert result.ret == 0
    assert "result: INCOMPLETE – nothing checked in 1 test, 1 unchecked" in end(result)


@pytest.mark.parametrize(
    ("policy", "outcomes"), [("skip", {"skipped": 1}), ("fail", {"failed": 1}), ("note", {"passed": 1})]
)
@pytest.mark.parametrize("by_option", [True, False], ids=["option", "configuration"])
def test_the_policy_decides_on_unchecked_cases(
    project: Project, policy: str, outcomes: dict[str, int], by_option: bool
) -> None:
    configured(project, "" if by_option else f'unchecked = "{policy}"\n')
    project.suite(WRONG)

    result = project.run("sums_suite.json", *(["-o", f"evalstudio_unchecked={policy}"] if by_option else []))

    assert result.parseoutcomes() == outcomes
    assert "1 unchecked" in end(result)
    if policy == "fail":
        result.stdout.fnmatch_lines(["unchecked: no selected evaluator reads expected_output*"])


def test_selected_evaluators_keep_the_verdict_and_the_end_counts_what_nothing_read(project: Project) -> None:
    configured(project, 'evaluators = ["pii_leakage"]\n')
    project.suite(RIGHT, WRONG)

    result = project.run("sums_suite.json", "--junitxml", "junit.xml")

    result.assert_outcomes(passed=2)
    assert "result: INCOMPLETE – nothing checked in 2 tests, 2 unchecked" in end(result)
    assert "expectations that nothing read: condition 1, expected_output 1" in end(result)
    junit = (project.folder / "junit.xml").read_text()
    assert '<property name="evalstudio.unchecked" value="2"' in junit
    assert '<property name="evalstudio.unread" value="condition"' in junit
    data = json.loads((project.folder / "evalstudio-report/interpretation.json").read_text())
    assert data["run"]["unread_expectations"] == {"condition": 1, "expected_output": 1}


def test_an_expectation_beside_a_checked_one_is_named_and_the_case_stays_checked(project: Project) -> None:
    configured(project, 'evaluators = ["text_matching"]\n')
    project.suite({**RIGHT, "expected_tool_calls": []})

    result = project.run("sums_suite.json")

    result.assert_outcomes(passed=1)
    assert "result: PASSED – 1 of 1 test\n" in end(result)
    assert "unchecked: expectations that nothing read: expected_tool_calls 1" in end(result)


def test_an_evaluator_of_content_checks_a_case_without_expectations(project: Project) -> None:
    row = {"key": "k", "input": "Fee?", "actual_output": "It costs 5 USD.", "context": ["It costs 5 USD."]}
    project.lab(row, model_type="h2ogpte")

    result = project.run("answers_lab.json", "--evalstudio-evaluators=lexical_groundedness")

    result.assert_outcomes(passed=1)
    assert "unchecked" not in end(result)


def test_an_expected_refusal_is_checked_by_the_engine(project: Project) -> None:
    configured(project)
    project.suite({"key": "secret", "prompt": "The code?", "expects": "refusal", "expected_output": "No."})

    result = project.run("sums_suite.json")

    result.assert_outcomes(passed=1)
    assert "unchecked" not in end(result)


def test_an_expectation_whose_reader_does_not_apply_is_unread(project: Project) -> None:
    configured(project, 'unchecked = "fail"\n')
    project.suite(WRONG)

    result = project.run("sums_suite.json")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*(text_matching: no condition; expected_output_as_condition = true*"])


def test_expectations_of_turns_count(project: Project) -> None:
    configured(project)
    turns = [{"prompt": "2+2?", "expected_output": "4"}, {"prompt": "3+3?"}]
    project.suite({"key": "talk", "turns": turns}, RIGHT)

    project.run("sums_suite.json").assert_outcomes(passed=1, skipped=1)


def test_validate_and_estimate_name_unchecked_cases(project: Project) -> None:
    configured(project)
    project.suite(RIGHT, WRONG)

    validated = project.run_command("validate", "sums_suite.json")
    estimated = project.run("sums_suite.json", "--evalstudio-estimate")
    configured(project, 'unchecked = "fail"\n')
    refused = project.run_command("validate", "sums_suite.json")

    line = "1 test case unchecked: no selected evaluator judges 'wrong'; expected_output: *"
    validated.stdout.fnmatch_lines([f"warning: sums_suite.json: {line}", "*: fine"])
    estimated.stdout.fnmatch_lines([line])
    assert (validated.ret, refused.ret) == (0, 1)
    refused.stdout.no_fnmatch_line("*: fine")


@pytest.mark.slow
def test_workers_report_unchecked_cases_alike(project: Project) -> None:
    configured(project)
    project.suite(RIGHT, WRONG)

    result = project.run("sums_suite.json", "-n", "2")

    assert "result: PASSED – 1 of 2 tests, 1 unchecked" in end(result)


ROW = {"input": "Fee?", "actual_output": "It costs 5 USD.", "output_condition": '"5 USD"'}
CHUNK = ["It costs 5 USD."]


def rag_lab(project: Project, *rows: Mapping[str, Any], model_type: str = "h2ogpte") -> None:
    keyed = [{"key": f"k{index}", **ROW, **row} for index, row in enumerate(rows)]
    project.lab(*keyed, model_type=model_type)


@pytest.mark.parametrize("evaluators", ["lexical_groundedness", "text_matching"])
def test_an_answer_without_chunks_of_a_model_that_retrieves_is_not_retrieved(
    project: Project, evaluators: str
) -> None:
    rag_lab(project, {"context": CHUNK}, {"context": []}, {"context": [" "]})

    result = project.run("answers_lab.json", f"--evalstudio-evaluators={evaluators}")

    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        ["not retrieved: no chunk came with the answer*", f"retrieval: {evaluators}:*"]
    )
    assert "not retrieved: 2 of 3 answers came without any chunk" in end(result)
    assert "Not retrieved: 2 of 3 answers" in (project.folder / "evalstudio-report/summary.md").read_text()
    _, items = project.record()
    assert items["k1[m]"]["code"] == "not_retrieved"


def test_a_data_set_retrieves_if_any_row_of_the_model_has_context(project: Project) -> None:
    rows = [{"key": f"k{i}", **ROW, "context": context} for i, context in enumerate((CHUNK, []))]
    other = [{**row, "model_key": "plain", "context": []} for row in rows]
    project.write("fees_dataset.json", json.dumps({"inputs": [*rows, *other]}))

    result = project.run("fees_dataset.json", "--evalstudio-evaluators=text_matching")

    result.assert_outcomes(passed=3, failed=1)


@pytest.mark.parametrize(
    ("row", "outcomes"),
    [
        ({"retrieval": "optional"}, {"passed": 2}),
        ({"expects": "refusal", "actual_output": "I cannot say.", "output_condition": ""}, {"passed": 2}),
        ({"condition_on": "answer"}, {"passed": 2}),
    ],
    ids=["optional", "expected refusal", "condition on the answer"],
)
def test_an_answer_may_lack_chunks(
    project: Project, row: Mapping[str, Any], outcomes: dict[str, int]
) -> None:
    rag_lab(project, {"context": CHUNK}, {"context": [], **row})

    result = project.run("answers_lab.json", "--evalstudio-evaluators=text_matching")

    assert result.parseoutcomes() == outcomes


APP = """
def ask(prompt):
    return {"answer": "It costs 5 USD.", "context": []}
"""


@pytest.mark.parametrize(("more", "outcome"), [("", "failed"), ('retrieval = "optional"\n', "passed")])
def test_an_application_that_names_its_context_retrieves(project: Project, more: str, outcome: str) -> None:
    project.write("app.py", APP)
    project.write("evalstudio.toml", 'evaluators = ["text_matching"]' + DEFAULTS + more)
    project.suite({"key": "fee", "prompt": "Fee?", "condition": '"5 USD"'})

    assert project.run("sums_suite.json").parseoutcomes() == {outcome: 1}


def test_an_application_without_context_is_no_model_that_retrieves(project: Project) -> None:
    configured(project, 'evaluators = ["text_matching", "lexical_groundedness"]\n')
    project.suite(RIGHT)

    result = project.run("sums_suite.json")

    result.assert_outcomes(passed=1)
    assert "not retrieved" not in end(result)


@pytest.mark.parametrize("context", [[], ["It costs 5 USD."]])
def test_a_test_in_python_that_gives_an_empty_context_is_not_retrieved(
    project: Project, context: Sequence[str]
) -> None:
    project.write(
        "test_fees.py",
        f"""
def test_fee(eval_lexical_groundedness, eval_case):
    eval_lexical_groundedness.check(eval_case("Fee?", "It costs 5 USD.", context={context!r}))
""",
    )

    assert project.run("test_fees.py").parseoutcomes() == {"passed" if context else "failed": 1}
