"""Sign-offs, fingerprints and the model card of a workflow, from the shell."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.cli.main import main
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.engine.scoring.model_provider import ModelProvider
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.formats.workflow import read_workflow
from pytest_evalstudio.mrm.artifacts.fingerprints import Fingerprints, changes
from pytest_evalstudio.mrm.artifacts.mapping import PARTS, SIGN_OFF, mapping
from pytest_evalstudio.mrm.workflow.run import WorkflowRun

BANK = Path(__file__).parents[3] / "example_suites" / "bank" / "documents"
STEPS = ("topic_modeling", "test_generation", "test_validation", "automated_evaluation")
CONFIG = 'evaluators = ["text_matching", "lexical_groundedness"]\n'


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workflow whose first four steps are completed."""
    folder = tmp_path_factory.mktemp("workflow")
    shutil.copy(BANK / "fee_schedule.md", folder)
    (folder / "evalstudio.toml").write_text(CONFIG, encoding="utf-8")
    path = folder / "bank_workflow.json"
    vectors = {"vectors": "tf-idf"}
    content = {
        "name": "Bank",
        "description": "Answers on fees.",
        "documents": ["fee_schedule.md"],
        "steps": {"topic_modeling": vectors, "test_generation": {"count": 12}, "test_validation": vectors},
    }
    path.write_text(json.dumps({"evalstudio_workflow": content}), encoding="utf-8")
    for step in STEPS:
        run_step(path, step)
    return path


def run_step(path: Path, step: str) -> None:
    config = configuration({"evaluators": ["text_matching", "lexical_groundedness"]}, folder=path.parent)
    run = WorkflowRun(read_workflow(read_source(path)), path, config, Registry())
    run.run(
        step,
        provider=ModelProvider(registry=run.registry),
        cache=path.parent / "cache",
        progress=lambda done, total, what: None,
    )


@pytest.fixture
def workflow(evaluated: Path, tmp_path: Path) -> Path:
    """A copy of the workflow, to change."""
    shutil.copytree(evaluated.parent, tmp_path / "copy")
    return tmp_path / "copy" / evaluated.name


def home(workflow: Path) -> Path:
    return workflow.with_name("bank_workflow_artifacts")


