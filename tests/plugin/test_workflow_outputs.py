"""Outputs of workflows: record, page, artifacts and folders."""

from __future__ import annotations

import base64
import json
import zipfile

import pytest

from pytest_evalstudio.contrib.validation.workflow.run import LOCK
from pytest_evalstudio.core.locking import locked
from support.project import Project
from support.workflow_steps import ran


def test_steps_stand_in_the_record(workflow: Project) -> None:
    workflow.run()
    header, _ = workflow.record()
    step = header["steps"]["bank_workflow.json::second"]
    assert (step["status"], step["summary"], step["number"], step["workflow"]) == (
        "completed",
        "2 in all, 1 read",
        2,
        "demo",
    )
    assert header["steps"]["bank_workflow.json::third"]["waits"] == "0 of 40 labels"
    (problem,) = header["steps"]["bank_workflow.json::fifth"]["problems"]
    assert (problem["description"], problem["severity"], problem["attributes"]) == (
        "Scores below 0.5.",
        "low",
        {"cut": 0.5},
    )


def test_the_page_has_a_section_of_the_workflow(workflow: Project) -> None:
    workflow.run()
    page = (workflow.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")
    section = page.partition('id="workflows"')[2].partition("</section>")[0]
    assert "3 of 5 steps" in section
    assert "waits: 0 of 40 labels" in section
    assert "2 in all, 1 read" in section


def test_the_page_shows_pictures_and_problems_of_steps(workflow: Project) -> None:
    result = workflow.run("-v")
    page = (workflow.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")
    section = page.partition('id="workflows"')[2].partition("</section>")[0]
    picture = (workflow.folder / "bank_workflow_artifacts" / "5_fifth" / "cut.svg").read_bytes()
    assert (
        f'<img src="data:image/svg+xml;base64,{base64.b64encode(picture).decode()}" alt="A cut &amp; its'
        ' place">' in section
    )
    assert "Scores below 0.5." in section
    problems = page.partition('id="problems"')[2].partition("</section>")[0]
    assert "Fifth: Scores below 0.5" in problems
    assert "demo" not in problems, "the only workflow needs no name"
    result.stdout.fnmatch_lines(["findings: 1 low", "    low    Fifth: Scores below 0.5*"])


def test_a_workflow_leaves_artifacts_that_say_what_was_found(workflow: Project) -> None:
    result = workflow.run("-v")
    result.stdout.fnmatch_lines(["  bank_workflow_artifacts/workflow_report.html"])
    folder = workflow.folder / "bank_workflow_artifacts"
    page = (folder / "workflow_report.html").read_text(encoding="utf-8")
    assert "Scores below 0.5." in page
    assert 'alt="A cut &amp; its place"' in page
    summary = json.loads((folder / "workflow_summary.json").read_text(encoding="utf-8"))
    assert (summary["completed"], [step["status"] for step in summary["steps"]].count("waiting")) == (3, 1)
    assert [problem["step"] for problem in summary["problems"]] == ["Fifth"]
    assert "- **low** (Fifth): Scores below 0.5." in (folder / "workflow_summary.md").read_text(
        encoding="utf-8"
    )
    with zipfile.ZipFile(folder / "workflow_artifacts.zip") as archive:
        assert {
            "bank_workflow.json",
            "workflow_report.html",
            "workflow_summary.json",
            "5_fifth/cut.svg",
        } <= set(archive.namelist())
    assert not (folder / "guardrail_configuration.json").exists(), "nothing was evaluated"
    assert not (folder / "corpus_patch.md").exists()


@pytest.mark.slow
def test_artifacts_are_written_anew_when_a_step_runs_or_they_are_missing(workflow: Project) -> None:
    workflow.write("labels.txt", "all")
    workflow.run()
    page = workflow.folder / "bank_workflow_artifacts" / "workflow_report.html"
    page.write_text("old", encoding="utf-8")
    workflow.run()
    assert page.read_text(encoding="utf-8") == "old", "nothing ran"
    workflow.run("--evalstudio-from", "fifth")
    assert "5 of 5 steps completed" in page.read_text(encoding="utf-8")
    page.unlink()
    workflow.run("-n", "2")
    assert page.is_file()


def test_artifacts_that_were_touched_by_hand_make_their_step_run_anew(workflow: Project) -> None:
    workflow.write("labels.txt", "all")
    workflow.run()
    ran(workflow)
    (workflow.folder / "bank_workflow_artifacts" / "1_first" / "count.txt").unlink()
    workflow.run().assert_outcomes(passed=5)
    assert ran(workflow) == ["first", "second", "third", "fourth", "fifth"]
    (workflow.folder / "bank_workflow_artifacts" / "5_fifth" / "cut.svg").write_text("cut off")
    workflow.run().assert_outcomes(passed=5)
    assert ran(workflow) == ["fifth"]


def test_the_content_of_a_small_file_that_the_configuration_names_counts(workflow: Project) -> None:
    workflow.write("labels.txt", "all")
    workflow.write("vocabulary.txt", "fee")
    workflow.write("evalstudio.toml", '[embeddings]\nmodel = "vocabulary.txt"\n')
    workflow.run()
    ran(workflow)
    workflow.write("vocabulary.txt", "fees")
    workflow.run().assert_outcomes(passed=5)
    assert ran(workflow) == ["second", "fourth"]


def test_a_folder_that_holds_another_workflow_is_not_taken(workflow: Project) -> None:
    workflow.run()
    content = json.loads((workflow.folder / "bank_workflow.json").read_text(encoding="utf-8"))
    content["evalstudio_workflow"]["folder"] = "bank_workflow_artifacts"
    content["evalstudio_workflow"]["seed"] = 1
    workflow.write("other_workflow.json", json.dumps(content))
    before = (workflow.folder / "bank_workflow_artifacts" / "1_first" / "step.json").read_bytes()
    result = workflow.run("other_workflow.json::first")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*/evalstudio_workflow/folder: * cannot be used: it holds the artifacts of bank_workflow.json;"
            " name another folder*"
        ]
    )
    assert (workflow.folder / "bank_workflow_artifacts" / "1_first" / "step.json").read_bytes() == before


def test_two_runs_at_once_do_not_mix(workflow: Project) -> None:
    home = workflow.folder / "bank_workflow_artifacts"
    home.mkdir()
    with locked(home / LOCK):
        result = workflow.run("bank_workflow.json::first")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*another run is at work on this workflow; wait until it has ended*"])
    assert "Traceback" not in result.stdout.str()


def test_a_folder_that_cannot_be_written_is_told(workflow: Project) -> None:
    (workflow.folder / "bank_workflow_artifacts").mkdir()
    workflow.write("bank_workflow_artifacts/1_first", "in the way")
    result = workflow.run("bank_workflow.json::first")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*bank_workflow.json: first: * correct it, or run the step that made it again*"]
    )
    assert "Traceback" not in result.stdout.str()
