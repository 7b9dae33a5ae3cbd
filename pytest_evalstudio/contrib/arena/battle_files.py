"""Games between two models, in a CSV file: who was preferred, by which judge or person."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import get_args

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.sheets import inert, plain, read_sheet
from pytest_evalstudio.record.arena import Battle, Winner
from pytest_evalstudio.text.unicode import valid_json

WINNERS: tuple[Winner, ...] = get_args(Winner)
REQUIRED = ("prompt_key", "model_a", "model_b", "winner")
COLUMNS = (
    *REQUIRED,
    *("score_a", "score_b", "reason", "judge", "seed"),
    *("rater", "chars_a", "chars_b", "texts_id", "categories"),
)
"""Columns of a file that this package writes, in order; others of a file that is continued follow."""


def texts_id(question: str, answers: Mapping[str, str]) -> str:
    """Return a digest of a prompt and the answers of its models, whatever their sides; never a number."""
    digest = hashlib.sha256()
    for text in (question, *(part for pair in sorted(answers.items()) for part in pair)):
        encoded = text.encode("utf-8", "backslashreplace")
        # With its length, so that ("ab", "c") and ("a", "bc") differ.
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    # A spreadsheet would rewrite a number.
    return f"t{digest.hexdigest()[:15]}"


def read_battles(path: Path) -> list[Battle]:
    """Read a file of games, in its order.

    Raises:
        DataError: with file, line and fault, if a required column is missing, a winner or number is invalid,
            or a model plays against itself.
    """
    names, rows = read_sheet(path, REQUIRED, "battles")
    others = [name for name in names if name not in COLUMNS]
    return [_battle(row, others, f"{path}:{line}") for line, row in rows]


def _battle(row: Mapping[str, str], others: Sequence[str], location: str) -> Battle:
    cells = {name: plain(cell) for name, cell in row.items()}
    for name in ("prompt_key", "model_a", "model_b"):
        if not cells[name]:
            raise DataError(f"{location}: {name} is empty; each game names its prompt and two models")
    if cells["model_a"] == cells["model_b"]:
        raise DataError(f"{location}: model_a and model_b are both {cells['model_a']!r}; remove the line")
    winner = next((name for name in WINNERS if name == cells["winner"]), None)
    if winner is None:
        raise DataError(
            f"{location}: winner {cells['winner']!r} is unknown; write one of {', '.join(WINNERS)}"
        )
    return Battle(
        prompt_key=cells["prompt_key"],
        model_a=cells["model_a"],
        model_b=cells["model_b"],
        winner=winner,
        score_a=_number(cells, "score_a", location),
        score_b=_number(cells, "score_b", location),
        reason=cells.get("reason", ""),
        judge=cells.get("judge", ""),
        seed=_whole(cells, "seed", location),
        rater=cells.get("rater", ""),
        chars_a=_whole(cells, "chars_a", location),
        chars_b=_whole(cells, "chars_b", location),
        texts_id=cells.get("texts_id", ""),
        categories=_categories(cells.get("categories", "")),
        others={name: cells[name] for name in others},
    )


def _categories(cell: str) -> tuple[str, ...]:
    """Return the categories in a cell: a JSON list, or the text of a single one."""
    try:
        value = json.loads(valid_json(cell)) if cell.startswith("[") else [cell]
    except (ValueError, RecursionError):
        value = [cell]
    return tuple(text for text in value if isinstance(text, str) and text)


def _number(cells: Mapping[str, str], name: str, location: str) -> float | None:
    text = cells.get(name, "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{location}: {name} {text!r} is not a number; leave it empty if it is not known")
    return value


def _whole(cells: Mapping[str, str], name: str, location: str) -> int | None:
    value = _number(cells, name, location)
    if value is not None and not value.is_integer():
        raise DataError(f"{location}: {name} {cells[name]!r} is not a whole number")
    return None if value is None else int(value)


def battles_csv(battles: Iterable[Battle]) -> bytes:
    """Return games as CSV in UTF-8; an apostrophe precedes what a spreadsheet would read as a formula."""
    listed = list(battles)
    others = list(dict.fromkeys(name for battle in listed for name in battle.others))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, *others])
    for battle in listed:
        cells = [_cell(getattr(battle, name)) for name in COLUMNS]
        writer.writerow([*cells, *(inert(battle.others.get(name, "")) for name in others)])
    return text.getvalue().encode("utf-8", "backslashreplace")


def _cell(value: str | float | tuple[str, ...] | None) -> str:
    if value is None or value == ():
        return ""
    if isinstance(value, tuple):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        return inert(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
