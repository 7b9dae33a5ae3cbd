"""Results as Parquet: the same rows as in JSON, typed."""

from __future__ import annotations

import csv
import importlib.util
import json
import math

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.report import parquet
from pytest_evalstudio.report.build import build_report
from support.records import RecordBuilder, evaluator, metric, score

pq = pytest.importorskip("pyarrow.parquet")


def rows_of(folder):
    return pq.read_table(
        folder / "global_llm_eval_results" / parquet.FOLDER / "explanation.parquet"
    ).to_pylist()


def test_rows_are_those_of_the_json(tmp_path):
    builder = RecordBuilder(evaluator("quality", metric("score"), metric("cost", primary=False)))
    link = {"type": "perturbation_source", "target": "a", "target_type": "test_case"}
    builder.add(
        "a",
        "one",
        {
            "outcomes": {"quality": score(0.5)},
            "context": ["first", "second"],
            "cost": 0.25,
            "usage": {"input_tokens": 3},
        },
    )
    builder.add(
        "b",
        "one",
        {"outcomes": {"quality": {"status": "error", "reason": "broken"}}, "relationships": [link]},
    )
    folder = build_report(builder.write(tmp_path), tmp_path, {}, parquet=True).explainers["quality"]
    result = rows_of(folder)
    content = json.loads(
        (folder / "global_llm_eval_results" / "application_json" / "explanation.json").read_text(
            encoding="utf-8"
        )
    )["results"]
    assert [row["key"] for row in result] == [row["key"] for row in content]
    first, second = result
    assert (first["context"], first["cost"], first["usage"], first["score"], first["quality.cost"]) == (
        ["first", "second"],
        0.25,
        [("input_tokens", 3.0)],
        0.5,
        None,
    )
    assert (second["relationships"], second["status"], second["reason"], second["score"]) == (
        [link],
        "error",
        "broken",
        None,
    )


def test_an_evaluator_with_a_calibration_says_which_answers_it_leaves_open(tmp_path):
    chance = metric("calibrated_probability")
    builder = RecordBuilder(
        evaluator("quality", chance, calibration={"of": "score"}), evaluator("other", metric("uncertain"))
    )
    for key, calibration in (
        ("a", {"conformal_set": [0, 1], "uncertain": True}),
        ("b", {"conformal_set": [1], "uncertain": False}),
    ):
        outcome = score(0.6, "calibrated_probability", details={"calibration": calibration})
        builder.add(key, "one", {"outcomes": {"quality": outcome, "other": score(0.25, "uncertain")}})
    builder.add("c", "one", {"outcomes": {"quality": {"status": "not_applicable", "reason": "no context"}}})
    folders = build_report(builder.write(tmp_path), tmp_path, {}, parquet=True).explainers
    assert [row["uncertain"] for row in rows_of(folders["quality"])] == [True, False, None]
    path = folders["quality"] / "global_llm_eval_results" / parquet.FOLDER / "explanation.parquet"
    assert str(pq.read_schema(path).field("uncertain").type) == "bool"
    assert [row["uncertain"] for row in rows_of(folders["other"])] == [0.25, 0.25]


def test_what_parquet_has_no_form_for_is_written(tmp_path):
    builder = RecordBuilder()
    text = "half \ud83d a pair"
    builder.add(
        "a",
        "one",
        {"outcomes": {"quality": score("Infinity", reason=text)}, "actual_output": text, "context": [text]},
    )
    (row,) = rows_of(build_report(builder.write(tmp_path), tmp_path, {}, parquet=True).explainers["quality"])
    assert row["score"] == math.inf
    assert row["actual_output"] == row["context"][0] == "half � a pair"


