"""`evalstudio judge-check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, configuration_for, print_json, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.cli.common import Adds


def add_to(add: Adds) -> None:
    """Declare the command."""
    parser = add(
        "judge-check",
        run,
        "Measure a judge against human labels: agreement, errors, flips, cost.",
    )
    parser.add_argument(
        "labels", metavar="LABELS", help="CSV with the columns key, model_key, label (1 good, 0 bad)"
    )
    parser.add_argument(
        "--lab", required=True, metavar="LAB", help="lab or data set with the answers that were labelled"
    )
    parser.add_argument(
        "--evaluator",
        required=True,
        metavar="ID",
        help="evaluator whose primary metric is the judge's verdict",
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=1,
        metavar="N",
        help="judge each answer N times more, past stored verdicts (default: 1)",
    )
    parser.add_argument(
        "--config", metavar="FILE", help="configuration file, in place of the nearest one to the lab"
    )
    parser.add_argument(
        "--cache",
        default=".evalstudio",
        metavar="DIR",
        help="folder of stored verdicts (default: .evalstudio)",
    )
    for kind in ("input", "output"):
        parser.add_argument(
            f"--{kind}-price",
            type=float,
            metavar="USD",
            help=f"price of a million {kind} tokens, in place of the cost that the host reports",
        )
    parser.add_argument("--json", action="store_true", help="for machines")
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.core.errors import ConfigurationError
    from pytest_evalstudio.engine.judge_check import Prices, check_judge, check_lines
    from pytest_evalstudio.formats.labels import read_labels

    if (arguments.input_price is None) != (arguments.output_price is None):
        raise ConfigurationError("--input-price and --output-price: give both or none")
    prices = None
    if arguments.input_price is not None:
        prices = Prices(
            input_usd_per_million=arguments.input_price, output_usd_per_million=arguments.output_price
        )
    config = configuration_for(arguments.lab, arguments.config)
    figures = check_judge(
        Path(arguments.lab),
        read_labels(Path(arguments.labels)),
        arguments.evaluator,
        config=config,
        repeats=arguments.repeats,
        cache=Path(arguments.cache),
        registry=registry_for(arguments),
        prices=prices,
    )
    if arguments.json:
        print_json(figures)
    else:
        say(*check_lines(figures))
    return FINE
