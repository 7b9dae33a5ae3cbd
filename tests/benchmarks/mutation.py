"""Processor time of a mutation test, compared with scoring the same texts as answers of a lab.

usage: python tests/benchmarks/mutation.py [ANSWERS] [ROUNDS]

Target: at most 1.2 × the time of bare scoring. Both sides run in turn in one process, after a round that is
not counted; the median of the rounds is printed.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from pytest_evalstudio.api import evaluate as engine
from pytest_evalstudio.contrib.mutation import testing
from pytest_evalstudio.contrib.mutation.subjects import Subject, SubjectGroup, Subjects
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.scoring.model_provider import ModelProvider

EVALUATORS = ("text_matching", "rouge", "lexical_groundedness")
CONFIG = configuration({"evaluators": list(EVALUATORS), "evaluator": {"rouge": {"threshold": 0.1}}})


def subject(number: int) -> Subject:
    """Return an answer of two sentences with numbers, a name and a unit."""
    fee, days = 5 + number % 90, 2 + number % 20
    text = (
        f"Thank you for asking, here is what the schedule of the branch in Leeds says about item {number}."
        f" A transfer of kind {number} costs {fee} USD and takes at least {days} days in all cases."
    )
    row = Row(
        key=f"k{number}",
        input=f"What does a transfer of kind {number} cost, and how long does it take?",
        actual_output=text,
        expected_output=f"It costs {fee} USD and takes at least {days} days.",
        output_condition=f'"{fee} USD"',
        context=[text, f"Cards of kind {number} are sent by post and have no fee in the first year."],
        evaluators={id: {} for id in EVALUATORS},
    )
    return Subject(row=row, file="lab.json", model="m", retrieves=True)


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main(answers: int, rounds: int) -> None:
    registry = Registry()
    subjects = Subjects(
        groups=[SubjectGroup(answers=[*map(subject, range(answers))], config=CONFIG, folder=Path())],
        not_asked={},
    )
    labs: list[TestLab] = []
    ratios, mutation_s, bare = [], [], []
    with closing(ModelProvider(cache=None, registry=registry)) as provider:

        def mutate() -> object:
            return testing.mutation_test(subjects, registry=registry, provider=provider, source="lab")

        def score() -> None:
            for lab in labs:
                engine.evaluate_lab(lab, CONFIG, registry=registry, provider=provider, folder=Path())

        def noted(lab: TestLab, *rest: object, **more: object) -> object:
            labs.append(lab)
            return engine.evaluate_lab(lab, *rest, **more)  # type: ignore[arg-type]

        with mock.patch.object(testing, "evaluate_lab", noted):
            mutate()
        for _ in range(rounds):
            mutation_s.append(seconds(mutate))
            bare.append(seconds(score))
            ratios.append(mutation_s[-1] / bare[-1])
    rows = sum(len(lab.dataset.inputs) for lab in labs)
    print(
        f"{answers} answers, {rows} texts: mutation test {statistics.median(mutation_s):.2f} s, bare scoring"
        f" {statistics.median(bare):.2f} s, ratio {statistics.median(ratios):.2f}"
        f" ({min(ratios):.2f} to {max(ratios):.2f})"
    )


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    main(*(numbers + [300, 5][len(numbers) :]))
