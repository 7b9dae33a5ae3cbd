"""Workflows as items: order, dependencies, what is kept, what runs anew, what waits."""

from __future__ import annotations

import base64
import json
import zipfile
from typing import Any

import pytest

from pytest_evalstudio.core.locking import locked
from pytest_evalstudio.mrm.workflow.run import LOCK
from support.project import Project

STEPS = '''
from dataclasses import dataclass

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.core.plugins.step import StepResult, step


def note(work, name):
    with open(work.workflow.name + ".log", "a") as log:
        log.write(name + "\\n")


@step("first", name="First", number=1)
@dataclass(frozen=True)
class First:
    """Counts the documents."""

    factor: int = 1

    def run(self, work):
        note(work, "first")
        (work.folder / "count.txt").write_text(str(self.factor * len(work.documents)))
        return StepResult(summary=f"{len(work.documents)} documents", figures={"count": len(work.documents)})


@step("second", name="Second", number=2, after=("first",))
@dataclass(frozen=True)
class Second:
    """Doubles the count."""

    configured = ("embeddings",)

    def run(self, work):
        note(work, "second")
        count = int((work.artifacts("first") / "count.txt").read_text())
        if count == 13:
            raise EvaluationError("thirteen is too many")
        return StepResult(summary=f"{2 * count} in all, {work.figures['first']['count']} read")


@step("third", name="Third", number=3, after=("first",))
@dataclass(frozen=True)
class Third:
    """Waits for labels."""

    labels: str = "labels.txt"

    def reads(self, home, base):
        return [base / self.labels]

    def run(self, work):
        note(work, "third")
        found = work.base / self.labels
        waits = "" if found.exists() else "0 of 40 labels"
        return StepResult(summary=f"{waits}: label them" if waits else "labelled", waits=waits, figures={"cut": 0.7})


@step("fourth", name="Fourth", number=4, after=("second", "third"))
@dataclass(frozen=True)
class Fourth:
    """Comes last."""

    def run(self, work):
        note(work, "fourth")
        return StepResult(summary="done")


@step("fifth", name="Fifth", number=5, after=("first",), uses=("third",))
@dataclass(frozen=True)
class Fifth:
    """Uses the third's cut where there is one."""

    def run(self, work):
        note(work, "fifth")
        cut = work.figures.get("third", {}).get("cut", 0.5)
        problem = Problem(
            description=f"Scores below {cut}.", severity="low", problem_type="accuracy", avid="P0200", attributes={"cut": cut}, actions="Look."
        )
        (work.folder / "cut.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg"><title id="t">A cut &amp; its place</title></svg>')
        return StepResult(summary=f"cut at {cut}", problems=(problem,))


def pytest_evalstudio_register(registry):
    registry.steps._scanned = True
    for cls in (First, Second, Third, Fourth, Fifth):
        registry.add_step(cls)
'''  # noqa: E501


@pytest.fixture
def workflow(project: Project) -> Project:
    project.write("conftest.py", STEPS)
    project.write("text.md", "Some text.")
    write(project)
    return project


def write(project: Project, **keys: Any) -> None:
    content = {"name": "demo", "documents": ["text.md"], **keys}
    project.write("bank_workflow.json", json.dumps({"evalstudio_workflow": content}))


def ran(project: Project) -> list[str]:
    """What has run since the last time somebody asked."""
    log = project.folder / "demo.log"
    found = log.read_text(encoding="utf-8").split() if log.exists() else []
    log.write_text("", encoding="utf-8")
    return found


def test_steps_run_in_order_and_wait_without_losing_the_rest(workflow: Project) -> None:
    result = workflow.run("-rs")
    result.assert_outcomes(passed=3, skipped=2)
    assert ran(workflow) == ["first", "second", "third", "fifth"]
    result.stdout.fnmatch_lines(
        [
            "workflow demo (bank_workflow.json): 3 of 5 steps*",
            "  2. second: completed - 2 in all, 1 read",
            "  3. third: waiting - 0 of 40 labels: label them",
            "  4. fourth: not run - needs third",
        ]
    )
    assert {"waits: 0 of 40 labels", "needs third (waiting)"} <= {
        line.rpartition(":1: ")[2] for line in result.outlines
    }


