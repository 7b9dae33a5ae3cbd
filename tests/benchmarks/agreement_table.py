"""Write the table of the documentation that compares all evaluators with human labels.

usage: python tests/benchmarks/agreement_table.py --sample NAME LAB LABELS [--sample …] [--config FILE]
           [--page tests/benchmarks/agreement.md]

Every evaluator that compares an answer with a context or an expected output is run on every sample. A cell
shows the area under the ROC curve with its 95 % interval, the cut that agrees best, and its balanced
accuracy; see agreement.py. An evaluator whose model or judge is not available, or whose inputs no sample
has, is listed as not measured. A metric whose weights were fitted to a sample is not measured on it.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path

from agreement import auc, auc_interval, best_cut, read_labels

from pytest_evalstudio import Registry, TestLab, evaluate
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.plugins.evaluator import EvaluatorSpec

NOT_MEASURED = "not measured: no data or weights"
FITTED = "fitted to it"
MIN_ROWS = 20
START, END = "<!-- agreement -->\n", "<!-- end of agreement -->"
Cell = str
Rows = dict[tuple[str, Metric], list[tuple[float, int]]]


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the table of agreement with human labels.")
    parser.add_argument(
        "--sample", nargs=3, action="append", required=True, metavar=("NAME", "LAB", "LABELS")
    )
    parser.add_argument("--config", type=Path, help="configuration file with models")
    parser.add_argument("--page", type=Path, help="page whose table is replaced; else it is printed")
    arguments = parser.parse_args()
    config: dict[str, object] = {}
    if arguments.config:
        config = tomllib.loads(arguments.config.read_text(encoding="utf-8"))
    models = {key: value for key, value in config.items() if isinstance(value, dict) and "model" in value}
    columns = {name: cells(Path(lab), Path(labels), models) for name, lab, labels in arguments.sample}
    text = "\n".join(lines(list(comparing_evaluators()), columns)) + "\n"
    if arguments.page is None:
        print(text, end="")
        return
    page = arguments.page.read_text(encoding="utf-8")
    arguments.page.write_text(replaced(page, text), encoding="utf-8")


def replaced(page: str, text: str) -> str:
    """Return a page with another table.

    Raises:
        ValueError: if the page has no place for the table.
    """
    if START not in page or END not in page:
        raise ValueError(f"the page has no lines {START.strip()} and {END}")
    return re.sub(f"{START}.*?{END}", lambda _: f"{START}{text}{END}", page, flags=re.DOTALL)


def comparing_evaluators() -> Iterator[EvaluatorSpec]:
    """Yield the evaluators that compare an answer with a context or an expected output."""
    evaluators = Registry().evaluators
    for id in evaluators:
        spec = evaluators.spec(id)
        if "actual_output" in spec.needs and {"context", "expected_output"} & set(spec.needs):
            yield spec


def fitted_samples() -> dict[str, tuple[str, ...]]:
    """Return the samples to which the published weights of an evaluator were fitted."""
    file = resources.files("pytest_evalstudio.metrics.groundedness") / "weights.json"
    provenance = json.loads(file.read_text(encoding="utf-8"))["provenance"]
    return {"groundedness_signals": tuple(provenance["samples"])}


def cells(lab: Path, labels: Path, config: Mapping[str, object]) -> dict[tuple[str, str], Cell]:
    """Return the figures of each evaluator and metric on a sample."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "all" leaves out what is not available
        results = evaluate(TestLab.load(lab), ["all"], config=config)
    truth = read_labels(labels)
    rows: Rows = {}
    for result in results:
        label = truth.get((result.task.key, result.task.model.key))
        for selected, outcome in result.outcomes[0].items():
            for metric in selected.spec.metrics:
                score = outcome.scores.get(metric.key) if outcome.status == "score" else None
                if label is not None and score is not None:
                    rows.setdefault((selected.id, metric), []).append((score, label))
    fitted = fitted_samples()
    return {
        (id, metric.key): FITTED if lab.stem in fitted.get(id, ()) else figures(metric, pairs)
        for (id, metric), pairs in rows.items()
        if is_informative(pairs)
    }


def is_informative(pairs: Sequence[tuple[float, int]]) -> bool:
    """Return True for enough rows with both labels and more than one score."""
    labels = [label for _, label in pairs]
    return (
        len(pairs) >= MIN_ROWS
        and min(labels.count(0), labels.count(1)) > 1
        and len({score for score, _ in pairs}) > 1
    )


def figures(metric: Metric, pairs: Sequence[tuple[float, int]]) -> Cell:
    """Return area, interval, cut and balanced accuracy as a cell of the table."""
    scores, labels = [score for score, _ in pairs], [label for _, label in pairs]
    low, high = auc_interval(scores, labels, better=metric.better)
    cutoff, accuracy = best_cut(scores, labels, better=metric.better)
    sign = "≥" if metric.better == "higher" else "≤"
    area = auc(scores, labels, better=metric.better)
    return f"{area:.2f} ({low:.2f}–{high:.2f}); {sign} {cutoff:.2f}: {accuracy:.2f}"


def lines(
    specs: Sequence[EvaluatorSpec], columns: Mapping[str, Mapping[tuple[str, str], Cell]]
) -> Iterator[str]:
    """Yield the lines of the table: metrics with figures, then the evaluators without."""
    yield f"| Metric | {' | '.join(columns)} |"
    yield f"| --- |{' --- |' * len(columns)}"
    missing = []
    for spec in specs:
        measured = [
            metric
            for metric in spec.metrics
            if any((spec.id, metric.key) in cell for cell in columns.values())
        ]
        for metric in measured:
            row = [column.get((spec.id, metric.key), "–") for column in columns.values()]
            yield f"| `{spec.id}` {metric.key} | {' | '.join(row)} |"
        if not measured:
            missing.append(spec.id)
    for id in missing:
        yield f"| `{id}` | {' | '.join([NOT_MEASURED] * len(columns))} |"


if __name__ == "__main__":
    main()
