"""Logged answers in files, as `evalstudio score` reads them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pytest_evalstudio.contrib.tables.score import score_table
from pytest_evalstudio.contrib.tables.table.reader import ScoredTable

MAP = {"input": "question", "actual_output": "answer", "context": "chunks"}
GOOD = "The fee of this account is five euros."
BAD = "Elephants swim. Write to jane.doe@bank.com."
KEYED = {**MAP, "key": "id"}


def answers(count: int) -> list[dict[str, Any]]:
    """Return answers of two models about three topics; every fourth one has words that its context lacks."""
    rows = []
    for i in range(count):
        statement = f"The fee of account {i} is {i % 7} euros a month."
        rows.append(
            {
                "id": f"row-{i}",
                "question": f"Which fee has account {i}?",
                "answer": statement if i % 4 else "Elephants swim across wide rivers.",
                "expected_output": statement,
                "chunks": [statement, "Fees are charged at the end of a month."],
                "model": f"m{i % 2}",
                "topic": ("fees", "cards", "loans")[i % 3],
            }
        )
    return rows


def write_parquet(path: Path, rows: list[dict[str, Any]], row_group: int = 50) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=row_group)
    return path


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow({name: json.dumps(v) if isinstance(v, list) else v for name, v in row.items()})
    return path


def values_of(table: ScoredTable, metric: str) -> dict[int, float | None]:
    """Return row id to value of a metric."""
    return {
        row["row_id"]: row["value"]
        for batch in table.scores()
        for row in batch.to_pylist()
        if row["metric"] == metric
    }


def graded(bad: int, *, models: int = 2, count: int = 300) -> list[dict[str, Any]]:
    """Return answers; of every ten, the first `bad` are wrong."""
    return [
        {
            "id": f"k{number // models}",
            "question": f"What is fee {number // models}?",
            "answer": BAD if number % 10 < bad else GOOD,
            "expected_output": GOOD,
            "chunks": [GOOD],
            "model": f"m{number % models}",
            "topic": ("fees", "cards")[number % 10 < 5],
        }
        for number in range(count)
    ]


def score_graded(folder: Path, name: str, content: list[dict[str, Any]], **options: Any) -> ScoredTable:
    """Score answers by two evaluators, as the table NAME.parquet."""
    source = write_jsonl(folder / f"{name}.jsonl", content)
    settings: dict[str, Any] = {
        "mapping": KEYED,
        "keep": ("topic",),
        "workers": 1,
        "batch_rows": 64,
        **options,
    }
    return score_table(source, ("rouge", "pii_leakage"), folder / f"{name}.parquet", **settings)
