"""How well calibrations by people's labels hold on answers that they have not seen.

usage: python tests/benchmarks/calibration.py LAB LABELS [--config FILE] [--metric KEY] [--combined
    KEY,KEY...]

LABELS is a CSV file with the columns key, model_key and label (1 = good, 0 = bad; rows without a label are
left out). The lab is evaluated once; then labels are drawn at random, again and again, and the rest is what
the calibration is tested on. Printed are the mean coverage of the conformal sets of one metric, calibrated by
half of the labels, and the area under the ROC curve of several metrics in one score, calibrated by 100
labels. In a calibration one half of the labels that it is given fits the curve and the other half gives the
conformal quantile; beside it stands the same curve fitted to all 100, and each metric alone.

Last comes what the step `human_calibration` does with 40 labels, drawn in four rounds and in one: coverage of
the answers that were not drawn, of the half that those drawn at random are from; and how far the threshold
lies from that of the curve of all labels.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pytest_evalstudio import TestLab, evaluate
from pytest_evalstudio.analysis.stored_scores import read_scores
from pytest_evalstudio.contrib.calibration.fit.curves import fit, probabilities
from pytest_evalstudio.contrib.calibration.fit.sample import LabelledSample, sample
from pytest_evalstudio.contrib.calibration.labelling.draw import draw
from pytest_evalstudio.formats.labels import read_labels
from pytest_evalstudio.record.score_table import Column
from pytest_evalstudio.stats.calibration import area_under_roc
from pytest_evalstudio.stats.conformal import conformal_quantile, nonconformity
from support.labelled_answers import candidate

ALPHA = 0.1
SPLITS = 200
DRAWS = 20
LABELS = 100
STEP_LABELS = 40
ONE = "lexical_groundedness.supported_words"
SEVERAL = (
    "groundedness.groundedness,lexical_groundedness.supported_words,lexical_groundedness.unsupported_words"
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Calibrations on answers that they have not seen.")
    parser.add_argument("lab", type=Path)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--config", type=Path, help="configuration file: models, options of evaluators")
    parser.add_argument("--metric", default=ONE, help="whose conformal sets are tested")
    parser.add_argument("--combined", default=SEVERAL, help="metrics that make one score")
    arguments = parser.parse_args()
    config = tomllib.loads(arguments.config.read_text(encoding="utf-8")) if arguments.config else {}
    names = [arguments.metric, *arguments.combined.split(",")]
    evaluators = list(dict.fromkeys(name.partition(".")[0] for name in names))
    results = evaluate(
        TestLab.load(arguments.lab),
        evaluators,
        config=config,
        folder=arguments.config.parent if arguments.config else Path(),
    )
    with tempfile.TemporaryDirectory() as folder:
        scores = read_scores([results.write_record(folder)])
    labels = read_labels(arguments.labels)

    def labelled(*metrics: str) -> tuple[LabelledSample, list[Column]]:
        columns = [scores.column(metric) for metric in metrics]
        return sample(scores, labels, columns), columns

    for method in ("logistic", "isotonic"):
        values = [coverage(*labelled(arguments.metric), method, seed) for seed in range(SPLITS)]
        print_mean(f"coverage of {arguments.metric}, {method}, wanted {1 - ALPHA:g}", values)
    data = labelled(*arguments.combined.split(","))
    print(f"\narea under ROC, {LABELS} labels, tested on the other {len(data[0]) - LABELS} answers:")
    print_mean(
        f"{arguments.combined}",
        [area(*data, seed, half) for seed, half in draws(data[0])],
    )
    print_mean(
        "the same curve fitted to all of them",
        [area(*data, seed, lambda rows: rows) for seed in range(DRAWS)],
    )
    for metric in arguments.combined.split(","):
        labelled_sample = labelled(metric)
        print_mean(
            f"{metric} alone",
            [area(*labelled_sample, seed, half) for seed, half in draws(labelled_sample[0])],
        )
    print(f"\n{STEP_LABELS} labels as human_calibration draws them, {arguments.metric}:")
    for rounds in (4, 1):
        covered, distances = zip(
            *(in_rounds(*labelled(arguments.metric), rounds, seed) for seed in range(SPLITS)), strict=True
        )
        print_mean(f"{rounds} rounds, coverage", list(covered))
        percentiles = ", ".join(f"{value:.3f}" for value in np.percentile(distances, [50, 75, 90]))
        print(
            f"{rounds} rounds, distance of the threshold: {percentiles} (median, 75th and 90th percentile)",
            flush=True,
        )


def draws(data: LabelledSample) -> Iterator[tuple[int, Callable[[Any], Any]]]:
    """Seeds, each with what takes the half of some rows that fits the curve."""
    for seed in range(DRAWS):
        yield seed, lambda rows, seed=seed: data.halves(rows, seed)[0]


def coverage(data: LabelledSample, columns: list[Column], method: Any, seed: int) -> float:
    """Share of the sets that hold the label, of answers outside a random half that calibrates."""
    order = np.random.default_rng(seed).permutation(len(data))
    rows, others = data.halves(order[: len(data) // 2], seed)
    tested = order[len(data) // 2 :]
    curve = fit(
        method,
        data.scores[rows],
        data.labels[rows],
        good_from=1,
        metrics=[column.metric for column in columns],
        seed=seed,
    )
    quantile = conformal_quantile(
        nonconformity(probabilities(curve, data.scores[others]), data.good[others]),
        ALPHA,
    )
    return float(
        (nonconformity(probabilities(curve, data.scores[tested]), data.good[tested]) <= quantile).mean()
    )


def in_rounds(data: LabelledSample, columns: list[Column], rounds: int, seed: int) -> tuple[float, float]:
    """Coverage of answers that were not drawn, and the distance of the threshold from that by all labels."""
    metrics = [column.metric for column in columns]

    def fitted(rows: Any) -> Any:
        return fit(
            "logistic",
            data.scores[rows],
            data.labels[rows],
            good_from=1,
            metrics=metrics,
            seed=seed,
        )

    def curve(rows: Any) -> Any:
        return probabilities(fitted(rows), data.scores) if len(set(data.good[rows])) == 2 else None

    candidates = [candidate(str(at), "", place=float(score)) for at, score in enumerate(data.scores[:, 0])]
    selection = draw(
        candidates,
        range(len(data)),
        size=STEP_LABELS,
        rounds=rounds,
        seed=seed,
        probabilities=curve,
    )
    every = draw(
        candidates,
        range(len(data)),
        size=len(data),
        rounds=1,
        seed=seed,
        probabilities=curve,
    )
    rows, others = (
        [entry.at for entry in selection if entry.part == part] for part in ("curve", "conformal")
    )
    tested = [entry.at for entry in every if entry.part == "conformal" and entry.at not in others]
    result = fitted(rows)
    quantile = conformal_quantile(
        nonconformity(probabilities(result, data.scores[others]), data.good[others]),
        ALPHA,
    )
    covered = nonconformity(probabilities(result, data.scores[tested]), data.good[tested]) <= quantile
    return float(covered.mean()), abs(cutoff_score(result) - cutoff_score(fitted(np.arange(len(data)))))


def cutoff_score(curve: Any) -> float:
    """The score at which a logistic curve of one metric is at 0.5."""
    return float(curve.means[0] - curve.scales[0] * curve.intercept / curve.weights[0])


def area(data: LabelledSample, columns: list[Column], seed: int, part: Callable[[Any], Any]) -> float:
    """The area under the ROC curve of answers outside the labels drawn, of which a part fits the curve."""
    order = np.random.default_rng(seed).permutation(len(data))
    rows = part(order[:LABELS])
    curve = fit(
        "logistic",
        data.scores[rows],
        data.labels[rows],
        good_from=1,
        metrics=[column.metric for column in columns],
        seed=seed,
    )
    return area_under_roc(probabilities(curve, data.scores[order[LABELS:]]), data.good[order[LABELS:]])


def print_mean(what: str, areas: list[float]) -> None:
    print(
        f"{what}: {np.mean(areas):.3f} (mean of {len(areas)} draws; standard deviation {np.std(areas):.3f})",
        flush=True,
    )


if __name__ == "__main__":
    main()
