"""`evalstudio validate`."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, configuration_for, error_lines, local, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.plugins.contrib import FileKind, file_kinds, loaded
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from pytest_evalstudio.core.cases import Case
    from pytest_evalstudio.core.plugins.registry import Registry
    from pytest_evalstudio.formats.config import Configuration
    from pytest_evalstudio.scoring.plan import Plan


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument("files", nargs="+", metavar="FILE", help="path or URL")
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    registry = registry_for(arguments)
    worst = FINE
    for name in arguments.files:
        validate = _validator(name)
        try:
            worst = max(worst, validate(name, registry))
        except (DataError, ConfigurationError) as exc:
            # Errors of files have their name already, those of names and options have not.
            say(*error_lines(str(exc) if name in str(exc) else f"{name}: {exc}"))
            worst = FINDINGS
    return worst


def _validator(name: str) -> Callable[[str, Registry], int]:
    if (kind := _kind_by_name(name)) is not None:
        return functools.partial(_validate_kind, kind)
    return _validate_configuration if name.lower().endswith(".toml") else _validate_data


def _kind_by_name(name: str) -> FileKind | None:
    """Return the kind of an optional part by a file's name; the content of a JSON file must agree."""
    for kind in file_kinds():
        if kind.suffixes and Path(name).name.lower().endswith(kind.suffixes):
            recognises: Callable[[Path], bool] = loaded(kind.recognises)
            if name.lower().endswith(".toml") or recognises(Path(name)):
                return kind
    return None


def _validate_kind(kind: FileKind, name: str, registry: Registry) -> int:
    """Check a file of an optional part."""
    validate: Callable[[Path, str, Registry], str] = loaded(kind.validate)
    say(f"{name}: {validate(local(name), name, registry)}: fine")
    return FINE


def _validate_configuration(name: str, registry: Registry) -> int:
    """Check its evaluators, models, judges, gates and perturbations; no model is opened."""
    from pytest_evalstudio.analysis.gates import check_gate, check_named_gates, parse_gate
    from pytest_evalstudio.asking.hosts import check_model
    from pytest_evalstudio.asking.judging import check_judge_settings
    from pytest_evalstudio.formats.config import load_configuration
    from pytest_evalstudio.formats.unused_tables import unused_tables
    from pytest_evalstudio.scoring.plan import JUDGE_OPTION, Plan
    from pytest_evalstudio.scoring.repeats import check_runs

    config = load_configuration(Path(name))
    for note in config.notes:
        say(f"note: {note}")
    check_runs(config)
    # Building the plan checks all evaluator tables.
    plan = Plan(registry, config)
    metrics = {selected.id: selected.spec.metrics for selected in plan.selected}
    unused = unused_tables(config, metrics)
    for message in unused:
        say(message)
    gates = [parse_gate(gate) for gate in config.gate]
    for gate in gates:
        check_gate(gate, metrics)
    names = [model.name for model in config.model]
    # Without [[model]] the models are those of labs, whose names are not known here.
    check_named_gates(gates, names or None, is_configured=config.arena is not None)
    _check_perturbations(config, registry)
    for model in config.model:
        check_model(model.name, model.settings, registry)
    if config.judge is not None and config.judge.members:
        check_judge_settings(config, registry)
    if config.arena is not None:
        check_judge_settings(config, registry, config.arena.judge or None)
    for table in config.evaluator.values():
        if table.get(JUDGE_OPTION):
            check_judge_settings(config, registry, table[JUDGE_OPTION])
    for warning in _configured_schema_warnings(plan, config):
        say(f"warning: {name}: {warning}")
    if unused:
        return FINDINGS
    say(f"{name}: configuration, {len(config.model)} models: fine")
    return FINE


def _check_perturbations(config: Configuration, registry: Registry) -> None:
    from pytest_evalstudio.scoring.perturbing.specs import parse_perturbations
    from pytest_evalstudio.scoring.perturbing.where import Where

    parse_perturbations(config.perturbations.apply, registry, config.perturbator, folder=config.folder)
    if config.perturbations.where.strip():
        Where(config.perturbations.where)


