"""All nine steps on the bank's documents, offline, with the embedded model: what waits, what labels change,
what is left behind.
"""

from __future__ import annotations

import csv
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.formats.guardrails import read_guardrails
from pytest_evalstudio.formats.lab import TestLab
from support.project import Project

pytestmark = pytest.mark.slow

DOCUMENTS = Path(__file__).parents[3] / "example_suites" / "bank" / "documents"
STEPS = (
    *("topic_modeling", "test_generation", "test_validation", "automated_evaluation", "human_calibration"),
    *("failure_clustering", "weakness_detection", "robustness_input_variations", "robustness_adversarial"),
)
CONFIG = """
evaluators = ["text_matching", "rouge", "lexical_groundedness"]
[evaluator.rouge]
threshold = 0.25
"""
QUESTIONS = DOCUMENTS.parents[1] / "workflow" / "bank_questions_suite.json"
TF_IDF = {"vectors": "tf-idf"}


@pytest.fixture
def bank(pytester: pytest.Pytester) -> Project:
    project = Project(pytester)
    project.write("evalstudio.toml", CONFIG)
    shutil.copytree(DOCUMENTS, project.folder / "documents")
    # pytest collects nothing in a hidden folder.
    project.write(f".questions/{QUESTIONS.name}", QUESTIONS.read_bytes())
    content = {
        "name": "Bank",
        "documents": [f"documents/{path.name}" for path in sorted(DOCUMENTS.iterdir())],
        "steps": {
            "topic_modeling": TF_IDF,
            "test_generation": {"suite": f".questions/{QUESTIONS.name}"},
            "test_validation": TF_IDF,
            "failure_clustering": TF_IDF,
            "human_calibration": {"metric": "rouge.rouge_l"},
        },
    }
    project.write("bank_workflow.json", json.dumps({"evalstudio_workflow": content}))
    return project


def home(project: Project) -> Path:
    return project.folder / "bank_workflow_artifacts"


def folder(project: Project, step: str) -> Path:
    return home(project) / f"{STEPS.index(step) + 1}_{step}"


def state(project: Project, step: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads((folder(project, step) / "step.json").read_text(encoding="utf-8"))[
        "state"
    ]
    return result


def stamps(project: Project) -> dict[str, str]:
    return {step: state(project, step)["stamp"] for step in STEPS}


def people_say(project: Project) -> int:
    """Labels for all answers: good where the answer meets its case's condition; how many are good."""
    rows = TestLab.load(folder(project, "automated_evaluation") / "answers_lab.json").dataset.inputs
    labels = [
        (row.key, row.model_key, int(bool(parse_condition(row.output_condition).check(row.actual_output))))
        for row in rows
    ]
    with open(home(project) / "labels.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("key", "model_key", "label"), *labels])
    return sum(label for _, _, label in labels)


def test_nine_steps_with_people_in_the_middle(bank: Project) -> None:
    first = bank.run("-rs")
    first.assert_outcomes(passed=8, skipped=1)
    first.stdout.fnmatch_lines(
        [
            "SKIPPED *waits: 0 of * labels",
            "workflow Bank: 8 of 9 steps of this run completed*",
        ]
    )
    before = stamps(bank)
    assert not (folder(bank, "human_calibration") / "calibration.json").exists()

    good = people_say(bank)
    assert 10 <= good <= 19
    bank.run().assert_outcomes(passed=9)
    after = stamps(bank)
    with_thresholds = {"failure_clustering", "weakness_detection", "robustness_input_variations"}
    assert {step for step in STEPS if before[step] != after[step]} == {"human_calibration", *with_thresholds}
    calibrated = state(bank, "human_calibration")["figures"]
    # Cases that a control contradicts are not among them.
    labelled = state(bank, "automated_evaluation")["figures"]["cases"]
    assert (calibrated["n"], calibrated["labelled"], set(calibrated["conformal"]["sets"])) == (
        labelled,
        labelled,
        {"zero", "one", "both", "empty"},
    )
    assert (folder(bank, "human_calibration") / "calibration_curve.svg").is_file()

    bank.run("-n", "2").assert_outcomes(passed=9)
    assert stamps(bank) == after, "nothing has changed"
    bank.run("--evalstudio-from", "robustness_adversarial").assert_outcomes(passed=9)
    assert {step for step in STEPS if stamps(bank)[step] != after[step]} == {"robustness_adversarial"}


def test_what_a_workflow_leaves(bank: Project) -> None:
    bank.run()
    people_say(bank)
    bank.run("-k", "human_calibration or failure or weakness or variations").assert_outcomes(
        passed=4, deselected=5
    )
    summary = json.loads((home(bank) / "workflow_summary.json").read_text(encoding="utf-8"))
    assert (summary["completed"], [step["number"] for step in summary["steps"]]) == (9, list(range(1, 10)))
    page = (folder(bank, "automated_evaluation") / "interpretation.html").read_text(encoding="utf-8")
    assert "one step of a workflow, whose report concludes" in page, "one function concludes"
    decision = summary["decision"]
    assert (summary["quality"]["passed"], summary["quality"]["judged"]) == (
        decision["passed"],
        decision["judged"],
    )
    deciding = {metric["metric"]: metric["basis"] for metric in decision["metrics"]}
    assert deciding["text_matching.model_passes"] == "yes_or_no"
    assert "lexical_groundedness.supported_words" not in deciding, "nobody set its threshold"
    assert {problem["attributes"]["step"] for problem in summary["problems"]} >= {
        "automated_evaluation",
        "weakness_detection",
    }

    page = (home(bank) / "workflow_report.html").read_text(encoding="utf-8")
    pictures = [path for step in STEPS for path in folder(bank, step).glob("*.svg")]
    assert page.count('<img src="data:image/svg+xml;base64,') == len(pictures) > 10
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")

    assert read_guardrails(home(bank) / "guardrail_configuration.json").calibrated_thresholds == {
        "lexical_groundedness": {"supported_words": 0.8, "supported_numbers": 1.0}
    }
    rules = (home(bank) / "system_prompt_extension.md").read_text(encoding="utf-8")
    assert [rule["title"] for rule in summary["rules"]] == [
        line.partition(":")[0].removeprefix("* ") for line in rules.splitlines() if line[:1] == "*"
    ]
    patch = (home(bank) / "corpus_patch.md").read_text(encoding="utf-8")
    accepted = state(bank, "human_calibration")["figures"]["accepted"]
    rows = {
        row.key: row
        for row in TestLab.load(folder(bank, "automated_evaluation") / "answers_lab.json").dataset.inputs
    }
    assert accepted
    assert all((rows[key].actual_output.strip() in patch) or "____" in rows[key].input for key in accepted)
    assert "____" not in patch
    with zipfile.ZipFile(home(bank) / "workflow_artifacts.zip") as archive:
        names = set(archive.namelist())
    assert {
        "bank_workflow.json",
        "workflow_report.html",
        "corpus_patch.md",
        "guardrail_configuration.json",
    } <= names
    assert {path.relative_to(home(bank)).as_posix() for path in pictures} <= names
    assert not any(name.endswith(("answers_lab.json", ".zip")) for name in names), (
        "labs hold answers unmasked"
    )
