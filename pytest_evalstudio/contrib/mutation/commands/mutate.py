"""`evalstudio mutate`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, configuration_for, progress_display, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.core.numbers import DEFAULT_SEED

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pytest_evalstudio.contrib.mutation.results import MutationResult
    from pytest_evalstudio.formats.config import Configuration


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="report folder or record of a run, lab, data set, or suite (its expected outputs)",
    )
    parser.add_argument(
        "--min-score", type=float, metavar="SHARE", help="status 1 if fewer of the damaged answers fail"
    )
    parser.add_argument(
        "--max-false-alarms",
        type=float,
        metavar="SHARE",
        help="status 1 if more of the right answers in another form fail",
    )
    parser.add_argument(
        "--kinds", default="", metavar="KIND[,KIND...]", help="kinds of damage (default: all)"
    )
    parser.add_argument(
        "--allow-calls",
        action="store_true",
        help="let evaluators ask their judge, within its budget (default: they are left out)",
    )
    parser.add_argument(
        "--survivors",
        type=int,
        default=10,
        metavar="N",
        help="damaged answers that pass and are shown (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=DEFAULT_SEED, metavar="N", help="of the damage (default: %(default)s)"
    )
    parser.add_argument(
        "--config", metavar="FILE", help="configuration file (default: the nearest to the source)"
    )
    parser.add_argument(
        "--cache",
        default=".evalstudio",
        metavar="DIR",
        help="folder of stored vectors (default: %(default)s)",
    )
    add_plugin_option(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("-o", "--output", metavar="DIR", help="write mutation.json and mutation.html there")


def run(arguments: argparse.Namespace) -> int:
    """Print the mutation score and the false alarms; 1 where one misses its limit."""
    from pytest_evalstudio.contrib.mutation.lines import mutation_lines
    from pytest_evalstudio.contrib.mutation.results import as_json

    for option in ("min_score", "max_false_alarms"):
        limit = getattr(arguments, option)
        if limit is not None and not 0 <= limit <= 1:
            raise ConfigurationError(f"--{option.replace('_', '-')} {limit:g}: expected a share from 0 to 1")
    result = _tested(arguments)
    if arguments.json:
        print(as_json(result))
    else:
        say(*mutation_lines(result, max(0, arguments.survivors)))
    if arguments.output:
        _write(arguments, result)
    faults = list(_missed_limits(arguments, result))
    for fault in faults:
        say(fault, error=True)
    return FINDINGS if faults else FINE


def _missed_limits(arguments: argparse.Namespace, result: MutationResult) -> Iterator[str]:
    """Yield each limit that the result misses; a share of nothing misses the mutation score's."""
    score, limit = result.score.value, arguments.min_score
    if limit is not None and (score is None or score < limit):
        yield f"mutation score {'–' if score is None else f'{score:.3g}'} < {limit:g}"
    alarms, limit = result.false_alarms.value, arguments.max_false_alarms
    if limit is not None and alarms is not None and alarms > limit:
        yield f"false alarms {alarms:.3g} > {limit:g}"


def _write(arguments: argparse.Namespace, result: MutationResult) -> None:
    """Write the result; of a run, its report with a section on it."""
    from pytest_evalstudio.contrib.mutation.results import FILE, as_json
    from pytest_evalstudio.contrib.mutation.subjects import is_run
    from pytest_evalstudio.core.writing import write_whole
    from pytest_evalstudio.record.outputs import OutputFolder
    from pytest_evalstudio.record.reader import record_path
    from pytest_evalstudio.report.build import build_report

    source, folder = Path(arguments.source), Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / FILE
    # `build_report` leaves the lock to its caller.
    if is_run(source):
        with OutputFolder(folder).locked():
            report = build_report(
                record_path(source),
                folder,
                registry=registry_for(arguments),
                attached=[result],
                root=Path.cwd(),
            )
        written = report.page
    write_whole(folder / FILE, as_json(result).encode() + b"\n")
    say(f"wrote {written}", error=True)


def _tested(arguments: argparse.Namespace) -> MutationResult:
    from pytest_evalstudio.contrib.mutation.subjects import read_subjects
    from pytest_evalstudio.contrib.mutation.testing import KINDS, mutation_test
    from pytest_evalstudio.scoring.model_provider import ModelProvider

    kinds = [kind.strip() for kind in arguments.kinds.split(",") if kind.strip()] or list(KINDS)
    for kind in kinds:
        if kind not in KINDS:
            raise unknown_name("kind of damage", kind, KINDS, f"There are: {', '.join(KINDS)}.")
    source = Path(arguments.source)
    if not source.exists():
        raise ConfigurationError(f"{source}: there is no such file or folder")
    registry = registry_for(arguments)

    def configuration_of(file: Path) -> Configuration:
        return configuration_for(str(file), arguments.config)

    subjects = read_subjects(source, configuration_of, registry, allow_calls=arguments.allow_calls)
    with (
        closing(ModelProvider(cache=Path(arguments.cache), registry=registry)) as provider,
        progress_display("scoring") as progress,
    ):
        return mutation_test(
            subjects,
            registry=registry,
            provider=provider,
            source=arguments.source,
            kinds=kinds,
            seed=arguments.seed,
            progress=progress,
        )
