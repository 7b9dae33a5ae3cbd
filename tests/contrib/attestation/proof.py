"""Outcomes of `verify-run` for tricks and honest edits, by the command line in their repositories.

The tests take a sample of both; `tests/benchmarks/verify_run.py` takes all, in 20 minutes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from contrib.attestation.repositories import record_of

_BY_ASKING = {"asked_fails", "cannot_ask"}
LONGEST_WAIT_S = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofOutcome:
    """Exit status and findings of a verification."""

    name: str
    status: int
    codes: tuple[str, ...]
    asked_codes: tuple[str, ...]
    stderr: str

    @property
    def is_caught(self) -> bool:
        """Return whether the verification refuses the run."""
        return self.status == 1

    @property
    def is_caught_without_asking(self) -> bool:
        """Return whether something else than a new answer refuses it."""
        return bool(self.codes)


def outcome_of(name: str, folder: Path, *arguments: str) -> ProofOutcome:
    """Run `verify-run` in a repository."""
    record = record_of(folder).relative_to(folder)
    command = (sys.executable, "-m", "pytest_evalstudio.cli", "verify-run", str(record), "--json", *arguments)
    result = subprocess.run(
        command, cwd=folder, text=True, capture_output=True, timeout=LONGEST_WAIT_S, check=False
    )
    findings = json.loads(result.stdout)["findings"] if result.stdout.strip() else []
    codes = [each["code"] for each in findings if each["kind"] in ("failure", "weakness")]
    return ProofOutcome(
        name=name,
        status=result.returncode,
        codes=tuple(code for code in codes if code not in _BY_ASKING),
        asked_codes=tuple(code for code in codes if code in _BY_ASKING),
        stderr=result.stderr,
    )
