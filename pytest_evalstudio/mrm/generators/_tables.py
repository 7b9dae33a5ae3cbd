"""Questions for the cells of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pytest_evalstudio.core.plugins.generator import Corpus
from pytest_evalstudio.engine.corpus import singular
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


def text_before(table: str, corpus: Corpus) -> str:
    """Return the two sentences before a table, "" for other text."""
    if not table.startswith("|"):
        return ""
    sentences = list(corpus.sentences)
    at = sentences.index(table) if table in sentences else 0
    return " ".join(sentences[max(0, at - 2) : at])


class _Table(NamedTuple):
    heads: list[str]
    rows: list[list[str]]


def cells_asked(text: str, before: str = "") -> Iterator[Cell]:
    """Yield a question for each cell that its column and row name, e.g. the fee for the Plus account.

    Args:
        text: of a table.
        before: text before the table, which may say what its rows are: "four types of membership".
    """
    table = _table(text)
    if table is None:
        return
    if not table.heads[0]:
        yield from _cells_of_columns(table)
        return
    label = _label(table.heads[0].lower(), before)
    if not label:
        return
    for row in table.rows:
        for head, cell in zip(table.heads[1:], row[1:], strict=False):
            property_ = head.lower().split()[-1:]
            row_name = _row_name(row[0], label, property_[0]) if property_ and property_[0] in _NAMED else ""
            if row_name:
                yield from _cell(f"What is the {_lower(head)} {row_name}?", cell)


def meanings_asked(text: str) -> Iterator[tuple[str, str]]:
    """Yield the question and the answer for each code of a table of codes and their meanings."""
    table = _table(text)
    heads = [head.lower() for head in table.heads] if table is not None else []
    label = re.fullmatch(r"(?:error |fault )?codes?", heads[0]) if heads else None
    column = next((at for at, head in enumerate(heads) if head in ("meaning", "cause", "fault")), 0)
    if table is None or label is None or not column:
        return
    for row in table.rows:
        if (
            len(row) > column
            and re.fullmatch(r"[A-Z]+-?\d+", row[0])
            and re.fullmatch(r"\D+\s\D+", row[column])
        ):
            yield f"What does {label.group().removesuffix('s')} {row[0]} mean?", row[column]


def _table(text: str) -> _Table | None:
    """Return the cells of a table with at least two columns; None for other text."""
    if not text.startswith("|"):
        return None
    cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
    width = next((at for at, cell in enumerate(cells) if _RULE.fullmatch(cell)), 0) - 1
    if width < 2 or not all(_RULE.fullmatch(cell) for cell in cells[width + 1 : 2 * width + 1]):
        return None
    rows = [cells[start : start + width] for start in range(2 * width + 2, len(cells), width + 1)]
    return _Table(cells[:width], [row for row in rows if row[0]])


def _cells_of_columns(table: _Table) -> Iterator[Cell]:
    """Yield questions for the cells of a table whose columns are years, or things with a name."""
    for row in table.rows:
        if not re.fullmatch(r"[A-Z][a-z]+(?:\s[a-z]+)*", row[0]):
            continue
        name = _lower(row[0])
        for head, cell in zip(table.heads[1:], row[1:], strict=False):
            is_year = re.fullmatch(r"(?:19|20)\d\d", head)
            is_named = re.fullmatch(r"[A-Z].*\d.*", head)
            kind = next((quantity.kind for quantity in quantities(cell)), None)
            if is_year and kind in ("money", "percent") and not name.endswith("s"):
                yield from _cell(f"What was the {name} in {head}?", cell)
            elif is_year and kind == "number" and name.endswith("s"):
                yield from _cell(f"How many {name} were there in {head}?", cell)
            elif is_named and name.split()[-1] in _NAMED:
                yield from _cell(f"What is the {name} of the {head}?", cell)


def _cell(question: str, cell: str) -> Iterator[Cell]:
    """Yield the question for a cell that holds one quantity and nothing else."""
    stated = quantities(cell)
    if len(stated) == 1 and stated[0].text == cell:
        yield Cell(question=question, answer=cell, condition=pattern(cell), kind=stated[0].kind)


def _label(label: str, before: str) -> str:
    """Return the word for the rows of a table: the head of its first column, or what "types of …" names."""
    if label in _GENERIC:
        named = re.search(rf"(?i)\b{label}s?\sof\s(?P<noun>[a-z]+)(?=[.:]|$)", before)
        return singular(named["noun"].lower()) if named else ""
    return label if re.fullmatch(r"[a-z]+", label) and not label.endswith("s") else ""


def _lower(head: str) -> str:
    return head[0].lower() + head[1:]


def _row_name(name: str, label: str, property_: str) -> str:
    """Return a row with its preposition as people say it: "for the Plus account"; "" for long names."""
    if not name[0].isupper() or len(name.split()) > _LONGEST_NAME:
        return ""
    if label in _PLACE_LABELS:
        return f"in {name}"
    if label in _AREA_LABELS:
        return f"in the {name} {label}"
    return f"{'of' if property_ in _INHERENT else 'for'} the {name} {label}"
