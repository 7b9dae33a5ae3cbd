"""`evalstudio select`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, read_whole, say, say_missing_files
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.contrib.planning.selection import Selection


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument(
        "records", nargs="+", metavar="RUN", help="records, report folders, or folders of these"
    )
    parser.add_argument(
        "--budget",
        type=int,
        default=50,
        metavar="N",
        help="cases of the smaller suite (default: %(default)s)",
    )
    parser.add_argument(
        "--suite", metavar="FILE", help="suite of the runs, whose selected cases are written to OUT"
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="the smaller suite; needs --suite")
    parser.add_argument("--json", action="store_true", help="print figures of all cases as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print what the cases say, and write the smaller suite."""
    import msgspec

    from pytest_evalstudio.analysis.comparison.baseline import opened
    from pytest_evalstudio.analysis.comparison.history import record_files
    from pytest_evalstudio.contrib.planning.selection import CaseTable, selection_lines
    from pytest_evalstudio.core.display import visible_json

    if bool(arguments.suite) != bool(arguments.output):
        raise ConfigurationError("select: --suite and --output belong together; give both, or neither")
    table = CaseTable()
    for file in record_files(arguments.records):
        with opened(file) as reader:
            table.add(reader.run, reader.items())
    selection = table.selection(arguments.budget)
    if arguments.json:
        print(visible_json(msgspec.json.format(msgspec.json.encode(selection), indent=2).decode()))
    else:
        say(*selection_lines(selection))
    if arguments.output:
        count = _write(arguments.suite, arguments.output, selection)
        say(f"wrote {arguments.output}: {counted(count, 'case')}", error=True)
    return FINE


def _write(source: str, output: str, selection: Selection) -> int:
    """Write the selected cases of a suite with their perturbations, and return their number."""
    from pathlib import Path

    from pytest_evalstudio.analysis.comparison.sides import PERTURBATION_SOURCE
    from pytest_evalstudio.formats.suite import TestSuite

    suite = read_whole(Path(source), source)
    if not isinstance(suite, TestSuite):
        raise ConfigurationError(f"{source}: is not a suite; give the suite of the runs")
    keys = {case.key for case in selection.cases if case.weight}
    for test in suite.tests:
        test.test_cases = [
            case
            for case in test.test_cases
            if case.key in keys
            or any(link.type == PERTURBATION_SOURCE and link.target in keys for link in case.relationships)
        ]
    suite.tests = [test for test in suite.tests if test.test_cases]
    count = len(suite.cases())
    if not count:
        raise ConfigurationError(f"{source}: has none of the selected cases; give the suite of the runs")
    suite.save(output)
    say_missing_files(suite, output)
    return count
