"""Fit the weights of `groundedness_signals` to labelled samples, and measure them on data held out.

usage: python tests/benchmarks/fit_groundedness.py --sample LAB LABELS [--sample …] [--embeddings MODEL]
           [--write FILE]

LABELS is a CSV file with the columns key, model_key and label (1 = grounded, 0 = not; rows without a label
are left out). The report has two parts for each set of signals:

* each sample, and all samples but one, as training data, with the AUC on every other sample;
* nested cross-validation on all samples: folds are whole contexts, the strength of the penalty is chosen on
  the training folds only.

Intervals are 95 % intervals of a bootstrap that draws contexts. `--write` stores weights that are fitted to
all samples: no figure in the report is of those weights on those samples.

The model is a logistic regression with an L2 penalty on standardised signals. No weight may be negative,
because each signal is defined so that a higher value means better support. Each sample has its own intercept
and the same total weight.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from agreement import auc, read_labels, table
from scipy.optimize import minimize

from pytest_evalstudio import TestLab, evaluate
from pytest_evalstudio.metrics.groundedness import EMBEDDING_SIGNALS, LEXICAL_SIGNALS, Signal

EVALUATOR = "groundedness_signals"
PENALTIES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
DEFAULT_PENALTY = 0.1
"""Penalty of the fits to one sample and to all but one; fixed before the tests."""
FOLDS = 5
REPEATS = 5
DRAWS = 2000
ENTAILMENT_WEIGHT = 0.5
BEST = {"numbers": 0.0, "names": 0.0, "unsupported_span": 0.0} | {
    f"{prefix}{name}": 0.0 for prefix in ("", "aligned_") for name in ("negation", "restriction", "opposites")
}
"""Value of signals for a text that the context has word by word; 1.0 for all others."""


@dataclass(frozen=True)
class Sample:
    """Labelled answers.

    Attributes:
        signals: one row per answer, one column per aggregated signal.
        labels: 1 for grounded, 0 for not.
        groups: number of the context of each answer.
    """

    name: str
    signals: Any
    labels: Any
    groups: Any

    def part(self, rows: Any) -> Sample:
        """Return some of the rows."""
        return Sample(self.name, self.signals[rows], self.labels[rows], self.groups[rows])


@dataclass(frozen=True)
class Fit:
    """Weights per unit of each signal, and the mean of the samples' intercepts."""

    weights: Any
    intercept: float

    def scores(self, sample: Sample) -> Any:
        """Return the log-odds of each answer."""
        return sample.signals @ self.weights + self.intercept


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit the weights of groundedness_signals.")
    parser.add_argument("--sample", nargs=2, type=Path, action="append", required=True)
    parser.add_argument("--embeddings", default="", help="embedding model, e.g. package:NAME")
    parser.add_argument("--write", type=Path, help="JSON file for weights that are fitted to all samples")
    arguments = parser.parse_args()
    rows = {lab.stem: read_sample(lab, labels, arguments.embeddings) for lab, labels in arguments.sample}
    fitted: dict[str, object] = {}
    sets = {"lexical": LEXICAL_SIGNALS}
    if arguments.embeddings:
        sets["embedding"] = (*LEXICAL_SIGNALS, *EMBEDDING_SIGNALS)
    for name, signals in sets.items():
        keys = keys_of(signals)
        samples = [matrix(sample, keys, *answers) for sample, answers in rows.items()]
        print(f"\n{name} signals\n")
        print("\n".join(table([("Fitted to", *(sample.name for sample in samples)), *held_out(samples)])))
        fit = fitted_to(samples, DEFAULT_PENALTY)
        weights = {key: round(float(weight), 5) for key, weight in zip(keys, fit.weights, strict=True)}
        fitted[name] = {
            "intercept": round(fit.intercept, 5),
            "weights": {key: weight for key, weight in weights.items() if weight},
        }
    if arguments.write:
        arguments.write.write_text(document(fitted, list(rows), arguments.embeddings), encoding="utf-8")


def document(fitted: dict[str, object], samples: Sequence[str], embeddings: str) -> str:
    """Return the JSON document of the published weights."""
    content = {
        "provenance": {
            "script": "tests/benchmarks/fit_groundedness.py",
            "samples": list(samples),
            "embeddings": embeddings,
            "penalty": DEFAULT_PENALTY,
            "method": "logistic regression, weights not negative, L2 penalty, one intercept per sample",
        },
        **fitted,
        "entailment": {"weight": ENTAILMENT_WEIGHT, "provenance": "set by hand, not fitted"},
        "best": {signal.key: BEST.get(signal.key, 1.0) for signal in (*LEXICAL_SIGNALS, *EMBEDDING_SIGNALS)},
    }
    return json.dumps(content, indent=2) + "\n"


def keys_of(signals: Iterable[Signal]) -> list[str]:
    """Return the names of the aggregated signals."""
    return [f"{signal.key}.{part}" for signal in signals for part in ("mean", "min")]


def read_sample(
    lab: Path, labels: Path, embeddings: str
) -> tuple[list[dict[str, float]], list[int], list[str]]:
    """Return the aggregated signals, label and context of each labelled answer."""
    known_labels = read_labels(labels)
    config = {"embeddings": {"model": embeddings}} if embeddings else {}
    rows: list[dict[str, float]] = []
    truth: list[int] = []
    contexts: list[str] = []
    for result in evaluate(TestLab.load(lab), [EVALUATOR], config=config):
        (outcome,) = result.outcomes[0].values()
        label = known_labels.get((result.task.key, result.task.model.key))
        if label is not None and "signals" in outcome.details:
            rows.append(dict(outcome.details["signals"]))
            truth.append(label)
            contexts.append("\n".join(result.task.case.context))
    return rows, truth, contexts


