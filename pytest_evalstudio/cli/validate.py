"""`evalstudio validate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, configuration_for, local, say
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.plugins.registry import Registry

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.cli.common import Adds
    from pytest_evalstudio.formats.config import Configuration
    from pytest_evalstudio.formats.source import Source


def add_to(add: Adds) -> None:
    """Declare the command."""
    parser = add("validate", run, "Check suites, labs, data sets, workflows and configuration files.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="path or URL")


def run(arguments: argparse.Namespace) -> int:
    from pytest_evalstudio.formats.config import load_configuration

    worst = FINE
    for name in arguments.files:
        try:
            if name.endswith(".toml"):
                from pytest_evalstudio.engine.analysis.gates import check_gate, parse_gate
                from pytest_evalstudio.engine.scoring.plan import Plan

                config = load_configuration(Path(name))
                plan = Plan(Registry(), config)
                metrics = {
                    selected.id: [metric.key for metric in selected.spec.metrics]
                    for selected in plan.selected
                }
                for gate in config.gate:
                    check_gate(parse_gate(gate), metrics)
                _check_perturbations(config)
                say(f"{name}: configuration, {len(config.model)} models: fine")
                continue
            worst = max(worst, _validate_data(name))
        except (DataError, ConfigurationError) as exc:
            say(str(exc) if name in str(exc) else f"{name}: {exc}")
            worst = FINDINGS
    return worst


def _check_perturbations(config: Configuration) -> None:
    from pytest_evalstudio.engine.perturbing.specs import parse_perturbations
    from pytest_evalstudio.engine.perturbing.where import Where

    parse_perturbations(config.perturbations.apply, Registry(), config.perturbator, folder=config.folder)
    if config.perturbations.where.strip():
        Where(config.perturbations.where)


def _validate_data(name: str) -> int:
    from pytest_evalstudio.engine.scoring.plan import Plan
    from pytest_evalstudio.engine.scoring.subjects import ModelInfo, subjects
    from pytest_evalstudio.formats.files import kind_of, read, read_source

    path = local(name)
    source = read_source(path, name)
    if kind_of(source.data) == "workflow":
        return _validate_workflow(source, path, name)
    file = read(source)
    for warning in file.warnings:
        say(f"warning: {warning}")
    for error in file.errors:
        say(str(error))
    plan = Plan(Registry(), configuration_for(name))
    wrong = list(file.errors)
    found = subjects(file, path.parent, [ModelInfo(key="", label="")])
    for subject in found:
        try:
            plan.for_case(subject.choice)
        except ConfigurationError as exc:
            say(f"{name}: {subject.key}: {exc}")
            wrong.append(DataError(str(exc)))
    if not wrong:
        say(f"{name}: {file.kind}, {len(found)} test cases: fine")
    return FINDINGS if wrong else FINE


def _validate_workflow(source: Source, path: Path, name: str) -> int:
    """Check its keys, documents, steps with their parameters, model and evaluators."""
    from pytest_evalstudio.engine.scoring.plan import Plan
    from pytest_evalstudio.formats.workflow import read_workflow
    from pytest_evalstudio.mrm.workflow.evaluating import named_model
    from pytest_evalstudio.mrm.workflow.run import WorkflowRun

    workflow, config = read_workflow(source), configuration_for(name)
    found = WorkflowRun(workflow, path, config, Registry())
    named_model(workflow, config)
    Plan(Registry(), config).choose(workflow.evaluators)
    say(f"{name}: workflow, {len(found.specs)} steps: fine")
    return FINE
