"""`evalstudio redteam`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, say
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.core.numbers import DEFAULT_SEED

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from pytest_evalstudio.cli.common import Adds


def add_to(add: Adds) -> None:
    """Declare the command."""
    parser = add("redteam", run, "Write a suite of attacks on an application, by its purpose.")
    parser.add_argument(
        "--purpose",
        required=True,
        metavar="FILE",
        help="TOML file: name, purpose, topics, forbidden, secrets, tools",
    )
    parser.add_argument("-o", "--output", required=True, metavar="SUITE")
    parser.add_argument(
        "--count",
        type=int,
        default=60,
        metavar="N",
        help="greatest number of test cases (default: %(default)s)",
    )
    parser.add_argument(
        "--kinds", default="", metavar="KIND[,KIND...]", help="kinds of attack (default: all)"
    )
    parser.add_argument(
        "--techniques", default="", metavar="NAME[,NAME...]", help="ways to put an attack (default: all)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=DEFAULT_SEED,
        metavar="N",
        help="of everything random (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the suite."""
    from pytest_evalstudio.redteam.kinds import KINDS
    from pytest_evalstudio.redteam.purpose import read_purpose
    from pytest_evalstudio.redteam.suite import redteam_suite
    from pytest_evalstudio.redteam.techniques import TECHNIQUES

    if arguments.count < 1:
        raise ConfigurationError(f"--count {arguments.count}: must be 1 or more")
    output = Path(arguments.output)
    result = redteam_suite(
        read_purpose(Path(arguments.purpose)),
        kinds=_named(arguments.kinds, KINDS, "kind of attack"),
        techniques=_named(arguments.techniques, TECHNIQUES, "technique"),
        count=arguments.count,
        seed=arguments.seed,
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    result.suite.save(output)
    tests = result.suite.tests
    say(f"wrote {output}: {sum(len(test.test_cases) for test in tests)} attacks of {len(tests)} kinds")
    for id, key in result.left_out.items():
        say(f"left out: {id}, since the purpose names no {key}")
    return FINE


def _named(text: str, available: Iterable[str], what: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in available:
            raise unknown_name(what, name, list(available), f"There are: {', '.join(available)}.")
    return names or list(available)
