"""`evalstudio import` and `evalstudio export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, error_lines, local, progress_display, say
from pytest_evalstudio.cli.standard_input import STANDARD_INPUT, local_files, shown_name
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.traces.labs import TraceReport

KIND_IDS = (
    *("agent-evaluation", "beir", "braintrust", "deepeval", "hotpotqa", "h2o-sonar", "inspect", "langsmith"),
    *("mlflow", "openai-evals", "promptfoo", "ragas", "squad", "table"),
)
YAML_KINDS = {"promptfoo": ".yaml", "h2o-sonar": ".yaml"}
"""Kinds whose files are YAML where they are not JSON."""
TRACES = "traces"
"""Kind that needs no file of a known name: several files, written row by row."""
# Files of traces can have thousands of faulty spans, mostly with the same fault.
MAX_ERRORS = 20
"""Errors of traces that are printed."""
FORMAT_IDS = ("agent-evaluation", "braintrust", "deepeval", "langsmith", "mlflow", "openai-evals", "ragas")
OTEL = "otel"
"""Kind of `export` that is a run and not a file of tests: its scores as events."""
VIEWER_IDS = ("langfuse", "mlflow", "phoenix")
"""Viewers of traces that take the scores of a run where `--endpoint` is given."""


def _delimiter(text: str) -> str:
    """Return the delimiter of an option, in which "tab" stands for a tab.

    Raises:
        ConfigurationError: if it is no single character.
    """
    # A shell passes "\t" as two characters.
    sign = "\t" if text in ("\\t", "tab") else text
    if len(sign) > 1 or sign in ('"', "\r", "\n"):
        raise ConfigurationError(f"--delimiter {text!r}: expected one character, e.g. ';' or '\\t'")
    return sign


def add_import(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `import`."""
    parser.set_defaults(command=import_one)
    kinds = (*KIND_IDS, TRACES)
    parser.add_argument("kind", choices=kinds, metavar="KIND", help=", ".join(kinds))
    parser.add_argument(
        "file", nargs="+", metavar="FILE", help="path, URL, or - for standard input; of traces several paths"
    )
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
    parser.add_argument(
        "--delimiter",
        default="",
        metavar="CHAR",
        help="between the cells of CSV, e.g. ';' (default: that of the header)",
    )
    parser.add_argument(
        "--name-prefix", default="", metavar="TEXT", help="written before the name of the suite or lab"
    )
    parser.add_argument(
        "--description", default="", metavar="TEXT", help="of the suite or lab, in place of the file's"
    )
    parser.add_argument(
        "--sample", type=int, metavar="N", help="questions of a suite of traces (default: all)"
    )
    parser.add_argument(
        "--freeze-calls",
        action="store_true",
        help="expect the observed calls of tools, in a suite of traces",
    )


