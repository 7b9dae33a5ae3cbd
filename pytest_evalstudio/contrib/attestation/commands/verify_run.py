"""`evalstudio verify-run`."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, print_json, say
from pytest_evalstudio.core.defaults import REPORT_FOLDER
from pytest_evalstudio.core.errors import ConfigurationError

if TYPE_CHECKING:
    from pytest_evalstudio.contrib.attestation.findings import Verification

_ALL = "all"


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument(
        "record",
        nargs="?",
        default=REPORT_FOLDER,
        metavar="RECORD",
        help="record, report folder or report ZIP (default: %(default)s)",
    )
    parser.add_argument(
        "--base",
        default="",
        metavar="REF",
        help="protected revision (default: where HEAD has left the default branch)",
    )
    parser.add_argument(
        "--head", default="", metavar="REF", help="revision under test (default: the working tree)"
    )
    parser.add_argument(
        "--ask",
        nargs="?",
        const=_ALL,
        default="0",
        metavar="N",
        help="run the code under test: ask the application about N cases (default: all), in a clean process",
    )
    parser.add_argument(
        "--ask-judges",
        type=int,
        default=0,
        metavar="N",
        help="ask judges that cost money about N cases again",
    )
    parser.add_argument(
        "--pytest",
        default="",
        metavar="ARGUMENTS",
        help="arguments of pytest in the protected job, e.g. '--pytest=suites -m \"not slow\"'",
    )
    parser.add_argument(
        "--timeout", type=float, default=600.0, metavar="S", help="seconds for each clean process"
    )
    parser.add_argument("--attest", metavar="FILE", help="write an in-toto statement of the verification")
    parser.add_argument(
        "--sign",
        default="",
        metavar="COMMAND",
        help="command that signs FILE, its last argument; it writes FILE.sig, or the signature to its output",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Verify the run, print the findings, and write the attestation; 1 where the verdict is not verified."""
    from pytest_evalstudio.contrib.attestation.text import as_json, verification_lines
    from pytest_evalstudio.contrib.attestation.verifying import VerificationOptions, verify

    if arguments.sign and not arguments.attest:
        raise ConfigurationError("--sign: signs an attestation; give its file by --attest FILE")
    options = VerificationOptions(
        base=arguments.base,
        head=arguments.head,
        ask=_count(arguments.ask),
        judge_budget=arguments.ask_judges,
        arguments=_words("--pytest", arguments.pytest),
        timeout_s=arguments.timeout,
    )
    verification = verify(Path(arguments.record), Path.cwd(), options)
    if arguments.json:
        print_json(as_json(verification))
    else:
        say(*verification_lines(verification))
    if arguments.attest:
        _attest(arguments, verification)
    return FINE if verification.verdict == "verified" else FINDINGS


def _attest(arguments: argparse.Namespace, verification: Verification) -> None:
    from pytest_evalstudio.contrib.attestation.signing import sign
    from pytest_evalstudio.contrib.attestation.statement import statement_of, write_statement

    path = Path(arguments.attest)
    write_statement(path, statement_of(verification, Path(arguments.record)))
    say(f"wrote {path}", error=True)
    if arguments.sign:
        signature = sign(path, _words("--sign", arguments.sign))
        say(f"wrote {signature}", error=True)


def _count(text: str) -> int:
    from pytest_evalstudio.contrib.attestation.verifying import ALL

    if text == _ALL:
        return ALL
    if not text.isdecimal():
        raise ConfigurationError(f"--ask {text}: give a number of cases, or none for all")
    return int(text)


def _words(option: str, text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as exc:
        raise ConfigurationError(f"{option} {text}: {exc}") from None
