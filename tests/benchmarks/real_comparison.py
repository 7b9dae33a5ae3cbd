"""Comparison of the models of a lab, two by two, against scipy and statsmodels.

usage: python tests/benchmarks/real_comparison.py LAB [LABELS] [--evaluators rouge,lexical_groundedness]

The lab is evaluated; then each pair of models with at least eight questions in common is compared. With a
file of labels (columns key, model_key and label) people's labels are one more metric. Prints, for each
metric, ours and the reference: difference, interval, p, p after Holm, and verdict; then the largest
deviations.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from pytest_evalstudio.analysis.comparison.compare import compare
from pytest_evalstudio.analysis.comparison.sides import Side, read_side
from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.formats.lab import TestLab
from support.records import RecordBuilder, evaluator, score
from support.reference_comparison import reference

FEWEST = 8
Scores = dict[str, dict[str, float]]
"""Question to metric to score."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lab")
    parser.add_argument("labels", nargs="?")
    parser.add_argument("--evaluators", default="rouge,lexical_groundedness")
    arguments = parser.parse_args()
    by_model = scores_of(arguments.lab, arguments.evaluators.split(","), arguments.labels)
    deviations: list[tuple[float, float, bool]] = []
    for first, second in itertools.combinations(sorted(by_model), 2):
        deviations += compare_models(first, second, by_model)
    if not deviations:
        raise SystemExit("no two models have enough questions in common")
    agreements = sum(verdict for _, _, verdict in deviations)
    print(
        f"{len(deviations)} comparisons: {agreements} verdicts equal; largest difference of p"
        f" {max(p for p, _, _ in deviations):.2g}, of an end of an interval, in its width,"
        f" {max(end for _, end, _ in deviations):.2g}"
    )


def scores_of(lab: str, evaluators: list[str], labels: str | None) -> dict[str, Scores]:
    """Return the scores of each model by question and metric."""
    by_model: dict[str, Scores] = {}
    for result in evaluate(TestLab.load(lab), evaluators):
        scores = by_model.setdefault(result.task.model.key, {}).setdefault(result.task.key, {})
        for selected, verdict in result.verdicts.items():
            value = verdict.scores.get(selected.spec.primary.key)
            if value is not None:
                scores[selected.id] = value
    if labels:
        with open(labels, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["label"] and row["key"] in by_model.get(row["model_key"], {}):
                    by_model[row["model_key"]][row["key"]]["label"] = float(row["label"])
    return by_model


def compare_models(first: str, second: str, by_model: dict[str, Scores]) -> list[tuple[float, float, bool]]:
    """Print the comparison of two models, and return the deviations of p and interval."""
    base, new = by_model[first], by_model[second]
    keys = [key for key in base if key in new and base[key].keys() == new[key].keys()]
    if len(keys) < FEWEST:
        return []
    metrics = list(base[keys[0]])
    keys = [key for key in keys if list(base[key]) == metrics]
    pairs = {name: ([base[key][name] for key in keys], [new[key][name] for key in keys]) for name in metrics}
    expected = reference(pairs)
    rows = []
    for metric in compare(side(base, keys, metrics), side(new, keys, metrics)).metrics:
        target = expected[metric.evaluator]
        low, high = metric.low or 0.0, metric.high or 0.0
        width = max(target.interval[1] - target.interval[0], 1e-12)
        ends = max(abs(low - target.interval[0]), abs(high - target.interval[1])) / width
        print(
            f"{first[:8]} {second[:8]} {metric.evaluator}: n {metric.n}, {metric.difference:+.4f}"
            f" [{low:+.4f}, {high:+.4f}] p {metric.p:.4f} ({metric.p_adjusted:.4f}) {metric.verdict};"
            f" reference [{target.interval[0]:+.4f}, {target.interval[1]:+.4f}] p {target.p:.4f}"
            f" ({target.p_adjusted:.4f}) {target.verdict}"
        )
        rows.append((abs(metric.p - target.p), ends, metric.verdict == target.verdict))
    return rows


def side(scores: Scores, keys: list[str], metrics: list[str]) -> Side:
    builder = RecordBuilder(*(evaluator(name) for name in metrics))
    for key in keys:
        builder.add(key, "one", {"outcomes": {name: score(scores[key][name]) for name in metrics}})
    return read_side(builder.run, builder.typed_items)


if __name__ == "__main__":
    main()
