"""Measures the import of many traces against parsing their JSON, and its memory.

    python tests/benchmarks/import_traces.py [TRACES]

A trace has 30 spans: an agent, 14 calls of a model and 14 of tools, and a retrieval. Their order in the file
is that of several concurrent requests.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CALLS = 14
CONCURRENT = 50
SPANS_PER_LINE = 20
WORDS = [
    "fee",
    "card",
    "limit",
    "order",
    "refund",
    "country",
    "invoice",
    "agent",
    "status",
    "booking",
    "amount",
    "policy",
]

# The peak is VmHWM: ru_maxrss has the peak of the process that started this one, too.
PARSE = """
import json, sys, time
started = time.process_time()
with open(sys.argv[1], "rb") as file:
    for line in file:
        json.loads(line)
seconds = time.process_time() - started
print(seconds, next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
IMPORT = """
import sys, time
from pytest_evalstudio.cli import main
started = time.process_time()
status = main(["import", "traces", sys.argv[1], "-o", sys.argv[2]])
seconds = time.process_time() - started
print(seconds, next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
sys.exit(status)
"""


def text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words))


def trace(number: int) -> list[dict[str, Any]]:
    """Spans of a trace in OTLP JSON, in the order in which they end."""
    rng = random.Random(number)
    trace_id, root = f"{number + 1:032x}", f"{number * 100 + 1:016x}"
    start = 1_700_000_000_000_000_000 + number * 10**9
    spans: list[dict[str, Any]] = []

    def span(name: str, parent: str, **attributes: str | int) -> None:
        begin = start + len(spans) * 10**8
        spans.append(
            {
                "traceId": trace_id,
                "spanId": f"{number * 100 + len(spans) + 2:016x}" if parent else root,
                "parentSpanId": parent,
                "name": name,
                "kind": 1,
                "startTimeUnixNano": str(begin if parent else start),
                "endTimeUnixNano": str(begin + 5 * 10**7 if parent else start + 40 * 10**8),
                "attributes": [
                    {
                        "key": key.replace("__", "."),
                        "value": {"intValue": str(value)}
                        if isinstance(value, int)
                        else {"stringValue": value},
                    }
                    for key, value in attributes.items()
                ],
                "status": {},
            }
        )

    def parts(*values: dict[str, Any], role: str) -> str:
        return json.dumps([{"role": role, "parts": list(values)}])

    question = {"type": "text", "content": text(rng, 30)}
    documents = [{"id": f"d{n}", "score": 0.5, "content": text(rng, 60)} for n in range(4)]
    span(
        "retrieval",
        root,
        gen_ai__operation__name="retrieval",
        gen_ai__retrieval__documents=json.dumps(documents),
    )
    for step in range(CALLS):
        call = {
            "type": "tool_call",
            "id": f"c{step}",
            "name": f"tool_{step}",
            "arguments": {"query": text(rng, 6)},
        }
        answer = {"type": "text", "content": text(rng, 60)}
        span(
            "chat gpt",
            root,
            gen_ai__operation__name="chat",
            gen_ai__request__model="gpt",
            gen_ai__response__model="gpt-2024",
            gen_ai__response__id=f"r{number}-{step}",
            gen_ai__usage__input_tokens=100 + step,
            gen_ai__usage__output_tokens=20,
            gen_ai__input__messages=parts(question, role="user"),
            gen_ai__output__messages=parts(call if step < CALLS - 1 else answer, role="assistant"),
        )
        span(
            f"execute_tool tool_{step}",
            root,
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name=f"tool_{step}",
            gen_ai__tool__call__id=f"c{step}",
            gen_ai__tool__call__arguments=json.dumps(call["arguments"]),
            gen_ai__tool__call__result=text(rng, 40),
        )
    span("invoke_agent shop", "", gen_ai__operation__name="invoke_agent", gen_ai__agent__name="shop")
    return spans


def interleaved(count: int) -> Iterator[dict[str, Any]]:
    rng = random.Random(0)
    running: list[list[dict[str, Any]]] = []
    number = 0
    while running or number < count:
        while len(running) < CONCURRENT and number < count:
            running.append(trace(number)[::-1])
            number += 1
        spans = rng.choice(running)
        yield spans.pop()
        if not spans:
            running.remove(spans)


def write(path: Path, count: int) -> None:
    with open(path, "w", encoding="utf-8") as file:
        batch: list[dict[str, Any]] = []
        for span in interleaved(count):
            batch.append(span)
            if len(batch) == SPANS_PER_LINE:
                file.write(line(batch))
                batch = []
        file.write(line(batch))


def line(batch: list[dict[str, Any]]) -> str:
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": batch}]}]}) + "\n"


def measure(code: str, *arguments: object) -> tuple[float, float]:
    """Seconds of processor time and peak memory in MB of a process of its own."""
    result = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True
    )
    if result.returncode:
        raise SystemExit(result.stdout + result.stderr)
    seconds, memory = result.stdout.split("\n")[-2].split()
    return float(seconds), float(memory) / 1024


def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for size in (count // 10, count):
            path = Path(folder, f"{size}.jsonl")
            write(path, size)
            start_s = time.perf_counter()
            rounds = [
                (measure(PARSE, path), measure(IMPORT, path, Path(folder, "lab.json"))) for _ in range(3)
            ]
            (parse_s, parse_mb), (import_s, import_mb) = (min(times) for times in zip(*rounds, strict=True))
            rows = len(json.loads(Path(folder, "lab.json").read_text())["dataset"]["inputs"])
            print(
                f"{size} traces, {path.stat().st_size / 1e6:.0f} MB, {rows} rows:"
                f" json.loads per line {parse_s:.2f} s ({parse_mb:.0f} MB),"
                f" import {import_s:.2f} s ({import_mb:.0f} MB), ratio {import_s / parse_s:.2f};"
                f" wall {time.perf_counter() - start_s:.0f} s"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
