"""Tricks that `verify-run` misses and honest edits that it accuses: python tests/benchmarks/verify_run.py.

Each trick turns a regressed application green, or tries to; each honest edit weakens nothing. Tricks are
verified with `--ask`; the table has what is refused without it as well. Takes about 20 minutes with two
processes. A folder as argument keeps the repositories for the next time.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from contrib.attestation.further import FURTHER_EDITS, FURTHER_TRICKS
from contrib.attestation.material.honest import EDITS, Edit
from contrib.attestation.material.tricks import TRICKS, Trick
from contrib.attestation.proof import ProofOutcome, outcome_of
from contrib.attestation.repositories import edited, good_repository, tricked

PROCESSES = 2


def main(root: Path) -> int:
    """Print the tables; 1 where a trick is missed or an edit is accused."""
    good = root / "good"
    if not good.exists():
        good_repository(good)

    def trick_outcome(trick: Trick) -> ProofOutcome:
        folder = root / f"t-{trick.name}"
        if not folder.exists():
            tricked(trick, good, folder)
        return outcome_of(trick.name, folder, "--ask")

    def edit_outcome(edit: Edit) -> ProofOutcome:
        folder = root / f"e-{edit.name}"
        if not folder.exists():
            edited(edit, good, folder)
        return outcome_of(edit.name, folder)

    tricks = _all(trick_outcome, (*TRICKS, *FURTHER_TRICKS))
    edits = _all(edit_outcome, (*EDITS, *FURTHER_EDITS))
    for each in tricks:
        word = "refused" if each.is_caught else "MISSED"
        codes = " ".join(dict.fromkeys(each.codes)) or "only by --ask"
        print(f"{each.name:32} {word}  {codes}")
        if each.status not in (0, 1):
            print(f"    exit status {each.status}: {each.stderr.strip()}")
    for each in edits:
        if each.status:
            print(f"{each.name:32} ACCUSED  {' '.join(each.codes)} {each.stderr.strip()}")
    missed = sum(not each.is_caught for each in tricks)
    unasked = sum(not each.is_caught_without_asking for each in tricks)
    accused = sum(each.status != 0 for each in edits)
    print(f"tricks: {len(tricks)}, missed with --ask: {missed}, missed without: {unasked}")
    print(f"honest edits: {len(edits)}, accused: {accused}")
    return int(bool(missed or accused))


def _all(outcome: Callable[..., ProofOutcome], entries: Iterable[Trick | Edit]) -> list[ProofOutcome]:
    with ThreadPoolExecutor(PROCESSES) as pool:
        return list(pool.map(outcome, entries))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    with tempfile.TemporaryDirectory() as name:
        sys.exit(main(Path(name)))
