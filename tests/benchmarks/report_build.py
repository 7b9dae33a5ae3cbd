"""How long the report of a large run takes, and how much memory: python tests/benchmarks/report_build.py [ITEMS] [EVALUATORS].

Prints the time to build everything as a multiple of the time to parse and write the record's JSON once.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from pytest_evalstudio.report.build import build_report

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.records import RecordBuilder, evaluator, metric

MODELS = ("one", "two", "three", "four", "five", "six")


def synthetic_record(folder: Path, items: int, evaluators: int, models: int = 3) -> Path:
    """A record of items of about one kilobyte (one evaluator), two in ten of them failing."""
    rng = random.Random(7)
    words = [
        "the",
        "monthly",
        "fee",
        "of",
        "this",
        "account",
        "is",
        "waived",
        "for",
        "students",
        "and",
        "pensioners",
        "who",
        "hold",
        "a",
        "card",
        "of",
        "the",
        "bank",
    ]
    ids = [f"quality_{number}" for number in range(evaluators)]
    builder = RecordBuilder(*(evaluator(id, metric()) for id in ids), models=MODELS[:models])
    path = folder / "record.jsonl"
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(builder.header) + "\n")
        for index in range(items):
            texts = [" ".join(rng.choices(words, k=size)) for size in (12, 15, 20, 25)]
            outcomes = {id: {"status": "score", "scores": {"score": round(min(1.0, rng.random() + 0.3), 4)}, "reason": ""} for id in ids}
            row = {"input": texts[0], "expected_output": texts[1], "actual_output": texts[2], "context": [texts[3]], "outcomes": outcomes}
            file.write(json.dumps(builder.add(f"case-{index // models}", MODELS[index % models], row)) + "\n")
            builder.items.clear()
    return path


def main(items: int = 30_000, evaluators: int = 1) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        record = synthetic_record(folder, items, evaluators)
        started = time.perf_counter()
        with open(record, encoding="utf-8") as file, open(folder / "copy.jsonl", "w", encoding="utf-8") as copy:
            copy.writelines(json.dumps(json.loads(line)) + "\n" for line in file)
        baseline = time.perf_counter() - started
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        started = time.perf_counter()
        report = build_report(record, folder / "report", {})
        seconds = time.perf_counter() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = record.stat().st_size / items
        print(f"{items} items of {size:.0f} bytes, {evaluators} evaluators: JSON once {baseline:.2f} s, report {seconds:.2f} s")
        print(f"ratio {seconds / baseline:.2f}, peak {peak:.0f} MB ({before:.0f} MB before), page {report.page.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
