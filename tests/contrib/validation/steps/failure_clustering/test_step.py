"""Step 6: what failures have in common, and what is said where nothing can be."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.contrib.validation.methods.failures import method as failures
from pytest_evalstudio.contrib.validation.methods.failures.judged import read_evaluation
from pytest_evalstudio.contrib.validation.steps.failure_clustering.step import FailureClustering
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.step import StepResult
from pytest_evalstudio.formats.options import OptionError
from support.failing import CAUSES, planted_texts, write_failing
from support.records import RecordBuilder, evaluator, metric, score
from support.workbench import Bench, configured


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "COMPONENTS", (5, 10))
    monkeypatch.setattr(failures, "REFERENCES", 39)


def clustered(
    folder: Path, seed: int = 0, *, count: int = 36, passes: int = 40, words: int = 6, **parameters: Any
) -> tuple[Bench, StepResult]:
    bench = Bench(folder, {"document.txt": "A fee."}, seed=seed)
    write_failing(
        bench.of("automated_evaluation"), *planted_texts(seed, failures=count, passes=passes, words=words)
    )
    return bench, run(bench, **parameters)


def run(bench: Bench, **parameters: Any) -> StepResult:
    return FailureClustering(**{"vectors": "tf-idf", **parameters}).run(
        bench.work("failure_clustering", "automated_evaluation")
    )


def test_each_planted_cause_is_a_cluster_and_a_problem(tmp_path: Path) -> None:
    bench, step_result = clustered(tmp_path)
    result = bench.read("failure_clustering", "failure_clusters.json")
    assert [cluster["size"] for cluster in result["clusters"]] == [12, 12, 12]
    for cluster in result["clusters"]:
        numbers = {int(key[1:]) % 3 for key in cluster["cases"]}
        assert len(numbers) == 1, "the cases of one cause"
        (cause,) = numbers
        assert set(cluster["words"][:4]) <= set(CAUSES[cause].split())
        (topic, *_) = cluster["over_represented"]
        assert (topic["dimension"], topic["value"], topic["share"]) == ("topic", str(cause), 1.0)
        assert all(typical["key"] in cluster["cases"] for typical in cluster["typical"])
        assert cluster["missed"] == [{"evaluator": "quality", "metric": "score", "cases": 12, "mean": 0.0}]
    assert step_result.summary == "36 failures in 3 clusters"
    assert [problem.attributes["kind"] for problem in step_result.problems] == ["failure_cluster"] * 3
    assert {problem.severity for problem in step_result.problems} == {"high"}
    assert "12 of 36 failures: " in step_result.problems[0].description
    assert result["cases"] == {
        "failed": 36,
        "passed": 40,
        "left_out": {"perturbed": 0, "without a verdict": 0},
    }


def test_the_map_shows_every_case(tmp_path: Path) -> None:
    bench, _ = clustered(tmp_path)
    picture = ET.fromstring(bench.files("failure_clustering")["failure_clusters.svg"])
    assert len(picture.findall(".//{*}circle/{*}title")) == 76
    assert picture.findtext("{*}title") == "Failures of demo: 36 in 3 clusters"


@pytest.mark.slow
def test_the_same_evaluation_gives_the_same_bytes(tmp_path: Path) -> None:
    first_files, second_files = (
        clustered(tmp_path / name, count=18, passes=20)[0].files("failure_clustering")
        for name in ("one", "other")
    )
    assert first_files == second_files


def test_failures_without_causes_stand_together_and_the_step_says_why(tmp_path: Path) -> None:
    bench, step_result = clustered(tmp_path, count=20, passes=30, words=0)
    assert step_result.summary == "20 failures in 1 cluster"
    assert (
        "the failures form one cluster: several would be no clearer than by chance (silhouette"
        in step_result.notes[0]
    )
    result = bench.read("failure_clustering", "failure_clusters.json")
    assert result["method"]["p_value"] > 0.05
    assert len(result["clusters"][0]["cases"]) == 20


def test_a_wanted_number_of_clusters_is_made_and_doubted(tmp_path: Path) -> None:
    _, result = clustered(tmp_path, count=20, passes=30, words=0, clusters=2)
    assert result.summary == "20 failures in 2 clusters"
    assert "these clusters are no clearer than by chance" in result.notes[0]


def test_too_few_failures_are_not_clustered(tmp_path: Path) -> None:
    bench, result = clustered(tmp_path, count=4)
    assert result.summary == "4 failures are fewer than 10: nothing is clustered"
    assert (result.problems, set(bench.files("failure_clustering"))) == ((), {"failure_clusters.json"})


def test_without_passed_cases_it_says_what_is_done_instead(tmp_path: Path) -> None:
    _, result = clustered(tmp_path, passes=0, words=9, clusters=3)
    assert (result.summary, result.notes) == (
        "36 failures in 3 clusters",
        ("no case passed: clusters of failures cannot be compared with those of other cases",),
    )


def test_failures_that_are_all_alike(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"document.txt": "A fee."})
    write_failing(
        bench.of("automated_evaluation"),
        ["the same"] * 12 + ["another one", "a third text"],
        [0] * 12 + [-1, -1],
    )
    result = run(bench)
    assert (result.summary, result.notes) == (
        "12 failures in 1 cluster",
        ("the failures are all alike: they form one cluster",),
    )


def record(folder: Path) -> Path:
    builder = RecordBuilder(
        evaluator("quality", metric("score"), metric("other", primary=False, asserted=False)),
        evaluator("tone"),
    )
    builder.add("good", "one", {"outcomes": {"quality": score(1.0, other=0.9), "tone": score(1.0)}})
    builder.add("toneless", "one", {"outcomes": {"quality": score(1.0), "tone": score(0.0)}})
    row = {"status": "score", "scores": {"score": 1.0, "other": 0.2}}
    builder.add("other", "one", {"outcomes": {"quality": row, "tone": score(1.0)}})
    broken = {"status": "error", "reason": "no judge"}
    builder.add("broken", "one", {"outcomes": {"quality": broken, "tone": broken}})
    folder.mkdir(parents=True)
    return builder.write(folder)


@pytest.mark.parametrize(
    ("evaluators", "failed", "judged"),
    [
        pytest.param([], ["toneless"], 3, id="any verdict"),
        pytest.param(["quality"], [], 3, id="an evaluator"),
        pytest.param(["quality.other", "tone"], ["toneless", "other"], 3, id="a metric that decides nothing"),
    ],
)
def test_whose_verdicts_make_a_failure(
    tmp_path: Path, evaluators: list[str], failed: list[str], judged: int
) -> None:
    evaluation = read_evaluation(record(tmp_path / "run"), evaluators)
    assert [case.key for case in evaluation.cases if case.failed] == failed
    assert (len(evaluation.cases), evaluation.left_out["without a verdict"]) == (judged, 1)


def test_an_evaluator_that_nobody_ran(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"named 'qualty'\. Did you mean 'quality'"):
        read_evaluation(record(tmp_path / "run"), ["qualty"])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        pytest.param({"min_failures": 3}, "min_failures: .*greater than or equal to 6, found 3", id="few"),
        pytest.param({"clusters": 0}, "clusters: .*found 0", id="no clusters"),
        pytest.param(
            {"evaluators": "quality"}, "evaluators: expected a list of strings", id="a name for a list"
        ),
        pytest.param(
            {"vectors": "words"}, "vectors: expected one of 'auto', 'embeddings', 'tf-idf'", id="vectors"
        ),
    ],
)
def test_parameters_that_make_no_sense(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        configured(FailureClustering, parameters)
