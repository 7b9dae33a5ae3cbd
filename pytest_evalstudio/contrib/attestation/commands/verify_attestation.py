"""`evalstudio verify-attestation`."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from pytest_evalstudio.cli.common import FINDINGS, FINE, say
from pytest_evalstudio.core.defaults import REPORT_FOLDER
from pytest_evalstudio.core.errors import ConfigurationError, DataError


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument("file", metavar="FILE", help="attestation, as `verify-run --attest` writes it")
    parser.add_argument(
        "--record",
        default=REPORT_FOLDER,
        metavar="RECORD",
        help="record or report folder that it is about (default: %(default)s)",
    )
    parser.add_argument(
        "--base", default="", metavar="COMMIT", help="protected commit that it must name, or the start of it"
    )
    parser.add_argument(
        "--signature", metavar="FILE", help="signature (default: the attestation's name with .sig)"
    )
    parser.add_argument(
        "--verify-command",
        default="",
        metavar="COMMAND",
        help="command that verifies the signature; {file} and {signature} stand for the paths, and the"
        " attestation is its standard input",
    )
    parser.add_argument(
        "--unsigned", action="store_true", help="accept an attestation whose signature is not verified"
    )


def run(arguments: argparse.Namespace) -> int:
    """Check signature, digests and verdict; 1 where one of them is wrong."""
    from pytest_evalstudio.contrib.attestation.statement import mismatches, read_statement

    path, record = Path(arguments.file), Path(arguments.record)
    if not path.is_file():
        raise DataError("there is no such attestation; give the file that --attest wrote", source=str(path))
    statement = read_statement(path)
    differing, absent = mismatches(statement, record)
    faults = [*_signature_faults(arguments, path), *differing]
    predicate = statement.predicate
    if arguments.base and not predicate.base.startswith(arguments.base):
        faults.append(f"it is about the protected commit {predicate.base}, not {arguments.base}")
    if predicate.verdict != "verified":
        faults.append(f"its verdict is {predicate.verdict.replace('_', ' ')}")
    if faults:
        say("the attestation does not hold:", *(f"  {fault}" for fault in faults))
    else:
        say(
            f"the attestation holds: verified, {predicate.passed} of {predicate.total} protected cases pass"
            f" under the rules of {predicate.base[:12]}"
        )
    kinds = {"weakness": "weakened", "trust": "taken on trust"}
    for kind, title in kinds.items():
        lines = [f"  {finding.line}" for finding in predicate.findings if finding.kind == kind]
        if lines:
            say(f"{title}:", *lines)
    if absent:
        say(f"not compared, since it is not there: {', '.join(absent)}")
    return FINDINGS if faults else FINE


def _signature_faults(arguments: argparse.Namespace, path: Path) -> list[str]:
    from pytest_evalstudio.contrib.attestation.signing import is_signed, signature_path

    if not arguments.verify_command:
        if arguments.unsigned:
            return []
        return [
            "its signature is not verified, so anybody can have written it: give --verify-command, or"
            " --unsigned to accept that"
        ]
    try:
        command = shlex.split(arguments.verify_command)
    except ValueError as exc:
        raise ConfigurationError(f"--verify-command {arguments.verify_command}: {exc}") from None
    signature = Path(arguments.signature) if arguments.signature else signature_path(path)
    accepted, line = is_signed(path, signature, command)
    return [] if accepted else [f"the signature does not hold: {line}"]
