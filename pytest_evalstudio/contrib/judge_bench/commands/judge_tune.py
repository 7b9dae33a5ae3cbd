"""`evalstudio judge-tune`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, configuration_for, print_json, progress_display, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for

if TYPE_CHECKING:
    import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument(
        "labels", metavar="LABELS", help="CSV with the columns key, model_key, label (1 good, 0 bad)"
    )
    parser.add_argument(
        "--lab", required=True, metavar="LAB", help="lab or data set with the answers that were labelled"
    )
    parser.add_argument("--evaluator", required=True, metavar="ID", help="evaluator whose judge is tuned")
    parser.add_argument(
        "--examples", type=int, default=4, metavar="N", help="maximum number of examples (default: 4)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the split into halves (default: 0)"
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
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the proposal, for `judge.examples` in the configuration"
    )
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    from pytest_evalstudio.contrib.judge_bench.tune import describe, tune_judge
    from pytest_evalstudio.core.writing import write_whole
    from pytest_evalstudio.formats.labels import read_labels

    with progress_display("asking the judge"):
        tuning = tune_judge(
            Path(arguments.lab),
            read_labels(Path(arguments.labels)),
            arguments.evaluator,
            config=configuration_for(arguments.lab, arguments.config),
            examples=arguments.examples,
            seed=arguments.seed,
            cache=Path(arguments.cache),
            registry=registry_for(arguments),
        )
    if arguments.output:
        content = tuning.proposal.model_dump_json(indent=2) + "\n"
        # A lone surrogate has no UTF-8; its escape is one of JSON, too.
        write_whole(arguments.output, content.encode("utf-8", "backslashreplace"))
    if arguments.json:
        changes = {"corrected": tuning.corrected, "newly_wrong": tuning.newly_wrong, "p": tuning.p}
        print_json({**tuning.proposal.model_dump(), "is_better": tuning.is_better, **changes})
        return FINE
    say(*describe(tuning, arguments.output or ""))
    if arguments.output:
        say(f"wrote {arguments.output}")
    return FINE
