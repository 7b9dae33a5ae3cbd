"""`evalstudio`: the same engine from the shell. Exits 0 (fine), 1 (findings) or 2 (usage)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.core.contracts import parameters
from pytest_evalstudio.core.errors import ConfigurationError, DataError, EvalStudioError, unknown_name
from pytest_evalstudio.core.registry import Registry

if TYPE_CHECKING:
    from pytest_evalstudio.formats.config import Configuration

FINE, FINDINGS, USAGE = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; what is wrong is said on standard error, without a traceback."""
    arguments = _parser().parse_args(argv)
    command: Callable[[argparse.Namespace], int] = arguments.command
    try:
        return command(arguments)
    except EvalStudioError as exc:
        print(f"evalstudio: {exc}", file=sys.stderr)
        return USAGE
    except BrokenPipeError:
        sys.stderr.close()
        return FINE
    except OSError as exc:
        print(f"evalstudio: {exc.filename or 'output'}: {exc.strerror or exc}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("evalstudio: interrupted", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="evalstudio", description="LLM and RAG evaluation from the shell; `pytest` runs the same suites as tests.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, command: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(command=command)
        return added

    listed = add("evaluators", _evaluators, "List the evaluators with their metrics and thresholds.")
    listed.add_argument("--json", action="store_true", help="for machines")
    listed = add("hosts", _hosts, "List the hosts of models with their parameters.")
    listed.add_argument("--json", action="store_true", help="for machines")
    checked = add("validate", _validate, "Check suites, labs, data sets and configuration files.")
    checked.add_argument("files", nargs="+", metavar="FILE", help="path or URL")
    begun = add("init", _init, "Write a starter suite and configuration.")
    begun.add_argument("folder", nargs="?", default=".", metavar="DIR")
    asked = add("resolve", _resolve, "Ask models a suite's questions and write the answers as a lab.")
    asked.add_argument("suite", metavar="SUITE", help="path or URL")
    asked.add_argument("--model", action="append", default=[], metavar="NAME", help="only this configured model; repeatable")
    asked.add_argument("-o", "--output", required=True, metavar="LAB")
    asked.add_argument("--config", metavar="FILE", help="configuration file, in place of the nearest one")
    asked.add_argument("--cache", default=".evalstudio", metavar="DIR", help="folder of stored answers (default: .evalstudio)")
    asked.add_argument("--refresh", action="store_true", help="ask again instead of taking stored answers")
    asked.add_argument("--runs", type=int, metavar="N", help="how often each question is asked")
    built = add("report", _report, "Build the report of a run from its record.")
    built.add_argument("record", metavar="RECORD", help="record.jsonl, or the folder it is in")
    built.add_argument("-o", "--output", required=True, metavar="DIR")
    shown = add("schema", _schema, "Print the JSON Schema of a format.")
    shown.add_argument("kind", metavar="suite|lab|dataset")
    return parser


def _evaluators(arguments: argparse.Namespace) -> int:
    shelf = Registry().evaluators
    entries: list[dict[str, Any]] = []
    for id in shelf:
        spec = shelf.spec(id)
        entries.append(
            {
                "id": id,
                "name": spec.name,
                "domain": spec.domain,
                "description": spec.description,
                "needs": list(spec.needs),
                "requires": list(spec.requires),
                "systems": list(spec.systems),
                "method": list(spec.method),
                "scope": spec.scope,
                "extra": spec.extra,
                "keywords": list(spec.keywords),
                "params": parameters(shelf.get(id)),
                "metrics": [
                    {
                        "key": metric.key,
                        "name": metric.name or metric.key,
                        "better": metric.better,
                        "range": list(metric.range),
                        "threshold": metric.threshold,
                        "primary": metric.primary,
                    }
                    for metric in spec.metrics
                ],
            }
        )
    if arguments.json:
        _print_json(entries)
        return FINE
    for entry in entries:
        primary = next(metric for metric in entry["metrics"] if metric["primary"])
        print(f"{entry['id']:<28}{entry['domain']:<16}{primary['key']} {'>=' if primary['better'] == 'higher' else '<='} {primary['threshold']:g}")
        print(f"    {entry['description']}")
        print(f"    needs: {', '.join(entry['needs'])}" + (f"; options: {', '.join(entry['params'])}" if entry["params"] else ""))
    return FINE


def _hosts(arguments: argparse.Namespace) -> int:
    shelf = Registry().hosts
    entries: list[dict[str, Any]] = []
    for id in shelf:
        spec = shelf.spec(id)
        entries.append(
            {
                "id": id,
                "name": spec.name,
                "kind": spec.kind,
                "extra": spec.extra,
                "caches": spec.caches,
                "description": spec.description,
                "params": parameters(shelf.get(id)),
            }
        )
    if arguments.json:
        _print_json(entries)
        return FINE
    for entry in entries:
        extra = f'  pip install "pytest-evalstudio[{entry["extra"]}]"' if entry["extra"] else ""
        print(f"{entry['id']:<20}{entry['kind']:<6}{extra}")
        print(f"    {entry['description']}")
        print(f"    parameters: {', '.join(entry['params']) or 'none'}")
    return FINE


def _print_json(value: Any) -> None:
    from pytest_evalstudio.engine.entries import portable

    print(json.dumps(portable(value), indent=2, ensure_ascii=False, default=str, allow_nan=False))


def _validate(arguments: argparse.Namespace) -> int:
    from pytest_evalstudio.formats.config import load_configuration

    worst = FINE
    for name in arguments.files:
        try:
            if name.endswith(".toml"):
                from pytest_evalstudio.engine.gates import check_gate, parse_gate
                from pytest_evalstudio.engine.plan import Plan

                config = load_configuration(Path(name))
                plan = Plan(Registry(), config)
                metrics = {selected.id: [metric.key for metric in selected.spec.metrics] for selected in plan.selected}
                for gate in config.gate:
                    check_gate(parse_gate(gate), metrics)
                print(f"{name}: configuration, {len(config.model)} models: fine")
                continue
            worst = max(worst, _validate_data(name))
        except (DataError, ConfigurationError) as exc:
            print(str(exc) if name in str(exc) else f"{name}: {exc}")
            worst = FINDINGS
    return worst


def _validate_data(name: str) -> int:
    from pytest_evalstudio.engine.plan import Plan
    from pytest_evalstudio.engine.subjects import ModelInfo, subjects
    from pytest_evalstudio.formats.files import read, read_source

    path = _local(name)
    file = read(read_source(path, name))
    for warning in file.warnings:
        print(f"warning: {warning}")
    for error in file.errors:
        print(error)
    plan = Plan(Registry(), _configuration(name))
    wrong = list(file.errors)
    found = subjects(file, path.parent, [ModelInfo(key="", label="")])
    for subject in found:
        try:
            plan.for_case(subject.choice)
        except ConfigurationError as exc:
            print(f"{name}: {subject.key}: {exc}")
            wrong.append(DataError(str(exc)))
    if not wrong:
        print(f"{name}: {file.kind}, {len(found)} test cases: fine")
    return FINDINGS if wrong else FINE


def _configuration(suite: str, chosen: str | None = None) -> Configuration:
    """The configuration that applies to a file: the chosen one, else the nearest one, else the defaults."""
    from pytest_evalstudio.formats.config import Configuration, find_configuration, load_configuration

    start = Path.cwd() if _is_url(suite) else Path(suite).absolute().parent
    file = Path(chosen) if chosen else find_configuration(start, Path(start.anchor))
    return load_configuration(file) if file else Configuration(folder=start)


def _is_url(name: str) -> bool:
    return name.lower().startswith(("http://", "https://"))


def _local(name: str) -> Path:
    if not _is_url(name):
        return Path(name)
    from pytest_evalstudio.engine.downloads import fetch_suite

    return fetch_suite(name, Path(".evalstudio") / "suites")


def _init(arguments: argparse.Namespace) -> int:
    from pytest_evalstudio.formats.starter import write_starter

    written = write_starter(Path(arguments.folder))
    for path in written:
        print(f"wrote {path}")
    print(f"now: python -m pytest {written[0]}")
    return FINE


def _resolve(arguments: argparse.Namespace) -> int:
    from pytest_evalstudio.engine.downloads import base_of
    from pytest_evalstudio.engine.labs import LabBuilder
    from pytest_evalstudio.formats.files import load
    from pytest_evalstudio.formats.suite import TestSuite

    path = _local(arguments.suite)
    suite = load(path, TestSuite)
    config = _configuration(arguments.suite, arguments.config)
    asked = arguments.runs
    tables = [{"name": table.name, "runs": (table.runs or config.runs) if asked is None else asked, **table.settings} for table in config.model]
    tables = tables or [{"name": "extractive", "host": "extractive", "runs": config.runs if asked is None else asked}]
    names = [str(table["name"]) for table in tables]
    for name in arguments.model:
        if name not in names:
            raise unknown_name("model", name, names, f"Configured here: {', '.join(names)}.")
    wanted = [table for table in tables if not arguments.model or table["name"] in arguments.model]
    Path(arguments.output).parent.mkdir(parents=True, exist_ok=True)
    with LabBuilder(suite, wanted, folder=config.folder, documents=base_of(path), cache=arguments.cache, refresh=arguments.refresh) as builder:
        lab = builder.complete_dataset(_progress if sys.stderr.isatty() else None)
    lab.save(arguments.output)
    failed = sum(bool(row.error) for row in lab.dataset.inputs)
    print(f"wrote {arguments.output}: {len(lab.dataset.inputs)} answers of {len(lab.models)} models" + (f", {failed} failed" if failed else ""))
    for reason in dict.fromkeys(row.error for row in lab.dataset.inputs if row.error):
        print(f"failed: {reason}", file=sys.stderr)
    return FINDINGS if failed else FINE


def _progress(done: int, total: int) -> None:
    print(f"\r{done}/{total} answers", end="\n" if done == total else "", file=sys.stderr, flush=True)


def _report(arguments: argparse.Namespace) -> int:
    from pytest_evalstudio.engine.record import record_path
    from pytest_evalstudio.report.build import build_report

    record = record_path(arguments.record)
    report = build_report(record, Path(arguments.output))
    print(f"wrote {report.page}")
    return FINE


def _schema(arguments: argparse.Namespace) -> int:
    from pytest_evalstudio.formats.json_schemas import text_of

    print(text_of(arguments.kind), end="")
    return FINE


if __name__ == "__main__":
    sys.exit(main())
