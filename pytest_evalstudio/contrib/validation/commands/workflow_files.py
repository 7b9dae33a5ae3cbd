"""Workflow files that commands name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import configuration_for, say
from pytest_evalstudio.cli.plugin_modules import registry_for

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
    from pytest_evalstudio.core.plugins.registry import Registry
    from pytest_evalstudio.formats.config import Configuration
    from pytest_evalstudio.formats.source import Source


def workflow_run(arguments: argparse.Namespace) -> WorkflowRun:
    """Return the workflow that the arguments name."""
    from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
    from pytest_evalstudio.contrib.validation.workflow_file import read_workflow
    from pytest_evalstudio.formats.kinds import read_source

    path = Path(arguments.workflow)
    config = configuration_for(arguments.workflow, arguments.config)
    return WorkflowRun(read_workflow(read_source(path)), path, config, registry_for(arguments))


def validate_workflow(path: Path, name: str, registry: Registry) -> str:
    """Check a workflow, and describe it.

    Raises:
        DataError: see `check_workflow`.
        ConfigurationError: see `check_workflow`.
    """
    from pytest_evalstudio.formats.kinds import read_source

    source = read_source(path, name)
    run = check_workflow(source, path, configuration_for(name), registry)
    for warning in source.warnings:
        say(f"warning: {warning}")
    return f"workflow, {len(run.specs)} steps"


def check_workflow(source: Source, path: Path, config: Configuration, registry: Registry) -> WorkflowRun:
    """Return a workflow whose documents, steps, model and evaluators exist.

    Raises:
        DataError: if its keys, documents or parameters of steps are wrong.
        ConfigurationError: if there is no such model or evaluator.
    """
    from pytest_evalstudio.contrib.validation.steps.automated_evaluation.evaluating import named_model
    from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
    from pytest_evalstudio.contrib.validation.workflow_file import read_workflow
    from pytest_evalstudio.scoring.plan import Plan

    workflow = read_workflow(source)
    run = WorkflowRun(workflow, path, config, registry)
    # Called for their errors alone.
    named_model(workflow, config)
    Plan(registry, config).choose(workflow.evaluators)
    return run
