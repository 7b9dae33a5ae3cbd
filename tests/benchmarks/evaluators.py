"""Processor time of each rule evaluator per answer, alone and after the others on the same batch.

usage: python tests/benchmarks/evaluators.py [--answers 8000] [--rounds 5] [EVALUATOR ...]

Answers have about 850 characters and contexts 1,700: sentences of the documents of the tests, in the answer
in part those of the context. Prints the median milliseconds per answer of each
evaluator in a process of its own, and of all of them together, which share what they read from a text.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

DOCUMENTS = Path(__file__).parents[1] / "data" / "documents"

EVALUATORS = (
    "groundedness_signals",
    "bleu",
    "looping_detection",
    "lexical_groundedness",
    "rouge",
    "pii_leakage",
    "sensitive_data_leakage",
)
BATCH = 1_000


def all_sentences() -> list[str]:
    texts = (path.read_text(encoding="utf-8") for path in sorted(DOCUMENTS.rglob("*")) if path.is_file())
    return [
        sentence for text in texts for sentence in re.findall(r"[A-Z][^.!?|#\n]{40,200}[.!?](?=\s)", text)
    ]


def text(rng: random.Random, sentences: list[str], chars: int) -> list[str]:
    """Return sentences of together about as many characters, with up to two digits changed."""
    selection: list[str] = []
    while sum(map(len, selection)) < chars:
        sentence = rng.choice(sentences)
        selection.append(re.sub(r"\d", lambda _: str(rng.randint(1, 9)), sentence, count=rng.randint(0, 2)))
    return selection


def measure(names: list[str], answers: int) -> tuple[float, str]:
    """Return milliseconds per answer, and a digest of all scores, reasons and fragments."""
    from pytest_evalstudio import make_case
    from pytest_evalstudio.core.collecting import uncollected
    from pytest_evalstudio.core.plugins.registry import Registry
    from pytest_evalstudio.core.tools import Tools
    from pytest_evalstudio.text.sentences import split_sentences

    rng, sentences = random.Random(1), all_sentences()
    registry, tools = Registry(), Tools(split_sentences=split_sentences)
    evaluators = [registry.evaluators.get(name)() for name in names]
    digest = hashlib.sha256()
    spent_s, scored = 0.0, 0
    for start in range(-BATCH, answers, BATCH):
        cases = []
        for _ in range(BATCH):
            context = text(rng, sentences, 1_700)
            answer = rng.sample(context, len(context) // 4) + text(rng, sentences, 425)
            expected = " ".join(text(rng, sentences, 400))
            chunks = [" ".join(context[:6]), " ".join(context[6:])]
            cases.append(make_case("What holds?", " ".join(answer), expected_output=expected, context=chunks))
        start_s = time.process_time()
        with uncollected():  # as in a run
            outcomes = [evaluator.score(cases, tools) for evaluator in evaluators]
        if start >= 0:  # the first batch imports libraries
            spent_s += time.process_time() - start_s
            scored += BATCH
            for outcome in (outcome for batch in outcomes for outcome in batch):
                digest.update(repr((outcome.scores, outcome.reason, outcome.fragments)).encode())
    return spent_s / scored * 1000, digest.hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("evaluators", nargs="*", metavar="EVALUATOR")
    parser.add_argument("--answers", type=int, default=8_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    names = arguments.evaluators or list(EVALUATORS)
    if arguments.once:
        print(json.dumps(measure(names, arguments.answers)))
        return
    groups = [[name] for name in names] + ([names] if len(names) > 1 else [])
    for group in groups:
        command = [sys.executable, __file__, "--once", "--answers", str(arguments.answers), *group]
        results = [
            json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
            for _ in range(arguments.rounds)
        ]
        milliseconds = median(result[0] for result in results)
        print(f"{' + '.join(group)}: {milliseconds:.2f} ms per answer; results {results[0][1]}", flush=True)


if __name__ == "__main__":
    main()
