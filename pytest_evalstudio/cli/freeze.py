"""`evalstudio freeze`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, say, say_missing_files
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name

if TYPE_CHECKING:
    import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument("run", metavar="RUN", help="report folder or record of a run")
    parser.add_argument(
        "--case", action="append", default=[], metavar="KEY", help="key of a case (default: all); repeatable"
    )
    parser.add_argument(
        "--model", default="", metavar="NAME", help="model whose answers are taken (default: the first)"
    )
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="the suite")


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.api.freezing import REVIEW, frozen_suite
    from pytest_evalstudio.record.reader import RecordReader, record_path

    output = Path(arguments.output)
    if output.exists():
        raise ConfigurationError(f"{output}: the file is there already; choose another name")
    reader = RecordReader(record_path(arguments.run))
    models = {reader.run.model_name(key): key for key in reader.run.models}
    if arguments.model and arguments.model not in models:
        raise unknown_name("model", arguments.model, models, f"The run has: {', '.join(models)}.")
    model_key = models.get(arguments.model, "")
    suite = frozen_suite(
        reader.items(), arguments.case, model_key=model_key, name=reader.run.name or "Frozen"
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    suite.save(output)
    count = len(suite.cases())
    say(f"wrote {output}: {count} {'case' if count == 1 else 'cases'}, marked {REVIEW!r}")
    say_missing_files(suite, output)
    return FINE
