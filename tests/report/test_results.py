"""The results of each evaluator: keys of the JSON, cells of the table."""

from __future__ import annotations

import csv
import io
import json

import pytest

from pytest_evalstudio.record.schema import SCHEMA_VERSION
from pytest_evalstudio.report.build import build_report
from pytest_evalstudio.report.descriptions import describe_evaluator
from support.records import RecordBuilder, evaluator, metric, score
from support.small_run import explanation_of, read


def test_results_have_the_documented_keys(small_report):
    result = read(
        small_report.explainers["rouge"] / "global_llm_eval_results" / "application_json" / "explanation.json"
    )
    assert sorted(result) == ["evaluator", "models", "results"]
    first, second = result["results"][:2]
    assert (first["key"], first["test_case_key"], first["model_key"], first["test_key"]) == (
        "a_m-one",
        "a",
        "m-one",
        "t1",
    )
    assert (first["rouge_1"], first["rouge_l"], first["context"], first["categories"], first["cost"]) == (
        0.9,
        0.9,
        ["chunk"],
        ["fees"],
        0.1,
    )
    assert first["outcomes"] == {"rouge": {"status": "score", "reason": "words"}}
    assert (second["rouge_l"], second["outcomes"]["rouge"]["status"]) == (None, "not_applicable")
    assert [entry["key"] for entry in result["models"]] == ["m-one", "m-two"]
    assert {
        "id",
        "name",
        "display_name",
        "description",
        "model_types",
        "parameters",
        "metrics_meta",
        "keywords",
        "explanations",
    } <= set(result["evaluator"])


def test_the_results_list_all_explanations_as_the_descriptor_does(small_report):
    folder = small_report.explainers["rouge"]
    results = read(folder / "global_llm_eval_results" / "application_json" / "explanation.json")
    descriptor = next(path for path in folder.glob("*.json") if "explanations" in read(path))
    assert results["evaluator"]["explanations"] == read(descriptor)["explanations"]
    assert results["evaluator"]["explanations"] == [
        "llm-eval-results",
        "llm-heatmap-leaderboard",
        "html-fragment",
        "work-dir-archive",
    ]
    for name in results["evaluator"]["explanations"]:
        assert (folder / f"global_{name.replace('-', '_')}").is_dir(), name


def test_the_results_have_every_documented_key_of_a_row(small_report):
    documented = (
        "input corpus context categories relationships expected_output output_condition actual_output"
        " actual_duration cost key test_key test_case_key model_key actual_output_meta"
    )
    for row in explanation_of(small_report.explainers["rouge"])["results"]:
        assert set(documented.split()) <= set(row)


def test_models_have_every_documented_key_even_without_a_value(small_report):
    documented = (
        "connection model_type name collection_id collection_name llm_model_name documents model_cfg"
        " llm_model_meta"
    )
    models = explanation_of(small_report.explainers["rouge"])["models"]
    for model in models:
        assert set(documented.split()) <= set(model)
    report = read(small_report.data)["models"]
    for model in models:
        assert report[model["key"]] == {**model, "figures": report[model["key"]]["figures"]}


def test_requests_are_counted_from_rows_unless_the_record_has_counts(tmp_path):
    builder = RecordBuilder(evaluator("rouge", metric("rouge_l")), models=("one", "two"))
    builder.header["models"]["m-two"]["llm_model_meta"] = {"success_count": 7, "call_count": 9}
    outcomes = {"rouge": score(0.9, "rouge_l")}
    builder.add(
        "a",
        "one",
        {
            "outcomes": outcomes,
            "actual_duration": 1.0,
            "first_token_s": 0.25,
            "retries": 2,
            "usage": {"input_tokens": 3},
        },
        {"outcomes": outcomes, "actual_duration": 3.0, "usage": {"input_tokens": 4}},
    )
    builder.add("b", "one", {"outcomes": {"rouge": {"status": "error"}}, "error": "no connection"})
    builder.add("a", "two", {"outcomes": outcomes})
    report = build_report(builder.write(tmp_path), tmp_path)
    counted, recorded = explanation_of(report.explainers["rouge"])["models"]
    assert counted["llm_model_meta"] == {
        "call_count": 5,
        "success_count": 2,
        "retry_count": 2,
        "failure_count": 1,
        "time_to_first_token_stats": {"n": 1, "sum": 0.25, "min": 0.25, "max": 0.25, "avg": 0.25},
        "duration_stats": {"n": 2, "sum": 4.0, "min": 1.0, "max": 3.0, "avg": 2.0},
        "usage": {"input_tokens": 7},
    }
    assert recorded["llm_model_meta"] == {"success_count": 7, "call_count": 9}


