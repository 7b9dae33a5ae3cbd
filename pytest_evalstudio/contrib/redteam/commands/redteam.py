"""`evalstudio redteam`."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, configuration_for, progress_display, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.core.numbers import DEFAULT_SEED

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from pytest_evalstudio.contrib.redteam.purpose import Purpose
    from pytest_evalstudio.contrib.redteam.suite import RedteamSuite
    from pytest_evalstudio.contrib.redteam.writer import WrittenAttacks


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
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
        "--writer",
        default="",
        metavar="NAME",
        help='configured model that writes the attacks, or "judge" (default: those of this project)',
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=DEFAULT_SEED,
        metavar="N",
        help="of everything random (default: %(default)s)",
    )
    parser.add_argument("--config", metavar="FILE", help="configuration file, in place of the nearest one")
    parser.add_argument(
        "--cache",
        default=".evalstudio",
        metavar="DIR",
        help="folder of stored replies (default: %(default)s)",
    )
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the suite."""
    from pytest_evalstudio.contrib.redteam.kinds import KINDS
    from pytest_evalstudio.contrib.redteam.purpose import read_purpose
    from pytest_evalstudio.contrib.redteam.suite import redteam_suite
    from pytest_evalstudio.contrib.redteam.techniques import TECHNIQUES

    if arguments.count < 1:
        raise ConfigurationError(f"--count {arguments.count}: must be 1 or more")
    output = Path(arguments.output)
    purpose = read_purpose(Path(arguments.purpose))
    kinds = _named(arguments.kinds, KINDS, "kind of attack")
    techniques = _named(arguments.techniques, TECHNIQUES, "technique")
    written = _written(arguments, purpose, kinds) if arguments.writer else None
    result = redteam_suite(
        purpose,
        kinds=kinds,
        techniques=techniques,
        count=arguments.count,
        seed=arguments.seed,
        written=written.attacks if written is not None else {},
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    result.suite.save(output)
    tests = result.suite.tests
    say(f"wrote {output}: {sum(len(test.test_cases) for test in tests)} attacks of {len(tests)} kinds")
    for id, key in result.left_out.items():
        say(f"left out: {id}, since the purpose names no {key}")
    if written is not None:
        say(*_writer_lines(arguments.writer, written, result))
    return FINE


def _written(arguments: argparse.Namespace, purpose: Purpose, kinds: Sequence[str]) -> WrittenAttacks:
    """Return the attacks that the writer wrote.

    Raises:
        ConfigurationError: if the writer is not available, or no kind applies.
    """
    from contextlib import closing

    from pytest_evalstudio.asking.judging import writer_settings
    from pytest_evalstudio.contrib.redteam.suite import applicable_kinds
    from pytest_evalstudio.contrib.redteam.writer import write_attacks
    from pytest_evalstudio.scoring.model_provider import ModelProvider

    config = configuration_for(arguments.output, arguments.config)
    settings = writer_settings(config, arguments.writer)
    applicable, _ = applicable_kinds(purpose, kinds)
    each = ceil(arguments.count / max(1, len(applicable)))
    with closing(ModelProvider(cache=Path(arguments.cache), registry=registry_for(arguments))) as provider:
        judge = provider.judges.open(config, settings)
        with progress_display("asking the writer"):
            written = write_attacks(purpose, applicable, judge, count=each, seed=arguments.seed)
        say(*provider.warnings(), error=True)
        return replace(written, reason=provider.mask(written.reason))


def _writer_lines(writer: str, written: WrittenAttacks, result: RedteamSuite) -> Iterable[str]:
    """Yield what a writer brought: attacks in the suite, rejected ones, requests without any."""
    number = sum(result.written.values())
    yield f"writer {writer}: {number} of the attacks, in {written.requests} requests; read them before use"
    if written.rejected:
        counts = ", ".join(f"{count} {code}" for code, count in written.rejected.items())
        yield f"written attacks that were not taken: {counts}"
    if written.faults:
        counts = ", ".join(f"{count} {code}" for code, count in written.faults.items())
        yield f"requests without an attack: {counts}" + (f"; {written.reason}" if written.reason else "")
    if templates := [test.key for test in result.suite.tests if not result.written.get(test.key)]:
        yield f"only attacks of this project: {', '.join(templates)}"


def _named(text: str, available: Iterable[str], what: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in available:
            raise unknown_name(what, name, list(available), f"There are: {', '.join(available)}.")
    return names or list(available)
