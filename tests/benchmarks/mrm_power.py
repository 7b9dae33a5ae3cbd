"""Power and false alarms of the statistics of model risk management, on simulated cases and real documents.

    python tests/benchmarks/mrm_power.py [--repeats 200] [--parts weak_topics weak_points]

Prints shares with their Monte Carlo error (one standard error): false clusters on random failures, ARI of
planted causes, power for the failures of two documents; false alarms of weakness detection where cases share
chunks, its power for a cell of 20 cases that is 0.8 standard deviations lower, and for a topic, 1 lower,
with a perfect model and one that fails a topic;
power of the paired comparison of yes-or-no verdicts; detection and false rejections of test validation.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from scipy.stats import binomtest
from sklearn.metrics import adjusted_rand_score

from pytest_evalstudio.contrib.validation.methods.failures.method import LEVEL, group, structure
from pytest_evalstudio.contrib.validation.methods.test_cases.results import ValidationResults
from pytest_evalstudio.contrib.validation.methods.variations.method import Variation, find_flips
from pytest_evalstudio.contrib.validation.methods.weaknesses.method import find_all_weaknesses
from pytest_evalstudio.contrib.validation.steps.test_generation.results import SUITE
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow_file import Workflow
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.record.score_table import Column, Scores, TableAnswer
from pytest_evalstudio.scoring.model_provider import ModelProvider

sys.path.insert(0, str(Path(__file__).parents[1]))
from support.failing import planted_texts, vectors_of

DOCUMENTS = Path(__file__).parents[1] / "data" / "documents"
TOPICS, KINDS, CELL = 6, 5, 20
PERMUTATIONS = 1_000_000
"""First seed of permutations, which are independent of the scores."""


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
        alarms = actual = 0
        for seed in range(repeats):
            scores, groups = simulated(seed, effect=0.0, shared=shared, metrics=metrics)
            results = find_all_weaknesses(
                scores, list(scores.columns), groups=groups, seed=PERMUTATIONS + seed
            )
            alarms += any(result.weak for result in results)
            scores, groups = simulated(seed, effect=0.8, shared=shared, metrics=metrics)
            results = find_all_weaknesses(
                scores, list(scores.columns), groups=groups, seed=PERMUTATIONS + seed
            )
            actual += any(
                len(cell.by) == 2 and set(cell.by.values()) == {"t0", "k0"} for cell in results[0].weak_cells
            )
        design = f"weak points, {metrics} metric{'s' * (metrics > 1)}, {shared:.0%} shared by chunks"
        yield f"{design}: false alarms {described(alarms, repeats)}"
        yield f"{design}: power at 0.8 sd {described(actual, repeats)}"


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
    scores, actual = [], 0
    planted = max(1, repeats // 10)
    for seed in range(planted):
        texts, causes = planted_texts(seed, failures=85, passes=115)
        rows, failed = vectors_of(texts), np.array(causes) >= 0
        tested = structure(rows, failed, seed=seed, progress=lambda *_: None)
        actual += tested is not None and tested.p_value <= LEVEL
        labels = group(rows, failed, clusters=None, seed=seed).labels
        scores.append(adjusted_rand_score(np.array(causes)[failed], labels))
    yield f"clusters, 3 planted causes in 85 of 200 cases: found {described(actual, planted)}"
    mean, error = np.mean(scores), np.std(scores) / math.sqrt(planted)
    yield f"clusters, ARI of the planted causes: mean {mean:.3f} ± {error:.3f}, least {min(scores):.3f}"


def completed(
    folder: Path, name: str, documents: Sequence[Path], steps: Sequence[str], count: int
) -> WorkflowRun:
    """Return a workflow on some documents after some steps."""
    vectors = {"vectors": "tf-idf"}
    workflow = Workflow(
        name=name,
        documents=[str(path) for path in documents],
        steps={"topic_modeling": vectors, "test_generation": {"count": count}, "test_validation": vectors},
    )
    registry = Registry()
    run = WorkflowRun(workflow, folder / "w_workflow.json", Configuration(folder=folder), registry)
    with closing(ModelProvider(cache=folder / "cache", registry=registry)) as provider:
        for step in steps:
            run.run(step, provider=provider, cache=folder / "cache", progress=lambda *_: None)
    return run


def validation(repeats: int) -> Iterator[str]:
    """Yield detection and false rejections of test validation on the documents of the tests."""
    steps = ("topic_modeling", "test_generation", "test_validation")
    for name in ("development", "held_out"):
        with tempfile.TemporaryDirectory() as scratch:
            run = completed(Path(scratch), name, sorted((DOCUMENTS / name).iterdir()), steps, count=100)
            results = run.completed_results(steps[-1], ValidationResults)
        assert results is not None
        power = results.power
        planted = sum(fault.planted for fault in power.faults.values())
        detected = sum(fault.detected for fault in power.faults.values())
        rejected = round(power.false_rejections * results.cases)
        yield f"validation, {name} documents: faults detected {described(detected, planted)}"
        yield f"validation, {name} documents: false rejections {described(rejected, results.cases)}"


def weak_topics(repeats: int) -> Iterator[str]:
    """Yield false alarms and power for a topic that is 1 sd lower: 200 cases, 7 topics, 5 cases per chunk."""
    for kinds in (0, 4, 6):
        alarms = actual = 0
        for seed in range(repeats):
            for effect in (0.0, 1.0):
                scores, groups = topics_of_chunks(seed, effect=effect, kinds=kinds)
                (result,) = find_all_weaknesses(scores, ["e.m0"], groups=groups, seed=PERMUTATIONS + seed)
                alarms += effect == 0.0 and bool(result.weak)
                actual += effect > 0.0 and any(cell.by == {"topic": "t0"} for cell in result.weak_cells)
        yield f"weak topic, {kinds} kinds of question: false alarms {described(alarms, repeats)}"
        yield f"weak topic, {kinds} kinds of question: power at 1 sd {described(actual, repeats)}"


def weak_topic_controls(repeats: int) -> Iterator[str]:
    """Yield alarms for a perfect model, and the power for one that fails every case of a topic."""
    for kinds in (0, 6):
        alarms = actual = 0
        for seed in range(repeats):
            for is_broken in (False, True):
                scores, groups = topics_of_chunks(seed, effect=0.0, kinds=kinds)
                for answer in scores.answers.values():
                    answer.scores["e.m0"] = {1: float(not is_broken or "topic:t0" not in answer.categories)}
                (result,) = find_all_weaknesses(scores, ["e.m0"], groups=groups, seed=PERMUTATIONS + seed)
                alarms += not is_broken and bool(result.weak)
                actual += is_broken and any(cell.by == {"topic": "t0"} for cell in result.weak_cells)
        design = f"weak topic, {kinds} kinds of question"
        yield f"{design}: perfect model, false alarms {described(alarms, repeats)}"
        yield f"{design}: all cases of a topic fail, found {described(actual, repeats)}"


def topics_of_chunks(seed: int, *, effect: float, kinds: int) -> tuple[Scores, dict[str, str]]:
    """Return scores of 40 chunks of 7 topics with 5 cases each; their correlation within a chunk is 0.3.

    Args:
        seed: of the scores.
        effect: standard deviations by which the first topic is lower.
        kinds: of questions, drawn at random; 0 for none.
    """
    rng = np.random.default_rng(seed)
    column = Column(evaluator="e", metric=Metric("m0", primary=True, threshold=0.0))
    scores, groups = Scores(columns={"e.m0": column}, model_names={"m": "m"}), {}
    for number in range(200):
        chunk = number // 5
        if number % 5 == 0:
            common = rng.normal() * math.sqrt(0.3)
        key = f"k{number}"
        groups[key] = f"c{chunk}"
        categories = [f"topic:t{chunk % 7}", *([f"generator:k{rng.integers(kinds)}"] if kinds else [])]
        answer = TableAnswer(file="f", key=key, model_key="m", test_key="", categories=tuple(categories))
        value = common + rng.normal() * math.sqrt(0.7) - effect * (chunk % 7 == 0)
        answer.scores = {"e.m0": {1: float(value)}}
        scores.answers["f", key, "m"] = answer
    return scores, groups


def failing_documents(repeats: int) -> Iterator[str]:
    """Yield the power for failures of two of eight documents, 86 cases, and false clusters at random."""
    texts, sources = generated_questions()
    names = sorted(name for name, count in Counter(sources).items() if count >= 8)
    for label, noise, planted in (("5 % noise", 0.05, 2), ("10 % noise", 0.1, 2), ("at random", 0.0, 0)):
        hits = 0
        for seed in range(repeats):
            rng = np.random.default_rng(seed)
            documents = rng.choice(names, 8, replace=False)
            rows = rng.permutation([at for at, name in enumerate(sources) if name in documents])[:86]
            failed = np.isin([sources[at] for at in rows], documents[:2])
            failed = (failed if planted else rng.permutation(failed)) ^ (rng.random(len(rows)) < noise)
            vectors = vectors_of([texts[at] for at in rows])
            tested = structure(vectors, failed, seed=seed, progress=lambda *_: None)
            hits += tested is not None and tested.is_clustered
        yield f"clusters, failures of two documents of 86 cases, {label}: found {described(hits, repeats)}"


def generated_questions() -> tuple[list[str], list[str]]:
    """Return questions with expected answers from the documents of the tests, and their documents."""
    paths = [
        path
        for name in ("development", "held_out", "further")
        for path in sorted((DOCUMENTS / name).iterdir())
    ]
    with tempfile.TemporaryDirectory() as scratch:
        run = completed(Path(scratch), "all", paths, ("topic_modeling", "test_generation"), count=400)
        suite = json.loads((run.folder_of("test_generation") / SUITE).read_text(encoding="utf-8"))
    cases = suite["tests"][0]["test_cases"]
    texts = [f"{case['prompt']}\n{case['expected_output']}" for case in cases]
    return texts, [case["source_document"] for case in cases]


def paired_verdicts(repeats: int) -> Iterator[str]:
    """Yield the power of the step's test of pass-to-fail flips, and that of McNemar's exact test."""
    for cases, share in ((20, 0.2), (40, 0.12), (40, 0.0)):
        rng = np.random.default_rng(cases)
        actual = exact = 0
        for _ in range(repeats):
            fails = (rng.random(cases) < share + 0.02).tolist()
            before = (rng.random(cases) < 0.02).tolist()
            variations = [
                Variation(
                    key=f"v{at}",
                    original=f"k{at}",
                    perturbator="comma:LOW",
                    meaning_kept=True,
                    is_copy=False,
                    categories=(),
                    failed_before=old,
                    failed=new,
                    scores={"e.passes": (float(not old), float(not new))},
                    flips={},
                    compared=(),
                )
                for at, (old, new) in enumerate(zip(before, fails, strict=True))
            ]
            (row,) = find_flips(variations, {"e.passes": "higher"}, alpha=0.05).by_perturbator
            actual += row.is_sensitive
            to_fail = sum(new and not old for old, new in zip(before, fails, strict=True))
            to_pass = sum(old and not new for old, new in zip(before, fails, strict=True))
            exact += (
                to_fail > 0 and binomtest(to_fail, to_fail + to_pass, alternative="greater").pvalue <= 0.05
            )
        design = f"paired verdicts, {cases} cases, {share:.0%} more fail"
        power, exact_power = described(actual, repeats), described(exact, repeats)
        yield f"{design}: found {power}, McNemar's exact test {exact_power}"


def main() -> None:
    """Print all figures."""
    parts = {
        part.__name__: part
        for part in (
            paired_verdicts,
            weak_topics,
            weak_topic_controls,
            weak_points,
            failing_documents,
            failure_clusters,
            validation,
        )
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    arguments = parser.parse_args()
    repeats = arguments.repeats
    for part in (parts[name] for name in arguments.parts):
        for line in part(repeats):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
