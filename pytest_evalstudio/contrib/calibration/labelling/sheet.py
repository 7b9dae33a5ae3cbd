"""A CSV sheet for labels in a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_evalstudio.contrib.calibration.labelling.cases import LabelledCase
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.labels import ANSWER_ID, INCLUSION, RATER, Identity, Label, read_ratings
from pytest_evalstudio.formats.sheets import write_rows

LONGEST_CELL = 30_000
"""Characters; spreadsheets cut cells at 32,767."""
GOOD, BAD = "good", "bad"


def sheet(
    cases: Sequence[LabelledCase],
    metrics: Sequence[str],
    ratings: Sequence[Label] = (),
    rater: str = "",
    *,
    blind: bool = False,
    inclusion: Mapping[Identity, float] | None = None,
) -> bytes:
    """Return rows of cases, with the labels that one rater gave already.

    Args:
        cases: the answers.
        metrics: whose scores are columns.
        ratings: labels of all raters.
        rater: whose labels are shown.
        blind: leave out the columns of scores and verdict.
        inclusion: probabilities of a sample, a further column.
    """
    by_identity = {label.identity: str(label.label) for label in ratings if label.rater == rater}
    scores = () if blind else ("verdict", *metrics)
    names = [
        "label",
        "question",
        "answer",
        "expected_answer",
        "context",
        *scores,
        "topic",
        "key",
        "model_key",
        RATER,
        ANSWER_ID,
        "blind",
        "reason",
    ]
    if inclusion:
        names.append(INCLUSION)
    rows = _rows(cases, by_identity, rater, blind, inclusion or {})
    return write_rows(names, ({name: row[name] for name in names} for row in rows))


def _rows(
    cases: Sequence[LabelledCase],
    by_identity: dict[tuple[str, str], str],
    rater: str,
    blind: bool,
    inclusion: Mapping[Identity, float],
) -> Iterator[dict[str, str]]:
    for case in cases:
        cells = {
            "label": by_identity.get(case.identity, ""),
            "question": case.question,
            "answer": case.answer,
            "expected_answer": case.expected,
            "context": "\n\n".join(f"[{source}] {text}" if source else text for source, text in case.context),
            "verdict": "" if case.verdict is None else GOOD if case.verdict else BAD,
            **{metric: f"{score:.4g}" for metric, score in case.scores.items()},
            "topic": case.topic,
        }
        texts = {
            name: cell if len(cell) <= LONGEST_CELL else cell[:LONGEST_CELL] + "…"
            for name, cell in cells.items()
        }
        yield {
            **texts,
            "key": case.key,
            "model_key": case.model_key,
            RATER: rater,
            ANSWER_ID: case.answer_id,
            "blind": "yes" if blind else "no",
            "reason": "",
            INCLUSION: f"{probability:.6f}" if (probability := inclusion.get(case.identity)) else "",
        }


def new_labels(path: Path, ratings: Sequence[Label], *, levels: bool) -> int:
    """Return the number of labels in a sheet that no rater has given yet; 1 for an unreadable sheet."""
    if not path.is_file():
        return 0
    try:
        written = read_ratings(path, levels=levels)
    except DataError:
        return 1
    return len(
        {(label.identity, label.label) for label in written}
        - {(label.identity, label.label) for label in ratings}
    )
