"""A workflow on the bank's documents, start to end: the steps that there are, offline, with the embedded
model.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.suite import TestSuite
from support.project import Project

pytestmark = pytest.mark.slow

DOCUMENTS = Path(__file__).parents[3] / "example_suites" / "bank" / "documents"
STEPS = ("topic_modeling", "test_generation", "test_validation", "automated_evaluation")
CONFIG = 'evaluators = ["text_matching", "rouge"]\n'
TF_IDF = {"topic_modeling": {"vectors": "tf-idf"}, "test_validation": {"vectors": "tf-idf"}}


@pytest.fixture
def bank(pytester: pytest.Pytester) -> Project:
    project = Project(pytester)
    project.write("evalstudio.toml", CONFIG)
    shutil.copytree(DOCUMENTS, project.folder / "documents")
    write(project)
    return project


def write(project: Project, **steps: dict[str, Any]) -> None:
    documents = [f"documents/{path.name}" for path in sorted(DOCUMENTS.iterdir())]
    parameters = {name: {**TF_IDF.get(name, {}), **steps.get(name, {})} for name in {*TF_IDF, *steps}}
    project.write(
        "bank_workflow.json",
        json.dumps({"evalstudio_workflow": {"name": "Bank", "documents": documents, "steps": parameters}}),
    )


def run(project: Project) -> pytest.RunResult:
    """The first four steps; the later ones have tests of their own."""
    return project.run("-k", " or ".join(STEPS))


def artifacts(project: Project, step: str) -> Path:
    return project.folder / "bank_workflow_artifacts" / f"{STEPS.index(step) + 1}_{step}"


def finished(project: Project) -> dict[str, str]:
    return {
        step: json.loads((artifacts(project, step) / "step.json").read_text(encoding="utf-8"))["state"][
            "stamp"
        ]
        for step in STEPS
    }


def test_from_documents_to_an_evaluation(bank: Project) -> None:
    run(bank).assert_outcomes(passed=4)
    topics = json.loads((artifacts(bank, "topic_modeling") / "topics.json").read_text(encoding="utf-8"))
    assert len(topics["topics"]) > 1
    assert {Path(chunk["document"]).name for chunk in topics["chunks"]} == {
        path.name for path in DOCUMENTS.iterdir()
    }
    generated = TestSuite.load(artifacts(bank, "test_generation") / "tests_suite.json").cases()
    valid = TestSuite.load(artifacts(bank, "test_validation") / "validated_suite.json").cases()
    rejected = TestSuite.load(artifacts(bank, "test_validation") / "rejected_suite.json").cases()
    assert 3 <= len(generated) <= 30
    assert {case.key for _, case in generated} == {case.key for _, case in (*valid, *rejected)}
    folder = artifacts(bank, "automated_evaluation")
    rows = TestLab.load(folder / "answers_lab.json").dataset.inputs
    assert len(rows) == len(valid)
    assert all(row.actual_output for row in rows)
    results = json.loads((folder / "interpretation.json").read_text(encoding="utf-8"))
    assert set(results["evaluators"]) == {"text_matching", "rouge"}
    assert (folder / "interpretation.html").is_file()

    stamps = finished(bank)
    run(bank).assert_outcomes(passed=4)  # nor are the suites of the artifacts taken for tests
    assert finished(bank) == stamps


def test_a_suite_among_the_artifacts_is_run_where_it_is_named(bank: Project) -> None:
    write(bank, test_generation={"count": 3, "generators": ["numerical_reasoning"]})
    run(bank).assert_outcomes(passed=4)
    counts = bank.run("bank_workflow_artifacts/3_test_validation/validated_suite.json").parseoutcomes()
    assert counts.get("passed", 0) + counts.get("failed", 0) == 3


def test_evaluators_and_thresholds_are_the_steps_own(bank: Project) -> None:
    write(
        bank,
        test_generation={"count": 4},
        automated_evaluation={"evaluators": ["rouge"], "thresholds": {"rouge": 0.0}},
    )
    run(bank).assert_outcomes(passed=4)
    valid, evaluated = (
        json.loads((artifacts(bank, step) / "step.json").read_text(encoding="utf-8"))["state"]["figures"]
        for step in ("test_validation", "automated_evaluation")
    )
    assert valid["valid"] > 0
    assert evaluated["verdicts"] == {"passed": valid["valid"]}


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        pytest.param(
            {"automated_evaluation": {"evaluators": ["rogue"]}},
            "*no evaluator named 'rogue'. Did you mean 'rouge'*",
            id="an evaluator",
        ),
        pytest.param(
            {"test_generation": {"generators": ["simple"]}},
            "*no generator named 'simple'. Did you mean 'simple_factual'*",
            id="a generator",
        ),
        pytest.param(
            {"automated_evaluation": {"evaluators": ["rouge"], "thresholds": {"rouge.x": 1}}},
            "*bank_workflow.json /evalstudio_workflow/steps/automated_evaluation: thresholds: rouge: no"
            " metric named 'x'*",
            id="a metric",
        ),
        pytest.param(
            {"topic_modeling": {"vectors": "bert"}},
            "*/steps/topic_modeling/vectors: expected one of 'auto', 'embeddings', 'tf-idf', found 'bert'*",
            id="a parameter",
        ),
    ],
)
def test_what_is_misspelt_is_said_without_a_traceback(
    bank: Project, steps: dict[str, Any], message: str
) -> None:
    write(bank, **{"test_generation": {"count": 4}, **steps})
    result = run(bank)
    assert result.ret != 0
    result.stdout.fnmatch_lines([message])
    assert "Traceback" not in result.stdout.str()


def test_a_model_that_is_not_configured(bank: Project) -> None:
    bank.write(
        "evalstudio.toml",
        CONFIG
        + '[[model]]\nname = "one"\nhost = "extractive"\n[[model]]\nname = "two"\nhost = "extractive"\n',
    )
    write(bank, test_generation={"count": 4})
    result = run(bank)
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        ["*several models are configured, and the workflow names none of them in `model`: one, two*"]
    )


APP = """
from pathlib import Path