def add_export(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `export`."""
    parser.set_defaults(command=export_one)
    export_kinds = tuple(sorted({*FORMAT_IDS, OTEL, *VIEWER_IDS}))
    parser.add_argument("kind", choices=export_kinds, metavar="KIND", help=", ".join(export_kinds))
    parser.add_argument(
        "file",
        metavar="FILE",
        help="suite, data set or lab; path or URL. Of scores: record or report of a run",
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
        help="otel, langfuse, mlflow, phoenix: send the scores of a run there, e.g. http://127.0.0.1:6006",
    )
    parser.add_argument(
        "--texts", action="store_true", help="with the reasons of the scores of a run, which quote answers"
    )


def import_one(arguments: argparse.Namespace) -> int:
    """Import a file, or traces of several files."""
    if arguments.kind == TRACES:
        if arguments.name_prefix or arguments.description:
            raise ConfigurationError("--name-prefix and --description are not options of traces")
        return _import_traces(arguments)
    if arguments.sample is not None or arguments.freeze_calls:
        raise ConfigurationError("--sample and --freeze-calls are options of traces --to suite")
    if len(arguments.file) > 1:
        raise ConfigurationError(f"{arguments.kind} is read from one file; only traces from several")
    from pytest_evalstudio.formats.dataset import LlmDataset
    from pytest_evalstudio.formats.lab import TestLab
    from pytest_evalstudio.importers.kinds import DATASET, import_file
    from pytest_evalstudio.importers.table import parse_map

    name = shown_name(arguments.file[0])
    with local_files(arguments.file, YAML_KINDS.get(arguments.kind, ".csv")) as [path]:
        columns, delimiter = parse_map(arguments.map), _delimiter(arguments.delimiter)
        with progress_display(f"reading {name}"):
            result = import_file(
                arguments.kind,
                path,
                name=name,
                target=arguments.to,
                columns=columns,
                delimiter=delimiter,
            )
    for error in result.errors:
        say(*error_lines(str(error)))
    # Only now: `import_file` chooses the kind where --to does not.
    endings = (".json", ".csv") if result.kind == DATASET else (".json",)
    if Path(arguments.output).suffix.lower() not in endings:
        raise ConfigurationError(
            f"{arguments.output}: a file name for a {result.kind} ends with {' or '.join(endings)}"
        )
    content = result.content
    if not isinstance(content, LlmDataset):
        content.name = arguments.name_prefix + content.name
        content.description = arguments.description or content.description
    elif arguments.name_prefix or arguments.description:
        raise ConfigurationError(
            "a data set has neither a name nor a description; import it --to suite or --to lab, or leave out"
            " --name-prefix and --description"
        )
    if isinstance(content, LlmDataset | TestLab):
        count = len(content.inputs if isinstance(content, LlmDataset) else content.dataset.inputs)
        size = f"{count} row{'s' if count != 1 else ''}"
    else:
        count = len(content.cases())
        size = f"{count} test case{'s' if count != 1 else ''}"
    if not count:
        raise DataError(
            f"no record could be imported; check that the file is of the kind {arguments.kind}", source=name
        )
    Path(arguments.output).parent.mkdir(parents=True, exist_ok=True)
    content.save(arguments.output)
    for note in result.notes:
        say(note)
    omission_note = f"; {len(result.errors)} records are left out" if result.errors else ""
    say(f"wrote {arguments.output}: {result.kind}, {size}{omission_note}")
    return FINDINGS if result.errors else FINE


def _import_traces(arguments: argparse.Namespace) -> int:
    from pytest_evalstudio.traces.labs import TraceReport, write_lab

    is_suite = arguments.to == "suite"
    if arguments.to == "dataset" or arguments.map:
        raise ConfigurationError("traces are imported as a lab or a suite; leave out --to dataset and --map")
    if not is_suite and (arguments.sample is not None or arguments.freeze_calls):
        raise ConfigurationError("--sample and --freeze-calls need --to suite")
    if arguments.sample is not None and arguments.sample < 1:
        raise ConfigurationError(f"--sample {arguments.sample}: expected a number from 1")
    output = Path(arguments.output)
    if output.suffix.lower() != ".json":
        raise ConfigurationError(f"{output}: a file name for a lab or suite ends with .json")
    # Spans are read in two passes, which a stream does not allow.
    if STANDARD_INPUT in arguments.file:
        raise ConfigurationError("traces are read from files, not from standard input")
    output.parent.mkdir(parents=True, exist_ok=True)
    paths = [local(name) for name in arguments.file]
    report = TraceReport()
    if is_suite:
        with progress_display("reading the traces"):
            count = _write_suite(paths, output, report, arguments.sample, arguments.freeze_calls)
        size = f"suite, {count} test case{'s' if count != 1 else ''}, marked to be reviewed"
    else:
        with progress_display("reading the traces"):
            write_lab(paths, output, report)
        size = f"lab, {report.rows} row{'s' if report.rows != 1 else ''}"
    say(*map(str, report.errors[:MAX_ERRORS]))
    left_out = len(report.errors)
    if left_out > MAX_ERRORS:
        say(f"{left_out - MAX_ERRORS} further errors of this kind are not shown")
    say(*report.omissions.lines())
    say(f"wrote {output}: {size}" + (f"; {left_out} records are left out" if left_out else ""))
    return FINDINGS if left_out else FINE


def _write_suite(
    paths: list[Path], output: Path, report: TraceReport, sample: int | None, freeze_calls: bool
) -> int:
    from pytest_evalstudio.api.trace_suites import suite_of_rows
    from pytest_evalstudio.traces.labs import no_rows, trace_rows

    rows = trace_rows(paths, report)
    suite = suite_of_rows(
        rows, report.omissions, name=paths[0].stem, sample=sample, freeze_calls=freeze_calls
    )
    if not report.rows:
        raise no_rows(paths, report)
    suite.save(output)
    return len(suite.cases())


def export_one(arguments: argparse.Namespace) -> int:
    """Export a file."""
    if arguments.kind == OTEL:
        return _export_events(arguments)
    # "mlflow" is both: with --endpoint the scores of a run are sent, else a file is written.
    if arguments.kind in VIEWER_IDS and (arguments.endpoint or arguments.kind not in FORMAT_IDS):
        return _export_scores(arguments)
    for name in ("endpoint", "texts"):
        if getattr(arguments, name):
            kinds = ", ".join((OTEL, *VIEWER_IDS))
            raise ConfigurationError(f"--{name} is an option of the kinds {kinds}")
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
        # As in `convert`: the only such error is that several models answered.
        raise DataError(f"{exc.message} by --model NAME", source=arguments.file) from None
    Path(arguments.output).parent.mkdir(parents=True, exist_ok=True)
    write_evaluation_set(arguments.output, records)
    for name in lost:
        say(f"not exported: {name}: {arguments.kind} has no place for it")
    say(f"wrote {arguments.output}: {arguments.kind}, {len(records)} records")
    return FINE


def _export_scores(arguments: argparse.Namespace) -> int:
    """Send the scores of a run to a viewer of traces, beside the spans of the answers."""
    from pytest_evalstudio.analysis.comparison.baseline import opened
    from pytest_evalstudio.traces.otel.scores import span_scores
    from pytest_evalstudio.traces.otel.viewers.kinds import export_scores

    if not arguments.endpoint or arguments.output or arguments.model:
        raise ConfigurationError(
            f"{arguments.kind}: scores are only sent to a service; give --endpoint URL, and leave out"
            " -o and --model"
        )
    with opened(arguments.file) as reader:
        scores = span_scores(reader.run, reader.items(), texts=arguments.texts)
        exported = export_scores(arguments.kind, arguments.endpoint, scores)
    if exported.without_span:
        say(
            f"not sent: {counted(exported.without_span, 'score')} of answers without a span;"
            " run with [trace], or import the answers from traces"
        )
    if exported.unknown:
        say(
            f"not sent: {counted(exported.unknown, 'score')} of spans that are not at {arguments.endpoint};"
            " send the application's spans there first"
        )
    say(f"sent {counted(exported.accepted, 'score')} to {arguments.endpoint}")
    return FINE if exported.accepted and not exported.unknown else FINDINGS


def _export_events(arguments: argparse.Namespace) -> int:
    """Write the scores of a run as events of OpenTelemetry, or send them to a collector."""
    from pytest_evalstudio.analysis.comparison.baseline import opened
    from pytest_evalstudio.core.writing import write_whole
    from pytest_evalstudio.traces.otel.events import requests
    from pytest_evalstudio.traces.otel.sending import send

    if arguments.model:
        raise ConfigurationError(f"--model is not an option of the kind {OTEL}; all models are exported")
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
