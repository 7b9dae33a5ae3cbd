"""Text and JSON of a verification."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from pytest_evalstudio.contrib.attestation.findings import Finding, Verification
from pytest_evalstudio.text.figures import counted

_SHOWN = 30
_TITLES = {
    "failure": "the verdict does not stand",
    "weakness": "weakened",
    "change": "changed",
    "trust": "taken on trust",
}


def verification_lines(verification: Verification) -> Iterator[str]:
    """Yield the verdict, then failures, weaknesses, changes, and what was not verified."""
    yield headline(verification)
    for kind, title in _TITLES.items():
        findings: tuple[Finding, ...] = verification.of_kind(kind)  # type: ignore[arg-type]
        if findings:
            yield f"{title}:"
            yield from (f"  {finding.line}" for finding in findings[:_SHOWN])
            if len(findings) > _SHOWN:
                yield f"  and {len(findings) - _SHOWN:,} more; --json has all"


def headline(verification: Verification) -> str:
    """Return the verdict in a sentence."""
    cases = f"{verification.passed:,} of {counted(verification.total, 'protected case')} pass"
    under = f"under the rules of {verification.base[:12]}"
    if verification.verdict == "not_verified":
        return f"not verified: {cases} {under}"
    if verification.verdict == "weakened":
        weaknesses = counted(len(verification.of_kind("weakness")), "weakness", "weaknesses")
        return f"weakened: {weaknesses}; the verdict stands without them, {cases} {under}"
    return f"verified: {cases} {under}"


def as_json(verification: Verification) -> dict[str, Any]:
    """Return the verification as JSON data."""
    data: dict[str, Any] = msgspec.to_builtins(verification)
    return {"verdict": verification.verdict, **data}
