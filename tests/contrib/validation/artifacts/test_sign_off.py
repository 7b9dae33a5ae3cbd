"""Sign-offs, evidence and the model card of a workflow, from the shell."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.cli.main import main
from pytest_evalstudio.contrib.calibration.fit.results import MetricFigures
from pytest_evalstudio.contrib.validation.artifacts import model_card
from pytest_evalstudio.contrib.validation.artifacts.evidence import INPUTS, RESULTS, changes
from pytest_evalstudio.contrib.validation.artifacts.model_card import Inventory
from pytest_evalstudio.contrib.validation.artifacts.model_card_text import inventory_rows
from pytest_evalstudio.contrib.validation.workflow.calibration import CalibrationOutcome
from support.signing import STEPS, home, override, run_step, sign


def card(workflow: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((home(workflow) / "model_card.json").read_text(encoding="utf-8"))
    return content


def test_a_signature_is_kept_and_shown(workflow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sign(workflow, "--name", "Ada Byron", "--comment", "For fees only.") == 0
    signed, head, _ = capsys.readouterr().out.splitlines()
    assert signed.startswith("Ada Byron (validator) signed at ")
    assert len(head.removeprefix("head: ")) == 64
    page = (home(workflow) / "workflow_report.html").read_text(encoding="utf-8")
    assert "<bdi>Ada Byron</bdi>" in page
    assert "For fees only." in page
    assert "open step robustness_adversarial: pilot" in page
    assert main(["mrm", "status", str(workflow)]) == 1
    output = capsys.readouterr().out
    (line,) = [line for line in output.splitlines() if "signed:" in line]
    assert "; valid; open step human_calibration: pilot" in line
    assert "without a valid sign-off: developer" in output
    summary = (home(workflow) / "workflow_summary.md").read_text(encoding="utf-8")
    assert "- **Validator** Ada Byron, " in summary
    assert card(workflow)["sign_offs"][0]["void"] == []
    assert card(workflow)["unsigned"] == ["developer"]


def test_each_role_signs_and_may_sign_again(workflow: Path) -> None:
    assert sign(workflow, "--name", "Ada", "--role", "developer") == 0
    assert sign(workflow, "--name", "Bo", "--conclusion", "not fit", "--comment", "The gap is known.") == 0
    assert sign(workflow, "--name", "Bo") == 0
    sign_offs = [
        (entry["sign_off"]["role"], entry["sign_off"]["decision"], entry["void"])
        for entry in card(workflow)["sign_offs"]
    ]
    expected = [("developer", "not fit", []), ("validator", "not fit", [])]
    assert sign_offs == expected, "the sign-off of one role does not make that of the other void"
    links = json.loads((home(workflow) / "sign_off.json").read_text(encoding="utf-8"))["links"]
    decisions = [entry["sign_off"]["decision"] for entry in links]
    assert decisions == ["not fit", "not fit", "not fit"]
    assert [entry["previous"] for entry in links[1:]] == [entry["head"] for entry in links[:-1]]


FIT = ("--conclusion", "fit", "--comment", "Pilot of 10 users.")


def open_ids(workflow: Path) -> list[str]:
    """Ids of the open findings, and codes of the gaps, which an override must accept."""
    main(["mrm", "findings", str(workflow), "--collect"])
    content = card(workflow)
    entries = [entry["id"] for entry in content["register"] if entry["status"] == "open"]
    gaps = [gap["code"] for gap in content["conclusion"]["gaps"]]
    return [*entries, *gaps, *(["low_share"] if content["conclusion"]["low_share"] else [])]


def test_an_override_needs_another_person_and_a_reason_for_each_finding(
    workflow: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_refusal(text: str, *arguments: str, accept: Sequence[str] = ()) -> None:
        assert override(workflow, *arguments, accept=accept) == 2
        assert text in capsys.readouterr().err

    assert main(["mrm", "report", str(workflow)]) == 0
    check_refusal("state the reason by --comment", "--name", "Cy", *FIT[:2])
    check_refusal("nobody has signed the computed conclusion", "--name", "Cy", *FIT)
    monkeypatch.setenv("EVALSTUDIO_RAN_BY", "Dee")
    run_step(workflow, "automated_evaluation")
    ids = open_ids(workflow)
    assert sign(workflow, "--name", "Bo") == 0
    check_refusal("Bo has signed as validator", "--name", "Bo", *FIT, accept=ids)
    check_refusal("dee ran or signed this validation; another person must", "--name", "dee", *FIT, accept=ids)
    check_refusal("needs a reason for each open finding: ", "--name", "Cy", *FIT, accept=ids[1:])
    check_refusal("--accept F-99: is not an open finding", "--name", "Cy", *FIT, accept=[*ids, "F-99"])
    assert override(workflow, "--name", "Cy", *FIT, accept=ids) == 0
    assert "EXCEPTION: Cy (owner) decides 'fit' against the computed" in capsys.readouterr().out


def test_findings_that_have_no_entry_cannot_be_overridden(
    workflow: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sign(workflow, "--name", "Bo") == 0
    assert override(workflow, "--name", "Cy", *FIT, accept=()) == 2
    assert "are not in the register" in capsys.readouterr().err


def test_an_override_is_an_exception_everywhere(workflow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mrm", "report", str(workflow)]) == 0
    ids = open_ids(workflow)
    assert sign(workflow, "--name", "Bo") == 0
    assert override(workflow, "--name", "Cy", *FIT, accept=ids) == 0
    capsys.readouterr()
    text = "EXCEPTION: Cy (owner) decides 'fit' against the computed conclusion 'not fit'"
    for name in ("model_card.md", "workflow_summary.md", "model_card.html"):
        content = (home(workflow) / name).read_text(encoding="utf-8")
        assert text in content.replace("\\", "").replace("&#39;", "'")
    report = (home(workflow) / "workflow_report.html").read_text(encoding="utf-8")
    decision_text = report.partition("Conclusion: not fit")[2].partition("Findings:")[0]
    assert "Exception: overridden by the owner" in decision_text
    assert "Pilot of 10 users." in decision_text
    assert f"accepted {ids[0]}: known and bounded" in decision_text
    for target in (workflow, home(workflow) / "workflow_artifacts.zip"):
        assert main(["mrm", "verify", str(target)]) == 0
        output = capsys.readouterr().out
        assert text in output
        assert "verified: nothing has changed since the last sign-off; 1 exception" in output
    assert main(["mrm", "status", str(workflow)]) == 1
    assert "EXCEPTION: overrides the computed conclusion" in capsys.readouterr().out
    chain = json.loads((home(workflow) / "sign_off.json").read_text(encoding="utf-8"))["links"]
    assert {each["id"] for each in chain[-1]["sign_off"]["accepted"]} == set(ids)


def test_one_count_of_findings(workflow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mrm", "report", str(workflow)]) == 0
    capsys.readouterr()
    main(["mrm", "status", str(workflow)])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  findings: ")]
    page = (home(workflow) / "workflow_report.html").read_text(encoding="utf-8")
    assert line.removeprefix("  findings: ") in page
    assert "of the steps not entered" in line


def test_the_evaluation_counts_what_the_conclusion_counts(workflow: Path) -> None:
    assert main(["mrm", "report", str(workflow)]) == 0
    content = card(workflow)
    decision = content["conclusion"]["decision"]
    text = f"{decision['passed']} of {decision['judged']} answers pass and "
    assert text in content["results"]["Automated evaluation"]


def test_the_roles_of_the_policy_are_signed_by_different_persons(
    workflow: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(workflow.read_text(encoding="utf-8"))
    content["evalstudio_workflow"]["governance"] = {"roles": ["developer", "model risk"]}
    workflow.write_text(json.dumps(content), encoding="utf-8")
    assert sign(workflow, "--name", "Ada", "--role", "validator") == 2
    assert "Roles of the policy: developer, model risk, owner." in capsys.readouterr().err
    assert sign(workflow, "--name", "Ada", "--role", "developer") == 0
    assert sign(workflow, "--name", "ADA", "--role", "model risk") == 2
    assert "has signed as developer; another person must sign as model risk" in capsys.readouterr().err
    assert sign(workflow, "--name", "Bo", "--role", "model risk") == 0
    assert card(workflow)["unsigned"] == []


def test_open_steps_block_the_sign_off_unless_they_are_exceptions(
    workflow: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["mrm", "sign-off", str(workflow), "--name", "Ada", "--role", "validator"]
    assert main(command) == 2
    assert "not completed: human_calibration, failure_clustering, " in capsys.readouterr().err
    assert main([*command, "--except", "topic_modeling=x"]) == 2
    assert "topic_modeling: no open step" in capsys.readouterr().err
    assert main([*command, "--except", "human_calibration"]) == 2
    assert "state the reason" in capsys.readouterr().err


def test_a_changed_document_makes_the_signature_void(
    workflow: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sign(workflow, "--name", "Ada") == 0
    document = workflow.with_name("fee_schedule.md")
    document.write_text(document.read_text(encoding="utf-8") + "\nA new fee is 3 USD.\n", encoding="utf-8")
    main(["mrm", "status", str(workflow)])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "signed: Ada" in line]
    assert "void: document fee_schedule.md changed" in line
    assert main(["mrm", "report", str(workflow)]) == 0
    page = (home(workflow) / "workflow_report.html").read_text(encoding="utf-8")
    assert '<span class="miss">void</span>' in page
    assert "document fee_schedule.md changed" in page


def test_a_step_that_runs_again_makes_the_signature_void(workflow: Path) -> None:
    assert sign(workflow, "--name", "Ada") == 0
    run_step(workflow, "automated_evaluation")
    assert main(["mrm", "report", str(workflow)]) == 0
    (entry,) = card(workflow)["sign_offs"]
    assert "file 4_automated_evaluation/step.json changed" in entry["void"]


def test_new_labels_make_the_signature_void(workflow: Path) -> None:
    assert sign(workflow, "--name", "Ada") == 0
    with open(home(workflow) / "labels.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("key", "model_key", "label"), ("k", "m", 1)])
    assert main(["mrm", "report", str(workflow)]) == 0
    (entry,) = card(workflow)["sign_offs"]
    assert entry["void"] == ["file labels.csv was added"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "sign-off needs --name", id="no name"),
        pytest.param(["--name", "A", "--role", ""], "needs --role; roles of the policy", id="no role"),
        pytest.param(["--name", " "], "sign-off needs --name", id="an empty name"),
        pytest.param(["--name", "A", "--role", "validater"], "Did you mean 'validator'?", id="role"),
        pytest.param(
            ["--name", "A", "--conclusion", "good"], "'good' is unknown; write one of fit", id="decision"
        ),
    ],
)
def test_what_cannot_be_signed(
    workflow: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert sign(workflow, *arguments) == 2
    assert message in capsys.readouterr().err
    assert not (home(workflow) / "sign_off.json").exists()


def test_a_workflow_without_evaluation_cannot_be_signed(
    workflow: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(home(workflow) / "4_automated_evaluation")
    assert main(["mrm", "sign-off", str(workflow), "--name", "Ada", "--role", "validator"]) == 2
    assert "nothing has been evaluated, so there is nothing to sign" in capsys.readouterr().err


def test_a_broken_file_of_signatures_is_named(workflow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home(workflow) / "sign_off.json").write_text("{", encoding="utf-8")
    assert main(["mrm", "status", str(workflow)]) == 2
    assert "sign_off.json" in capsys.readouterr().err


def test_the_model_card_has_what_a_validator_asks_for(workflow: Path) -> None:
    assert main(["mrm", "report", str(workflow)]) == 0
    content = card(workflow)
    evidence = content["evidence"]
    assert set(evidence["digests"]["documents"]) == {"fee_schedule.md"}
    assert {"python", "platform", "pytest-evalstudio", "numpy"} <= evidence["environment"].keys()
    files = {name.partition("/")[0].partition("_")[2] for name in evidence["digests"]["steps"]}
    assert files == set(STEPS)
    assert {"metric", "better", "threshold", "decides", "source", "limitation"} == content["metrics"][
        0
    ].keys()
    text = (home(workflow) / "model_card.md").read_text(encoding="utf-8")
    for title in (
        "Model inventory",
        "Scope",
        "Data",
        "Metrics",
        "Results",
        "Weaknesses",
        "Safety",
        "Monitoring",
        "Evidence",
    ):
        assert f"\n## {title}" in text
    assert "| SR 11-7 | V.3 Outcomes analysis |" in text
    assert "No threshold is calibrated by people's labels" in text
    assert "no statement of compliance" in text
    page = (home(workflow) / "workflow_report.html").read_text(encoding="utf-8")
    assert evidence["digests"]["suite"]["2_test_generation/tests_suite.json"] in page
    assert "Evidence for guidance" in page


def test_changes_are_named() -> None:
    before = {"documents": {"d": "1", "e": "1"}, "suite": {"s": "1"}, "steps": {"x": "1"}}
    after = {"documents": {"d": "1", "f": "1"}, "suite": {"s": "2"}, "steps": {"x": "1", "y": "1"}}
    assert list(changes(before, after, (*INPUTS, *RESULTS))) == [
        "document e was removed",
        "document f was added",
        "test cases s changed",
        "file y was added",
    ]
    assert list(changes(before, before, (*INPUTS, *RESULTS))) == []


def test_the_page_of_a_run_shows_what_the_workflow_stores(
    workflow: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sign(workflow, "--name", "Ada Byron", "--comment", "For fees only.") == 0
    monkeypatch.chdir(workflow.parent)
    result = pytester.runpytest_inprocess(
        workflow.name, "-k", "automated_evaluation", "-p", "no:cacheprovider"
    )
    assert result.ret == 0
    page = (workflow.parent / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")
    assert "<bdi>Ada Byron</bdi>" in page
    assert "For fees only." in page


def test_fields_of_the_inventory_without_a_value_are_one_line() -> None:
    rows = list(
        inventory_rows(
            Inventory(
                inventory_id="MRM-0042",
                intended_use="",
                materiality="",
                owner="Ada",
                version="",
                limitations=(),
            )
        )
    )
    assert rows == [
        ("Inventory id", "MRM-0042"),
        ("Owner", "Ada"),
        ("Not stated", "intended use, materiality tier, version of the application"),
    ]


def test_a_card_names_the_labels_that_a_metric_was_compared_with(
    workflow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = MetricFigures(
        metric="text_matching.model_passes",
        accepted=True,
        auc_in_sample=0.9,
        auc_in_sample_interval=(0.8, 1.0),
    )
    outcome = CalibrationOutcome(by_metric=(compared,))
    monkeypatch.setattr(model_card, "calibration_outcome", lambda run: outcome)
    assert main(["mrm", "report", str(workflow)]) == 0
    content = json.loads((home(workflow) / "model_card.json").read_text(encoding="utf-8"))
    limits = {entry["metric"]: entry["limitation"] for entry in content["metrics"]}
    expected = "AUC 0.9 (0.8–1) on the labels of this workflow; "
    assert limits["text_matching.model_passes"].startswith(expected)
