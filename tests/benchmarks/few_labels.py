"""Groundedness with few labels: the area under the ROC curve of the metric that labels choose.

usage: python tests/benchmarks/few_labels.py --sample LAB LABELS [--sample …] [--labels 100] [--draws 20]
           [--candidates A,B,…]

Draws answers with all their contexts, at most as many as `--labels`, chooses among the candidates as
`evalstudio calibrate --choose` does, and measures on answers that had no part in the choice:

* nested cross-validation within the drawn answers (five folds of whole contexts);
* the answers that were not drawn, if there are 40 or more.

Each figure is a mean over the draws, with the standard deviation between them. The first rows are the
candidates alone, on all labelled answers.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from agreement import auc, read_labels

from pytest_evalstudio import TestLab, evaluate
from pytest_evalstudio.metrics.grounding import read_source, text_parts

CANDIDATES = (
    "groundedness_signals",
    "supported_words",
    "supported_bigrams",
    "unsupported_words",
    "longest_copied_run",
)
FOLDS = 5
MIN_REST = 40
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description="Groundedness with few labels.")
    parser.add_argument("--sample", nargs=2, type=Path, action="append", required=True)
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--candidates", default=",".join(CANDIDATES))
    arguments = parser.parse_args()
    for lab, labels in arguments.sample:
        names = arguments.candidates.split(",")
        scores, truth, contexts = read_sample(lab, labels)
        scores = scores[:, [CANDIDATES.index(name) for name in names]]
        print(f"{lab.stem}: {len(truth)} labelled answers, {len(set(contexts.tolist()))} contexts")
        for name, column in zip(names, scores.T, strict=True):
            print(f"  {name:<24}{auc(column, truth):.3f}")
        for line in few_labels(names, scores, truth, contexts, arguments.labels, arguments.draws):
            print(f"  {line}")


def read_sample(lab: Path, labels: Path) -> tuple[Floats, Integers, Integers]:
    """Return scores of the candidates (higher is better), labels, and numbers of contexts of answers."""
    known_labels = read_labels(labels)
    rows, truth, contexts = [], [], []
    for result in evaluate(TestLab.load(lab), ["groundedness_signals", "lexical_groundedness"]):
        label = known_labels.get((result.task.key, result.task.model.key))
        values = {
            key: value for outcome in result.outcomes[0].values() for key, value in outcome.scores.items()
        }
        case = result.task.case
        if label is None or None in [values.get(name) for name in CANDIDATES[:-1]]:
            continue
        values["unsupported_words"] = -(values["unsupported_words"] or 0.0)
        values["longest_copied_run"] = longest_copied_run(case.actual_output, (case.question, *case.context))
        rows.append([values[name] for name in CANDIDATES])
        truth.append(label)
        contexts.append("\n".join(case.context))
    return np.array(rows, dtype=np.float64), np.array(truth), np.unique(contexts, return_inverse=True)[1]


def longest_copied_run(answer: str, sources: Sequence[str]) -> float:
    """Return the longest run of words whose neighbouring pairs the sources have, as a share of all words."""
    pairs = read_source(sources).bigrams
    keys = [key for part in text_parts(answer) for key in part.keys]
    longest = run = 0
    for pair in pairwise(keys):
        run = run + 1 if pair in pairs else 0
        longest = max(longest, run)
    return (longest + 1) / len(keys) if longest else 0.0


def few_labels(
    names: Sequence[str], scores: Floats, truth: Integers, contexts: Integers, count: int, draws: int
) -> Iterator[str]:
    """Yield the areas of the chosen metric and of the first one, and which was chosen how often."""
    nested: list[float] = []
    rest_areas: list[tuple[float, float]] = []
    choices: Counter[str] = Counter()
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        order = rng.permutation(np.unique(contexts))
        sizes = np.cumsum([np.count_nonzero(contexts == context) for context in order])
        mask = np.isin(contexts, order[: max(2, int(np.searchsorted(sizes, count, side="right")))])
        nested += cross_validated(scores[mask], truth[mask], contexts[mask], rng)
        at = best(scores[mask], truth[mask])
        choices[names[at]] += 1
        if np.count_nonzero(~mask) >= MIN_REST and len(set(truth[~mask].tolist())) == 2:
            rest, labels = scores[~mask], truth[~mask]
            rest_areas.append((auc(rest[:, at], labels), auc(rest[:, 0], labels)))
    yield f"at most {count} labels, nested cross-validation: {described(nested)}"
    if rest_areas:
        choice, default = (described([pair[side] for pair in rest_areas]) for side in (0, 1))
        yield f"at most {count} labels, answers not drawn: {choice}; {names[0]} {default}"
    yield f"chosen: {', '.join(f'{name} {times} of {draws}' for name, times in choices.most_common())}"


def best(scores: Floats, truth: Integers) -> int:
    """Return the candidate with the greatest area, the first of equals."""
    return int(np.argmax([auc(column, truth) for column in scores.T]))


def cross_validated(
    scores: Floats, truth: Integers, contexts: Integers, rng: np.random.Generator
) -> list[float]:
    """Return the mean area of the metrics that the training parts of folds choose; [] without any."""
    names = np.unique(contexts)
    fold_of = dict(zip(names.tolist(), rng.permutation(np.arange(len(names)) % FOLDS).tolist(), strict=True))
    folds = np.array([fold_of[context] for context in contexts.tolist()])
    areas = []
    for fold in range(FOLDS):
        test = folds == fold
        if len(set(truth[test].tolist())) == 2 and len(set(truth[~test].tolist())) == 2:
            areas.append(auc(scores[test][:, best(scores[~test], truth[~test])], truth[test]))
    return [float(np.mean(areas))] if areas else []


def described(values: Sequence[float]) -> str:
    """Return the mean and the standard deviation of figures."""
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}"


if __name__ == "__main__":
    main()
