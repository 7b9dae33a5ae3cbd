"""`evalstudio baseline`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, say
from pytest_evalstudio.core.defaults import BASELINE_FILE, REPORT_FOLDER
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.record.reader import RecordReader

_NAMES_SHOWN = 5


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=show)
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    text = "Save a run as a new baseline."
    command = actions.add_parser("save", help=text, description=text)
    command.set_defaults(command=save)
    command.add_argument(
        "record",
        nargs="?",
        default=REPORT_FOLDER,
        metavar="RECORD",
        help="record, report folder or report ZIP (default: %(default)s)",
    )
    command.add_argument("--allow-errors", action="store_true", help="save a run with errors")
    command.add_argument(
        "--allow-partial",
        action="store_true",
        help="save a run that left out test cases, was interrupted, or is a shard",
    )
    command.add_argument(
        "--runs",
        type=int,
        default=1,
        metavar="N",
        help="refuse a run with fewer answers of a case than N; with repeats, a failure that is asked again"
        " is tested against the rate of its own case",
    )
    _add_output(command)
    text = "Take the results of a run into the baseline; its other cases stay."
    command = actions.add_parser("accept", help=text, description=text)
    command.set_defaults(command=accept)
    command.add_argument(
        "names",
        nargs="*",
        metavar="[RECORD] KEY",
        help=f"record, report folder or report ZIP, if there is one of this name (default: {REPORT_FOLDER}),"
        " then keys or node ids of the cases to accept (default: all of the run)",
    )
    command.add_argument("--fixed", action="store_true", help="accept cases that failed and pass now")
    command.add_argument("--changed", action="store_true", help="accept cases whose test changed")
    command.add_argument("--prune", action="store_true", help="remove cases that the suites no longer have")
    command.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="name of a model in the baseline and in the run; repeatable",
    )
    _add_output(command)
    command = actions.add_parser("show", help="Show what a baseline holds.")
    command.set_defaults(command=show)
    command.add_argument("file", nargs="?", default=BASELINE_FILE, metavar="FILE")


def _add_output(command: argparse.ArgumentParser) -> None:
    command.add_argument("-o", "--output", default=BASELINE_FILE, metavar="FILE")
    command.add_argument("--no-answers", action="store_true", help="leave out answers and contexts")


def save(arguments: argparse.Namespace) -> int:
    """Save a run where there is no baseline yet."""
    from pytest_evalstudio.analysis.comparison.baseline import opened
    from pytest_evalstudio.analysis.comparison.baseline import save as save_baseline
    from pytest_evalstudio.scoring.run_header import now

    path = Path(arguments.output)
    if path.exists():
        raise ConfigurationError(
            f"{path}: exists; replace it by `evalstudio baseline accept`, or choose another file by -o"
        )
    if arguments.record == REPORT_FOLDER and not Path(REPORT_FOLDER).exists():
        raise ConfigurationError(f"{REPORT_FOLDER}: there is no run to save; run pytest first")
    with opened(arguments.record) as reader:
        _check_saved(reader, arguments)
        count = save_baseline(reader, path, saved=now(), with_answers=not arguments.no_answers)
    say(f"wrote {path}: {count:,} items")
    return FINE


def _check_saved(reader: RecordReader, arguments: argparse.Namespace) -> None:
    """Refuse a run with errors, and a part of a run, unless the user allows it."""
    from pytest_evalstudio.analysis.comparison.baseline import missing_parts

    errors: list[str] = []
    few: list[str] = []
    outcomes: dict[str, int] = {}
    for item in reader.outlines():
        # Cases without any answer were not asked, and have no rate to be tested against.
        if 0 < len(item.rows) < arguments.runs:
            few.append(item.nodeid)
        outcomes[item.verdict] = outcomes.get(item.verdict, 0) + 1
        if item.verdict == "error":
            errors.append(item.nodeid)
    if few:
        raise ConfigurationError(
            f"{arguments.record}: {counted(len(few), 'case has', 'cases have')} fewer than {arguments.runs}"
            f" answers, e.g. {few[0]}; run pytest with --evalstudio-runs {arguments.runs}"
        )
    missing = missing_parts(reader.run, outcomes)
    if missing and not arguments.allow_partial:
        raise ConfigurationError(
            f"{arguments.record}: the run {', '.join(missing)}: a case that is not in the baseline"
            " cannot be reported as regressed; run all cases, or save with --allow-partial"
        )
    if errors and not arguments.allow_errors:
        more = f" and {len(errors) - _NAMES_SHOWN:,} more" if len(errors) > _NAMES_SHOWN else ""
        raise ConfigurationError(
            f"{arguments.record}: the run has errors, and a case with an error cannot be reported as"
            f" regressed: {', '.join(errors[:_NAMES_SHOWN])}{more}; run them again, or save with"
            " --allow-errors"
        )


def accept(arguments: argparse.Namespace) -> int:
    """Take a run into a baseline, and say what that changes."""
    from pytest_evalstudio.analysis.comparison.accepting import Choice
    from pytest_evalstudio.analysis.comparison.accepting import accept as accept_run
    from pytest_evalstudio.analysis.comparison.baseline import opened
    from pytest_evalstudio.analysis.comparison.compare import compare
    from pytest_evalstudio.analysis.comparison.merging import Merge
    from pytest_evalstudio.analysis.comparison.sentences import summary_of
    from pytest_evalstudio.cli.compare import renamed
    from pytest_evalstudio.scoring.run_header import now

    path = Path(arguments.output)
    if not path.is_file():
        raise ConfigurationError(f"{path}: there is no baseline here; save one by `evalstudio baseline save`")
    first, *others = arguments.names or [REPORT_FOLDER]
    record, keys = (
        # The record may be left out before keys; a key is taken for one only if there is no such file.
        (first, others) if Path(first).exists() or not arguments.names else (REPORT_FOLDER, arguments.names)
    )
    choice = Choice(keys=tuple(keys), fixed=arguments.fixed, changed=arguments.changed, prune=arguments.prune)
    with opened(path) as base, opened(record) as new:
        if new.path.resolve() == path.resolve():
            raise ConfigurationError(f"{path}: is the baseline itself; give the record of a run")
        merge = Merge(base, new, renamed=renamed(arguments.model), with_answers=not arguments.no_answers)
        say(f"compared with {merge.base.label}")
        # Without a common case there is nothing to compare; the run then only adds cases.
        if not merge.base.items.keys().isdisjoint(merge.new.items):
            # Cases that a partial run left out are not gone.
            comparison = compare(merge.base, merge.new, in_scope=lambda *_: not merge.missing)
            say(str(summary_of(comparison)))
        result = accept_run(merge, path, saved=now(), choice=choice)
    say(*result.lines(), f"wrote {path}")
    return FINE


def show(arguments: argparse.Namespace) -> int:
    """Show run, items and models of a baseline."""
    from pytest_evalstudio.analysis.comparison.baseline import opened
    from pytest_evalstudio.analysis.comparison.sides import read_side

    with opened(arguments.file) as reader:
        side = read_side(reader.run, reader.outlines())
    counts: dict[str, int] = {}
    for item in side.items.values():
        counts[item.outcome] = counts.get(item.outcome, 0) + 1
    saved = reader.run.baseline.saved if reader.run.baseline else ""
    say(
        f"baseline {side.label}{f', saved {saved}' if saved else ', the record of a run'}",
        f"items: {', '.join(f'{count} {outcome}' for outcome, count in counts.items()) or 'none'}",
        f"models: {', '.join(sorted({model for _, _, model, _ in side.items})) or 'none'}",
        f"evaluators: {', '.join(reader.run.evaluators) or 'none'}",
        f"answers: {'kept' if side.label.has_answers else 'left out'}",
    )
    return FINE
