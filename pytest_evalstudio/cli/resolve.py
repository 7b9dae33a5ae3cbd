"""`evalstudio resolve`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import (
    FINDINGS,
    FINE,
    configuration_for,
    local,
    progress_display,
    read_whole,
    say,
)
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for
from pytest_evalstudio.core.errors import unknown_name
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.api.completing import CompletedRows
    from pytest_evalstudio.formats.config import Configuration
    from pytest_evalstudio.formats.lab import TestLab


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument("suite", metavar="SUITE", help="suite or lab, path or URL")
    parser.add_argument(
        "--model", action="append", default=[], metavar="NAME", help="only this configured model; repeatable"
    )
    parser.add_argument("-o", "--output", required=True, metavar="LAB")
    parser.add_argument("--config", metavar="FILE", help="configuration file, in place of the nearest one")
    parser.add_argument(
        "--cache",
        default=".evalstudio",
        metavar="DIR",
        help="folder of stored answers (default: .evalstudio)",
    )
    stored = parser.add_mutually_exclusive_group()
    stored.add_argument(
        "--refresh",
        action="store_true",
        help="ask again: forget an interrupted run, and answers that are kept",
    )
    stored.add_argument(
        "--replay", action="store_true", help="use stored answers of earlier runs instead of asking again"
    )
    parser.add_argument("--runs", type=int, metavar="N", help="how often each question is asked")
    parser.add_argument(
        "--trust-lab",
        action="store_true",
        help="use a lab's own descriptions of models that are not configured",
    )
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.api.completing import CompletedRows, complete_lab
    from pytest_evalstudio.api.labs import LabBuilder
    from pytest_evalstudio.asking.answers import AnswerCache, digest_of
    from pytest_evalstudio.asking.downloads import base_of
    from pytest_evalstudio.asking.lab_models import LabTrust
    from pytest_evalstudio.asking.runs import RunInputs, UnfinishedRun, continuation_line, file_digests
    from pytest_evalstudio.formats.artifacts import keep_artifacts
    from pytest_evalstudio.formats.lab import TestLab

    path = local(arguments.suite)
    content = read_whole(path, arguments.suite)
    config = configuration_for(arguments.suite, arguments.config)
    selected = _models(arguments, config, has_models=isinstance(content, TestLab))
    Path(arguments.output).parent.mkdir(parents=True, exist_ok=True)
    # Beside the output: a run that was interrupted is continued for the same output only.
    mark = UnfinishedRun(Path(arguments.output).with_name(f".{Path(arguments.output).name}.unfinished.json"))
    inputs = RunInputs(
        configuration=digest_of(selected), files=file_digests([path.absolute()], path.absolute().parent)
    )
    run = mark.begin(inputs, replays=arguments.replay, refreshes=arguments.refresh)
    if run.is_continuation:
        with AnswerCache(Path(arguments.cache), read_only=True) as answers:
            say(continuation_line(run, answers.count(run.id)))
    options = {
        "folder": config.folder,
        "documents": base_of(path),
        "cache": arguments.cache,
        "run": run,
        "registry": registry_for(arguments),
        "allow_private_hosts": config.allow_private_hosts,
    }
    if isinstance(content, TestLab):
        lab = content
        trust = LabTrust(is_trusted=arguments.trust_lab, option="--trust-lab")
        with progress_display("asking the models") as progress:
            completed = complete_lab(lab, selected, trust=trust, progress=progress, **options)
    else:
        with (
            progress_display("asking the models") as progress,
            LabBuilder(content, selected, **options) as builder,
        ):
            lab = builder.complete_dataset(progress)
        completed = CompletedRows(rows=lab.dataset.inputs, not_asked=builder.not_asked, stored=builder.stored)
    # Before the lab is saved, whose rows then name the copies beside it.
    keep_artifacts(completed.rows, Path(arguments.output))
    lab.save(arguments.output)
    # Questions that a budget left out are asked by the next run, which continues this one.
    if not completed.not_asked:
        mark.end()
    return _print_result(arguments.output, lab, completed, more="more " if content is lab else "")


def _models(
    arguments: argparse.Namespace, config: Configuration, *, has_models: bool
) -> list[dict[str, object]]:
    """Return the tables of the models to ask; by default of the extractive one, unless a lab has models."""
    runs = arguments.runs
    tables: list[dict[str, object]] = [
        {
            "name": table.name,
            "runs": (table.runs or config.runs) if runs is None else runs,
            "budget": table.budget,
            **table.settings,
        }
        for table in config.model
    ]
    # Without any configuration the command still makes a lab, by the host that needs no service.
    if not tables and not has_models:
        tables = [{"name": "extractive", "host": "extractive", "runs": config.runs if runs is None else runs}]
    names = [str(table["name"]) for table in tables]
    for name in arguments.model:
        if name not in names:
            raise unknown_name("model", name, names, f"Configured here: {', '.join(names)}.")
    return [table for table in tables if not arguments.model or table["name"] in arguments.model]


def _print_result(output: str, lab: TestLab, completed: CompletedRows, *, more: str) -> int:
    """Print the counts of a written lab; return the exit status."""
    failed = sum(bool(row.error) for row in completed.rows)
    not_asked = completed.not_asked
    say(
        f"wrote {output}: {counted(len(completed.rows), f'{more}answer')}"
        f" of {counted(len(lab.models), 'model')}"
        + (f", {completed.stored} of them stored by an earlier run" if completed.stored else "")
        + (f", {failed} failed" if failed else "")
        + (f", {len(not_asked)} not asked: {'; '.join(dict.fromkeys(not_asked))}" if not_asked else "")
    )
    for reason in dict.fromkeys(row.error for row in completed.rows if row.error):
        say(f"failed: {reason}", error=True)
    return FINDINGS if failed or not_asked else FINE
