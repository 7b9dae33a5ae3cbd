"""Power and false alarms of the statistics of model risk management, on simulated cases and real documents.

    python tests/benchmarks/mrm_power.py [--repeats 200]

Prints shares with their Monte Carlo error (one standard error): false clusters on random failures, ARI of
planted causes, false alarms of weakness detection where cases share chunks, its power for a cell of 20 cases
that is 0.8 standard deviations lower, and detection and false rejections of test validation.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.engine.scoring.model_provider import ModelProvider
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.workflow import Workflow
from pytest_evalstudio.mrm.steps.failure_clustering.method import LEVEL, group, structure
from pytest_evalstudio.mrm.steps.test_validation.results import ValidationResults
from pytest_evalstudio.mrm.steps.weakness_detection.method import find_all_weaknesses
from pytest_evalstudio.mrm.workflow.run import WorkflowRun
from pytest_evalstudio.record.score_table import Column, Scores, TableAnswer

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.failing import planted_texts, vectors_of

DOCUMENTS = Path(__file__).parents[1] / "data" / "documents"
TOPICS, KINDS, CELL = 6, 5, 20


def described(hits: int, total: int) -> str:
    """Return a share with its Monte Carlo error."""
    share = hits / total
    return (
        f"{share:.3f} ± {math.sqrt(max(share * (1 - share), 1 / total / 4) / total):.3f} ({hits} of {total})"
    )


def simulated(seed: int, *, effect: float, shared: float, metrics: int = 2) -> tuple[Scores, dict[str, str]]:
    """Return scores of 6 topics and 5 kinds with 20 cases in each cell, 5 cases of each chunk.

    Args:
        seed: of the scores.
        effect: standard deviations by which the first cell is lower in the first metric.
        shared: share of the variance that the cases of a chunk have in common.
        metrics: number of metrics.
    """
    rng = np.random.default_rng(seed)
    columns = {
        f"e.m{number}": Column(evaluator="e", metric=Metric(f"m{number}", primary=True, threshold=0.0))
        for number in range(metrics)
    }
    scores, groups = Scores(columns=columns, model_names={"m": "m"}), {}
    for topic in range(TOPICS):
        for chunk in range(CELL):
            common = rng.normal(size=metrics) * math.sqrt(shared)
            for kind in range(KINDS):
                key = f"{topic}_{chunk}_{kind}"
                groups[key] = f"{topic}_{chunk}"
                values = common + rng.normal(size=metrics) * math.sqrt(1 - shared)
                values[0] -= effect * (topic == 0 and kind == 0)
                answer = TableAnswer(
                    file="f",
                    key=key,
                    model_key="m",
                    test_key="",
                    categories=(f"topic:t{topic}", f"generator:k{kind}"),
                )
                answer.scores = {name: {1: float(value)} for name, value in zip(columns, values, strict=True)}
                scores.answers["f", key, "m"] = answer
    return scores, groups


def weak_points(repeats: int) -> Iterator[str]:
    """Yield false alarms and power of weakness detection."""
    for metrics, shared in ((2, 0.0), (2, 0.3), (2, 0.6), (1, 0.0)):
        alarms = found = 0
        for seed in range(repeats):
            scores, groups = simulated(seed, effect=0.0, shared=shared, metrics=metrics)
            results = find_all_weaknesses(scores, list(scores.columns), groups=groups, seed=seed)
            alarms += any(result.weak for result in results)
            scores, groups = simulated(seed, effect=0.8, shared=shared, metrics=metrics)
            results = find_all_weaknesses(scores, list(scores.columns), groups=groups, seed=seed)
            found += any(
                len(cell.by) == 2 and set(cell.by.values()) == {"t0", "k0"} for cell in results[0].weak_cells
            )
        design = f"weak points, {metrics} metric{'s' * (metrics > 1)}, {shared:.0%} shared by chunks"
        yield f"{design}: false alarms {described(alarms, repeats)}"
        yield f"{design}: power at 0.8 sd {described(found, repeats)}"


def failure_clusters(repeats: int) -> Iterator[str]:
    """Yield false clusters on random failures, and the recovery of planted causes at 200 cases."""
    for failures in (60, 170):
        false = 0
        for seed in range(repeats):
            texts, causes = planted_texts(seed, failures=failures, passes=200 - failures)
            failed = np.random.default_rng(seed + 10_000).permutation(np.array(causes) >= 0)
            tested = structure(vectors_of(texts), failed, seed=seed, progress=lambda *_: None)
            false += tested is not None and tested.p_value <= LEVEL
        yield f"clusters, {failures} of 200 cases fail at random: false clusters {described(false, repeats)}"
    scores, found = [], 0
    planted = max(1, repeats // 10)
    for seed in range(planted):
        texts, causes = planted_texts(seed, failures=85, passes=115)
        rows, failed = vectors_of(texts), np.array(causes) >= 0
        tested = structure(rows, failed, seed=seed, progress=lambda *_: None)
        found += tested is not None and tested.p_value <= LEVEL
        labels = group(rows, failed, clusters=None, seed=seed).labels
        scores.append(adjusted_rand_score(np.array(causes)[failed], labels))
    yield f"clusters, 3 planted causes in 85 of 200 cases: found {described(found, planted)}"
    mean, error = np.mean(scores), np.std(scores) / math.sqrt(planted)
    yield f"clusters, ARI of the planted causes: mean {mean:.3f} ± {error:.3f}, least {min(scores):.3f}"


def validation(repeats: int) -> Iterator[str]:
    """Yield detection and false rejections of test validation on the documents of the tests."""
    steps = ("topic_modeling", "test_generation", "test_validation")
    for name in ("development", "held_out"):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            workflow = Workflow(
                name=name,
                documents=[str(path) for path in sorted((DOCUMENTS / name).iterdir())],
                steps={
                    "topic_modeling": {"vectors": "tf-idf"},
                    "test_generation": {"count": 100},
                    "test_validation": {"vectors": "tf-idf"},
                },
            )
            registry = Registry()
            run = WorkflowRun(workflow, folder / "w_workflow.json", Configuration(folder=folder), registry)
            with closing(ModelProvider(cache=folder / "cache", registry=registry)) as provider:
                for step in steps:
                    run.run(step, provider=provider, cache=folder / "cache", progress=lambda *_: None)
            results = run.completed_results(steps[-1], ValidationResults)
        assert results is not None
        power = results.power
        assert power is not None
        planted = sum(fault.planted for fault in power.faults.values())
        detected = sum(fault.detected for fault in power.faults.values())
        rejected = round(power.false_rejections * results.cases)
        yield f"validation, {name} documents: faults detected {described(detected, planted)}"
        yield f"validation, {name} documents: false rejections {described(rejected, results.cases)}"


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    repeats = parser.parse_args().repeats
    for part in (validation, failure_clusters, weak_points):
        for line in part(repeats):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