def _validate_data(name: str, registry: Registry) -> int:
    from pytest_evalstudio.asking.attachments import unsupported_attachments
    from pytest_evalstudio.formats.files import read
    from pytest_evalstudio.formats.kinds import part_kind, read_source
    from pytest_evalstudio.scoring.expectations import unchecked_line
    from pytest_evalstudio.scoring.plan import Plan
    from pytest_evalstudio.scoring.tasks import ModelInfo, tasks

    path = local(name)
    source = read_source(path, name)
    if (kind := part_kind(source.data)) is not None:
        return _validate_kind(kind, name, registry)
    file = read(source)
    for warning in file.warnings:
        say(f"warning: {warning}")
    for error in file.errors:
        say(*error_lines(str(error)))
    config = configuration_for(name)
    plan = Plan(registry, config)
    wrong = list(file.errors)
    # One model without a name: each case of a suite is looked at once.
    file_tasks = tasks(file, path.parent, [ModelInfo(key="", label="")])
    evaluated = []
    for task in file_tasks:
        try:
            evaluated.append((task.case, plan.for_case(task.choice, task.case.plan)))
        except ConfigurationError as exc:
            say(f"{name}: {task.key}: {exc}")
            wrong.append(DataError(str(exc)))
    for note in plan.notes():
        say(f"note: {name}: {note}")
    if file.kind == "suite":
        for warning in unsupported_attachments(config, registry, [task.case for task in file_tasks]):
            say(f"warning: {name}: {warning}")
    if line := unchecked_line(evaluated, plan.specs):
        is_fault = config.unchecked == "fail"
        say(f"{'' if is_fault else 'warning: '}{name}: {line}")
        wrong += [DataError(line)] if is_fault else []
    cases = [task.case for task in file_tasks]
    faults, warnings = _schema_lines(cases)
    for fault in faults:
        say(f"{name}: {fault}")
        wrong.append(DataError(fault))
    for warning in (*_ambiguous_conditions(cases), *warnings):
        say(f"warning: {name}: {warning}")
    if not wrong:
        say(f"{name}: {file.kind}, {counted(len(file_tasks), 'test case')}: fine")
    return FINDINGS if wrong else FINE


def _schema_lines(cases: Iterable[Case]) -> tuple[list[str], list[str]]:
    """Return the faults of the JSON Schemas of test cases, and warnings of those that check nothing."""
    from pytest_evalstudio.metrics.json_schema import read_schema, schema_warning

    faults, warnings = [], []
    for case in cases:
        declared = case.extra.get("json_schema")
        if declared is None:
            continue
        try:
            warning = schema_warning(read_schema(declared, case.folder))
        except ConfigurationError as exc:
            faults.append(f"{case.key}: {exc}")
            continue
        if warning:
            warnings.append(f"{case.key}: {warning}")
    return faults, warnings


def _configured_schema_warnings(plan: Plan, config: Configuration) -> Iterator[str]:
    """Yield a warning for each configured JSON Schema that checks nothing."""
    from pytest_evalstudio.evaluators.json_schema import JsonSchema
    from pytest_evalstudio.metrics.json_schema import read_schema, schema_warning

    for selected in plan.selected:
        if not isinstance(selected.evaluator, JsonSchema) or selected.id not in config.evaluator:
            continue
        declared = selected.evaluator.json_schema
        if "json_schema" in config.evaluator[selected.id] and (
            warning := schema_warning(read_schema(declared, "."))
        ):
            yield f"evaluator {selected.id}: {warning}"


def _ambiguous_conditions(cases: Iterable[Case]) -> Iterator[str]:
    """Yield a warning for each condition with a string that is found within another number."""
    from pytest_evalstudio.formats.condition import ambiguous_strings, parse_condition
    from pytest_evalstudio.text.comparison import longer_number

    conditions = {case.condition: case.key for case in cases if case.condition.strip()}
    for text, key in conditions.items():
        if strings := ambiguous_strings(parse_condition(text)):
            found = f'"{strings[0]}" is found in "{longer_number(strings[0])}" as well'
            yield f'{key}: the condition: {found}; write word("{strings[0]}") or number(...)'
