"""`evalstudio update`: observed answers become expectations, and nothing else of a file changes."""

from __future__ import annotations

import pytest

from support.project import Project

APP = """
import json

ANSWERS = {
    "Card?": "A card costs 6 USD.",
    "Abroad?": "15 USD, in three days.",
    "Mail?": "Write to ann@example.org.",
}

def ask(prompt):
    if prompt == "Refund?":
        return {"answer": "Done.", "tool_calls": [{"name": "refund", "arguments": {"amount": 5}}]}
    return ANSWERS[prompt]
"""
YAML = """# Fees of the bank
tests:
  - test_cases:
      - key: card
        prompt: Card?    # asked often
        expected_output: A card costs 5 USD.  # since May
        evaluators: {rouge: {threshold: 0.99}}
      # abroad has a condition alone
      - key: abroad
        prompt: Abroad?
        condition: '"12 USD"'
      - key: refund
        prompt: Refund?
        expected_tool_calls:
          - name: refund
            arguments: {amount: 9}
        evaluators: [tool_calls]
      - prompt: Mail?
        key: mail
        expected_output: "No, sorry."
        evaluators: {rouge: {threshold: 0.99}}
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    project = Project(pytester)
    project.write("app.py", APP)
    project.write("fees_suite.yaml", YAML)
    return project


def text(project: Project, name: str = "fees_suite.yaml") -> str:
    return (project.folder / name).read_text(encoding="utf-8")


def test_an_answer_replaces_the_expected_one_and_the_next_run_passes(project: Project) -> None:
    project.run().assert_outcomes(failed=4)
    result = project.run_command("update", "card", "--yes")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "-        expected_output: A card costs 5 USD.  # since May",
            "+        expected_output: A card costs 6 USD.  # since May",
            "wrote fees_suite.yaml*",
        ]
    )
    assert text(project) == YAML.replace("A card costs 5 USD.", "A card costs 6 USD.")
    project.run("-k", "card").assert_outcomes(passed=1, deselected=3)


def test_without_consent_nothing_is_written(project: Project) -> None:
    project.run()
    result = project.run_command("update", "card")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["+*A card costs 6 USD.*", "nothing was written; --yes writes*"])
    assert text(project) == YAML


def test_a_condition_alone_needs_a_new_one_that_the_answer_meets(project: Project) -> None:
    project.run()
    plain_update = project.run_command("update", "abroad", "--yes")
    assert plain_update.ret == 2
    plain_update.stderr.fnmatch_lines(
        ["*fees_suite.yaml*has a condition and no expected output*--condition*15 USD, in three days.*"]
    )
    unmet = project.run_command("update", "abroad", "--yes", "--condition", '"16 USD"')
    assert unmet.ret == 2
    unmet.stderr.fnmatch_lines(['*does not meet the new condition: lacks "16 USD"*'])
    assert text(project) == YAML
    assert project.run_command("update", "abroad", "--yes", "--condition", 'value("15 USD")').ret == 0
    assert text(project) == YAML.replace("'\"12 USD\"'", 'value("15 USD")')


def test_observed_calls_replace_expected_ones(project: Project) -> None:
    project.run()
    assert project.run_command("update", "refund", "--yes").ret == 0
    assert '[{"name": "refund", "arguments": {"amount": 5}}]' in text(project)
    project.run("-k", "refund").assert_outcomes(passed=1, deselected=3)


def test_an_answer_with_personal_data_is_not_written(project: Project) -> None:
    project.run()
    result = project.run_command("update", "mail", "--yes")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*'mail' has personal data or secrets*edit the expectation by hand*"])
    assert "example.org" not in result.stderr.str()
    assert text(project) == YAML


def test_an_accepted_answer_is_added_to_the_others(project: Project) -> None:
    suite_text = YAML.replace("A card costs 5 USD.  #", "[A card costs 5 USD., Five dollars]  #")
    project.write("fees_suite.yaml", suite_text)
    project.run()
    assert project.run_command("update", "card", "--yes").ret == 0
    assert '["A card costs 5 USD.", "Five dollars", "A card costs 6 USD."]  # since' in text(project)


def test_a_condition_beside_an_expected_answer_is_not_forgotten(project: Project) -> None:
    """The test would go on to fail by its condition."""
    project.write("fees_suite.yaml", YAML.replace("# since May", '\n        condition: word("5 USD")'))
    project.run()
    result = project.run_command("update", "card", "--yes")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*a condition that the answer does not meet; give the new condition*"])


def test_an_answer_to_another_question_is_refused(project: Project) -> None:
    project.run()
    project.write("fees_suite.yaml", YAML.replace("prompt: Card?", "prompt: Gold card?"))
    result = project.run_command("update", "card", "--yes")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*'card' asks another question than in the run; run its test again*"])


def test_repeats_that_differ_give_no_expectation(project: Project) -> None:
    project.write(
        "app.py", "import itertools\n\nN = itertools.count()\n\ndef ask(prompt):\n    return str(next(N))\n"
    )
    project.run("--evalstudio-runs", "3")
    result = project.run_command("update", "card", "--yes")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*'card' has different answers of its repeats*"])
    assert text(project) == YAML


def test_a_case_without_a_key_keeps_its_name(project: Project) -> None:
    project.write(
        "small_suite.json",
        '{"tests": [{"test_cases": [\n  {"prompt": "Card?", "expected_output": "5",'
        ' "evaluators": ["rouge"]},\n]}]}',
    )
    project.run("small_suite.json")
    _, items = project.record()
    (key,) = {item["key"] for item in items.values()}
    assert project.run_command("update", key, "--yes").ret == 0
    changed = text(project, "small_suite.json")
    assert f'"expected_output": "A card costs 6 USD.", "evaluators": ["rouge"], "key": "{key}"}},' in changed
    project.run("small_suite.json")
    assert {item["key"] for item in project.record()[1].values()} == {key}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["crad"], "*no test case 'crad'*card*"),
        (["card", "--model", "nobody"], "*nobody*"),
        (["card", "abroad", "--condition", "x"], "*--condition is for a single case*"),
        (["card", "--run", "absent"], "*absent*"),
    ],
)
def test_faults_are_named_and_nothing_is_written(
    project: Project, arguments: list[str], message: str
) -> None:
    project.run()
    result = project.run_command("update", *arguments, "--yes")
    assert result.ret == 2
    result.stderr.fnmatch_lines([message])
    assert "Traceback" not in result.stderr.str()
    assert text(project) == YAML


def test_a_faulty_condition_is_shown_below_its_error(project: Project) -> None:
    project.run()
    result = project.run_command("update", "abroad", "--condition", "12 USD", "--yes")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*column 1", "  12 USD", "  ^"], consecutive=True)
    assert text(project) == YAML


def test_a_record_that_names_a_file_elsewhere_changes_nothing(project: Project) -> None:
    project.run()
    record = project.folder / "evalstudio-report" / "record.jsonl"
    other_suite = project.folder.parent / "other_suite.yaml"
    other_suite.write_text(YAML, encoding="utf-8")
    for name in ("../other_suite.yaml", str(other_suite)):
        content = record.read_text(encoding="utf-8")
        record.write_text(content.replace('"fees_suite.yaml"', f'"{name}"'), encoding="utf-8")
        result = project.run_command("update", "card", "--yes")
        assert result.ret == 2, result.stderr.str()
        record.write_text(content, encoding="utf-8")
    assert other_suite.read_text(encoding="utf-8") == YAML


def test_a_file_with_faults_and_one_that_is_gone_are_refused(project: Project) -> None:
    project.run()
    project.write("fees_suite.yaml", YAML + "      - {key: broken}\n")
    faulty = project.run_command("update", "card", "--yes")
    assert faulty.ret == 2
    faulty.stderr.fnmatch_lines(["*1 of its test cases cannot be read*validate*"])
    (project.folder / "fees_suite.yaml").unlink()
    missing_file = project.run_command("update", "card", "--yes")
    assert missing_file.ret == 2
    missing_file.stderr.fnmatch_lines(["*fees_suite.yaml: there is no such file here*"])
