"""Measure whether rule-based evaluators see one fault in answers of eight forms, and spare the right answers.

usage: python tests/benchmarks/text_layer.py [--misses]

Each answer of `text_layer_answers.py` is judged with its passage by the evaluators below, with their default
thresholds: once as it is (right), once with its fault. The second half of the topics was not used for tuning.
"""

from __future__ import annotations

import argparse
from collections import Counter

from text_layer_answers import FORMS, TOPICS

from pytest_evalstudio import make_case
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.text.sentences import split_sentences

EVALUATORS = ("lexical_groundedness", "groundedness_signals", "looping_detection", "pii_leakage")
SEEN = 13
"""Topics that were looked at while the rules were tuned."""


def failing(case: Case) -> list[str]:
    """Return the metrics that fail an answer."""
    tools = Tools(split_sentences=split_sentences)
    failed = []
    for id in EVALUATORS:
        spec = Registry().evaluators.spec(id)
        (outcome,) = Registry().evaluators.get(id)().score([case], tools)
        for metric in spec.metrics:
            score = outcome.scores.get(metric.key)
            if metric.key in spec.deciding and score is not None and not metric.passes(score):
                failed.append(f"{id}.{metric.key}")
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Measure faults that evaluators see in answers of eight forms."
    )
    parser.add_argument(
        "--misses", action="store_true", help="print the answers of the first topics that are judged wrongly"
    )
    arguments = parser.parse_args()
    detections: Counter[tuple[str, bool]] = Counter()
    spared: Counter[tuple[str, bool]] = Counter()
    for number, topic in enumerate(TOPICS):
        half = number < SEEN
        for form, (answer, old, new) in zip(FORMS, topic.answers, strict=True):
            assert answer.count(old) == 1 or form != "prose", (topic.name, form)
            passage = topic.chinese if form == "Chinese" else topic.passage
            wrong = answer.replace(old, new, 1)
            assert wrong != answer, (topic.name, form)
            right_fails, wrong_fails = (
                failing(make_case(f"What about the {topic.name}?", text, context=[passage]))
                for text in (answer, wrong)
            )
            detections[form, half] += bool(wrong_fails)
            spared[form, half] += not right_fails
            if arguments.misses and half and right_fails:
                print(f"right and failing  {topic.name}, {form}: {answer!r} {right_fails}")
            if arguments.misses and half and not wrong_fails:
                print(f"fault not seen     {topic.name}, {form}: {wrong!r}")
    sizes = {True: SEEN, False: len(TOPICS) - SEEN}
    print(f"{'form':16} {'faults seen':>24} {'right ones failing':>24}")
    for form in (*FORMS, "all"):
        cells = []
        for half in (True, False):
            forms = FORMS if form == "all" else (form,)
            total = sizes[half] * len(forms)
            cells.append(
                (
                    sum(detections[each, half] for each in forms),
                    total - sum(spared[each, half] for each in forms),
                    total,
                )
            )
        faults = ", ".join(f"{hits}/{total}" for hits, _, total in cells)
        rights = ", ".join(f"{misses}/{total}" for _, misses, total in cells)
        print(f"{form:16} {faults:>24} {rights:>24}")
    faults_seen, right_failing = sum(detections.values()) / 200, 1 - sum(spared.values()) / 200
    print(f"faults seen {faults_seen:.3f}, right ones failing {right_failing:.3f} (topics tuned on, others)")


if __name__ == "__main__":
    main()