def test_results_of_an_evaluator_are_left_out_on_request(tmp_path):
    builder = RecordBuilder(evaluator("kept"), evaluator("lean", save_llm_result=False))
    builder.add("a", "one", {"outcomes": {"kept": score(0.9), "lean": score(0.9)}})

    report = build_report(builder.write(tmp_path), tmp_path)

    folders = report.explainers
    assert {id: (folder / "global_llm_eval_results").exists() for id, folder in folders.items()} == {
        "kept": True,
        "lean": False,
    }
    full, lean = (read(folders[id] / "result_descriptor.json") for id in ("kept", "lean"))
    assert {"llm-eval-results"} == set(full["explanations"]) - set(lean["explanations"])
    assert not any("global_llm_eval_results" in name for name in lean["files"])
    assert folders["lean"].joinpath("work", "leaderboard.json").exists()
    page = report.page.read_text(encoding="utf-8")
    assert f"{folders['kept'].name}/global_llm_eval_results" in page
    assert f"{folders['lean'].name}/global_llm_eval_results" not in page
    assert not report.warnings


def test_the_evaluator_has_its_short_name_and_specifies_its_parameters(tmp_path):
    limit = {"name": "limit", "type": "int", "default": 5, "choices": [5, 6], "description": "Longest."}
    builder = RecordBuilder(
        evaluator("strict", type="rouge", name="ROUGE (strict)", parameters={"limit": 6}),
    )
    builder.header["schema_version"] = SCHEMA_VERSION
    builder.header["evaluators"]["strict"]["parameters_meta"] = [limit]
    described = describe_evaluator(builder.run.evaluators["strict"], ["llm-eval-results"])
    assert (described["id"], described["name"], described["display_name"]) == (
        "strict",
        "rouge",
        "ROUGE (strict)",
    )
    assert described["parameters"][:1] == [
        {
            "name": "limit",
            "description": "Longest.",
            "type": "int",
            "default_value": 5,
            "value": 6,
            "value_range": [5, 6],
        }
    ]
    common = {each["name"]: each["value"] for each in described["parameters"][1:]}
    assert common == {
        "metric_threshold": described["metrics_meta"][0]["threshold"],
        "save_llm_result": True,
        "sentence_level_metrics": True,
        "min_test_cases": None,
    }
    assert all(set(each) == set(described["parameters"][0]) for each in described["parameters"])
    assert described["parameter_values"] == {"limit": 6}
    (quality,) = described["metrics_meta"]
    assert {"key", "name", "description", "value_range", "threshold", "data_type"} <= set(quality)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_the_table_is_a_formula(tmp_path, start):
    builder = RecordBuilder()
    attack = f'{start}HYPERLINK("http://evil.example","x")'
    builder.add(
        "a",
        "one",
        {"input": attack, "actual_output": attack, "outcomes": {"quality": score(-0.5, reason=attack)}},
    )
    folder = build_report(builder.write(tmp_path), tmp_path, {}).explainers["quality"]
    text = (folder / "global_llm_eval_results" / "text_csv" / "explanation.csv").read_bytes().decode("utf-8")
    head, row = csv.reader(io.StringIO(text, newline=""))
    cells = dict(zip(head, row, strict=True))
    assert cells["input"] == cells["actual_output"] == cells["reason"] == "'" + attack
    assert cells["score"] == "-0.5"


def test_lines_commas_and_quotes_stay_in_their_cell(tmp_path):
    builder = RecordBuilder()
    text = 'one\ntwo,"three"\rfour'
    builder.add(
        "a",
        "one",
        {
            "actual_output": text,
            "context": [text],
            "outcomes": {"quality": score(0.5, reason="first\nsecond")},
        },
    )
    folder = build_report(builder.write(tmp_path), tmp_path, {}).explainers["quality"]
    content = (
        (folder / "global_llm_eval_results" / "text_csv" / "explanation.csv").read_bytes().decode("utf-8")
    )
    head, row = csv.reader(io.StringIO(content, newline=""))
    cells = dict(zip(head, row, strict=True))
    assert (cells["actual_output"], json.loads(cells["context"]), cells["reason"]) == (
        text,
        [text],
        "first\nsecond",
    )


