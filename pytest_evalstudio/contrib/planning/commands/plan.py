"""`evalstudio plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, say
from pytest_evalstudio.core.numbers import DEFAULT_SEED

if TYPE_CHECKING:
    import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument("record", metavar="RUN", help="record, report folder, report ZIP or baseline")
    parser.add_argument(
        "--drop",
        type=float,
        required=True,
        metavar="D",
        help="drop of the pass rate, or of the metric's mean in its unit",
    )
    parser.add_argument(
        "--power",
        type=float,
        default=0.8,
        metavar="P",
        help="probability to see the drop (default: %(default)s)",
    )
    parser.add_argument(
        "--alpha",
        type=float,
        default=0.05,
        metavar="A",
        help="level of the one-sided test (default: %(default)s)",
    )
    parser.add_argument("--model", default="", metavar="NAME", help="model of the run (default: each)")
    parser.add_argument(
        "--metric", default="", metavar="KEY", help="metric, or EVALUATOR.METRIC (default: the pass rate)"
    )
    parser.add_argument(
        "--even",
        action="store_true",
        help="every case loses the same share of its score (default: some cases break)",
    )
    parser.add_argument(
        "--seed", type=int, default=DEFAULT_SEED, metavar="N", help="of the simulation (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print the plans as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the plan of each model."""
    import msgspec

    from pytest_evalstudio.analysis.comparison.baseline import opened
    from pytest_evalstudio.contrib.planning.planning import PlanRequest, plan_lines, plans
    from pytest_evalstudio.core.display import visible_json

    request = PlanRequest(
        drop=arguments.drop,
        power=arguments.power,
        alpha=arguments.alpha,
        model=arguments.model,
        metric=arguments.metric,
        even=arguments.even,
        seed=arguments.seed,
    )
    with opened(arguments.record) as reader:
        results = list(plans(reader.run, reader.items(), request))
    if arguments.json:
        print(visible_json(msgspec.json.format(msgspec.json.encode(results), indent=2).decode()))
        return FINE
    for number, plan in enumerate(results):
        if number:
            say("")
        say(*plan_lines(plan))
    return FINE