def test_a_later_run_goes_on_where_the_last_stopped(workflow: Project) -> None:
    workflow.run()
    ran(workflow)
    workflow.write("labels.txt", "all")
    workflow.run().assert_outcomes(passed=5)
    assert ran(workflow) == ["third", "fourth", "fifth"]
    workflow.run().assert_outcomes(passed=5)
    assert ran(workflow) == []


def test_a_step_runs_anew_with_what_it_uses_once_that_is_completed(workflow: Project) -> None:
    workflow.run()
    assert ran(workflow) == ["first", "second", "third", "fifth"]
    result = workflow.run()
    assert ran(workflow) == ["third"], "a step that waits again is no news for those that use it"
    workflow.write("labels.txt", "all")
    result = workflow.run()
    assert ran(workflow) == ["third", "fourth", "fifth"]
    result.stdout.fnmatch_lines(["  5. fifth: completed - cut at 0.7"])


def test_a_file_that_a_step_reads_is_part_of_what_it_depends_on(workflow: Project) -> None:
    workflow.write("labels.txt", "all")
    workflow.run()
    ran(workflow)
    workflow.write("labels.txt", "all, and one mended")
    workflow.run().assert_outcomes(passed=5)
    assert ran(workflow) == ["third", "fourth", "fifth"]


def test_a_step_is_chosen_by_name_or_marker(workflow: Project) -> None:
    workflow.run("-k", "second").assert_outcomes(skipped=1, deselected=4)
    assert ran(workflow) == []
    workflow.run("bank_workflow.json::first").assert_outcomes(passed=1)
    workflow.run("-m", "mrm_step and not mrm").assert_outcomes(deselected=5)
    workflow.run("-k", "second").assert_outcomes(passed=1, deselected=4)
    assert ran(workflow) == ["first", "second"]


def test_a_changed_parameter_runs_a_step_and_what_depends_on_it(workflow: Project) -> None:
    workflow.write("labels.txt", "all")
    workflow.run()
    ran(workflow)
    write(workflow, steps={"third": {"labels": "./labels.txt"}})
    workflow.run().assert_outcomes(passed=5)
    assert ran(workflow) == ["third", "fourth", "fifth"]


def test_a_changed_document_runs_everything(workflow: Project) -> None:
    workflow.write("labels.txt", "all")
    workflow.run()
    ran(workflow)
    workflow.write("text.md", "Another text.")
    workflow.run().assert_outcomes(passed=5)
    assert ran(workflow) == ["first", "second", "third", "fourth", "fifth"]


def test_a_changed_configuration_runs_the_steps_that_use_it(workflow: Project) -> None:
    workflow.write("labels.txt", "all")
    workflow.run()
    ran(workflow)
    workflow.write("evalstudio.toml", 'flips = "report"\n[embeddings]\nmodel = "other"\n')
    workflow.run().assert_outcomes(passed=5)
    assert ran(workflow) == ["second", "fourth"]


def test_from_a_step_runs_it_and_what_depends_on_it_and_only_that(workflow: Project) -> None:
    workflow.write("labels.txt", "all")
    workflow.run()
    ran(workflow)
    workflow.run("--evalstudio-from", "second").assert_outcomes(passed=5)
    assert ran(workflow) == ["second", "fourth"]


def test_a_step_that_fails_says_why_and_what_needs_it_is_skipped(workflow: Project) -> None:
    workflow.write("labels.txt", "all")
    write(workflow, steps={"first": {"factor": 13}})
    result = workflow.run("-rs")
    result.assert_outcomes(passed=3, failed=1, skipped=1)
    result.stdout.fnmatch_lines(["*thirteen is too many*", "*needs second (not run)*"])
    assert "Traceback" not in result.stdout.str()


