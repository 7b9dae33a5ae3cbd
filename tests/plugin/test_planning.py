"""Project and plan of a run, made from options and files without a pytest session."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.plugin.options import OPTIONS
from pytest_evalstudio.run.planning import PlannedFile, PlannedItem, check_tables, run_inputs
from pytest_evalstudio.run.project import Project
from pytest_evalstudio.run.settings import CommandLine, Settings, Shard
from pytest_evalstudio.scoring.model_provider import ModelProvider
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo

CONFIG = """
evaluators = ["text_matching"]

[evaluator.bleu]
threshold = 0.5
"""


def project_of(folder: Path, *arguments: str) -> Project:
    parser = argparse.ArgumentParser()
    for name, settings in OPTIONS.items():
        parser.add_argument(name, **settings)
    options = parser.parse_args(arguments)
    return Project(
        settings=Settings(CommandLine(options=options, root=folder, start=folder)),
        warn=lambda text, path: None,
        register=lambda registry: None,
        provider=ModelProvider,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "evalstudio.toml").write_text(CONFIG)
    return tmp_path


def item_of(project: Project, folder: Path, task: EvalTask) -> PlannedItem:
    config = project.configuration(folder)
    file = PlannedFile("a_lab.json", folder / "a_lab.json", "lab", "", "", config, project.plan(config))
    return PlannedItem(f"a_lab.json::{task.name}", file, task)


def task_of(key: str, source: EvalTask | None = None) -> EvalTask:
    case = Case(key=key, question="Fee?")
    return EvalTask(name=key, model=ModelInfo(key="m", label="model m"), case=case, source=source)


def test_the_evaluators_of_a_configuration_are_made_once(folder: Path) -> None:
    project = project_of(folder)
    (folder / "sub").mkdir()

    plan = project.plan(project.configuration(folder))

    assert [selected.id for selected in plan.selected] == ["text_matching"]
    assert project.plan(project.configuration(folder / "sub")) is plan


def test_a_table_of_an_evaluator_that_nothing_uses_is_refused(folder: Path) -> None:
    project = project_of(folder)
    project.plan(project.configuration(folder))

    with pytest.raises(ConfigurationError, match="bleu"):
        check_tables(project, fixtures=())
    check_tables(project, fixtures={"bleu"})


def test_the_command_line_may_leave_a_table_unused(folder: Path) -> None:
    project = project_of(folder, "--evalstudio-evaluators", "rouge")
    project.plan(project.configuration(folder))

    check_tables(project, fixtures=())


def test_a_perturbed_case_is_in_the_shard_of_its_original(folder: Path) -> None:
    project = project_of(folder)
    original = task_of("fee")
    family = item_of(project, folder, original).family

    assert item_of(project, folder, task_of("fee-comma", original)).family == family
    assert [Shard(number, 3).has(family) for number in (1, 2, 3)].count(True) == 1


def test_an_item_is_known_by_label_and_key_of_its_model(folder: Path) -> None:
    item = item_of(project_of(folder), folder, task_of("fee"))

    assert list(item.cases_of_models) == [("a_lab.json", "fee", "model m"), ("a_lab.json", "fee", "m")]


def test_a_run_that_asks_no_model_has_no_inputs(folder: Path) -> None:
    project = project_of(folder)
    lab_task = task_of("fee")
    lab_task.answers = (lab_task.case,)

    assert run_inputs(project, [item_of(project, folder, lab_task)], others=()) is None
    (folder / "a_lab.json").write_text("{}")
    inputs = run_inputs(project, [item_of(project, folder, task_of("fee"))], others=())
    assert inputs is not None
    assert list(inputs.files) == ["a_lab.json"]
