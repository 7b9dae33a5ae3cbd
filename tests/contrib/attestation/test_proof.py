"""No trick is verified, and no honest edit is accused: each in a repository of its own, with a real run."""

from __future__ import annotations

from pathlib import Path

import pytest

from contrib.attestation.further import FURTHER_EDITS, FURTHER_TRICKS
from contrib.attestation.material.honest import EDITS, Edit
from contrib.attestation.material.tricks import TRICKS, Trick
from contrib.attestation.proof import outcome_of
from contrib.attestation.repositories import edited, good_repository, tricked
from support.sampling import sampled

ONLY_BY_ASKING = {"record-edited-alone", "two-faces", "test-mode"}
"""Tricks that leave nothing to see in the record or in the tests: their stored answers are taken on trust."""


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Repository of the good application."""
    return good_repository(tmp_path_factory.mktemp("desk") / "good")


@pytest.mark.slow
@pytest.mark.parametrize("trick", sampled([*TRICKS, *FURTHER_TRICKS], 5), ids=lambda trick: trick.name)
def test_a_trick_is_refused(trick: Trick, good: Path, tmp_path: Path) -> None:
    folder = tricked(trick, good, tmp_path / "desk")
    outcome = outcome_of(trick.name, folder, "--ask")
    assert outcome.status == 1, outcome.stderr
    assert outcome.is_caught_without_asking == (trick.name not in ONLY_BY_ASKING), outcome.codes
    if trick.good_answers_stored:
        assert "asked_fails" in outcome.asked_codes


@pytest.mark.slow
@pytest.mark.parametrize("edit", sampled([*EDITS, *FURTHER_EDITS], 10), ids=lambda edit: edit.name)
def test_an_honest_edit_is_no_weakness(edit: Edit, good: Path, tmp_path: Path) -> None:
    folder = edited(edit, good, tmp_path / "desk")
    outcome = outcome_of(edit.name, folder)
    assert outcome.status == 0, (outcome.codes, outcome.stderr)


def test_names_are_unique_and_there_are_enough() -> None:
    tricks, edits = (*TRICKS, *FURTHER_TRICKS), (*EDITS, *FURTHER_EDITS)
    names = [entry.name for entry in (*tricks, *edits)]
    assert len(names) == len(set(names))
    assert len(tricks) >= 40
    assert len(edits) >= 100
