"""How well evaluators agree with people: a lab's scores against human labels.

usage: python tests/benchmarks/agreement.py LAB LABELS [--evaluators a,b] [--config FILE]

LABELS is a CSV file with the columns key, model_key and label (1 = good, 0 = bad; rows without a label are
left out). Printed is, for every metric of the evaluators: the area under the ROC curve with its 95 % interval
(0.5: no better than chance; the direction of "better" is the metric's own, so that less than 0.5 means that
people prefer what it dislikes), the cut that agrees best with the labels, and its balanced accuracy. The cut
is chosen on the rows that it is measured on: on others it will do a little worse.
"""

from __future__ import annotations

import argparse
import csv
import math
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pytest_evalstudio import TestLab, evaluate
from pytest_evalstudio.core.outcomes import Metric

HEAD = ("Metric", "AUC", "95 % interval", "Best cut", "Balanced accuracy", "Rows")


def main() -> None:
    parser = argparse.ArgumentParser(description="Agreement of evaluators with human labels.")
    parser.add_argument("lab", type=Path)
    parser.add_argument("labels", type=Path)
    parser.add_argument(
        "--evaluators", default="", help="ids, comma-separated (default: the configuration's)"
    )
    parser.add_argument("--config", type=Path, help="configuration file: evaluators, thresholds, models")
    arguments = parser.parse_args()
    config = tomllib.loads(arguments.config.read_text(encoding="utf-8")) if arguments.config else {}
    evaluators = [name.strip() for name in arguments.evaluators.split(",") if name.strip()] or None
    labels = read_labels(arguments.labels)
    lines = list(
        agreement(
            TestLab.load(arguments.lab),
            labels,
            evaluators,
            config,
            arguments.config.parent if arguments.config else Path(),
        )
    )
    counts = [list(labels.values()).count(label) for label in (1, 0)]
    print(
        f"{arguments.lab.name}: {counts[0]} answers that people call good, {counts[1]} that they call bad\n"
    )
    print("\n".join(table([HEAD, *lines])))


def read_labels(path: Path) -> dict[tuple[str, str], int]:
    """(case, model) to label, of the rows that have one."""
    with open(path, encoding="utf-8", newline="") as file:
        return {
            (row["key"], row["model_key"]): int(row["label"])
            for row in csv.DictReader(file)
            if row["label"].strip()
        }


def agreement(
    lab: TestLab,
    labels: dict[tuple[str, str], int],
    evaluators: list[str] | None,
    config: dict[str, Any],
    folder: Path,
) -> Iterator[tuple[str, ...]]:
    """A line of the table per metric, in the order of the evaluators."""
    results = evaluate(lab, evaluators, config=config, folder=folder)
    actual: dict[tuple[str, Metric], list[tuple[float, int]]] = {}
    for result in results:
        label = labels.get((result.task.key, result.task.model.key))
        for selected, outcome in result.outcomes[0].items():
            for metric in selected.spec.metrics:
                rows = actual.setdefault((selected.id, metric), [])
                score = outcome.scores.get(metric.key) if outcome.status == "score" else None
                if label is not None and score is not None:
                    rows.append((score, label))
    for (id, metric), rows in actual.items():
        scores, truth = [score for score, _ in rows], [label for _, label in rows]
        name = f"`{id}`: {metric.key}"
        if len(set(truth)) < 2:
            yield (name, "–", "–", "–", "–", str(len(rows)))
            continue
        low, high = auc_interval(scores, truth, better=metric.better)
        cutoff, accuracy = best_cut(scores, truth, better=metric.better)
        sign = "≥" if metric.better == "higher" else "≤"
        yield (
            name,
            f"{auc(scores, truth, better=metric.better):.3f}",
            f"{low:.2f} – {high:.2f}",
            f"{sign} {cutoff:.4g}",
            f"{accuracy:.3f}",
            str(len(rows)),
        )


def auc(scores: Sequence[float], labels: Sequence[int], *, better: str = "higher") -> float:
    """Area under the ROC curve: how often a good answer scores better than a bad one, ties counted half.

    Args:
        labels: 1 for good, 0 for bad; both must occur.
        better: "higher" or "lower".

    Returns:
        A fraction; 0.5 for a score that tells nothing.

    Raises:
        ValueError: if there are only good or only bad answers.

    >>> auc([0.9, 0.4, 0.6], [1, 0, 0])
    1.0
    """
    return float(_wins(scores, labels, better).mean())


def auc_interval(
    scores: Sequence[float], labels: Sequence[int], *, better: str = "higher"
) -> tuple[float, float]:
    """95 % interval of `auc`, by the normal approximation.

    Source: DeLong, DeLong and Clarke-Pearson, 1988: the variance from the placements of each good and each
        bad answer.
    """
    wins = _wins(scores, labels, better)
    spread = [
        float(placements.var(ddof=1)) / len(placements) if len(placements) > 1 else 0.25
        for placements in (wins.mean(axis=1), wins.mean(axis=0))
    ]
    half = 1.96 * math.sqrt(sum(spread))
    value = float(wins.mean())
    return max(0.0, value - half), min(1.0, value + half)


def _wins(scores: Sequence[float], labels: Sequence[int], better: str) -> Any:
    """Each good answer (rows) against each bad one (columns): 1 for a better score, 0.5 for the same."""
    values, truth = (
        np.asarray(scores, dtype=np.float64) * (1 if better == "higher" else -1),
        np.asarray(labels),
    )
    good, bad = values[truth == 1], values[truth == 0]
    if not len(good) or not len(bad):
        raise ValueError("only good or only bad answers: there is nothing to tell apart")
    return (good[:, None] > bad[None, :]) + 0.5 * (good[:, None] == bad[None, :])


def best_cut(
    scores: Sequence[float], labels: Sequence[int], *, better: str = "higher"
) -> tuple[float, float]:
    """The threshold that agrees best with the labels; a score equal to it passes.

    Args:
        labels: 1 for good, 0 for bad; both must occur.
        better: "higher" or "lower".

    Returns:
        (cut, balanced accuracy): of several cuts that agree as well, the one that lets most pass. Balanced
        accuracy is the mean of the shares of good answers that pass and of bad ones that do not.

    Raises:
        ValueError: if there are only good or only bad answers.

    >>> best_cut([0.9, 0.4, 0.6], [1, 0, 0])
    (0.9, 1.0)
    """
    values, truth = np.asarray(scores, dtype=np.float64), np.asarray(labels)
    if len(set(labels)) < 2:
        raise ValueError("only good or only bad answers: there is nothing to tell apart")
    entries = []
    for cutoff in np.unique(values):
        passes = values >= cutoff if better == "higher" else values <= cutoff
        entries.append(
            (
                float(passes[truth == 1].mean() + (~passes[truth == 0]).mean()) / 2,
                int(passes.sum()),
                float(cutoff),
            )
        )
    accuracy, _, cutoff = max(entries)
    return cutoff, accuracy


def table(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines as a Markdown table with columns of even width; the first is its head."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    for line in (lines[0], rule, *lines[1:]):
        cells = [
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
