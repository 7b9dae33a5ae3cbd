"""Answers that were accepted to questions which the system found hard: what the corpus patch is made of."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from pytest_evalstudio.engine.origins import SOURCE, Perturbators, origin
from pytest_evalstudio.engine.scoring.masking import masked
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.mrm.artifacts.corpus_patch import Entry
from pytest_evalstudio.mrm.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.mrm.steps.automated_evaluation.results import LAB
from pytest_evalstudio.mrm.steps.human_calibration.results import ID as CALIBRATION
from pytest_evalstudio.mrm.steps.human_calibration.thresholds import calibration_outcome
from pytest_evalstudio.mrm.steps.robustness_input_variations.results import ID as VARIATIONS
from pytest_evalstudio.mrm.workflow.run import WorkflowRun
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.writer import FILE


def accepted_answers(run: WorkflowRun) -> list[Entry]:
    """Of the completed steps: answers that people call good though they fail, and questions that fail in
    other words.

    Texts with personal data are left out: whoever puts the patch into a corpus would spread them.
    """
    found: list[Entry] = []
    if run.is_completed(CALIBRATION):
        accepted = calibration_outcome(run).accepted
        found += _of_calibration(run.folder_of(EVALUATION), set(accepted))
    if run.is_completed(VARIATIONS):
        found += _of_variations(run.folder_of(VARIATIONS), run.registry.perturbators)
    return [
        entry
        for entry in found
        if not any(masked(text) != text for text in (entry.question, entry.answer, *entry.wordings))
    ]


def _of_calibration(folder: Path, accepted: Collection[str]) -> Iterator[Entry]:
    """Questions whose answer fails, and people say that it is good."""
    for row in TestLab.load(folder / LAB).dataset.inputs:
        if row.key in accepted and row.actual_output.strip() and row.run in (None, 1):
            yield Entry(question=row.input, answer=row.actual_output, why="people call the answer good")


def _of_variations(folder: Path, known: Perturbators) -> Iterator[Entry]:
    """Questions whose answer passes, with the wordings of the same meaning in which it does not."""
    rows = {(row.key, row.model_key): row for row in TestLab.load(folder / LAB).dataset.inputs}
    verdicts = {(item.key, item.model_key): item.verdict for item in RecordReader(folder / FILE).items()}
    wordings: dict[tuple[str, str], list[str]] = {}
    for identity, row in rows.items():
        source = (_source(row), row.model_key)
        turned = verdicts.get(identity) == "failed" and verdicts.get(source) == "passed"
        if turned and row.input != rows[source].input and origin(row.categories, known).meaning_kept:
            wordings.setdefault(source, []).append(row.input)
    for identity, others in wordings.items():
        row = rows[identity]
        if row.actual_output.strip():
            yield Entry(
                question=row.input,
                answer=row.actual_output,
                wordings=tuple(others),
                why="the answer passes all evaluators",
            )


def _source(row: Row) -> str:
    """Key of the case that a row is a perturbation of, "" for none."""
    return next((link.target for link in row.relationships if link.type == SOURCE), "")
