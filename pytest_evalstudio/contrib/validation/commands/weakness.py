"""`evalstudio weakness`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, listed, print_json, say
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.numbers import DEFAULT_SEED

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.contrib.validation.methods.weaknesses.plot import WeaknessPictures


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument(
        "results",
        nargs="+",
        metavar="RESULTS",
        help="explanation.json of an evaluator, record.jsonl, the folder of a report, or a scored table",
    )
    parser.add_argument(
        "--metric",
        default="",
        metavar="KEY[,KEY...]",
        help="METRIC or EVALUATOR.METRIC (default: the primary metric of each evaluator)",
    )
    parser.add_argument(
        "--by",
        default="",
        metavar="NAME[,NAME...]",
        help=(
            "dimensions: 'topic' of 'topic:fees', 'category' of 'fees'; 'query_type' is 'generator' if"
            " cases have only this dimension (default: all)"
        ),
    )
    parser.add_argument(
        "--model", metavar="NAME", help="only this model's scores (default: the mean of all models)"
    )
    parser.add_argument(
        "--alpha",
        type=float,
        default=0.05,
        metavar="X",
        help="cells with an adjusted one-sided p of at most X / 2 are weak (default: 0.05)",
    )
    parser.add_argument(
        "--min-cases",
        type=int,
        default=5,
        metavar="N",
        help="cells with fewer cases are not tested (default: 5)",
    )
    _add_output_options(parser)


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--plots",
        metavar="DIR",
        help=(
            "write pictures (SVG): distributions of all metrics; violins, means and the grid of four of them"
        ),
    )
    parser.add_argument(
        "--rows",
        type=int,
        default=20_000,
        metavar="N",
        help="random answers of a scored table that are read (default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=DEFAULT_SEED,
        metavar="N",
        help="of these answers (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="for machines")


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.analysis.stored_scores import read_scores
    from pytest_evalstudio.cli.sources import Rows, as_records
    from pytest_evalstudio.contrib.validation.methods.weaknesses.method import describe, find_all_weaknesses
    from pytest_evalstudio.contrib.validation.methods.weaknesses.plot import weakness_pictures

    with as_records(arguments.results, Rows(sample=arguments.rows, seed=arguments.seed)) as records:
        scores = read_scores(records)
    metrics = listed(arguments.metric) or [
        column.key for column in scores.columns.values() if column.metric.primary
    ]
    weaknesses = find_all_weaknesses(
        scores,
        metrics,
        by=listed(arguments.by),
        model=arguments.model,
        alpha=arguments.alpha,
        min_cases=arguments.min_cases,
    )
    if arguments.plots:
        _write_pictures(Path(arguments.plots), weakness_pictures(scores, weaknesses))
    if arguments.json:
        print_json([asdict(weakness) for weakness in weaknesses])
    else:
        for number, weakness in enumerate(weaknesses):
            say(*[""] * bool(number), *describe(weakness))
    return FINDINGS if any(weakness.weak for weakness in weaknesses) else FINE


def _write_pictures(folder: Path, pictures: WeaknessPictures) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, picture in pictures.files.items():
            (folder / name).write_text(picture, encoding="utf-8")
    except OSError as exc:
        raise ConfigurationError(f"{folder}: pictures cannot be written here: {exc.strerror}") from None
    summary_line = f"{len(pictures.files)} pictures in {folder}"
    without = f"; no pictures of their own: {', '.join(pictures.left_out)}" if pictures.left_out else ""
    say(summary_line + without, error=True)