def test_an_evaluator_with_a_calibration_has_a_column_of_what_it_leaves_open(tmp_path):
    chance_evaluator = evaluator(
        "quality",
        metric("calibrated_probability"),
        metric("uncertain", primary=False),
        calibration={"of": "uncertain"},
    )
    builder = RecordBuilder(chance_evaluator, evaluator("other"))
    for key, is_uncertain in (("a", True), ("b", False)):
        outcome = {"status": "score", "scores": {"calibrated_probability": 0.6, "uncertain": 0.25}}
        details = {
            "details": {
                "calibration": {"conformal_set": [0, 1] if is_uncertain else [1], "uncertain": is_uncertain}
            }
        }
        builder.add(key, "one", {"outcomes": {"quality": {**outcome, **details}, "other": score(0.5)}})
    builder.add("c", "one", {"outcomes": {"quality": {"status": "not_applicable"}, "other": score(0.5)}})
    tables = {}
    for id, folder in build_report(builder.write(tmp_path), tmp_path, {}).explainers.items():
        text = (
            (folder / "global_llm_eval_results" / "text_csv" / "explanation.csv").read_bytes().decode("utf-8")
        )
        tables[id] = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["uncertain"] for row in tables["quality"]] == ["true", "false", ""]
    assert [row["quality.uncertain"] for row in tables["quality"]] == ["0.25", "0.25", ""]
    assert "uncertain" not in tables["other"][0]


def test_a_metric_named_like_a_column_does_not_hide_it(tmp_path):
    builder = RecordBuilder(evaluator("quality", metric("cost")))
    builder.add("a", "one", {"cost": 3.0, "outcomes": {"quality": score(0.5, "cost")}})
    folder = build_report(builder.write(tmp_path), tmp_path, {}).explainers["quality"]
    row = read(folder / "global_llm_eval_results" / "application_json" / "explanation.json")["results"][0]
    assert (row["cost"], row["quality.cost"]) == (3.0, 0.5)


def test_infinities_are_words_everywhere(tmp_path):
    builder = RecordBuilder(
        evaluator("perplexity", metric(better="lower", range=[1.0, "Infinity"], threshold="Infinity"))
    )
    builder.add("a", "one", {"outcomes": {"perplexity": score("Infinity")}})
    report = build_report(builder.write(tmp_path), tmp_path, {})
    for path in report.page.parent.rglob("*.json"):
        read(path)
    cell = read(report.data)["evaluators"]["perplexity"]["leaderboard"]["standings"][0]["metrics"]["score"]
    assert cell["value"] == "Infinity"


def test_sentence_colours_lose_no_text(tmp_path):
    builder = RecordBuilder()
    fragments = [
        {"part": "answer", "start": 0, "end": 4, "scores": {"score": 0.1}},
        {"part": "answer", "start": 5, "end": 9, "scores": {"score": 0.8}},
    ]
    builder.add(
        "a",
        "one",
        {"actual_output": "One. Two. Three.", "outcomes": {"quality": score(0.1, fragments=fragments)}},
    )
    folder = build_report(builder.write(tmp_path), tmp_path, {}).explainers["quality"]
    (meta,) = read(folder / "global_llm_eval_results" / "application_json" / "explanation.json")["results"][
        0
    ]["actual_output_meta"]
    assert meta["tokenization"] == "sentence_level"
    assert "".join(part["text"] for part in meta["data"]) == "One. Two. Three."
    assert meta["data"][0]["metrics"] == {"score": 0.1}


@pytest.mark.parametrize("start", ["\n", "＝", "＋", "－", "＠"])
def test_further_starts_of_formulas_are_neutralised(tmp_path, start):
    builder = RecordBuilder()
    builder.add("a", "one", {"input": f"{start}1+1", "outcomes": {"quality": score(0.5)}})
    folder = build_report(builder.write(tmp_path), tmp_path, {}).explainers["quality"]
    text = (folder / "global_llm_eval_results" / "text_csv" / "explanation.csv").read_bytes().decode("utf-8")
    head, row = csv.reader(io.StringIO(text, newline=""))
    assert dict(zip(head, row, strict=True))["input"] == f"'{start}1+1"
