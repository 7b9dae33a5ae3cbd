"""Accepted answers to hard questions, for the corpus patch."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from pytest_evalstudio.contrib.validation.artifacts.corpus_patch import GAP, CorpusEntry
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import LAB
from pytest_evalstudio.contrib.validation.steps.robustness_input_variations.files import ID as VARIATIONS
from pytest_evalstudio.contrib.validation.workflow.calibration import ID as CALIBRATION
from pytest_evalstudio.contrib.validation.workflow.calibration import calibration_outcome
from pytest_evalstudio.contrib.validation.workflow.masking import MASKED
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.core.origins import SOURCE, Perturbators, origin
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.writer import FILE


def accepted_answers(run: WorkflowRun) -> list[CorpusEntry]:
    """Return the accepted answers of the completed steps.

    They are answers that people call good although they fail, and answers that pass to questions that fail in
    other words. Texts with personal data are left out, because a corpus with the patch would spread them.
    """
    entries: list[CorpusEntry] = []
    if run.is_completed(CALIBRATION):
        accepted = calibration_outcome(run).accepted
        entries += _of_calibration(run.folder_of(EVALUATION), set(accepted))
    if run.is_completed(VARIATIONS):
        entries += _of_variations(run.folder_of(VARIATIONS), run.registry.perturbators)
    return entries


def _of_calibration(folder: Path, accepted: Collection[str]) -> Iterator[CorpusEntry]:
    """Yield the questions whose answer fails although people call it good."""
    for row in TestLab.load(folder / LAB).dataset.inputs:
        if _is_usable(row) and row.key in accepted and row.run in (None, 1):
            yield CorpusEntry(question=row.input, answer=row.actual_output, why="people call the answer good")


def _of_variations(folder: Path, perturbators: Perturbators) -> Iterator[CorpusEntry]:
    """Yield the questions whose answer passes, with the wordings of the same meaning that fail."""
    rows = {(row.key, row.model_key): row for row in TestLab.load(folder / LAB).dataset.inputs}
    verdicts = {(item.key, item.model_key): item.verdict for item in RecordReader(folder / FILE).items()}
    wordings: dict[tuple[str, str], list[str]] = {}
    for identity, row in rows.items():
        source = (_source(row), row.model_key)
        turned = verdicts.get(identity) == "failed" and verdicts.get(source) == "passed"
        is_new = turned and "input" not in _masked_fields(row) and row.input != rows[source].input
        # A question of another meaning needs another answer.
        if is_new and origin(row.categories, perturbators).meaning_kept:
            wordings.setdefault(source, []).append(row.input)
    for identity, others in wordings.items():
        row = rows[identity]
        if _is_usable(row):
            yield CorpusEntry(
                question=row.input,
                answer=row.actual_output,
                wordings=tuple(others),
                why="the answer passes all evaluators",
            )


def _is_usable(row: Row) -> bool:
    """Report whether a row has an answer, and neither personal data nor secrets in question and answer.

    A cloze is no question that a user asks.
    """
    is_masked = {"input", "actual_output"} & _masked_fields(row)
    return bool(row.actual_output.strip()) and GAP not in row.input and not is_masked


def _masked_fields(row: Row) -> set[str]:
    fields = (row.model_extra or {}).get(MASKED)
    return set(fields) if isinstance(fields, list) else set()


def _source(row: Row) -> str:
    """Return the key of the case that a row is a perturbation of, "" for none."""
    return next((link.target for link in row.relationships if link.type == SOURCE), "")
