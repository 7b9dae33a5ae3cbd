"""What the model card claims: content, not steps that came to an end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.cli.main import main
from pytest_evalstudio.contrib.validation.artifacts.mapping import mapping
from pytest_evalstudio.contrib.validation.workflow.guidance import CLAIM_CODES, default_guidance
from support.project import Project
from support.signing import home, run_step


def card_of(workflow: Path) -> dict[str, Any]:
    assert main(["mrm", "report", str(workflow)]) == 0
    content: dict[str, Any] = json.loads((home(workflow) / "model_card.json").read_text(encoding="utf-8"))
    return content


def part(card: dict[str, Any], section: str) -> dict[str, Any]:
    return next(each for each in card["mapping"] if each["section"].startswith(section))


def test_without_a_label_no_label_is_claimed(workflow: Path) -> None:
    card = card_of(workflow)
    outcomes, measure = part(card, "V.3"), part(card, "MEASURE 1 ")
    assert outcomes["evidence"] == "results of the evaluation with intervals"
    assert outcomes["not_covered"].startswith("not done: labels by people; ")
    assert measure["evidence"] == "metrics of this card with thresholds and their origin"
    assert "people's labels" not in (home(workflow) / "model_card.html").read_text(encoding="utf-8").replace(
        "No threshold is calibrated by people's labels", ""
    )


def test_a_step_that_waits_or_has_no_result_is_no_result(workflow: Path) -> None:
    run_step(workflow, "human_calibration")
    card = card_of(workflow)
    assert "Human calibration" not in card["results"]
    assert "labels by people" in part(card, "V.3")["not_covered"]
    run_step(workflow, "failure_clustering")
    assert "Failure clustering" in card_of(workflow)["results"]


@pytest.mark.parametrize("missing", CLAIM_CODES)
def test_each_claim_needs_its_content(missing: str) -> None:
    guidance = default_guidance()
    claimed = [text for each in mapping(guidance, set(CLAIM_CODES)) for text in each.evidence.split("; ")]
    rest = [
        text for each in mapping(guidance, set(CLAIM_CODES) - {missing}) for text in each.evidence.split("; ")
    ]
    dropped = sum(missing in claim.needs for part in guidance.parts for claim in part.claims)
    assert dropped > 0, "a code that no claim needs is not looked at"
    assert len([text for text in rest if text]) < len([text for text in claimed if text])


def test_the_card_names_the_editions_that_it_follows(workflow: Path) -> None:
    card = card_of(workflow)
    editions = {edition["id"]: edition for edition in card["editions"]}
    assert editions["SR 26-2"]["date"] == "2026-04-17"
    assert "out of its scope" in editions["SR 26-2"]["status"]
    assert "replaced by SR 26-2" in editions["SR 11-7"]["status"]
    assert "2027-12-02" in editions["EU AI Act"]["status"]
    assert {each["guidance"] for each in card["mapping"]} == set(editions)
    page = (home(workflow) / "model_card.html").read_text(encoding="utf-8")
    assert "Editions, as of 2026-" in page


def test_the_page_of_annex_iv_has_what_is_there_and_what_is_to_be_added(workflow: Path) -> None:
    card_of(workflow)
    page = (home(workflow) / "annex_iv.html").read_text(encoding="utf-8")
    titles = [f"<h2>{point.point}. {point.title}</h2>" for point in default_guidance().annex_iv]
    assert len(titles) == 9
    assert all(title in page for title in titles)
    assert "conclusion of the validation: not fit" in page
    assert page.count("The validation gives nothing for this point.") >= 2
    assert page.count("To be added by the provider: ") == 9


def test_another_table_of_guidance_is_used(workflow: Path) -> None:
    guidance = {
        "as_of": "2027-01-01",
        "editions": [{"id": "Own", "title": "Own policy", "date": "2027-01-01", "status": "in force"}],
        "parts": [
            {
                "edition": "Own",
                "section": "3",
                "claims": [{"needs": ["results"], "text": "the results"}],
                "not_covered": "the rest",
            }
        ],
    }
    path = workflow.with_name("own_guidance.json")
    path.write_text(json.dumps({"evalstudio_guidance": guidance}), encoding="utf-8")
    content = json.loads(workflow.read_text(encoding="utf-8"))
    content["evalstudio_workflow"]["governance"] = {"guidance": path.name}
    workflow.write_text(json.dumps(content), encoding="utf-8")
    card = card_of(workflow)
    assert card["mapping"] == [
        {"guidance": "Own", "section": "3", "evidence": "the results", "not_covered": "the rest"}
    ]
    assert main(["validate", str(path)]) == 0
    guidance["parts"][0]["edition"] = "Other"  # type: ignore[index]
    path.write_text(json.dumps({"evalstudio_guidance": guidance}), encoding="utf-8")
    assert main(["validate", str(path)]) == 1


def test_status_gives_the_reason_of_a_failed_step(pytester: pytest.Pytester) -> None:
    project = Project(pytester, with_app=False)
    project.write("fees.md", "Stopping a cheque costs £8.00. A card costs £5.00 a year.")
    content = {"documents": ["fees.md"], "steps": {"test_generation": {"topics_included": ["99"]}}}
    project.write("bank_workflow.json", json.dumps({"evalstudio_workflow": content}))
    project.run()
    status = project.run_command("mrm", "status", "bank_workflow.json")
    status.stdout.fnmatch_lines(["  2. test_generation * failed *named '99'*"])
    entries = json.loads(project.run_command("mrm", "status", "bank_workflow.json", "--json").stdout.str())
    assert "'99'" in entries[1]["failure"]
    summary = (project.folder / "bank_workflow_artifacts" / "workflow_summary.md").read_text(encoding="utf-8")
    assert "failed: " in summary
