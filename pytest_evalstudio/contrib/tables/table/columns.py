"""Columns of the two folders of a scored table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

ROW_ID = "row_id"
SCORE_COLUMNS = (
    ROW_ID,
    "model",
    "evaluator",
    "metric",
    "value",
    "status",
    "code",
    "reason",
    "weight",
)
ANSWER_COLUMNS = (
    ROW_ID,
    "source",
    "source_row",
    "key",
    "model",
    "input",
    "actual_output",
    "expected_output",
    "context",
    "case_digest",
    "context_digest",
)
DIGESTS = ("case_digest", "context_digest")
"""Digests of question and expectation, and of the context; never null."""
RESERVED = frozenset((*SCORE_COLUMNS, *ANSWER_COLUMNS))
"""Names that a kept column cannot have."""


def score_schema(groups: Sequence[str]) -> Any:
    """Return the Arrow schema of `scores/`; the names of the kept columns come last."""
    import pyarrow as pa

    word = pa.dictionary(pa.int32(), pa.string())
    kinds = {ROW_ID: pa.int64(), "value": pa.float64(), "weight": pa.float64(), "reason": pa.string()}
    fields = [(name, kinds.get(name, word)) for name in SCORE_COLUMNS]
    return pa.schema([*fields, *((name, word) for name in groups)])


def answer_schema(groups: Sequence[str]) -> Any:
    """Return the Arrow schema of `answers/`; the names of the kept columns come last."""
    import pyarrow as pa

    word = pa.dictionary(pa.int32(), pa.string())
    kinds = {
        ROW_ID: pa.int64(),
        "source": pa.int32(),
        "source_row": pa.int64(),
        "model": word,
        "context": pa.list_(pa.string()),
        **dict.fromkeys(DIGESTS, pa.int64()),
    }
    fields = [(name, kinds.get(name, pa.string())) for name in ANSWER_COLUMNS]
    return pa.schema([*fields, *((name, word) for name in groups)])
