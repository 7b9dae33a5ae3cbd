"""Results files that a calibration reads: what is not a results file is refused without a traceback."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from pytest_evalstudio.analysis.stored_scores import read_scores
from pytest_evalstudio.cli import main
from pytest_evalstudio.contrib.calibration.fit.calibrate import calibrate
from pytest_evalstudio.core.errors import DataError
from support.labelled import scores_and_labels, write_labels, write_record
from support.records import RecordBuilder, evaluator, metric, score


def test_a_key_in_two_files_of_a_run_is_told(tmp_path: Path) -> None:
    builder = RecordBuilder(evaluator("quality", metric("quality")))
    for file in ("a.json", "b.json"):
        builder.add("k1", "one", {"outcomes": {"quality": score(0.5, "quality")}}, file=file)
    with pytest.raises(
        DataError, match=r"'k1' of model 'm-one' is in 'a\.json' and 'b\.json', so it is unclear"
    ):
        calibrate(read_scores([builder.write(tmp_path)]), {("k1", "m-one"): 1}, ["quality"])


def test_results_that_are_given_twice_are_told(tmp_path: Path) -> None:
    record = write_record(tmp_path, scores_and_labels()[0])
    with pytest.raises(
        DataError, match=r"has two scores by quality\.quality for 'k0' .*; give the results of each run once"
    ):
        read_scores([record, record])


def test_labels_of_other_answers_are_told(tmp_path: Path) -> None:
    record = write_record(tmp_path, scores_and_labels()[0])
    with pytest.raises(
        DataError,
        match=r"no label belongs to an answer in the results: they have e.g. key 'k0', model_key 'm-one';",
    ):
        calibrate(read_scores([record]), {("k0", "another"): 1}, ["quality"])


HOSTILE = {
    "not json": "{",
    "another JSON": '{"inputs": []}',
    "a list": "[]",
    "nested": "[" * 100_000,
    "no metrics": '{"results": [], "evaluator": {"id": "e"}}',
    "rows that are none": '{"results": [1], "evaluator": {"id": "e", "metrics_meta": []}}',
    "a row without a key": '{"results": [{"model_key": "m"}], "evaluator": {"id": "e", "metrics_meta": []}}',
    "a score that is text": json.dumps(
        {
            "results": [
                {"test_case_key": "k", "model_key": "m", "q": "high", "outcomes": {"e": {"status": "score"}}}
            ],
            "evaluator": {
                "id": "e",
                "metrics_meta": [{"key": "q", "higher_is_better": True, "threshold": 0.5}],
            },
        }
    ),
    "bytes": "\x00\xff",
    "empty": "",
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("name", ["explanation.json", "record.jsonl"])
def test_results_that_are_none_are_told_without_a_traceback(
    tmp_path: Path, content: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(content, encoding="latin-1")
    labels = write_labels(tmp_path / "labels.csv", [1, 0])
    assert main(["calibrate", str(tmp_path / name), str(labels), "--metric", "q"]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"evalstudio: {tmp_path / name}")


def test_a_nan_in_results_is_no_score(tmp_path: Path) -> None:
    content = {
        "results": [
            {"test_case_key": "k", "model_key": "m", "q": math.nan, "outcomes": {"e": {"status": "score"}}}
        ],
        "evaluator": {"id": "e", "metrics_meta": [{"key": "q", "higher_is_better": True, "threshold": 0.5}]},
    }
    (tmp_path / "explanation.json").write_text(json.dumps(content), encoding="utf-8")
    answer = next(iter(read_scores([tmp_path]).answers.values()))
    assert answer.score("e.q") is None


def test_a_folder_without_results_is_told(tmp_path: Path) -> None:
    with pytest.raises(
        DataError,
        match=(
            r"there are no results here; give an explanation\.json, a record\.jsonl or the folder of a report"
        ),
    ):
        read_scores([tmp_path])
