"""Workflows as items: order, dependencies, what is kept, what runs anew, what waits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_evalstudio.contrib.validation.workflow.states import FILE, read_state, write_state
from support.project import Project
from support.workflow_steps import STEPS, ran, write


def test_steps_run_in_order_and_wait_without_losing_the_rest(workflow: Project) -> None:
    result = workflow.run("-v", "-rs")
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
    workflow.run("-v")
    assert ran(workflow) == ["first", "second", "third", "fifth"]
    result = workflow.run("-v")
    assert ran(workflow) == ["third"], "a step that waits again is no news for those that use it"
    workflow.write("labels.txt", "all")
    result = workflow.run("-v")
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
    result = workflow.run("-v", "-n", "2")
    result.assert_outcomes(passed=5)
    assert ran(workflow) == ["first", "second", "third", "fourth", "fifth"]
    result.stdout.fnmatch_lines(["workflow demo (bank_workflow.json): 5 of 5 steps of this run completed"])


def test_a_step_is_chosen_by_its_marker_s_id(workflow: Project) -> None:
    workflow.run("-m", 'mrm_step(id="first") or mrm_step(id="second")').assert_outcomes(
        passed=2, deselected=3
    )


def test_options_of_suites_are_told_to_have_no_effect(workflow: Project) -> None:
    result = workflow.run("--evalstudio-threshold", "rouge=0.5")
    result.stdout.fnmatch_lines(
        ["*--evalstudio-threshold: ignored for workflows; set model and parameters in bank_workflow.json*"]
    )


def test_refresh_runs_the_steps_anew_that_ask_models(workflow: Project) -> None:
    text = (workflow.folder / "conftest.py").read_text(encoding="utf-8")
    workflow.write("conftest.py", text.replace('configured = ("embeddings",)', 'configured = ("model",)'))
    workflow.write("labels.txt", "all")
    workflow.run()
    ran(workflow)
    workflow.run("--evalstudio-refresh").assert_outcomes(passed=5)
    assert ran(workflow) == ["second", "fourth"]


def finish_in_march(workflow: Project) -> None:
    """Date the results of all steps back."""
    for path in workflow.folder.rglob(FILE):
        state = read_state(path.parent)
        assert state is not None
        write_state(path.parent, replace(state, finished="2026-03-01T12:00:30+00:00"))


def test_answers_of_an_earlier_run_are_named_with_the_option_that_asks_again(workflow: Project) -> None:
    text = (workflow.folder / "conftest.py").read_text(encoding="utf-8")
    workflow.write("conftest.py", text.replace('configured = ("embeddings",)', 'configured = ("model",)'))
    workflow.write("labels.txt", "all")
    workflow.run().stdout.no_fnmatch_line("*stored:*")
    finish_in_march(workflow)
    workflow.run("--evalstudio-from", "second").stdout.no_fnmatch_line("*stored:*")
    finish_in_march(workflow)

    result = workflow.run()

    sentence = (
        "stored: second: results of an earlier run (2026-03-01 12:00 UTC); the model was not asked again."
        " After a change of the application: --evalstudio-from second"
    )
    result.stdout.fnmatch_lines([f"*{sentence}"])
    workflow.run("-v").stdout.fnmatch_lines([f"*{sentence}"])


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


def test_fixtures_that_apply_by_themselves_guard_steps(workflow: Project) -> None:
    conftest = (workflow.folder / "conftest.py").read_text()
    guard = "import pytest\n@pytest.fixture(autouse=True, scope='module')\ndef guard(): pytest.skip('no')\n"
    workflow.write("conftest.py", f"{conftest}\n\n{guard}")

    workflow.run().assert_outcomes(skipped=5)

    assert ran(workflow) == []
