"""Labels that people gave to answers, in a CSV file with the columns key, model_key and label.

Further columns are allowed.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.sheets import Sheet, plain, read_sheet

COLUMNS = ("key", "model_key", "label")
RATER, ANSWER_ID = "rater", "answer_id"
"""Columns that may be left out: who gave the label, and which text it was given to."""
CIRCUMSTANCES = ("role", "blind", "labelled_at", "session", "reason")
"""Columns that may be left out as well: how the label came about; see `Label`."""
INCLUSION = "inclusion"
"""Column that may be left out: probability with which the answer was drawn into a sample, 0 to 1."""
ADJUDICATOR = "adjudicator"
"""Role of a rater whose label decides where the others are divided."""
Identity = tuple[str, str]
"""Key and model key of an answer."""
Labels = Mapping[Identity, int]
_LEVEL = re.compile(r"-?[0-9]{1,6}")
_WORDS = {"good": "1", "bad": "0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """Label of one person for one answer.

    Attributes:
        label: 1 (good) or 0 (bad), or a level, higher for better.
        rater: "" for a rater without a name.
        answer_id: of the text that was labelled, "" where it is not said.
        role: "adjudicator", "" for an ordinary rater.
        blind: "yes" if the rater had not seen scores and verdict of this answer, else "no"; "" if unknown.
        labelled_at: ISO 8601 with time zone.
        session: of the rater; all labels between start and end of a review.
        reason: of the rater.
    """

    key: str
    model_key: str
    label: int
    rater: str = ""
    answer_id: str = ""
    role: str = ""
    blind: str = ""
    labelled_at: str = ""
    session: str = ""
    reason: str = ""

    @property
    def identity(self) -> Identity:
        return self.key, self.model_key


def answer_id(text: str) -> str:
    """Return an id of an answer's text; it is never a number, which spreadsheets would round."""
    # `backslashreplace`, since an answer may have a lone surrogate, which UTF-8 cannot hold.
    return f"a{hashlib.sha256(text.encode('utf-8', 'backslashreplace')).hexdigest()[:15]}"


def read_labels(path: Path, *, levels: bool = False) -> dict[Identity, int]:
    """Read labels by (key, model_key); with several raters, the majority counts.

    Answers without a label, or with a tie, are left out.

    Args:
        levels: whether labels may be any whole numbers, higher for better; otherwise 1 (good) or 0 (bad).

    Raises:
        DataError: with file, line and fault, if a column is missing, a label is invalid, a rater labelled one
            answer twice, or there is no label.
    """
    agreed, divided = majority(read_ratings(path, levels=levels))
    if not agreed:
        raise DataError(
            f"{path}: there are no labels in it"
            + (f" on which raters agree, of {len(divided)} answers" if divided else "")
        )
    return agreed


def read_ratings(path: Path, *, levels: bool = False) -> list[Label]:
    """Return the labels of every rater, in order; rows without a label are left out.

    Fields may be separated by commas, semicolons or tabs, as spreadsheets in various languages write them.

    Raises:
        DataError: as `read_labels`, except that a file without labels is accepted.
    """
    labels: dict[tuple[str, str, str], Label] = {}
    for line, row in read_rows(path)[1]:
        text = row["label"].strip()
        if not text:
            continue
        location = f"{path}:{line}"
        label = Label(
            key=row["key"],
            model_key=row["model_key"],
            label=_label(text, location, levels=levels),
            rater=row.get(RATER, "").strip(),
            answer_id=row.get(ANSWER_ID, "").strip(),
            **{name: row.get(name, "").strip() for name in CIRCUMSTANCES},
        )
        # The same label twice is accepted, e.g. of two sheets that were joined.
        if labels.setdefault((*label.identity, label.rater), label).label != label.label:
            whose = f" by {label.rater!r}" if label.rater else ""
            raise DataError(
                f"{location}: {label.key!r} of model {label.model_key!r} already has another label{whose}"
                " above; keep one"
            )
    return list(labels.values())


def read_inclusion(path: Path) -> dict[Identity, float]:
    """Return the inclusion probabilities of the sample in a file of labels, {} without one.

    Answers of the sample have a row before they have a label.

    Raises:
        DataError: if a probability is not above 0 and at most 1, or the file is not CSV with the columns.
    """
    inclusion = {}
    for line, row in read_rows(path)[1] if path.is_file() else ():
        if text := row.get(INCLUSION, "").strip():
            try:
                probability = float(text)
            except ValueError:
                probability = 0.0
            if not 0 < probability <= 1:
                raise DataError(
                    f"{path}:{line}: {INCLUSION} {text!r} is not a probability above 0 and up to 1; restore"
                    " what `evalstudio review --budget` wrote"
                )
            inclusion[row["key"], row["model_key"]] = probability
    return inclusion


def read_rows(path: Path) -> Sheet:
    """Return the names of the columns, and the rows with their line numbers.

    Cells that `inert` changed in sheets of this package are restored.

    Raises:
        DataError: if the file is not CSV in UTF-8, or a column is missing.
    """
    names, rows = read_sheet(path, COLUMNS, "labels")
    # Only sheets of this package have the column, and only they contain changed cells.
    if ANSWER_ID in names:
        rows = [(line, {name: plain(cell) for name, cell in row.items()}) for line, row in rows]
    return Sheet(names, rows)


def majority(labels: Iterable[Label]) -> tuple[dict[Identity, int], list[Identity]]:
    """Return the majority's or an adjudicator's label of each answer, and the answers with a tie.

    Adjudicators who differ decide nothing: their answer has a tie.
    """
    votes: dict[Identity, Counter[int]] = defaultdict(Counter)
    decided: dict[Identity, set[int]] = defaultdict(set)
    for label in labels:
        votes[label.identity][label.label] += 1
        if label.role == ADJUDICATOR:
            decided[label.identity].add(label.label)
    agreed: dict[Identity, int] = {}
    divided = []
    for identity, counts in votes.items():
        (first, most), *others = counts.most_common()
        decisions = decided.get(identity, set())
        if len(decisions) == 1:
            agreed[identity] = next(iter(decisions))
        elif decisions or (others and others[0][1] == most):
            divided.append(identity)
        else:
            agreed[identity] = first
    return agreed, divided


def _label(text: str, location: str, *, levels: bool) -> int:
    # Tools write the whole numbers of a column with gaps as "1.0", e.g. pandas.
    text = text.removesuffix(".0") if levels else _WORDS.get(text.casefold(), text.removesuffix(".0"))
    if levels and not _LEVEL.fullmatch(text):
        raise DataError(
            f"{location}: label {text!r} is not a whole number; labels are 1 (good) and 0 (bad), or levels"
            " such as 1 to 5, higher for better"
        )
    if not levels and text not in ("0", "1"):
        raise DataError(
            f"{location}: label {text!r} is neither 1 (good) nor 0 (bad); the words good and bad are also"
            " accepted"
        )
    return int(text)