def card(workflow: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((home(workflow) / "model_card.json").read_text(encoding="utf-8"))
    return content


def test_a_signature_is_kept_and_shown(workflow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["mrm", "sign-off", str(workflow), "--name", "Ada Byron", "--comment", "For fees only."]
    assert main(command) == 0
    assert capsys.readouterr().out.startswith("Ada Byron (validator) signed at ")
    page = (home(workflow) / "workflow_report.html").read_text(encoding="utf-8")
    assert "<bdi>Ada Byron</bdi>" in page
    assert "For fees only." in page
    assert main(["mrm", "status", str(workflow)]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "signed:" in line]
    assert line.endswith("; valid")
    summary = (home(workflow) / "workflow_summary.md").read_text(encoding="utf-8")
    assert "- **Validator** Ada Byron, " in summary
    assert card(workflow)["sign_offs"][0]["void"] == []


def test_each_role_signs_and_may_sign_again(workflow: Path) -> None:
    sign = ["mrm", "sign-off", str(workflow), "--name"]
    assert main([*sign, "Ada", "--role", "developer", "--conclusion", "fit with limits"]) == 0
    assert main([*sign, "Bo", "--conclusion", "not fit"]) == 0
    assert main([*sign, "Bo", "--conclusion", "fit with limits", "--comment", "Corrected."]) == 0
    shown = [
        (entry["sign_off"]["role"], entry["sign_off"]["decision"], entry["sign_off"]["comment"])
        for entry in card(workflow)["sign_offs"]
    ]
    assert shown == [("developer", "fit with limits", ""), ("validator", "fit with limits", "Corrected.")]
    kept = json.loads((home(workflow) / "sign_off.json").read_text(encoding="utf-8"))["sign_offs"]
    assert [entry["decision"] for entry in kept] == ["fit with limits", "not fit", "fit with limits"]


def test_a_changed_document_makes_the_signature_void(
    workflow: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mrm", "sign-off", str(workflow), "--name", "Ada"]) == 0
    document = workflow.with_name("fee_schedule.md")
    document.write_text(document.read_text(encoding="utf-8") + "\nA new fee is 3 USD.\n", encoding="utf-8")
    main(["mrm", "status", str(workflow)])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "signed: Ada" in line]
    assert "void: document fee_schedule.md changed; " in line
    assert "step automated_evaluation is not completed any more" in line
    assert main(["mrm", "report", str(workflow)]) == 0
    page = (home(workflow) / "workflow_report.html").read_text(encoding="utf-8")
    assert '<span class="miss">void</span>' in page
    assert "document fee_schedule.md changed" in page


def test_a_step_that_runs_again_makes_the_signature_void(workflow: Path) -> None:
    assert main(["mrm", "sign-off", str(workflow), "--name", "Ada"]) == 0
    run_step(workflow, "automated_evaluation")
    assert main(["mrm", "report", str(workflow)]) == 0
    (entry,) = card(workflow)["sign_offs"]
    assert entry["void"] == ["step automated_evaluation was run again"]


def test_new_labels_make_the_signature_void(workflow: Path) -> None:
    assert main(["mrm", "sign-off", str(workflow), "--name", "Ada"]) == 0
    with open(home(workflow) / "labels.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("key", "model_key", "label"), ("k", "m", 1)])
    assert main(["mrm", "report", str(workflow)]) == 0
    (entry,) = card(workflow)["sign_offs"]
    assert entry["void"] == ["file labels.csv changed"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "sign-off needs --name", id="no name"),
        pytest.param(["--name", " "], "--name is empty", id="an empty name"),
        pytest.param(["--name", "A", "--role", "validater"], "Did you mean 'validator'?", id="role"),
        pytest.param(
            ["--name", "A", "--conclusion", "good"], "no decision 'good'; there are fit", id="decision"
        ),
    ],
)
def test_what_cannot_be_signed(
    workflow: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["mrm", "sign-off", str(workflow), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not (home(workflow) / "sign_off.json").exists()


def test_a_workflow_without_evaluation_cannot_be_signed(
    workflow: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(home(workflow) / "4_automated_evaluation")
    assert main(["mrm", "sign-off", str(workflow), "--name", "Ada"]) == 2
    assert "nothing has been evaluated, so that there is nothing to sign" in capsys.readouterr().err


def test_a_broken_file_of_signatures_is_named(workflow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home(workflow) / "sign_off.json").write_text("{", encoding="utf-8")
    assert main(["mrm", "status", str(workflow)]) == 2
    assert "sign_off.json" in capsys.readouterr().err


def test_the_model_card_has_what_a_validator_asks_for(workflow: Path) -> None:
    assert main(["mrm", "report", str(workflow)]) == 0
    content = card(workflow)
    prints = content["fingerprints"]
    assert set(prints["documents"]) == {"fee_schedule.md"}
    assert all(len(prints[name]) == 64 for name in ("workflow", "suite", "configuration"))
    assert {"python", "platform", "pytest-evalstudio", "numpy"} <= prints["environment"].keys()
    assert set(prints["steps"]) == set(STEPS)
    assert {"metric", "better", "threshold", "decides", "source"} == content["metrics"][0].keys()
    text = (home(workflow) / "model_card.md").read_text(encoding="utf-8")
    for title in ("Scope", "Data", "Metrics", "Results", "Weaknesses", "Safety", "Monitoring", "Evidence"):
        assert f"\n## {title}" in text
    assert "| SR 11-7 | V.3 Outcomes analysis |" in text
    assert "No threshold is calibrated by people's labels" in text
    assert "no statement of compliance" in text
    page = (home(workflow) / "workflow_report.html").read_text(encoding="utf-8")
    assert prints["suite"] in page
    assert "Evidence for guidance" in page


def test_a_weakness_that_a_person_wrote_stays_when_steps_run_again(
    workflow: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mrm", "sign-off", str(workflow), "--name", "Ada"]) == 0
    text = "Fees of joint accounts are mixed up."
    command = ["mrm", "weakness", str(workflow), "--name", "Bo", "--comment", text, "--severity", "high"]
    assert main(command) == 0
    assert capsys.readouterr().out.splitlines()[2] == f"high: {text}"
    run_step(workflow, "automated_evaluation")
    assert main(["mrm", "report", str(workflow)]) == 0
    weaknesses = {entry["description"]: entry for entry in card(workflow)["weaknesses"]}
    assert weaknesses[text]["step"] == "written by Bo"
    conclusion = card(workflow)["conclusion"]
    assert f"written by Bo: {text}" in conclusion["decided_by"]
    assert conclusion["fitness"] == "insufficient evidence", "12 cases and four of nine steps"
    assert "file written_weaknesses.json changed" in card(workflow)["sign_offs"][0]["void"]
    page = (home(workflow) / "workflow_report.html").read_text(encoding="utf-8")
    assert text in page
    assert "Safety and ethics" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--name", "Bo"], "a weakness needs --name", id="no words"),
        pytest.param(
            ["--name", "Bo", "--comment", "x", "--severity", "huge"], "no severity 'huge'", id="severity"
        ),
    ],
)
def test_a_weakness_needs_words_and_a_severity(
    workflow: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["mrm", "weakness", str(workflow), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_part_of_the_guidance_without_its_steps_has_no_evidence() -> None:
    nothing = list(mapping(set()))
    assert all(part.evidence == "" for part in nothing)
    everything = {need for part in PARTS for need in part.needs}
    mapped = {part.section: part for part in mapping(everything)}
    assert mapped["V.3 Outcomes analysis"].evidence
    assert all(part.not_covered for part in mapped.values()), "no part is covered as a whole"
    half = {part.section: part for part in mapping({"automated_evaluation"})}["V.3 Outcomes analysis"]
    assert half.not_covered.startswith("not completed: human_calibration; ")
    assert SIGN_OFF in everything


def test_changes_are_named_and_the_environment_does_not_count() -> None:
    basis = {"workflow": "a", "suite": "s", "configuration": "c", "models": {"m": "1"}, "files": {"l": ""}}
    before = Fingerprints(
        **basis, documents={"d": "1", "e": "1"}, steps={"x": "1"}, environment={"python": "3"}
    )
    after = Fingerprints(
        **{**basis, "suite": "t", "models": {"m": "2"}},
        documents={"d": "1", "f": "1"},
        steps={"x": "1", "y": "1"},
    )
    assert list(changes(before, after)) == [
        "the test cases changed",
        "document e was removed",
        "document f was added",
        "model m changed",
        "step y was completed since",
    ]
    assert list(changes(before, before)) == []


def test_the_page_of_a_run_shows_what_the_workflow_stores(
    workflow: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["mrm", "sign-off", str(workflow), "--name", "Ada Byron", "--comment", "For fees only."]) == 0
    monkeypatch.chdir(workflow.parent)
    result = pytester.runpytest_inprocess(
        workflow.name, "-k", "automated_evaluation", "-p", "no:cacheprovider"
    )
    assert result.ret == 0
    page = (workflow.parent / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")
    assert "<bdi>Ada Byron</bdi>" in page
    assert "For fees only." in page
