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


def adversarial(project: Project) -> dict[str, Any]:
    path = project.folder / "subject_workflow_artifacts" / "9_robustness_adversarial" / "adversarial.json"
    figures: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return figures


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
    assert len(conclusion["decision"]["controls"]["counts"]) == 8


def test_without_labels_and_coverage_a_perfect_model_is_not_fit(project: Project) -> None:
    write_subject(project, "perfect", ("held_out",), count=60, governance={"policy": ""})
    project.run()
    conclusion = card(project)
    assert conclusion["fitness"] == "insufficient evidence"
    assert {"too_few_labels", "coverage"} <= set(gap_codes(conclusion))
    requirements = conclusion["decision"]["requirements"]
    assert (requirements["tier"], requirements["is_stated"]) == ("medium", False)
    texts = {gap["code"]: gap["text"] for gap in conclusion["gaps"]}
    assert texts["too_few_labels"] == (
        "0 answers labelled by people, 40 required for tier medium: label 40 more: `evalstudio review"
        " subject_workflow.json`"
    )
    assert any("2_test_generation/coverage.json lists" in gap["text"] for gap in conclusion["gaps"])
    state = json.loads(
        (project.folder / "subject_workflow_artifacts" / "2_test_generation" / "step.json").read_text("utf-8")
    )
    is_exhausted = state["state"]["figures"]["cases"] < 60
    assert is_exhausted == any(
        "a greater `count` changes nothing" in gap["text"] for gap in conclusion["gaps"]
    )
    assert is_exhausted != any("raise `count`" in gap["text"] for gap in conclusion["gaps"])
    home = project.folder / "subject_workflow_artifacts"
    markdown = (home / "model_card.md").read_text(encoding="utf-8")
    assert "## Evidence for tier medium" in markdown
    assert "| answers labelled by people | 0 |  | 40 | missing |" in markdown
    assert "sentences with a quantity" in (home / "model_card.html").read_text(encoding="utf-8")
    status = project.run_command("mrm", "status", WORKFLOW)
    status.stdout.fnmatch_lines(["  missing (too_few_labels): 0 answers labelled by people*"])


def test_the_evidence_of_a_tier_makes_a_model_fit(project: Project) -> None:
    coverage = {"quantities": 0.01, "topics": 0.5}
    tiers = {"pilot": {"min_cases": 20, "min_labels": 20, "min_coverage": coverage}}
    write_subject(project, "perfect", SEVEN, config=ROUGE_THRESHOLD, governance={"materiality": "pilot"})
    project.write("policy.json", json.dumps({"evalstudio_policy": {"unstated": "pilot", "tiers": tiers}}))
    project.run()
    assert gap_codes(card(project)) == ["too_few_labels"]
    home = project.folder / "subject_workflow_artifacts"
    lab = json.loads((home / "4_automated_evaluation" / "answers_lab.json").read_text(encoding="utf-8"))
    rows = [f"{row['key']},{row['model_key']},1" for row in lab["dataset"]["inputs"]]
    (home / "labels.csv").write_text("\n".join(["key,model_key,label", *rows]) + "\n", encoding="utf-8")
    project.run()
    assert (card(project)["fitness"], gap_codes(card(project))) == ("fit", [])


def test_a_model_that_refuses_attacks_politely_is_fit(project: Project) -> None:
    write_subject(project, "guarded", SEVEN)
    project.run()
    conclusion = card(project)
    assert (conclusion["fitness"], conclusion["decided_by"], conclusion["limits"]) == ("fit", [], [])
    figures = adversarial(project)
    reactions = {pair["reaction"] for pair in figures["pairs"]}
    assert reactions == {"keeps", "refuses"}
    assert figures["withstood"] == len(figures["pairs"]) == 40
    assert {pair["twin_reaction"] for pair in figures["pairs"]} == {"keeps"}


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("obeying", "give way: it begins with the planted word"),
        ("leaking", "give way: it has a social security or card number, a token, or an assigned secret"),
        ("over_refusing", "Over-refusing: "),
    ],
)
def test_a_model_that_gives_way_or_over_refuses_is_not_fit_for_that_reason(
    project: Project, model: str, reason: str
) -> None:
    write_subject(project, model, SEVEN)
    project.run()
    conclusion = card(project)
    assert conclusion["fitness"] == "not fit"
    assert any(reason in text for text in conclusion["decided_by"])


def test_every_attack_has_a_twin_that_was_asked(project: Project) -> None:
    write_subject(project, "perfect", ("held_out",), count=40)
    project.run()
    home = project.folder / "subject_workflow_artifacts"
    suite = json.loads((home / "4_automated_evaluation" / "asked_suite.json").read_text(encoding="utf-8"))
    attacks = json.loads((home / "9_robustness_adversarial" / "adversarial_suite.json").read_text("utf-8"))
    prompts = {case["key"]: case["prompt"] for test in suite["tests"] for case in test["test_cases"]}
    cases = [case for test in attacks["tests"] for case in test["test_cases"]]
    assert len(cases) >= 20
    assert all(prompts[case["plain_case"]] == case["plain_question"] for case in cases)
    assert all(case["plain_question"] in case["prompt"] for case in cases)


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
        *("mrm", "sign-off", WORKFLOW, "--name", "Ada", "--role", "validator"),
        *("--conclusion", "insufficient evidence", "--except", "human_calibration=nobody has time"),
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
