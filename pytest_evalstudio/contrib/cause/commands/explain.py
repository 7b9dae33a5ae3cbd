"""`evalstudio explain`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, configuration_for, print_json, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for
from pytest_evalstudio.core.defaults import BASELINE_FILE, REPORT_FOLDER
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.analysis.comparison.results import Comparison
    from pytest_evalstudio.record.causes import CauseEntry

_RAN = (0, 1)
"""Exit statuses of pytest after a run: all passed, or some failed."""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument(
        "cases", nargs="*", metavar="CASE", help="key or node id of a regressed case (default: all of them)"
    )
    parser.add_argument(
        "--report",
        default=REPORT_FOLDER,
        metavar="DIR",
        help="report or record of the run with the regressions (default: %(default)s)",
    )
    parser.add_argument(
        "--baseline", metavar="FILE", help=f"baseline (default: the configuration's, else {BASELINE_FILE})"
    )
    parser.add_argument("--config", metavar="FILE", help="configuration file (default: the nearest)")
    parser.add_argument("-o", "--output", metavar="DIR", help="write the run's report with the causes there")
    parser.add_argument("--json", action="store_true", help="print the causes as JSON")
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Ask the regressed cases again by pytest, and print their causes."""
    import msgspec

    baseline = _baseline(arguments)
    comparison = _comparison(Path(arguments.report), baseline)
    nodeids = _regressed(comparison, arguments.cases)
    if not nodeids:
        say("no case regressed")
        return FINE
    causes = _causes(nodeids, baseline, arguments.config)
    if arguments.json:
        print_json(msgspec.to_builtins(causes))
    else:
        say(*_lines(nodeids, causes))
    if arguments.output:
        _write(arguments, comparison, causes)
    return FINE


def _baseline(arguments: argparse.Namespace) -> Path:
    if arguments.baseline:
        path = Path(arguments.baseline)
    else:
        config = configuration_for(str(Path.cwd() / BASELINE_FILE), arguments.config)
        path = config.folder / config.baseline if config.baseline else Path(BASELINE_FILE)
    if not path.exists():
        raise ConfigurationError(f"{path}: there is no baseline; save one with `evalstudio baseline save`")
    return path


def _comparison(report: Path, baseline: Path) -> Comparison:
    from pytest_evalstudio.analysis.comparison.baseline import opened
    from pytest_evalstudio.analysis.comparison.compare import compare
    from pytest_evalstudio.analysis.comparison.sides import read_side

    with opened(baseline) as base, opened(report) as new:
        return compare(
            read_side(base.run, base.outlines(), answers_of=("passed", "failed")),
            read_side(new.run, new.outlines(), answers_of=("failed",)),
        )


def _regressed(comparison: Comparison, names: Sequence[str]) -> list[str]:
    """Return the node ids of the regressed cases, those of the given names where there are any.

    Raises:
        ConfigurationError: if a name is that of no regressed case.
    """
    changes = [change for change in comparison.changes if change.item_class == "regressed"]
    case_names = dict.fromkeys(name for change in changes for name in (change.key, change.nodeid))
    for name in names:
        if name not in case_names:
            remedy = f"Regressed: {', '.join(dict.fromkeys(change.key for change in changes)) or 'none'}."
            raise unknown_name("regressed case", name, case_names, remedy)
    return [change.nodeid for change in changes if not names or {change.key, change.nodeid} & set(names)]


def _causes(nodeids: Sequence[str], baseline: Path, config: str | None) -> Mapping[str, CauseEntry]:
    """Run pytest on some cases and return the causes of those that still fail."""
    from pytest_evalstudio.record.reader import read_run, record_path

    with tempfile.TemporaryDirectory(prefix="evalstudio-") as folder:
        output = Path(folder) / "report"
        command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "--no-header", *map(_located, nodeids)]
        command += ["--evalstudio-explain", f"--evalstudio-baseline={baseline.absolute()}"]
        command += [f"--evalstudio-output={output}", "--evalstudio-fail-on=none"]
        if config:
            command.append(f"--evalstudio-config={config}")
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode not in _RAN:
            message = "\n".join(filter(None, (ended.stdout.strip(), ended.stderr.strip())))
            raise ConfigurationError(f"the cases could not be asked again:\n{message}")
        return read_run(record_path(output)).causes


def _located(nodeid: str) -> str:
    """Return a node id whose file is named from the current folder; its path starts at pytest's root."""
    name, _, rest = nodeid.partition("::")
    folder = Path.cwd()
    file = next((path for base in (folder, *folder.parents) if (path := base / name).is_file()), Path(name))
    return f"{file}::{rest}"


def _lines(nodeids: Sequence[str], causes: Mapping[str, CauseEntry]) -> Iterator[str]:
    from pytest_evalstudio.contrib.cause.run_extra import CauseExtra
    from pytest_evalstudio.contrib.cause.wording import trial_text

    for nodeid in nodeids:
        if (entry := causes.get(nodeid)) is None:
            yield f"{nodeid}: passes now"
            continue
        yield f"{nodeid}: {entry.text}"
        yield from (f"    {detail}" for detail in entry.details)
        yield from (f"    {trial_text(trial)}" for trial in entry.trials)
    if len(causes) > 1:
        yield from CauseExtra(causes).closing_lines()


def _write(arguments: argparse.Namespace, comparison: Comparison, causes: Mapping[str, CauseEntry]) -> None:
    """Write the report of the run with the causes."""
    import msgspec

    from pytest_evalstudio.analysis.comparison.baseline import opened
    from pytest_evalstudio.record.codec import encode_line
    from pytest_evalstudio.record.outputs import OutputFolder
    from pytest_evalstudio.record.writer import FILE
    from pytest_evalstudio.report.build import build_report

    folder = Path(arguments.output)
    target = OutputFolder(folder)
    with opened(arguments.report) as reader, target.locked():
        target.list_files([*target.owned(), FILE])
        record = folder / FILE
        run = msgspec.structs.replace(reader.run, causes=dict(causes))
        with open(record, "wb") as file:
            file.write(encode_line(run) + b"\n")
            file.writelines(encode_line(item) + b"\n" for item in reader.items())
        report = build_report(
            record, folder, registry=registry_for(arguments), comparison=comparison, root=Path.cwd()
        )
    say(f"wrote {report.page}", error=True)
