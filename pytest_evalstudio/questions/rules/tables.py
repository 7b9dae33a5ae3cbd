"""Questions for the cells of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pytest_evalstudio.core.plugins.generator import Corpus
from pytest_evalstudio.engine.corpus import singular
from pytest_evalstudio.questions.quantities import pattern, quantities
from pytest_evalstudio.questions.rules.amount_kinds import ATTRIBUTES
from pytest_evalstudio.questions.rules.slots import QuantityQuestion
from pytest_evalstudio.questions.words import word_set, word_table

_PROPERTIES = ATTRIBUTES | word_table("properties of rows")
_INHERENT = word_table("inherent properties")
_PLACE_HEADS = word_table("place heads")
_AREA_HEADS = word_set("area district region zone")
_GENERIC = word_set("type kind category class item name description option")
"""Heads of first columns that do not say what the rows are."""
_MAX_NAME_WORDS = 2
_RULE = re.compile(r":?-{2,}:?")


class _Table(NamedTuple):
    heads: list[str]
    rows: list[list[str]]


def text_before_table(sentence: str, corpus: Corpus) -> str:
    """Return the two sentences before a table, "" for other text."""
    if not sentence.startswith("|") or sentence not in corpus.sentences:
        return ""
    at = corpus.sentences.index(sentence)
    return " ".join(corpus.sentences[max(0, at - 2) : at])


def cell_questions(text: str, before: str = "") -> Iterator[QuantityQuestion]:
    """Yield a question for each cell that its column and row name, e.g. the fee for the Plus account.

    Args:
        text: of a table.
        before: text before the table, which may say what its rows are: "four types of membership".
    """
    table = _table(text)
    if table is None:
        return
    if not table.heads[0]:
        yield from _questions_by_column(table)
        return
    label = _label(table.heads[0].lower(), before)
    if not label:
        return
    for row in table.rows:
        for head, cell in zip(table.heads[1:], row[1:], strict=False):
            noun = head.lower().split()[-1] if head else ""
            name = _row_name(row[0], label, noun) if noun in _PROPERTIES else ""
            if name:
                yield from _cell_question(f"What is the {_lower(head)} {name}?", cell)


def code_meanings(text: str) -> Iterator[tuple[str, str]]:
    """Yield the question and the answer for each code of a table of codes and their meanings."""
    table = _table(text)
    if table is None:
        return
    heads = [head.lower() for head in table.heads]
    label = re.fullmatch(r"(?:error |fault )?codes?", heads[0])
    column = next((at for at, head in enumerate(heads) if head in ("meaning", "cause", "fault")), 0)
    if label is None or not column:
        return
    for row in table.rows:
        meaning = row[column] if len(row) > column else ""
        if re.fullmatch(r"[A-Z]+-?\d+", row[0]) and re.fullmatch(r"\D+\s\D+", meaning):
            yield f"What does {label.group().removesuffix('s')} {row[0]} mean?", meaning


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


def _questions_by_column(table: _Table) -> Iterator[QuantityQuestion]:
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
                yield from _cell_question(f"What was the {name} in {head}?", cell)
            elif is_year and kind == "number" and name.endswith("s"):
                yield from _cell_question(f"How many {name} were there in {head}?", cell)
            elif is_named and name.split()[-1] in _PROPERTIES:
                yield from _cell_question(f"What is the {name} of the {head}?", cell)


def _cell_question(question: str, cell: str) -> Iterator[QuantityQuestion]:
    """Yield the question for a cell that holds one quantity and nothing else."""
    hits = quantities(cell)
    if len(hits) == 1 and hits[0].text == cell:
        yield QuantityQuestion(question=question, quantity=hits[0], answer=cell, condition=pattern(cell))


def _label(label: str, before: str) -> str:
    """Return the word for the rows of a table: the head of its first column, or what "types of …" names."""
    if label in _GENERIC:
        noun = re.search(rf"(?i)\b{label}s?\sof\s(?P<noun>[a-z]+)(?=[.:]|$)", before)
        return singular(noun["noun"].lower()) if noun else ""
    return label if re.fullmatch(r"[a-z]+", label) and not label.endswith("s") else ""


def _lower(head: str) -> str:
    return head[0].lower() + head[1:]


def _row_name(name: str, label: str, noun: str) -> str:
    """Return a row with its preposition as people say it: "for the Plus account"; "" for long names."""
    if not name[0].isupper() or len(name.split()) > _MAX_NAME_WORDS:
        return ""
    if label in _PLACE_HEADS:
        return f"in {name}"
    if label in _AREA_HEADS:
        return f"in the {name} {label}"
    return f"{'of' if noun in _INHERENT else 'for'} the {name} {label}"
