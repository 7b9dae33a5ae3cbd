"""`evalstudio resolve`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, configuration_for, local
from pytest_evalstudio.core.errors import unknown_name

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.cli.common import Adds


def add_to(add: Adds) -> None:
    """Declare the command."""
    parser = add("resolve", run, "Ask models a suite's questions and write the answers as a lab.")
    parser.add_argument("suite", metavar="SUITE", help="path or URL")
    parser.add_argument("--model", action="append", default=[], metavar="NAME", help="only this configured model; repeatable")
    parser.add_argument("-o", "--output", required=True, metavar="LAB")
    parser.add_argument("--config", metavar="FILE", help="configuration file, in place of the nearest one")
    parser.add_argument("--cache", default=".evalstudio", metavar="DIR", help="folder of stored answers (default: .evalstudio)")
    parser.add_argument("--refresh", action="store_true", help="ask again instead of taking stored answers")
    parser.add_argument("--runs", type=int, metavar="N", help="how often each question is asked")


def run(arguments: argparse.Namespace) -> int:
    from pytest_evalstudio.engine.asking.downloads import base_of
    from pytest_evalstudio.engine.labs import LabBuilder
    from pytest_evalstudio.formats.files import load
    from pytest_evalstudio.formats.suite import TestSuite

    path = local(arguments.suite)
    suite = load(path, TestSuite)
    config = configuration_for(arguments.suite, arguments.config)
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
