"""Questions for the cells of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_evalstudio.mrm.generators._vocabulary import ATTRIBUTES
from pytest_evalstudio.mrm.texts.quantities import Kind, pattern, quantities
from pytest_evalstudio.mrm.texts.words import word_set

_NAMED = ATTRIBUTES | word_set(
    """
    revenue profit investment balance weight width height time
    """
)
_GENERIC = word_set("type kind category class item name description option")
"""Heads of first columns that do not say what the rows are."""
_PLACE_LABELS = word_set(
    """
    destination city country location branch site town
    """
)
"""Heads of first columns whose rows are places."""
_AREA_LABELS = frozenset({"area", "district", "region", "zone"})
_INHERENT = word_set(
    "balance capacity duration height length power range speed temperature volume weight width"
)
"""Properties that something has: "the weight of the Plus model"."""
_LONGEST_NAME = 2
_RULE = re.compile(r":?-{2,}:?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A question for a cell of a table that holds one quantity."""

    question: str
    answer: str
    condition: str
    kind: Kind


def cells_asked(text: str) -> Iterator[Cell]:
    """Yield a question for each cell that its column and row name, e.g. the fee for the Plus account."""
    if not text.startswith("|"):
        return
    cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
    width = next((at for at, cell in enumerate(cells) if _RULE.fullmatch(cell)), 0) - 1
    if width < 2 or not all(_RULE.fullmatch(cell) for cell in cells[width + 1 : 2 * width + 1]):
        return
    heads = cells[:width]
    rows = [cells[start : start + width] for start in range(2 * width + 2, len(cells), width + 1)]
    label = heads[0].lower()
    if not re.fullmatch(r"[a-z]+", label) or label.endswith("s") or label in _GENERIC:
        return
    for row in rows:
        for head, cell in zip(heads[1:], row[1:], strict=False):
            stated = quantities(cell)
            if len(stated) != 1 or stated[0].text != cell or head.lower().split()[-1:] == [] or not row[0]:
                continue
            if head.lower().split()[-1] not in _NAMED:
                continue
            row_name = _row_name(row[0], label, head.lower().split()[-1])
            if not row_name:
                continue
            yield Cell(
                question=f"What is the {head[0].lower() + head[1:]} {row_name}?",
                answer=cell,
                condition=pattern(cell),
                kind=stated[0].kind,
            )


def _row_name(name: str, label: str, property_: str) -> str:
    """Return a row with its preposition as people say it: "for the Plus account"; "" for long names."""
    if not name[0].isupper() or len(name.split()) > _LONGEST_NAME:
        return ""
    if label in _PLACE_LABELS:
        return f"in {name}"
    if label in _AREA_LABELS:
        return f"in the {name} {label}"
    return f"{'of' if property_ in _INHERENT else 'for'} the {name} {label}"
