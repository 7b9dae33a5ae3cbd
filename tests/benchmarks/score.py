"""Scoring of a table against calling the evaluators bare: speed, memory, two workers, Ray.

usage: python tests/benchmarks/score.py [--rows 1000000] [--small 100000] [--bare 5000] [--ray]

Rows have answers of 200 words. Prints rows per second and core of bare calls beside `score` with one worker
and with two, the peak memory of all processes (proportional set size) at both sizes, and Ray with two actors
beside the local engine. Targets: at most 1.15 x the processor time of bare calls, at least 1.7 x with two
workers, at most 1.5 GB for two workers and no more at the larger size, Ray at least 0.85 x the local engine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

EVALUATORS = ("pii_leakage", "lexical_groundedness", "looping_detection", "rouge")
MAPPING = {"input": "question", "actual_output": "answer", "context": "chunks"}
ROW_GROUP = 10_000
TOPICS = ("fees", "cards", "loans", "accounts", "transfers", "mortgages", "savings")
WORDS = """
account balance branch card charge cheque client closing commission conversion credit currency customer
daily date debit deadline deposit document domestic draft due electronic exchange exemption expense fee
foreign fund grant guarantee holder identity increase instalment interest invoice issue joint ledger
limit loan maturity method minimum month mortgage network notice number offer office online opening
order owner outstanding overdraft partner passbook payment penalty percent period permit person policy
portfolio price premium principal private process product profit proof property provider purchase
quarter rate receipt tax record reduction reference refund register regular relief remainder reminder
rent repayment report request reserve residence resource return revenue review risk safe salary saving
schedule scheme section security seller service settlement share sheet signature single source standard
statement status stock subject sum supplement support surcharge system table tariff term terminal
threshold ticket title trade transaction transfer treaty trust turnover type union unit usage user
validity value volume voucher waiver week year
"""
VOCABULARY = WORDS.split()


def sentence(generator: random.Random, words: int) -> str:
    selection = generator.choices(VOCABULARY, k=words)
    if generator.random() < 0.3:
        selection[-1] = f"{generator.randint(1, 999)}.{generator.randint(10, 99)}"
    return " ".join(selection).capitalize() + "."


def text(generator: random.Random, words: int) -> str:
    sentences = []
    while words > 0:
        length = min(words, generator.randint(8, 18))
        sentences.append(sentence(generator, length))
        words -= length
    return " ".join(sentences)


def row(generator: random.Random, number: int) -> dict[str, object]:
    answer = text(generator, 200)
    return {
        "question": sentence(generator, 12),
        "answer": answer,
        "expected_output": text(generator, 60),
        "chunks": [answer[: len(answer) // 2], text(generator, 80)],
        "model": f"model-{number % 3}",
        "topic": TOPICS[number % len(TOPICS)],
    }


def write_rows(path: Path, count: int) -> None:
    """Write a table; every 20,000 rows the same ones come again."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    generator = random.Random(1)
    distinct = [row(generator, number) for number in range(min(count, 2 * ROW_GROUP))]
    groups = [
        pa.Table.from_pylist(distinct[start : start + ROW_GROUP])
        for start in range(0, len(distinct), ROW_GROUP)
    ]
    with pq.ParquetWriter(path, groups[0].schema, compression="zstd") as writer:
        row_count = 0
        while row_count < count:
            table = groups[(row_count // ROW_GROUP) % len(groups)].slice(0, count - row_count)
            writer.write_table(table)
            row_count += table.num_rows


def bare(count: int) -> float:
    """Return rows per second of processor time of the evaluators' own batch functions."""
    from pytest_evalstudio import make_case
    from pytest_evalstudio.core.plugins.registry import Registry
    from pytest_evalstudio.core.tools import Tools
    from pytest_evalstudio.text.sentences import split_sentences

    generator = random.Random(1)
    cases = [
        make_case(
            each["question"], each["answer"], expected_output=each["expected_output"], context=each["chunks"]
        )
        for each in (row(generator, number) for number in range(count))
    ]
    registry, tools = Registry(), Tools(split_sentences=split_sentences)
    evaluators = [registry.evaluators.get(name)() for name in EVALUATORS]
    for evaluator in evaluators:
        evaluator.score(cases[:50], tools)
    start_s = time.process_time()
    for start in range(0, count, 1_000):
        for evaluator in evaluators:
            evaluator.score(cases[start : start + 1_000], tools)
    return count / (time.process_time() - start_s)


def score_in_process(source: Path, output: Path, options: dict[str, object]) -> dict[str, float]:
    """Score a table in a process of its own; return its seconds, processor seconds and peak memory."""
    command = [sys.executable, __file__, "--score", json.dumps([str(source), str(output), options])]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = [0.0]
    watch = threading.Thread(target=_watch, args=(process, peak), daemon=True)
    watch.start()
    stdout, _ = process.communicate()
    if process.returncode:
        raise SystemExit(process.returncode)
    return {**json.loads(stdout.splitlines()[-1]), "megabytes": peak[0]}


def _watch(process: subprocess.Popen[str], peak: list[float]) -> None:
    while process.poll() is None:
        peak[0] = max(peak[0], sum(map(_pss, _family(process.pid))))
        time.sleep(0.5)


def _family(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(member for child in children for member in _family(int(child)))]


def _pss(pid: int) -> float:
    """Return the proportional set size of a process in megabytes."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0.0


def score_here(source: str, output: str, options: dict[str, object]) -> None:
    """Score a table and print its figures."""
    from pytest_evalstudio import score_table

    if options.get("engine") == "ray":
        import ray  # a cluster that runs already

        ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    start_s, begin = time.monotonic(), os.times()
    table = score_table(
        source, EVALUATORS, output, mapping=MAPPING, keep=["topic"], overwrite=True, **options
    )
    end = os.times()
    processor = sum(end[:4]) - sum(begin[:4])
    print(
        json.dumps(
            {
                "rows": table.manifest.answers,
                "seconds": table.manifest.seconds,
                "whole": time.monotonic() - start_s,
                "processor": processor,
            }
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--small", type=int, default=100_000)
    parser.add_argument("--bare", type=int, default=5_000)
    parser.add_argument("--ray", action="store_true", help="also Ray with two actors, on the small table")
    parser.add_argument("--score", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.score:
        score_here(*json.loads(arguments.score))
        return
    rows, small = arguments.rows, min(arguments.small, arguments.rows)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder / "small.parquet", small)
        first = bare(arguments.bare)
        single_worker = score_in_process(folder / "small.parquet", folder / "one.parquet", {"workers": 1})
        speed = (first + bare(arguments.bare)) / 2
        print(f"bare calls: {speed:,.0f} rows per second of processor time")
        report(f"1 worker, {small:,} rows", single_worker)
        ratio = single_worker["processor"] * speed / single_worker["rows"]
        print(f"  processor time of bare calls x {ratio:.2f} (at most 1.15)")
        two = score_in_process(folder / "small.parquet", folder / "two.parquet", {"workers": 2})
        report(f"2 workers, {small:,} rows", two)
        print(f"  {single_worker['seconds'] / two['seconds']:.2f} x one worker (at least 1.7)", flush=True)
        if arguments.ray:
            ray = score_in_process(
                folder / "small.parquet", folder / "ray.parquet", {"workers": 2, "engine": "ray"}
            )
            report(f"Ray with 2 actors, {small:,} rows", ray)
            print(f"  {two['seconds'] / ray['seconds']:.2f} x the local engine (at least 0.85)", flush=True)
        if rows > small:
            write_rows(folder / "large.parquet", rows)
            large = score_in_process(folder / "large.parquet", folder / "large-out.parquet", {"workers": 2})
            report(f"2 workers, {rows:,} rows", large)
            growth = large["megabytes"] / two["megabytes"]
            print(f"  memory {growth:.2f} x that of {small:,} rows (at most 1.5 GB)")
            on_paper(large["rows"] / large["processor"])


def report(name: str, figures: dict[str, float]) -> None:
    print(
        f"{name}: {figures['seconds']:.1f} s, {figures['rows'] / figures['seconds']:,.0f} rows/s,"
        f" {figures['processor']:.0f} s of processor time of its own and its workers,"
        f" {figures['megabytes']:,.0f} MB",
        flush=True,
    )


def on_paper(per_core: float) -> None:
    """Print what a cluster needs.

    Args:
        per_core: rows per second of processor time.
    """
    hours = 100e6 / (64 * per_core) / 3600
    print(f"on paper: 100 million rows on 64 cores take {hours:.1f} h, {64 * hours:,.0f} core hours")


if __name__ == "__main__":
    main()