@pytest.mark.slow
def test_on_workers_a_workflow_stays_on_one(workflow: Project) -> None:
    workflow.write("labels.txt", "all")
    result = workflow.run("-n", "2")
    result.assert_outcomes(passed=5)
    assert ran(workflow) == ["first", "second", "third", "fourth", "fifth"]
    result.stdout.fnmatch_lines(["workflow demo (bank_workflow.json): 5 of 5 steps of this run completed"])


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
    result = workflow.run()
    page = (workflow.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")
    section = page.partition('id="workflows"')[2].partition("</section>")[0]
    picture = (workflow.folder / "bank_workflow_artifacts" / "5_fifth" / "cut.svg").read_bytes()
    assert (
        f'<img src="data:image/svg+xml;base64,{base64.b64encode(picture).decode()}" alt="A cut &amp; its'
        ' place">' in section
    )
    assert "Scores below 0.5." in section
    assert "demo, Fifth: Scores below 0.5" in page.partition('id="problems"')[2].partition("</section>")[0]
    result.stdout.fnmatch_lines(["findings: 1 low", "    low    demo, Fifth: Scores below 0.5*"])


def test_a_workflow_leaves_artifacts_that_say_what_was_found(workflow: Project) -> None:
    result = workflow.run()
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


def test_a_step_is_chosen_by_its_marker_s_id(workflow: Project) -> None:
    workflow.run("-m", 'mrm_step(id="first") or mrm_step(id="second")').assert_outcomes(
        passed=2, deselected=3
    )


def test_options_of_suites_are_told_to_have_no_effect(workflow: Project) -> None:
    result = workflow.run("--evalstudio-threshold", "rouge=0.5")
    result.stdout.fnmatch_lines(
        [
            "*--evalstudio-threshold: without effect on workflows; give model and parameters in"
            " bank_workflow.json*"
        ]
    )


def test_refresh_runs_the_steps_anew_that_ask_models(workflow: Project) -> None:
    text = (workflow.folder / "conftest.py").read_text(encoding="utf-8")
    workflow.write("conftest.py", text.replace('configured = ("embeddings",)', 'configured = ("model",)'))
    workflow.write("labels.txt", "all")
    workflow.run()
    ran(workflow)
    workflow.run("--evalstudio-refresh").assert_outcomes(passed=5)
    assert ran(workflow) == ["second", "fourth"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        pytest.param(
            {"steps": {"frist": {}}},
            "*/evalstudio_workflow/steps/frist: there is no step of this name*first*",
            id="a step",
        ),
        pytest.param(
            {"steps": {"first": {"faktor": 2}}},
            "*/steps/first/faktor: unknown option*factor*",
            id="a parameter",
        ),
        pytest.param(
            {"documents": ["nowhere.md"]}, "*/documents: there is no file *nowhere.md*", id="a document"
        ),
        pytest.param({"documents": []}, "*/documents: *", id="no document"),
        pytest.param({"seed": -1}, "*/seed: *", id="a negative seed"),
        pytest.param({"seed": True}, "*/seed: *", id="a seed that is no number"),
        pytest.param(
            {"folder": "."},
            "*/folder: '.' holds the workflow's file; artifacts need a folder of their own*",
            id="a folder of others",
        ),
        pytest.param({"folder": "text.md"}, "*/folder: 'text.md' is not a folder*", id="a file"),
        pytest.param({"folder": "a\0b"}, "*/folder: *is not a path*", id="no name"),
        pytest.param({"modell": "x"}, "*/modell: unknown key. Did you mean 'model'*", id="a key"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_place(
    workflow: Project, keys: dict[str, Any], message: str
) -> None:
    write(workflow, **keys)
    result = workflow.run()
    assert result.ret != 0
    result.stdout.fnmatch_lines([message])
    assert "Traceback" not in result.stdout.str()


def test_a_step_that_nobody_knows_is_a_usage_error(workflow: Project) -> None:
    result = workflow.run("--evalstudio-from", "secnd")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--evalstudio-from: no step named 'secnd'. Did you mean 'second'*"])


SHUFFLED = """

import random

import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items):
    yield
    random.Random(SEED).shuffle(items)
"""


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_steps_keep_their_order_when_a_plugin_shuffles_tests(workflow: Project, seed: int) -> None:
    workflow.write("conftest.py", STEPS + SHUFFLED.replace("SEED", str(seed)))
    workflow.write("test_others.py", "\n".join(f"def test_{name}(): pass" for name in "abcdef"))
    result = workflow.run("-v")
    result.assert_outcomes(passed=3 + 6, skipped=2)
    assert ran(workflow) == ["first", "second", "third", "fifth"]
    order = [line.partition("::")[2].split()[0] for line in result.outlines if "test_others.py::" in line]
    assert order != sorted(order), "other tests stay shuffled"
