"""Reading scored tables of up to a million answers: gates in pytest, report, comparison, weak points.

usage: python tests/benchmarks/scored_tables.py [--answers 2000 1000000]

A table of 2,000 answers is scored; larger ones repeat its files with other row ids and keys, and merge its
aggregates. Prints wall seconds, processor seconds and peak megabytes of each command.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pytest_evalstudio import score_table
from pytest_evalstudio.contrib.tables.scored_record import MetricAggregate, PartEntry, encode_manifest, merge
from pytest_evalstudio.contrib.tables.table.reader import ScoredTable

SIZE = 2_000
TOGETHER = 25
"""Copies in one file."""
SENTENCE = "the fee for a transfer abroad is charged to the account when it leaves and on the statement"
WORDS = SENTENCE.split()
EVALUATORS = ("rouge", "pii_leakage", "looping_detection")
MAP = {"key": "key", "input": "question", "actual_output": "answer"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--answers", type=int, nargs="+", default=[SIZE, 1_000_000])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scored = {share: score(folder, share) for share in (0.7, 0.6)}
        for answers in arguments.answers:
            old, new = folder / f"old-{answers}.parquet", folder / f"new-{answers}.parquet"
            for table, target in zip(scored.values(), (old, new), strict=True):
                repeat(table, target, max(1, answers // SIZE))
            print(f"{max(1, answers // SIZE) * SIZE:,} answers")
            gates = folder / f"g{answers}_scores.json"
            content = {"table": str(new), "gates": ["rouge >= 0.9", "p95(rouge) >= 0.3"]}
            gates.write_text(json.dumps({**content, "baseline": {"table": str(old)}}))
            command = [sys.executable, "-m", "pytest_evalstudio.cli"]
            run("gates", [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(gates)], folder)
            run("report", [*command, "report", str(new), "-o", str(folder / f"page-{answers}")], folder)
            run("compare", [*command, "compare", str(old), str(new)], folder)
            run("weakness", [*command, "weakness", str(new), "--metric", "rouge_l"], folder)


def score(folder: Path, share: float) -> ScoredTable:
    """Return the table of answers of which a share is right."""
    rng = random.Random(1)
    source = folder / f"log-{share}.jsonl"
    with source.open("w") as file:
        for number in range(SIZE):
            expected = " ".join(rng.choices(WORDS, k=12))
            row = {
                "key": f"k{number}",
                "question": f"Question {number}?",
                "answer": expected if rng.random() < share else " ".join(rng.choices(WORDS, k=10)),
                "expected_output": expected,
                "model": f"m{number % 2}",
                "topic": rng.choice(["fees", "cards", "loans"]),
            }
            file.write(json.dumps(row) + "\n")
    return score_table(source, EVALUATORS, folder / f"{share}.parquet", mapping=MAP, keep=["topic"])


def repeat(table: ScoredTable, target: Path, copies: int) -> None:
    """Write a table with each answer of another one so many times."""
    manifest = table.manifest
    parts: dict[str, list[PartEntry]] = {"scores": [], "answers": []}
    for kind, entries in (("scores", manifest.scores), ("answers", manifest.answer_parts)):
        (target / kind).mkdir(parents=True)
        rows = pa.concat_tables([pq.read_table(f"{table.location.path}/{entry.path}") for entry in entries])
        rows = rows.unify_dictionaries()
        for first in range(0, copies, TOGETHER):
            end = min(first + TOGETHER, copies)
            copied = pa.concat_tables([copy_of(rows, number) for number in range(first, end)])
            path = f"{kind}/part-{first:08d}.parquet"
            pq.write_table(copied.unify_dictionaries(), target / path, compression="zstd")
            parts[kind].append(
                PartEntry(path=path, rows=copied.num_rows, first_row=first * SIZE, last_row=end * SIZE - 1)
            )
    changed = msgspec.structs.replace(
        manifest,
        answers=manifest.answers * copies,
        rows=manifest.rows * copies,
        aggregates=tuple(repeated(entry, copies) for entry in manifest.aggregates),
        scores=tuple(parts["scores"]),
        answer_parts=tuple(parts["answers"]),
    )
    (target / "manifest.json").write_bytes(encode_manifest(changed))


def copy_of(rows: pa.Table, number: int) -> pa.Table:
    """Return rows with the row ids, and keys if they have any, of a copy."""
    rows = rows.set_column(0, rows.schema.field(0), pc.add(rows["row_id"], number * SIZE))
    if "key" not in rows.schema.names:
        return rows
    keys = pc.binary_join_element_wise(rows["key"], pa.scalar(f"-{number}"), "")
    return rows.set_column(rows.schema.get_field_index("key"), "key", keys)


def repeated(entry: MetricAggregate, copies: int) -> MetricAggregate:
    """Return the aggregate of so many copies of the rows."""
    result: MetricAggregate | None = None
    power = entry
    while copies:
        if copies & 1:
            result = power if result is None else merge(result, power)
        power = merge(power, power)
        copies >>= 1
    assert result is not None
    return result


def run(name: str, command: list[str], folder: Path) -> None:
    """Run a command and print what it took."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}")
    wall, processor = time.perf_counter() - start, usage.ru_utime + usage.ru_stime
    print(f"  {name}: {wall:.1f} s, {processor:.1f} s of processor time, {usage.ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
