"""`evalstudio baseline`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, say
from pytest_evalstudio.core.errors import ConfigurationError

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.cli.common import Adds

BASELINE_FILE = "evalstudio-baseline.jsonl"
REPORT = "evalstudio-report"


def add_to(add: Adds) -> None:
    """Declare the command."""
    parser = add("baseline", show, "Save, accept or show the baseline that runs are compared with.")
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    for name, action, text in (
        ("save", save, "Save a run as a new baseline."),
        ("accept", accept, "Replace the baseline by a run, deliberately."),
    ):
        command = actions.add_parser(name, help=text, description=text)
        command.set_defaults(command=action)
        command.add_argument(
            "record",
            nargs="?",
            default=REPORT,
            metavar="RECORD",
            help="record, report folder or report ZIP (default: %(default)s)",
        )
        command.add_argument("-o", "--output", default=BASELINE_FILE, metavar="FILE")
        command.add_argument("--no-answers", action="store_true", help="leave out answers and contexts")
    command = actions.add_parser("show", help="Show what a baseline holds.")
    command.set_defaults(command=show)
    command.add_argument("file", nargs="?", default=BASELINE_FILE, metavar="FILE")


def save(arguments: argparse.Namespace) -> int:
    """Save a run where there is no baseline yet."""
    if Path(arguments.output).exists():
        raise ConfigurationError(
            f"{arguments.output}: exists; replace it by `evalstudio baseline accept`, or choose another file"
            " by -o"
        )
    return _write(arguments)


def accept(arguments: argparse.Namespace) -> int:
    """Replace a baseline, and say what that changes."""
    from pytest_evalstudio.comparison.baseline import opened
    from pytest_evalstudio.comparison.compare import compare
    from pytest_evalstudio.comparison.sides import read_side
    from pytest_evalstudio.comparison.text import comparison_lines

    earlier = Path(arguments.output)
    if not earlier.is_file():
        raise ConfigurationError(
            f"{earlier}: there is no baseline here; save one by `evalstudio baseline save`"
        )
    with opened(earlier) as base, opened(arguments.record) as new:
        say(
            *comparison_lines(
                compare(read_side(base.run, base.outlines()), read_side(new.run, new.outlines()))
            )
        )
    return _write(arguments)


def show(arguments: argparse.Namespace) -> int:
    """Show run, items and models of a baseline."""
    from pytest_evalstudio.comparison.baseline import opened
    from pytest_evalstudio.comparison.sides import read_side

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


def _write(arguments: argparse.Namespace) -> int:
    from pytest_evalstudio.comparison.baseline import opened
    from pytest_evalstudio.comparison.baseline import save as save_baseline
    from pytest_evalstudio.engine.run_header import now

    path = Path(arguments.output)
    with opened(arguments.record) as reader:
        if reader.path.resolve() == path.resolve():
            raise ConfigurationError(f"{path}: is the record itself; choose another file by -o")
        count = save_baseline(reader, path, saved=now(), with_answers=not arguments.no_answers)
    say(f"wrote {path}: {count:,} items")
    return FINE
