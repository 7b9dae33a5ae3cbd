"""`evalstudio import` and `evalstudio export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, local, say
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.figures import counted

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.cli.common import Adds

KIND_IDS = (
    *("agent-evaluation", "braintrust", "deepeval", "h2o-sonar", "inspect", "langsmith", "mlflow"),
    *("openai-evals", "promptfoo", "ragas", "table"),
)
FORMAT_IDS = ("agent-evaluation", "braintrust", "deepeval", "langsmith", "mlflow", "openai-evals", "ragas")
OTEL = "otel"
"""Kind of `export` that is a run and not a file of tests: its scores as events."""


def add_to(add: Adds) -> None:
    """Declare the commands."""
    parser = add("import", import_one, "Import tests or answers from another tool's file.")
    parser.add_argument("kind", choices=KIND_IDS, metavar="KIND", help=", ".join(KIND_IDS))
    parser.add_argument("file", metavar="FILE", help="path or URL")
    parser.add_argument(
        "-o", "--output", required=True, metavar="OUT", help="suite or lab .json, data set .json or .csv"
    )
    parser.add_argument(
        "--to",
        choices=("suite", "dataset", "lab"),
        default="",
        help="default: a suite without answers, a lab where models are named, else a data set",
    )
    parser.add_argument(
        "--map",
        default="",
        metavar="FIELD=COLUMN,…",
        help="columns of a table, e.g. input=question,actual_output=answer,context=chunks",
    )
    parser = add(
        "export",
        export_one,
        "Write a suite, data set or lab in another tool's format, or the scores of a run as events of"
        " OpenTelemetry.",
    )
    kinds = (*FORMAT_IDS, OTEL)
    parser.add_argument("kind", choices=kinds, metavar="KIND", help=", ".join(kinds))
    parser.add_argument(
        "file",
        metavar="FILE",
        help="suite, data set or lab; path or URL. otel: record or report of a run",
    )
    parser.add_argument("-o", "--output", default="", metavar="OUT", help="file that is written")
    parser.add_argument(
        "--model",
        default="",
        metavar="NAME",
        help="model whose answers are written, for a lab with several models",
    )
    parser.add_argument(
        "--endpoint",
        default="",
        metavar="URL",
        help="otel: send the scores to this collector by OTLP over HTTP, e.g. http://127.0.0.1:4318",
    )
    parser.add_argument(
        "--texts", action="store_true", help="otel: with the reasons of the scores, which quote answers"
    )


def import_one(arguments: argparse.Namespace) -> int:
    """Import a file."""
    from pytest_evalstudio.formats.dataset import LlmDataset
    from pytest_evalstudio.formats.lab import TestLab
    from pytest_evalstudio.importers.kinds import DATASET, import_file
    from pytest_evalstudio.importers.table import parse_map

    result = import_file(
        arguments.kind,
        local(arguments.file),
        name=arguments.file,
        target=arguments.to,
        columns=parse_map(arguments.map),
    )
    for error in result.errors:
        say(str(error))
    endings = (".json", ".csv") if result.kind == DATASET else (".json",)
    if Path(arguments.output).suffix.lower() not in endings:
        raise ConfigurationError(
            f"{arguments.output}: a file name for a {result.kind} ends with {' or '.join(endings)}"
        )
    content = result.content
    if isinstance(content, LlmDataset | TestLab):
        count = len(content.inputs if isinstance(content, LlmDataset) else content.dataset.inputs)
        size = f"{count} row{'s' if count != 1 else ''}"
    else:
        count = len(content.cases())
        size = f"{count} test case{'s' if count != 1 else ''}"
    if not count:
        raise DataError("nothing could be imported", source=arguments.file)
    Path(arguments.output).parent.mkdir(parents=True, exist_ok=True)
    content.save(arguments.output)
    for note in result.notes:
        say(note)
    omission_note = f"; {len(result.errors)} records are left out" if result.errors else ""
    say(f"wrote {arguments.output}: {result.kind}, {size}{omission_note}")
    return FINDINGS if result.errors else FINE


def export_one(arguments: argparse.Namespace) -> int:
    """Export a file."""
    if arguments.kind == OTEL:
        return _export_events(arguments)
    for name in ("endpoint", "texts"):
        if getattr(arguments, name):
            raise ConfigurationError(f"--{name} is an option of the kind {OTEL}")
    if not arguments.output:
        raise ConfigurationError("give the file that is written by -o OUT")
    from pytest_evalstudio.formats.agent_evaluation import write_evaluation_set
    from pytest_evalstudio.formats.files import read
    from pytest_evalstudio.formats.kinds import read_source
    from pytest_evalstudio.importers.exporting import FORMATS, export

    file = read(read_source(local(arguments.file), arguments.file))
    if file.errors:
        raise file.errors[0]
    endings = (".jsonl", ".json") if FORMATS[arguments.kind].lines else (".json",)
    if Path(arguments.output).suffix.lower() not in endings:
        raise ConfigurationError(
            f"{arguments.output}: a file name for {arguments.kind} ends with {' or '.join(endings)}"
        )
    try:
        records, lost = export(arguments.kind, file.content, arguments.model)
    except DataError as exc:
        raise DataError(f"{exc.message} by --model NAME", source=arguments.file) from None
    Path(arguments.output).parent.mkdir(parents=True, exist_ok=True)
    write_evaluation_set(arguments.output, records)
    for name in lost:
        say(f"not exported: {name}: {arguments.kind} has no place for it")
    say(f"wrote {arguments.output}: {arguments.kind}, {len(records)} records")
    return FINE


def _export_events(arguments: argparse.Namespace) -> int:
    """Write the scores of a run as events of OpenTelemetry, or send them to a collector."""
    from pytest_evalstudio.comparison.baseline import opened
    from pytest_evalstudio.core.writing import write_whole
    from pytest_evalstudio.otel.events import requests
    from pytest_evalstudio.otel.sending import send

    if arguments.model:
        raise ConfigurationError(f"--model is no option of the kind {OTEL}; all models are exported")
    if not (arguments.output or arguments.endpoint):
        raise ConfigurationError("give the file that is written by -o OUT, or a collector by --endpoint URL")
    if arguments.output and Path(arguments.output).suffix.lower() != ".jsonl":
        raise ConfigurationError(f"{arguments.output}: a file name for {OTEL} ends with .jsonl")
    with opened(arguments.file) as reader:
        if arguments.output:
            batches = list(requests(reader.run, reader.items(), texts=arguments.texts))
            Path(arguments.output).parent.mkdir(parents=True, exist_ok=True)
            write_whole(arguments.output, b"".join(body + b"\n" for body, _ in batches))
            say(f"wrote {arguments.output}: {OTEL}, {counted(sum(count for _, count in batches), 'event')}")
        if arguments.endpoint:
            sent = send(arguments.endpoint, requests(reader.run, reader.items(), texts=arguments.texts))
            say(f"sent {counted(sent, 'event')} to {arguments.endpoint}")
    return FINE