def matrix(
    name: str,
    keys: Sequence[str],
    rows: Sequence[dict[str, float]],
    truth: Sequence[int],
    contexts: Sequence[str],
) -> Sample:
    """Return a sample with the named signals as columns."""
    signals = np.array([[row[key] for key in keys] for row in rows])
    return Sample(name, signals, np.array(truth), np.unique(contexts, return_inverse=True)[1])


def fitted_to(samples: Sequence[Sample], penalty: float) -> Fit:
    """Return the weights that minimise the penalised loss; each sample has the same total weight."""
    signals = np.vstack([sample.signals for sample in samples])
    signs = np.concatenate([np.where(sample.labels == 1, 1.0, -1.0) for sample in samples])
    place = np.concatenate([np.full(len(sample.labels), index) for index, sample in enumerate(samples)])
    share = np.concatenate([np.full(len(sample.labels), 1 / len(sample.labels)) for sample in samples])
    share /= share.sum()
    centre, spread = signals.mean(axis=0), signals.std(axis=0)
    varies = spread > 1e-9
    scaled = (signals - centre) / np.where(varies, spread, 1.0)
    columns = scaled.shape[1]

    def loss(parameters: Any) -> tuple[float, Any]:
        weights, intercepts = parameters[:columns], parameters[columns:]
        margins = (scaled @ weights + intercepts[place]) * signs
        slopes = -share * signs / (1 + np.exp(np.clip(margins, -500, 500)))
        value = float((share * np.logaddexp(0, -margins)).sum() + penalty * (weights**2).sum())
        gradient = [scaled.T @ slopes + 2 * penalty * weights, np.bincount(place, slopes, len(samples))]
        return value, np.concatenate(gradient)

    bounds = [(0.0, None)] * columns + [(None, None)] * len(samples)
    start = np.zeros(columns + len(samples))
    result = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    weights = np.where(varies, result.x[:columns] / np.where(varies, spread, 1.0), 0.0)
    return Fit(weights, float(result.x[columns:].mean() - centre @ weights))


def held_out(samples: Sequence[Sample]) -> list[tuple[str, ...]]:
    """Return a row of the report for each choice of training data; "fitted" marks training samples."""
    choices = [[sample] for sample in samples]
    if len(samples) > 2:
        choices += [[other for other in samples if other is not sample] for sample in samples]
    lines = []
    for training in choices:
        fit = fitted_to(training, DEFAULT_PENALTY)
        cells = [
            "fitted" if any(sample is other for other in training) else figure(sample, [fit.scores(sample)])
            for sample in samples
        ]
        lines.append((" + ".join(sample.name for sample in training), *cells))
    predictions = nested(samples)
    lines.append(
        (
            "all, nested cross-validation",
            *(figure(sample, scores) for sample, scores in zip(samples, predictions, strict=True)),
        )
    )
    return lines


def nested(samples: Sequence[Sample]) -> list[list[Any]]:
    """Return for each sample the scores of its answers in each repeat, by fits without their contexts."""
    predictions: list[list[Any]] = [[] for _ in samples]
    for repeat in range(REPEATS):
        folds = folds_of(samples, repeat)
        scores = [np.zeros(len(sample.labels)) for sample in samples]
        for fold in range(FOLDS):
            training = [
                sample.part(fold_numbers != fold) for sample, fold_numbers in zip(samples, folds, strict=True)
            ]
            fit = fitted_to(training, best_penalty(training, repeat))
            for sample, row_folds, values in zip(samples, folds, scores, strict=True):
                values[row_folds == fold] = fit.scores(sample.part(row_folds == fold))
        for values, sample_scores in zip(scores, predictions, strict=True):
            sample_scores.append(values)
    return predictions


def best_penalty(samples: Sequence[Sample], seed: int) -> float:
    """Return the penalty with the best mean AUC in cross-validation on the given samples only."""
    folds = folds_of(samples, seed + 1000)
    means = []
    for penalty in PENALTIES:
        scores = [np.zeros(len(sample.labels)) for sample in samples]
        for fold in range(FOLDS):
            training = [
                sample.part(fold_numbers != fold) for sample, fold_numbers in zip(samples, folds, strict=True)
            ]
            fit = fitted_to(training, penalty)
            for sample, row_folds, values in zip(samples, folds, scores, strict=True):
                values[row_folds == fold] = fit.scores(sample.part(row_folds == fold))
        means.append(
            np.mean([auc(values, sample.labels) for sample, values in zip(samples, scores, strict=True)])
        )
    return PENALTIES[int(np.argmax(means))]


def folds_of(samples: Sequence[Sample], seed: int) -> list[Any]:
    """Return the fold of each answer; answers to one context are in one fold."""
    rng = np.random.default_rng(seed)
    folds = []
    for sample in samples:
        contexts, positions = np.unique(sample.groups, return_inverse=True)
        folds.append(rng.permutation(np.arange(len(contexts)) % FOLDS)[positions])
    return folds


def figure(sample: Sample, scores: Sequence[Any]) -> str:
    """Return the mean AUC over repeats with the interval of a bootstrap that draws contexts."""
    values = [auc(each, sample.labels) for each in scores]
    rng = np.random.default_rng(0)
    contexts = [np.flatnonzero(sample.groups == group) for group in np.unique(sample.groups)]
    areas = []
    for _ in range(DRAWS):
        rows = np.concatenate([contexts[place] for place in rng.integers(len(contexts), size=len(contexts))])
        if 0 < sample.labels[rows].sum() < len(rows):
            areas.append(auc(scores[0][rows], sample.labels[rows]))
    low, high = np.quantile(areas, [0.025, 0.975])
    return f"{np.mean(values):.3f} ({low:.2f} – {high:.2f})"


if __name__ == "__main__":
    main()