def test_the_rows_of_several_batches_are_all_there(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "ROWS_AT_ONCE", 3)
    builder = RecordBuilder()
    for number in range(7):
        builder.add(f"k{number}", "one", {"outcomes": {"quality": score(number / 10)}})
    folder = build_report(builder.write(tmp_path), tmp_path, {}, parquet=True).explainers["quality"]
    assert [row["score"] for row in rows_of(folder)] == [number / 10 for number in range(7)]
    meta = json.loads(
        (folder / "global_llm_eval_results" / f"{parquet.FOLDER}.meta").read_text(encoding="utf-8")
    )
    assert (meta["mime"], meta["files"], meta["rows"]) == (
        "application/vnd.apache.parquet",
        ["explanation.parquet"],
        7,
    )


def test_it_is_written_on_demand(tmp_path, capsys):
    builder = RecordBuilder()
    builder.add("a", "one", {"outcomes": {"quality": score(0.5)}})
    report = build_report(builder.write(tmp_path), tmp_path, {})
    assert not list(tmp_path.rglob("*.parquet*"))
    assert "Parquet" not in report.page.read_text(encoding="utf-8")

    assert main(["report", str(tmp_path), "-o", str(tmp_path / "again"), "--parquet"]) == 0
    assert len(list((tmp_path / "again").rglob("*.parquet"))) == 1


def test_without_pyarrow_a_demand_names_the_extra(tmp_path, monkeypatch, capsys):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(parquet, "find_spec", lambda name: None if name == "pyarrow" else find_spec(name))
    builder = RecordBuilder()
    builder.add("a", "one", {"outcomes": {"quality": score(0.5)}})
    record = builder.write(tmp_path)
    assert main(["report", str(record), "-o", str(tmp_path / "again"), "--parquet"]) == 2
    assert 'pip install "pytest-evalstudio[parquet]"' in capsys.readouterr().err
    assert not (tmp_path / "again").exists()


CALL = {"name": "find", "arguments": {"code": "E1", "page": 2}, "result": "12A", "duration_s": 0.5}
OTHER = {"name": "cancel", "arguments": {"code": ["E1"]}, "error": "closed"}
TURN = {"prompt": "Cancel", "actual_output": "Which?", "tool_calls": [OTHER], "error": ""}


def test_calls_and_turns_stand_in_json_csv_and_parquet(tmp_path):
    builder = RecordBuilder(evaluator("quality", metric("score")))
    answer = {
        "context": [],
        "context_sources": [],
        "actual_output": "Which?",
        "actual_duration": 0.1,
        "cost": None,
        "usage": {},
        "retries": 0,
        "error": "",
        "tool_calls": [OTHER],
    }
    builder.add(
        "a",
        "one",
        {
            "outcomes": {"quality": score(0.5)},
            "tool_calls": [CALL, OTHER],
            "expected_tool_calls": [{"name": "find", "arguments": {"code": {"$any": True}}}],
            "turns": [{"prompt": "Cancel", "answer": answer}],
            "ended_by": "max_turns",
        },
    )
    builder.add("b", "one", {"outcomes": {"quality": score(0.5)}})
    folder = build_report(builder.write(tmp_path), tmp_path, {}, parquet=True).explainers["quality"]
    results = folder / "global_llm_eval_results"
    first, second = json.loads((results / "application_json" / "explanation.json").read_text("utf-8"))[
        "results"
    ]
    assert (first["tool_calls"], first["turns"], first["ended_by"]) == ([CALL, OTHER], [TURN], "max_turns")
    assert first["expected_tool_calls"] == [{"name": "find", "arguments": {"code": {"$any": True}}}]
    assert (second["tool_calls"], second["expected_tool_calls"], second["turns"]) == ([], None, [])

    with open(results / "text_csv" / "explanation.csv", encoding="utf-8", newline="") as file:
        cells = next(csv.DictReader(file))
    assert json.loads(cells["tool_calls"]) == [CALL, OTHER]
    assert json.loads(cells["turns"]) == [TURN]

    typed, empty = rows_of(folder)
    assert (json.loads(typed["tool_calls"]), json.loads(typed["turns"])) == ([CALL, OTHER], [TURN])
    assert (typed["ended_by"], json.loads(typed["steps"])) == ("max_turns", [])
    assert (empty["tool_calls"], empty["expected_tool_calls"], empty["turns"]) == ("[]", None, "[]")
