"""A whole run with report against bare pytest over as many empty tests: wall time and peak memory.

usage: python tests/benchmarks/whole_run.py [--cases 10000] [--models 3] [--failing 0.5] [--context-chars 600]
    [--failing-tests]

Answers are precomputed; the share `--failing` of the items misses the threshold. With --failing-tests the
same share of the empty tests fails. Prints seconds, processor seconds, megabytes and their ratios, bare
pytest first and last to show the machine's noise.
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

SENTENCE = "the fee for a transfer abroad is charged to the account when it leaves and shown on the statement"
WORDS = SENTENCE.split()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--models", type=int, default=3)
    parser.add_argument("--failing", type=float, default=0.5)
    parser.add_argument("--context-chars", type=int, default=600)
    parser.add_argument("--failing-tests", action="store_true")
    arguments = parser.parse_args()
    cases, models = arguments.cases, arguments.models
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        failing_tests = arguments.failing if arguments.failing_tests else 0.0
        write_empty_tests(folder / "test_empty.py", cases * models, failing_tests)
        write_lab(folder / "big_lab.json", cases, models, arguments.failing, arguments.context_chars)
        bare = ["test_empty.py", "-p", "no:evalstudio"]
        plugin_run = ["big_lab.json", "--evalstudio-evaluators", "text_matching"]
        first_s, first_cpu, bare_mb = run(folder, bare)
        own_s, own_cpu, own_mb = run(folder, plugin_run)
        last_s, last_cpu, _ = run(folder, bare)
        print(
            f"{cases:,} cases x {models} models, text_matching, precomputed, {arguments.failing:.0%} failing,"
            f" contexts of {arguments.context_chars} characters"
        )
        print(
            f"bare pytest, {cases * models:,} empty tests, {failing_tests:.0%} failing: {first_s:.1f} s and"
            f" {last_s:.1f} s ({first_cpu:.1f} s and {last_cpu:.1f} s of processor); {bare_mb:.0f} MB"
        )
        print(f"whole run with report: {own_s:.1f} s ({own_cpu:.1f} s of processor); {own_mb:.0f} MB")
        print(
            f"ratio of time {2 * own_s / (first_s + last_s):.2f}, of processor time"
            f" {2 * own_cpu / (first_cpu + last_cpu):.2f}, of memory {own_mb / bare_mb:.2f}"
        )


def write_empty_tests(path: Path, number: int, failing: float) -> None:
    body = f"assert n >= {round(failing * number)}" if failing else "pass"
    test = f"@pytest.mark.parametrize('n', range({number}))\ndef test_empty(n):\n    {body}\n"
    path.write_text(f"import pytest\n\n\n{test}")


def write_lab(path: Path, cases: int, models: int, failing: float, context_chars: int) -> None:
    rng = random.Random(1)
    rows = []
    for model in range(models):
        for case in range(cases):
            text = " ".join(["fee", *rng.choices(WORDS, k=30)])
            context = " ".join(rng.choices(WORDS, k=context_chars // 3))[:context_chars]
            keyword = "nowhere" if rng.random() < failing else "fee"
            rows.append(
                {
                    "key": f"case-{case}",
                    "input": f"Question {case}: {' '.join(rng.choices(WORDS, k=10))}?",
                    "context": [context],
                    "categories": ["question_answering"],
                    "output_condition": f'"{keyword}" OR "absent"',
                    "actual_output": text,
                    "actual_duration": 0.5,
                    "cost": 0.001,
                    "model_key": f"m{model}",
                }
            )
    described = [
        {"key": f"m{number}", "llm_model_name": f"model-{number}", "model_type": "h2ogpte_llm"}
        for number in range(models)
    ]
    path.write_text(json.dumps({"name": "big", "dataset": {"inputs": rows}, "models": described}))


def run(folder: Path, arguments: list[str]) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and peak megabytes of one pytest process."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--tb=no", *arguments]
    start = time.perf_counter()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
