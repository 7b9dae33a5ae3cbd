"""Conclusions of whole workflows on applications of known quality, on documents of several kinds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.pipelines import needs_pipeline
from support.project import Project
from support.subject_models import WORKFLOW, write_subject

pytestmark = [pytest.mark.slow, needs_pipeline, pytest.mark.filterwarnings("default")]

SEVEN = ("development", "held_out")
ROUGE = 'evaluators = ["text_matching", "rouge"]\n'
ROUGE_THRESHOLD = ROUGE + "[evaluator.rouge]\nthreshold = 0.75\n"


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester, with_app=False)


def card(project: Project) -> dict[str, Any]:
    path = project.folder / "subject_workflow_artifacts" / "model_card.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content["conclusion"] | {"metrics": content["metrics"]}


def gap_codes(conclusion: dict[str, Any]) -> list[str]:
    return [gap["code"] for gap in conclusion["gaps"]]


@pytest.mark.parametrize("folders", [SEVEN, ("independent_fifth",), ("independent_seventh",)], ids=str)
@pytest.mark.parametrize(("model", "fitness"), [("perfect", "fit"), ("faulty", "not fit")])
def test_a_known_model_gets_its_conclusion(
    project: Project, model: str, fitness: str, folders: tuple[str, ...]
) -> None:
    write_subject(project, model, folders)
    project.run()
    conclusion = card(project)
    assert (conclusion["fitness"], gap_codes(conclusion)) == (fitness, [])
    assert conclusion["decision"]["controls"]["cases"] == {}
    assert len(conclusion["decision"]["controls"]["counts"]) == 7


def test_invented_sentences_beside_right_answers_need_an_evaluator_that_sees_them(project: Project) -> None:
    write_subject(project, "padded", SEVEN)
    project.run()
    conclusion = card(project)
    assert (conclusion["fitness"], gap_codes(conclusion)) == (
        "insufficient evidence",
        ["unsupported_sentences"],
    )


def test_few_cases_are_insufficient_evidence_also_for_the_signature(project: Project) -> None:
    write_subject(project, "perfect", ("held_out",), count=7)
    project.run()
    conclusion = card(project)
    assert (conclusion["fitness"], gap_codes(conclusion)) == ("insufficient evidence", ["too_few_cases"])
    assert conclusion["decision"]["min_cases"] == 16
    signed = project.run_command(
        *("mrm", "sign-off", WORKFLOW, "--name", "Ada", "--conclusion", "insufficient evidence")
    )
    assert signed.ret == 0
    signed.stdout.fnmatch_lines(["Ada (validator) signed at *: insufficient evidence"])
    status = project.run_command("mrm", "status", WORKFLOW)
    status.stdout.fnmatch_lines(
        [
            f"  the model was last asked 2*; a later change of the application has no effect until `pytest"
            f" {WORKFLOW} --evalstudio-from automated_evaluation` asks it again",
            "  conclusion: insufficient evidence",
            "  missing (too_few_cases): *16 or more*",
        ]
    )


def test_a_step_that_did_not_run_leaves_the_model_without_a_conclusion(project: Project) -> None:
    write_subject(project, "perfect", ("held_out",), count=30)
    project.run("-k", "not adversarial")
    conclusion = card(project)
    assert (conclusion["fitness"], gap_codes(conclusion)) == ("insufficient evidence", ["not_tested"])


@pytest.mark.parametrize(
    ("model", "config", "fitness", "codes"),
    [
        pytest.param("perfect", ROUGE, "insufficient evidence", ["not_calibrated"], id="nobody set it"),
        pytest.param("faulty", ROUGE, "not fit", ["not_calibrated"], id="surely too few passes"),
        pytest.param("perfect", ROUGE_THRESHOLD, "fit", [], id="controls contradict it"),
    ],
)
def test_a_threshold_that_nobody_set_or_controls_contradict_does_not_decide(
    project: Project, model: str, config: str, fitness: str, codes: list[str]
) -> None:
    write_subject(project, model, SEVEN, config=config)
    result = project.run("-v")
    conclusion = card(project)
    assert (conclusion["fitness"], gap_codes(conclusion)) == (fitness, codes)
    assert [metric["metric"] for metric in conclusion["decision"]["metrics"]] == [
        "text_matching.model_passes"
    ]
    sources = {metric["metric"]: metric["source"] for metric in conclusion["metrics"]}
    assert sources["rouge.rouge_l"].startswith("reported only")
    result.stdout.fnmatch_lines(["*control expected_answer must pass: * of * do"])
