"""`evalstudio judge-check`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, configuration_for, print_json, progress_display, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for

if TYPE_CHECKING:
    import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument(
        "labels",
        nargs="?",
        metavar="LABELS",
        help="CSV with the columns key, model_key, label (1 good, 0 bad)",
    )
    parser.add_argument("--lab", metavar="LAB", help="lab or data set with the answers that were labelled")
    parser.add_argument(
        "--canary",
        metavar="FILE",
        help=(
            "judge the canary set of this package instead, and compare the verdicts with those in FILE, which"
            " is written if it does not exist; status 1 for a drift"
        ),
    )
    parser.add_argument("--update", action="store_true", help="with --canary: replace FILE")
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
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the result, for `judge_check` of the evaluator in the configuration",
    )
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.core.errors import ConfigurationError

    if arguments.canary:
        if arguments.labels or arguments.lab:
            raise ConfigurationError("--canary judges answers of this package; leave out LABELS and --lab")
        return _run_canary(arguments)
    if not arguments.labels or not arguments.lab:
        raise ConfigurationError("give LABELS and --lab, or --canary FILE")
    return _run_check(arguments)


def _run_check(arguments: argparse.Namespace) -> int:
    from pytest_evalstudio.contrib.judge_bench.bench import has_grades
    from pytest_evalstudio.contrib.judge_bench.check import TokenPrices, check_judge
    from pytest_evalstudio.contrib.judge_bench.check_lines import check_lines, is_by_chance
    from pytest_evalstudio.core.errors import ConfigurationError
    from pytest_evalstudio.formats.labels import read_labels

    if (arguments.input_price is None) != (arguments.output_price is None):
        raise ConfigurationError("--input-price and --output-price: give both or none")
    prices = None
    if arguments.input_price is not None:
        prices = TokenPrices(
            input_usd_per_million=arguments.input_price, output_usd_per_million=arguments.output_price
        )
    config, registry = configuration_for(arguments.lab, arguments.config), registry_for(arguments)
    levels = has_grades(arguments.evaluator, config=config, registry=registry)
    with progress_display("asking the judge"):
        check = check_judge(
            Path(arguments.lab),
            read_labels(Path(arguments.labels), levels=levels),
            arguments.evaluator,
            config=config,
            repeats=arguments.repeats,
            cache=Path(arguments.cache),
            registry=registry,
            prices=prices,
        )
    if arguments.output:
        check.save(Path(arguments.output))
    if arguments.json:
        print_json(check.model_dump(mode="json"))
        return FINDINGS if is_by_chance(check) else FINE
    say(*check_lines(check))
    if arguments.output:
        say(
            f"wrote {arguments.output}; to correct pass rates by it, name it in the configuration:"
            f" [evaluator.{arguments.evaluator}] judge_check = {json.dumps(arguments.output)}"
        )
    return FINDINGS if is_by_chance(check) else FINE


def _run_canary(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from pytest_evalstudio.contrib.judge_bench.canary import (
        canary_lines,
        check_comparable,
        check_judged,
        compare_canaries,
        drift_lines,
        judge_canary,
    )
    from pytest_evalstudio.contrib.judge_bench.canary_file import load_canary_record

    file = Path(arguments.canary)
    earlier = load_canary_record(file) if file.exists() and not arguments.update else None
    if earlier is not None:
        # Before the judge is asked, which costs time and money.
        check_comparable(earlier, arguments.evaluator)
    with progress_display("asking the judge"):
        record = judge_canary(
            arguments.evaluator,
            config=configuration_for(arguments.canary, arguments.config),
            repeats=arguments.repeats,
            registry=registry_for(arguments),
        )
    # With an earlier record, missing verdicts are a drift that is to be shown.
    if earlier is None:
        check_judged(record)
    comparison = compare_canaries(earlier, record) if earlier is not None else None
    if arguments.output:
        record.save(Path(arguments.output))
    # The earlier record stays: small changes would add up unseen if each run replaced it.
    if earlier is None:
        record.save(file)
    if arguments.json:
        drift = {**asdict(comparison), "is_drift": comparison.is_drift} if comparison is not None else None
        print_json({**record.model_dump(mode="json"), "drift": drift})
    else:
        say(*canary_lines(record))
        if comparison is not None and earlier is not None:
            say(*drift_lines(comparison, earlier.created))
        else:
            say(f"wrote {file}")
    return FINDINGS if comparison is not None and comparison.is_drift else FINE
