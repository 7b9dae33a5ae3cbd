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
    parser.add_argument("--json", action="store_true", help="for machines")
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.engine.judge_check import check_judge, told
    from pytest_evalstudio.formats.labels import read_labels

    config = configuration_for(arguments.lab, arguments.config)
    found = check_judge(
        Path(arguments.lab),
        read_labels(Path(arguments.labels)),
        arguments.evaluator,
        config=config,
        repeats=arguments.repeats,
        cache=Path(arguments.cache),
        registry=registry_for(arguments),
    )
    if arguments.json:
        print_json(found)
    else:
        say(*told(found))
    return FINE
