"""Two xdist workers against one process, on answers that exist and evaluators of rules.

usage: python tests/benchmarks/xdist.py [--answers 2400] [--rounds 3] [--workers 0,2] [--suite FILE]
           [--evaluators IDS] [--context-factor 1]

Answers, contexts and expected answers are English sentences of this repository's documentation in which words
are exchanged at random; `--context-factor` makes the contexts that many times as long; `--suite` takes a lab,
suite or data set instead. Each round runs pytest with each
number of `--workers` in turn. Prints wall and processor seconds of each, and the ratio of the first to the
last. The ratio of wall times needs as many free cores as workers.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EVALUATORS = "rouge,bleu,lexical_groundedness,pii_leakage,sensitive_data_leakage,looping_detection"
REPOSITORY = Path(__file__).parents[2]
ANSWER_SENTENCES = (2, 7)
CONTEXT_SENTENCES = (6, 14)
CONTEXTS = 3
EXCHANGED = 0.15
"""Share of the words that are exchanged, so that no sentence occurs twice."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--answers", type=int, default=2_400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--suite", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--evaluators", default=EVALUATORS)
    parser.add_argument("--context-factor", type=int, default=1)
    parser.add_argument("--workers", default="0,2", help="values of -n, the first is compared with the last")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = arguments.suite.resolve() if arguments.suite else folder / "answers_lab.json"
        if not arguments.suite:
            write_lab(file, arguments.answers, arguments.seed, arguments.context_factor)
        numbers = arguments.workers.split(",")
        seconds: dict[str, list[tuple[float, float]]] = {number: [] for number in numbers}
        for _ in range(arguments.rounds):
            for number in numbers:
                seconds[number].append(run(folder, file, arguments.evaluators, number))
    for number, times in seconds.items():
        wall, processor = (statistics.median(values) for values in zip(*times, strict=True))
        print(f"-n {number}: {wall:.2f} s wall, {processor:.2f} s of processor time (medians)")
    first, last = seconds[numbers[0]], seconds[numbers[-1]]
    ratios = [a / b for (a, _), (b, _) in zip(first, last, strict=True)]
    rounds = ", ".join(f"{ratio:.2f}" for ratio in sorted(ratios))
    print(f"ratio of wall times {statistics.median(ratios):.2f} (rounds: {rounds})")


def write_lab(path: Path, number: int, seed: int, context_factor: int = 1) -> None:
    """Write a lab of one model with answers, contexts and expected answers."""
    rng = random.Random(seed)
    sentences = documentation()
    words = sorted({word for sentence in sentences for word in sentence.split() if word.isalpha()})
    rows = [row(index, sentences, words, rng, context_factor) for index in range(number)]
    model = {"key": "m", "name": "m", "llm_model_name": "m", "model_type": "h2ogpte"}
    path.write_text(json.dumps({"name": "answers", "dataset": {"inputs": rows}, "models": [model]}))


def row(
    index: int, sentences: list[str], words: list[str], rng: random.Random, context_factor: int
) -> dict[str, object]:
    """Return an answer, of which about half of the sentences are in the context."""
    contexts = [
        [
            text
            for _ in range(context_factor)
            for text in rng.sample(sentences, rng.randint(*CONTEXT_SENTENCES))
        ]
        for _ in range(CONTEXTS)
    ]
    support = rng.choice(contexts)
    length = rng.randint(*ANSWER_SENTENCES)
    answer = [rng.choice(support if rng.random() < 0.5 else sentences) for _ in range(length)]
    expected = [*answer[: length // 2 + 1], rng.choice(sentences)]
    return {
        "key": f"case-{index}",
        "input": exchange_words(rng.choice(sentences), words, rng),
        "context": [
            " ".join(exchange_words(sentence, words, rng) for sentence in context) for context in contexts
        ],
        "expected_output": " ".join(exchange_words(sentence, words, rng) for sentence in expected),
        "actual_output": " ".join(exchange_words(sentence, words, rng) for sentence in answer),
        "actual_duration": 0.5,
        "cost": 0.001,
        "categories": ["question_answering"],
        "model_key": "m",
    }


def exchange_words(sentence: str, words: list[str], rng: random.Random) -> str:
    """Exchange some words of a sentence."""
    return " ".join(rng.choice(words) if rng.random() < EXCHANGED else word for word in sentence.split())


def documentation() -> list[str]:
    """Return the sentences of this repository's documentation that are plain prose."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted((REPOSITORY / "docs").rglob("*.md")))
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    sentences = re.findall(r"[A-Z][^.|#\n]*(?:\n[^.|#\n]+)*\.(?=\s)", prose)
    return sorted(
        {" ".join(sentence.replace("`", "").split()) for sentence in sentences if 40 <= len(sentence) <= 250}
    )


def run(folder: Path, file: Path, evaluators: str, workers: str) -> tuple[float, float]:
    """Run pytest; return its wall seconds and the processor seconds of all its processes."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-q",
        "--tb=no",
        "-n",
        workers,
        str(file),
    ]
    command += ["--evalstudio-evaluators", evaluators, "--evalstudio-output", str(folder / "report")]
    command += [f"--rootdir={folder}"]
    before = os.times()
    start = time.perf_counter()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    result = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=False)
    wall = time.perf_counter() - start
    after = os.times()
    if result.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with status {result.returncode}")
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu_s


if __name__ == "__main__":
    main()