def ask(question):
    if Path("down").exists():
        raise RuntimeError("the line is dead")
    return "It is free."
"""


def test_answers_that_could_not_be_had_are_waited_for(bank: Project) -> None:
    bank.write("app.py", APP)
    bank.write("down", "")
    bank.write("evalstudio.toml", CONFIG + '[[model]]\nname = "app"\nhost = "python"\ntarget = "app:ask"\n')
    write(bank, test_generation={"count": 6})
    run(bank).assert_outcomes(passed=3, skipped=1)
    state = json.loads((artifacts(bank, "automated_evaluation") / "step.json").read_text(encoding="utf-8"))[
        "state"
    ]
    assert re.match(r"(\d+) of \1 questions have no answer \(", state["waits"])
    assert "the line is dead" in state["waits"]
    assert state["waits"].endswith("; the next run asks them again")
    (bank.folder / "down").unlink()
    run(bank).assert_outcomes(passed=4)
    rows = TestLab.load(artifacts(bank, "automated_evaluation") / "answers_lab.json").dataset.inputs
    assert {row.actual_output for row in rows} == {"It is free."}


def test_an_edited_suite_is_used_as_it_is(bank: Project) -> None:
    run(bank)
    before = finished(bank)
    path = artifacts(bank, "test_generation") / "tests_suite.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    case = content["tests"][0]["test_cases"][0]
    case["prompt"] = f"Please: {case['prompt']}"
    path.write_text(json.dumps(content), encoding="utf-8")
    run(bank)
    after = finished(bank)
    assert [step for step in STEPS if before[step] != after[step]] == [
        "test_validation",
        "automated_evaluation",
    ]
    assert json.loads(path.read_text(encoding="utf-8")) == content
    state = json.loads((artifacts(bank, "test_validation") / "step.json").read_text(encoding="utf-8"))[
        "state"
    ]
    assert state["figures"]["edited"] == [case["key"]]
    assert any("1 edited by people" in note for note in state["notes"])

    bank.run("--evalstudio-from", "test_generation", "-k", "test_generation")
    edited_suite = artifacts(bank, "test_generation") / "tests_suite.edited.json"
    assert json.loads(edited_suite.read_text(encoding="utf-8")) == content
