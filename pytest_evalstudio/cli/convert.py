"""`evalstudio convert`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, error_lines, local, say
from pytest_evalstudio.core.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.formats.dataset import LlmDataset
    from pytest_evalstudio.formats.lab import TestLab
    from pytest_evalstudio.formats.suite import TestSuite

SUITE, DATASET, SET = "suite", "dataset", "evaluation-set"


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument(
        "file",
        metavar="FILE",
        help="evaluation set (JSON, JSON Lines, YAML, CSV), suite, lab or data set; path or URL",
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT",
        help="its ending chooses the form: .json, .jsonl, .csv",
    )
    parser.add_argument(
        "--to",
        choices=(SUITE, DATASET, SET),
        help="default: of an evaluation set a suite, with responses a data set",
    )
    parser.add_argument(
        "--model",
        default="",
        metavar="NAME",
        help="model whose answers are written, for a lab with several models",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.formats.agent_evaluation import (
        evaluation_source,
        is_evaluation_set,
    )
    from pytest_evalstudio.formats.dataset import LlmDataset
    from pytest_evalstudio.formats.files import read
    from pytest_evalstudio.importers import agent_evaluation

    source = evaluation_source(local(arguments.file), arguments.file)
    content: TestSuite | TestLab | LlmDataset
    if is_evaluation_set(source.data):
        imported = agent_evaluation.read(source)
        content, errors = LlmDataset(inputs=imported.rows), imported.errors
        # A context alone is an answer too: a data set of retrieval has no responses.
        answered = any(row.actual_output or row.context for row in content.inputs)
        target = arguments.to or (DATASET if answered else SUITE)
    else:
        file = read(source)
        content, errors, target = file.content, file.errors, arguments.to or SET
        if target != SET:
            raise ConfigurationError(
                f"{arguments.file}: is a {file.kind}; only an evaluation set becomes a {target}"
            )
    for warning in source.warnings:
        say(f"warning: {warning}")
    for error in errors:
        say(*error_lines(str(error)))
    if errors:
        return FINDINGS
    _check_name(arguments.output, target)
    Path(arguments.output).parent.mkdir(parents=True, exist_ok=True)
    try:
        say(f"wrote {arguments.output}: {_written(content, target, arguments)}")
    except DataError as exc:
        # The only such error of the export is that several models answered; it ends with "choose one of …".
        raise DataError(f"{exc.message} by --model NAME", source=arguments.file) from None
    return FINE


def _written(content: TestSuite | TestLab | LlmDataset, target: str, arguments: argparse.Namespace) -> str:
    """Write the converted content, and report what was written and what was not."""
    from pytest_evalstudio.formats.agent_evaluation import (
        export_evaluation_set,
        suite_of,
        without_a_place,
        write_evaluation_set,
    )
    from pytest_evalstudio.formats.dataset import LlmDataset

    if target == SET:
        entries = export_evaluation_set(content, arguments.model)
        write_evaluation_set(arguments.output, entries)
        lost = without_a_place(content)
        return f"evaluation set, {len(entries)} requests" + (
            f"; it has no place for {', '.join(lost)}" if lost else ""
        )
    assert isinstance(content, LlmDataset)
    if target == DATASET:
        content.save(arguments.output)
        return f"data set, {len(content.inputs)} rows"
    suite = suite_of(content, Path(arguments.file).stem)
    suite.save(arguments.output)
    dropped = sum(bool(row.actual_output or row.context) for row in content.inputs)
    return f"suite, {len(suite.cases())} test cases" + (
        f"; {dropped} responses are left out" if dropped else ""
    )


def _check_name(output: str, target: str) -> None:
    from pytest_evalstudio.formats.agent_evaluation import WRITTEN_SUFFIXES

    suffixes = {SET: WRITTEN_SUFFIXES, DATASET: (".json", ".csv"), SUITE: (".json",)}[target]
    if Path(output).suffix.lower() not in suffixes:
        raise ConfigurationError(
            f"{output}: a file name for {'an' if target == SET else 'a'} {target} ends with"
            f" {' or '.join(suffixes)}"
        )
