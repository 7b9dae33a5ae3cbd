"""How long the report of a large run takes, and how much memory: python tests/benchmarks/report_build.py
[ITEMS] [EVALUATORS].

Prints the time to build everything as a multiple of the time to parse and write the record's JSON once.
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pytest_evalstudio.record.outputs import PAGE
from pytest_evalstudio.record.writer import RecordWriter
from pytest_evalstudio.report.build import build_report

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.records import RecordBuilder, evaluator, metric

ROUNDS = 3
MODELS = ("one", "two", "three", "four", "five", "six")


def agent_steps(number: int, steps: int) -> dict[str, object]:
    """Return calls, expected calls and steps of an answer, half of the steps calls of tools."""
    calls = [
        {
            "name": f"tool_{index % 5}",
            "arguments": {"page": index, "query": f"fee {number}"},
            "result": "fee: 5 USD; " * 20,
        }
        for index in range(steps // 2)
    ]
    expected = [{"name": call["name"], "arguments": {"page": index}} for index, call in enumerate(calls)]
    every = [
        {"kind": "tool", "call": index // 2}
        if index % 2
        else {"kind": "model", "usage": {"input_tokens": 90, "output_tokens": 9}}
        for index in range(steps)
    ]
    times = ({"agent": "desk", "started_s": 1.0 * index, "duration_s": 0.9} for index in range(steps))
    return {
        "tool_calls": calls,
        "expected_tool_calls": expected,
        "steps": [{**step, **time_} for step, time_ in zip(every, times, strict=True)],
    }


def synthetic_record(folder: Path, items: int, evaluators: int, models: int = 3, steps: int = 0) -> Path:
    """A record of items of about one kilobyte (one evaluator), two in ten of them failing.

    Args:
        steps: of each answer; 0 for answers of a model that calls no tools.
    """
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
    writer = RecordWriter(folder, builder.run)
    for index in range(items):
        texts = [" ".join(rng.choices(words, k=size)) for size in (12, 15, 20, 25)]
        outcomes = {
            id: {
                "status": "score",
                "scores": {"score": round(min(1.0, rng.random() + 0.3), 4)},
                "reason": "",
            }
            for id in ids
        }
        row = {
            "input": texts[0],
            "expected_output": texts[1],
            "actual_output": texts[2],
            "context": [texts[3]],
            "outcomes": outcomes,
            **(agent_steps(index, steps) if steps else {}),
        }
        builder.add(f"case-{index // models}", MODELS[index % models], row, index=index)
        writer.append_item(builder.typed_items[0])
        builder.items.clear()
    return writer.finish(writer.run)


def json_once(record: Path, copy: Path) -> None:
    """Copy a record as JSON; the reference of all ratios."""
    with open(record, encoding="utf-8") as source, open(copy, "w", encoding="utf-8") as target:
        target.writelines(json.dumps(json.loads(line)) + "\n" for line in source)


def measure(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock, and of the processor for all threads."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def main(items: int = 30_000, evaluators: int = 1) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        record = synthetic_record(folder, items, evaluators)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rounds = []
        for _ in range(ROUNDS):
            base = measure(lambda: json_once(record, folder / "copy.jsonl"))
            rounds.append((base, measure(lambda: build_report(record, folder / "report", {}))))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        ratio, processor = (
            statistics.median(report[kind] / base[kind] for base, report in rounds) for kind in (0, 1)
        )
        base, report = min(rounds, key=lambda entry: entry[1][0])
        size = record.stat().st_size / items
        page = (folder / "report" / PAGE).stat().st_size / 1e6
        print(
            f"{items} items of {size:.0f} bytes, {evaluators} evaluators: JSON once {base[0]:.2f} s, report"
            f" {report[0]:.2f} s"
        )
        print(
            f"ratio {ratio:.2f}, of processor time {processor:.2f} (medians), peak {peak:.0f} MB"
            f" ({before:.0f} MB before), page {page:.2f} MB"
        )


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
