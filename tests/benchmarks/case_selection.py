"""Pass rates of models that a selection of cases has not seen, by `evalstudio select`.

usage: python tests/benchmarks/case_selection.py [LAB BATTLES] [--budgets 10 20 30 50] [--suites 20]

Cross-validation: each model is left out, cases are selected by the verdicts of the others, and the model's
pass rate is estimated from the selected cases. Printed are the rank correlation with the pass rates of the
whole suite and the mean error, beside those of as many random cases (mean of 50 draws). Simulated suites have
300 cases and 12 models (two-parameter logistic, abilities from -1.5 to 1.5, no text). In a LAB a verdict is
the share of its grades in BATTLES that are 8 of 10 or better.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from pytest_evalstudio.contrib.planning.selection import CaseTable
from pytest_evalstudio.stats.types import Floats
from support.records import RecordBuilder, evaluator, score

MODELS, CASES, DRAWS = 12, 300, 50
GOOD = 8.0  # grade of a good answer, of 10


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("lab", nargs="?")
    parser.add_argument("battles", nargs="?")
    parser.add_argument("--budgets", type=int, nargs="+", default=[10, 20, 30, 50])
    parser.add_argument("--suites", type=int, default=20)
    arguments = parser.parse_args()
    for budget in arguments.budgets:
        if arguments.lab:
            questions, passes = games(Path(arguments.lab), Path(arguments.battles))
            results = [checked(questions, passes, budget, seed=0)]
        else:
            suites = map(simulated, range(arguments.suites))
            results = [checked({}, suite, budget, seed) for seed, suite in enumerate(suites)]
        correlation, error, by_chance, chance_error = np.asarray(results).mean(axis=0)
        print(
            f"{budget} cases: rank correlation {correlation:.3f}, mean error {error:.3f};"
            f" at random {by_chance:.3f} and {chance_error:.3f}",
            flush=True,
        )


def checked(questions: Mapping[str, str], passes: Floats, budget: int, seed: int) -> tuple[float, ...]:
    """Return rank correlation and error of selected and of random cases; `passes` has a row per case."""
    from scipy import stats

    names = tuple(f"model{number}" for number in range(passes.shape[1]))
    builder = RecordBuilder(evaluator("quality"), models=names)
    keys = list(questions) or [f"k{number}" for number in range(len(passes))]
    for key, row in zip(keys, passes, strict=True):
        for name, share in zip(names, row, strict=True):
            # A share of grades as 8 repeats.
            states = [number < round(8 * float(share)) for number in range(8)]
            verdict = {
                "status": "score",
                "passed": bool(share >= 0.5),
                "scores": {"score": float(share)},
                "missed": [],
                "repeats": states,
            }
            answer = {"outcomes": {"quality": score(float(share))}, "input": questions.get(key, key)}
            builder.add(key, name, answer, verdicts={"quality": verdict})
    table = CaseTable()
    table.add(builder.run, builder.typed_items)
    check = table.selection(budget).check
    assert check is not None
    assert check.error is not None
    rng = np.random.default_rng(seed)
    truths = passes.mean(axis=0)
    correlations, errors = [], []
    for _ in range(DRAWS):
        # Other cases for each model, as in the cross-validation.
        samples = (rng.choice(len(passes), min(budget, len(passes)), replace=False) for _ in truths)
        estimates = np.asarray([passes[sample, model].mean() for model, sample in enumerate(samples)])
        correlations.append(stats.spearmanr(truths, estimates).statistic if np.ptp(estimates) else 0.0)
        errors.append(np.abs(truths - estimates).mean())
    return check.correlation or 0.0, check.error, float(np.mean(correlations)), float(np.mean(errors))


def simulated(seed: int) -> Floats:
    rng = np.random.default_rng([20_261_124, seed])
    difficulty = rng.normal(-0.5, 1.2, (CASES, 1))
    discrimination = rng.lognormal(0.3, 0.5, (CASES, 1))
    ability = np.linspace(-1.5, 1.5, MODELS)
    probabilities = 1 / (1 + np.exp(-discrimination * (ability - difficulty)))
    return (rng.random(probabilities.shape) < probabilities).astype(np.float64)


def games(lab: Path, battles: Path) -> tuple[dict[str, str], Floats]:
    """Return the question of each prompt, and the share of good grades of each model on it."""
    rows = json.loads(lab.read_text(encoding="utf-8"))["dataset"]["inputs"]
    questions = {row["key"]: row["input"] for row in rows}
    grades: dict[tuple[str, str], list[float]] = defaultdict(list)
    with open(battles, encoding="utf-8", newline="") as file:
        for game in csv.DictReader(file):
            for side in "ab":
                good = float(float(game[f"score_{side}"]) >= GOOD)
                grades[game["prompt_key"], game[f"model_{side}"]].append(good)
    models = sorted({model for _, model in grades})
    return questions, np.asarray([[np.mean(grades[key, model]) for model in models] for key in questions])


if __name__ == "__main__":
    main()
