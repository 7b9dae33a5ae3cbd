"""Labels on disk: each is safe when it is acknowledged, and no rater overwrites another."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.core.locking import locked
from pytest_evalstudio.formats.labels import (
    ANSWER_ID,
    CIRCUMSTANCES,
    COLUMNS,
    INCLUSION,
    RATER,
    Identity,
    Label,
    read_ratings,
    read_rows,
)
from pytest_evalstudio.formats.sheets import write_rows

Rows = list[dict[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """Counts of stored labels: new, changed and unchanged ones."""

    new: int = 0
    changed: int = 0
    same: int = 0


class LabelStore:
    """A CSV file of labels that several people, processes and spreadsheets write.

    A change reads the file, and puts a whole new one in its place that has reached the disk, both under a
    lock that other processes respect. Columns and rows of others stay as they are.

    Args:
        path: of the file; its folder must be there.
        levels: whether a label may be any whole number.
    """

    def __init__(self, path: Path, *, levels: bool = False) -> None:
        # A link stays a link: replacing would put the file in its place.
        self.path = Path(os.path.realpath(path))
        self._levels = levels

    def ratings(self) -> list[Label]:
        """Return all labels, [] where there is no file yet.

        Raises:
            DataError: if the file cannot be read as labels.
        """
        return read_ratings(self.path, levels=self._levels) if self.path.is_file() else []

    def put(self, label: Label) -> None:
        """Set a rater's label of an answer, in place of an earlier one."""
        self.merge([label])

    def remove(self, key: str, model_key: str, rater: str) -> None:
        """Take a rater's label of an answer back."""

        def remaining(rows: Rows) -> Rows:
            for row in rows:
                # A row of the sample keeps its inclusion probability.
                if _whose(row) == (key, model_key, rater) and row.get(INCLUSION):
                    row |= dict.fromkeys(("label", ANSWER_ID, *CIRCUMSTANCES), "")
            return [row for row in rows if _whose(row) != (key, model_key, rater) or row.get(INCLUSION)]

        self._change(remaining)

    def add_sample(self, inclusion: Mapping[Identity, float]) -> None:
        """Record a sample: its answers, with a label or not, and their inclusion probabilities."""

        def sampled(rows: Rows) -> Rows:
            named = {row_identity(row) for row in rows}
            rows += [
                {"key": key, "model_key": model_key}
                for key, model_key in inclusion
                if (key, model_key) not in named
            ]
            for row in rows:
                if row_identity(row) in inclusion:
                    row[INCLUSION] = f"{inclusion[row_identity(row)]:.6f}"
            return rows

        def row_identity(row: dict[str, str]) -> Identity:
            return row["key"], row["model_key"]

        self._change(sampled)

    def merge(self, labels: Iterable[Label]) -> Merged:
        """Set many labels at once."""
        counts = {"new": 0, "changed": 0, "same": 0}

        def merged(rows: Rows) -> Rows:
            row_of = {_whose(row): row for row in rows}
            for label in labels:
                row = row_of.get((label.key, label.model_key, label.rater))
                if row is None:
                    row = {"key": label.key, "model_key": label.model_key, RATER: label.rater}
                    row_of[_whose(row)] = row
                    rows.append(row)
                before = row.get("label", "").strip()
                change = "same" if before == str(label.label) else "changed"
                counts[change if before else "new"] += 1
                row |= {"label": str(label.label), ANSWER_ID: label.answer_id}
                row |= {name: value for name in CIRCUMSTANCES if (value := getattr(label, name))}
            return rows

        self._change(merged)
        return Merged(**counts)

    def _change(self, change: Callable[[Rows], Rows]) -> None:
        with locked(self.path.with_name(f".{self.path.name}.lock")):
            names, rows = list(COLUMNS), []
            if self.path.is_file():
                names, numbered = read_rows(self.path)
                rows = [row for _, row in numbered]
            rows = change(rows)
            sampled = [INCLUSION] if any(INCLUSION in row for row in rows) else []
            names += [name for name in (RATER, ANSWER_ID, *CIRCUMSTANCES, *sampled) if name not in names]
            _replace(self.path, write_rows(names, rows))


def _whose(row: dict[str, str]) -> tuple[str, str, str]:
    return row["key"], row["model_key"], row.get(RATER, "").strip()


def _replace(path: Path, content: bytes) -> None:
    """Put a file in another one's place, whole and on the disk, or not at all."""
    draft = path.with_name(f".{path.name}.new")
    with open(draft, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)
    # The entry of the folder must reach the disk, too.
    if sys.platform != "win32":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
