"""Labels that people gave to answers: a CSV file with the columns key, model_key and label."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path

from pytest_evalstudio.core.errors import DataError

COLUMNS = ("key", "model_key", "label")
Labels = Mapping[tuple[str, str], int]
LONGEST_FIELD = 100_000
"""Characters."""
_LEVEL = re.compile(r"-?[0-9]{1,6}")


def read_labels(path: Path, *, levels: bool = False) -> dict[tuple[str, str], int]:
    """Labels by (key, model_key); rows without a label are left out.

    Args:
        levels: whether a label may be any whole number, higher for better; else it is 1 (good) or 0 (bad).

    Raises:
        DataError: with file, line and what is wrong, if a column is missing, a label is none, or an answer has two.
    """
    found: dict[tuple[str, str], int] = {}
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            csv.field_size_limit(LONGEST_FIELD)  # of the whole process: whoever reads CSV sets his own
            rows = csv.DictReader(file)
            missing = [column for column in COLUMNS if column not in (rows.fieldnames or ())]
            if missing:
                raise DataError(f"{path}:1: there is no column {', '.join(map(repr, missing))}; labels have the columns {', '.join(COLUMNS)}")
            for row in rows:
                text = (row["label"] or "").strip()
                if not text:
                    continue
                label = _label(text, f"{path}:{rows.line_num}", levels=levels)
                identity = (row["key"] or "", row["model_key"] or "")
                if found.setdefault(identity, label) != label:
                    raise DataError(f"{path}:{rows.line_num}: {identity[0]!r} of model {identity[1]!r} has another label further up; keep one")
    except UnicodeDecodeError as exc:
        raise DataError(f"{path}: is not UTF-8: {exc.reason} at byte {exc.start}") from None
    except csv.Error as exc:
        raise DataError(f"{path}: is not CSV: {exc}") from None
    if not found:
        raise DataError(f"{path}: there are no labels in it")
    return found


def _label(text: str, place: str, *, levels: bool) -> int:
    if levels and not _LEVEL.fullmatch(text):
        raise DataError(f"{place}: label {text!r} is no whole number; labels are 1 (good) and 0 (bad), or levels such as 1 to 5, higher for better")
    if not levels and text not in ("0", "1"):
        raise DataError(f"{place}: label {text!r} is neither 1 (good) nor 0 (bad)")
    return int(text)
