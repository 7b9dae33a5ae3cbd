"""ROUGE and BLEU of this package against those of the libraries that define them, as whole runs.

    python tests/benchmarks/ngram_libraries.py [--answers 2000] [--words 150] [--rounds 5]

Each round runs two processes in turn: `rouge` and `bleu` as they are, and the same evaluators with
`RougeScorer` of rouge-score and `sentence_bleu` of NLTK in place of the own functions. Prints the medians of
the processor time of the processes, imports included, their ratio, and whether all scores are equal.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence

TEXT = (
    "the fee for a transfer within country accounts is five euros and branches charge customers nothing when"
    " payments arrive before noon because systems process orders daily while lending rates rose"
)


def answers(number: int, words: int) -> list[tuple[str, str]]:
    """Return pairs of an answer and an expected answer."""
    rng, vocabulary = random.Random(7), TEXT.split()
    return [
        (" ".join(rng.choices(vocabulary, k=words)) + ".", " ".join(rng.choices(vocabulary, k=words)) + ".")
        for _ in range(number)
    ]


def use_libraries() -> None:
    """Replace the functions of the evaluators by those of the libraries."""
    from nltk.translate.bleu_score import sentence_bleu
    from rouge_score.rouge_scorer import RougeScorer

    from pytest_evalstudio.core.outcomes import Outcome
    from pytest_evalstudio.evaluators import ngrams

    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)

    def rouge(self: object, case: object, tokenize: object) -> Outcome:
        scores = scorer.score(case.expected_output, case.actual_output)  # type: ignore[attr-defined]
        return Outcome.score({f"rouge_{name[5:].lower()}": value.fmeasure for name, value in scores.items()})

    def bleu(answer: Sequence[str], expected: Sequence[str], n: int) -> float | None:
        weights = tuple(float(k == n) for k in range(1, 5))
        return float(sentence_bleu([expected], answer, weights=weights)) if len(answer) >= n else None

    ngrams.Rouge._score = rouge  # type: ignore[method-assign, assignment]
    ngrams.bleu_n = bleu  # type: ignore[assignment]


def run(number: int, words: int) -> None:
    """Evaluate and print the sums of the scores."""
    from pytest_evalstudio import LlmDataset, evaluate

    dataset = LlmDataset()
    for index, (answer, expected) in enumerate(answers(number, words)):
        dataset.add_input(f"Question {index}?", actual_output=answer, expected_output=expected)
    sums: Counter[str] = Counter()
    for result in evaluate(dataset, ["rouge", "bleu"]):
        for outcomes in result.outcomes:
            for outcome in outcomes.values():
                sums.update({name: score or 0.0 for name, score in outcome.scores.items()})
    print(json.dumps({name: round(value, 6) for name, value in sums.items()}))


def measure(arguments: argparse.Namespace, *more: str) -> tuple[float, str]:
    """Return the processor time of a process and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, __file__, "--answers", str(arguments.answers), "--words", str(arguments.words)]
    out = subprocess.run([*command, "--child", *more], check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=2_000, metavar="N")
    parser.add_argument("--words", type=int, default=150, metavar="N", help="of each answer")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--libraries", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        if arguments.libraries:
            use_libraries()
        run(arguments.answers, arguments.words)
        return
    package, libraries = [], []
    for _ in range(arguments.rounds):
        package.append(measure(arguments))
        libraries.append(measure(arguments, "--libraries"))
    first, second = (statistics.median(seconds for seconds, _ in side) for side in (package, libraries))
    print(f"package {first:.2f} s, libraries {second:.2f} s, ratio {second / first:.2f}")
    print("equal scores" if len({out for _, out in (*package, *libraries)}) == 1 else "DIFFERENT SCORES")


if __name__ == "__main__":
    main()
