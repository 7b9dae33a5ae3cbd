"""`evalstudio compare`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, configuration_for, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for
from pytest_evalstudio.core.errors import ConfigurationError

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.analysis.comparison.metrics import ComparisonLimits
    from pytest_evalstudio.analysis.comparison.results import Comparison
    from pytest_evalstudio.analysis.comparison.sides import Side
    from pytest_evalstudio.cli.sources import Source


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument(
        "base", metavar="BASE", help="record, report folder, report ZIP, baseline or scored table"
    )
    parser.add_argument("new", metavar="NEW", nargs="?", help="the run that may be worse")
    parser.add_argument(
        "--models", nargs=2, metavar=("A", "B"), help="compare two models of one run: B with A"
    )
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="name of a model in both runs; repeatable",
    )
    parser.add_argument(
        "--allowed-drop",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="drop that is never worse, as a share of the metric's range (default: %(default)s)",
    )
    parser.add_argument(
        "--tolerance",
        type=float,
        default=0.05,
        metavar="SHARE",
        help="drop that does not matter, as a share of the metric's range (default: %(default)s)",
    )
    parser.add_argument(
        "--rescore", action="store_true", help="score the base run's answers by today's evaluators, too"
    )
    parser.add_argument("--config", metavar="FILE", help="configuration of --rescore (default: the nearest)")
    parser.add_argument(
        "--cache",
        default=".evalstudio",
        metavar="DIR",
        help="folder of stored replies (default: %(default)s)",
    )
    add_plugin_option(parser)
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
    parser.add_argument("-o", "--output", metavar="DIR", help="write comparison.json and comparison.md there")


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison; 1 where the new run is worse, or no case could be compared."""
    if (
        not arguments.rescore
    ):  # the matrices are small, and starting threads takes longer than multiplying them
        # Before the imports below: OpenBLAS reads it once, when NumPy is imported.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from pytest_evalstudio.analysis.comparison.markdown import comparison_markdown
    from pytest_evalstudio.analysis.comparison.results import as_json
    from pytest_evalstudio.analysis.comparison.text import comparison_lines
    from pytest_evalstudio.core.collecting import uncollected
    from pytest_evalstudio.core.display import visible_json
    from pytest_evalstudio.core.writing import write_whole

    with uncollected():
        comparison = _compared(arguments)
    if arguments.json:
        print(visible_json(as_json(comparison)))
    else:
        say(*comparison_lines(comparison))
    if arguments.output:
        folder = Path(arguments.output)
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "comparison.json", as_json(comparison).encode() + b"\n")
        write_whole(folder / "comparison.md", comparison_markdown(comparison).encode())
        say(f"wrote {folder / 'comparison.md'}", error=True)
    return FINDINGS if comparison.is_worse or comparison.is_uncompared else FINE


def _compared(arguments: argparse.Namespace) -> Comparison:
    from pytest_evalstudio.analysis.comparison.compare import compare, with_rescored
    from pytest_evalstudio.analysis.comparison.metrics import ComparisonLimits
    from pytest_evalstudio.cli.sources import source_of

    limits = ComparisonLimits(allowed_drop=arguments.allowed_drop, tolerance=arguments.tolerance)
    if (source := source_of(arguments.base)) is not None:
        return _of_sources(source, arguments, limits)
    base, new = _sides(arguments)
    comparison = compare(base, new, limits=limits)
    if arguments.rescore:
        comparison = with_rescored(comparison, base, _rescored(arguments, base), new)
    return comparison


def _of_sources(source: Source, arguments: argparse.Namespace, limits: ComparisonLimits) -> Comparison:
    """Compare two sources of one kind, or two models of one."""
    if arguments.rescore:
        raise ConfigurationError("--rescore: scores records, not tables; run `evalstudio score` again")
    if arguments.models:
        _check_single(arguments)
        first, second = arguments.models
        return source.compare_models(arguments.base, first, second, limits=limits)
    _check_pair(arguments)
    if not source.recognises(arguments.new):
        raise ConfigurationError(
            f"{arguments.new}: is not {source.name}, as the base is; compare two of one kind"
        )
    return source.compare(arguments.base, arguments.new, models=renamed(arguments.model), limits=limits)


def _check_single(arguments: argparse.Namespace) -> None:
    if arguments.new is not None:
        raise ConfigurationError("--models: compares two models of one run; give one record")


def _check_pair(arguments: argparse.Namespace) -> None:
    if arguments.new is None:
        raise ConfigurationError("compare: give a base and a new run, or one run and --models A B")
    if os.path.realpath(arguments.base) == os.path.realpath(arguments.new):
        raise ConfigurationError(f"{arguments.new}: is the base run itself; give another run")


def _rescored(arguments: argparse.Namespace, base: Side) -> Side:
    from pytest_evalstudio.analysis.comparison.baseline import opened
    from pytest_evalstudio.api.rescore import rescored
    from pytest_evalstudio.scoring.model_provider import ModelProvider

    if arguments.models:
        raise ConfigurationError("--rescore: compares a base with a new run, not two models of one run")
    registry = registry_for(arguments)
    provider = ModelProvider(cache=Path(arguments.cache), registry=registry)
    try:
        with opened(arguments.base) as reader:
            # No such file is needed: the name makes the search begin in the current folder.
            config = configuration_for("suite.json", arguments.config)
            return rescored(reader, base, config, registry=registry, provider=provider)
    finally:
        provider.close()


def _sides(arguments: argparse.Namespace) -> tuple[Side, Side]:
    from pytest_evalstudio.analysis.comparison.baseline import opened
    from pytest_evalstudio.analysis.comparison.sides import of_model, read_side

    if arguments.models:
        _check_single(arguments)
        with opened(arguments.base) as reader:
            side = read_side(reader.run, reader.outlines())
        base, new = arguments.models
        return of_model(side, base, new), of_model(side, new, new)
    _check_pair(arguments)
    with opened(arguments.base) as reader:
        first = read_side(
            reader.run, reader.outlines(), models=renamed(arguments.model), answers_of=("passed",)
        )
    with opened(arguments.new) as reader:
        return first, read_side(reader.run, reader.outlines(), answers_of=("failed",))


def renamed(options: list[str]) -> dict[str, str]:
    """Return old to new name of each `OLD=NEW`.

    Raises:
        ConfigurationError: for an option without an equals sign.
    """
    names = {}
    for option in options:
        old, equals, new = option.partition("=")
        if not (equals and old and new):
            raise ConfigurationError(f"--model {option}: write OLD=NEW")
        names[old] = new
    return names
