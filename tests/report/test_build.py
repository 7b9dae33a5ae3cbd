"""The report's folder: what lies in it, that it is complete, safe and the same each time."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import uuid
import zipfile

import pytest

from pytest_evalstudio.core.plugins.evaluator import ModelScore
from pytest_evalstudio.engine.analysis.run_info import evaluators_of
from pytest_evalstudio.record.schema import SCHEMA_VERSION
from pytest_evalstudio.report.build import build_report
from pytest_evalstudio.report.descriptions import describe_evaluator
from support.records import RecordBuilder, boolean_evaluator, evaluator, flip, leak, metric, perturbed, score

STARTED, FINISHED = "2026-11-20T22:00:01.250+00:00", "2026-11-20T22:00:07.500+00:00"
RUN = "00000000-0000-4000-8000-000000000001"


def small_run():
    classification = evaluator(
        "classification", metric("accuracy"), metric("f1", primary=False), domain="classification"
    )
    builder = RecordBuilder(
        evaluator("rouge", metric("rouge_1", primary=False), metric("rouge_l")),
        boolean_evaluator(),
        classification,
        models=("one", "two"),
        gates=["rouge >= 0.1"],
    )
    for name, value in (("one", 0.9), ("two", 0.2)):
        outcomes = {
            "rouge": {"status": "score", "scores": {"rouge_1": value, "rouge_l": value}, "reason": "words"},
            "text_matching": {
                "status": "score",
                "scores": {"model_passes": 1.0},
                "findings": [leak("a key")],
            },
            "classification": {"status": "score", "scores": {"accuracy": 1.0, "f1": None}},
        }
        builder.add(
            "a", name, {"outcomes": outcomes, "context": ["chunk"], "categories": ["fees"], "cost": 0.1}
        )
        outcomes = {**outcomes, "rouge": {"status": "not_applicable", "reason": "no expected output"}}
        builder.add(
            "a-comma",
            name,
            {"outcomes": outcomes, **perturbed("a", "comma:HIGH")},
            flips=[flip("a", "rouge", metric="rouge_l")],
        )
    return builder


class Macro:
    def aggregate(self, rows):
        return ModelScore(
            scores={"accuracy": 1.0, "f1": 0.5}, table={"labels": ["x"], "matrix": [[len(list(rows))]]}
        )


@pytest.fixture
def built(tmp_path):
    return build_report(small_run().write(tmp_path), tmp_path, {"classification": Macro()})


def read(path):
    def refuse(word):
        raise AssertionError(f"{path} holds {word}")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def digests(folder):
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("id", "board"),
    [
        ("rouge", "global_llm_heatmap_leaderboard"),
        ("text_matching", "global_llm_bool_leaderboard"),
        ("classification", "global_llm_classification_leaderboard"),
    ],
)
def test_each_evaluator_has_its_folder(built, id, board):
    folder = built.explainers[id]
    name = uuid.uuid5(uuid.UUID(RUN), id)
    assert folder.name == f"explainer_{id}_{name}"
    for path in (
        "global_llm_eval_results/application_json/explanation.json",
        "global_llm_eval_results/application_json.meta",
        "global_llm_eval_results/text_csv/explanation.csv",
        "global_llm_eval_results/text_csv.meta",
        f"{board}/application_json/explanation.json",
        f"{board}/application_json/leaderboard_0.json",
        f"{board}/application_json.meta",
        f"{board}/text_markdown/explanation.md",
        f"{board}/text_markdown.meta",
        f"{board}/application_vnd_h2oai_evalstudio_leaderboard_markdown/explanation.md",
        f"{board}/text_html/explanation.html",
        "global_html_fragment/text_html/explanation.html",
        "global_html_fragment/text_html.meta",
        "global_work_dir_archive/application_zip/explanation.zip",
        "global_work_dir_archive/application_zip.meta",
        "insights/insights_and_actions.json",
        "problems/problems_and_actions.json",
        f"log/explainer_run_{name}.log",
        "work/leaderboard.json",
        "result_descriptor.json",
    ):
        assert (folder / path).is_file(), path
    assert read(folder / "result_descriptor.json")["evaluator"]["id"] == id


def test_results_have_the_documented_keys(built):
    found = read(
        built.explainers["rouge"] / "global_llm_eval_results" / "application_json" / "explanation.json"
    )
    assert sorted(found) == ["evaluator", "models", "results"]
    first, second = found["results"][:2]
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
    assert [entry["key"] for entry in found["models"]] == ["m-one", "m-two"]
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
    } <= set(found["evaluator"])


def test_the_results_list_all_explanations_as_the_descriptor_does(built):
    folder = built.explainers["rouge"]
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


def explanation_of(folder):
    return read(folder / "global_llm_eval_results" / "application_json" / "explanation.json")


def test_the_results_have_every_documented_key_of_a_row(built):
    documented = (
        "input corpus context categories relationships expected_output output_condition actual_output"
        " actual_duration cost key test_key test_case_key model_key actual_output_meta"
    )
    for row in explanation_of(built.explainers["rouge"])["results"]:
        assert set(documented.split()) <= set(row)


def test_models_have_every_documented_key_even_without_a_value(built):
    documented = (
        "connection model_type name collection_id collection_name llm_model_name documents model_cfg"
        " llm_model_meta"
    )
    models = explanation_of(built.explainers["rouge"])["models"]
    for model in models:
        assert set(documented.split()) <= set(model)
    report = read(built.data)["models"]
    for model in models:
        assert report[model["key"]] == {**model, "figures": report[model["key"]]["figures"]}


def test_requests_are_counted_from_rows_unless_the_record_has_counts(tmp_path):
    builder = RecordBuilder(evaluator("rouge", metric("rouge_l")), models=("one", "two"))
    builder.header["models"]["m-two"]["llm_model_meta"] = {"success_count": 7, "call_count": 9}
    outcomes = {"rouge": score(0.9, "rouge_l")}
    builder.add(
        "a",
        "one",
        {"outcomes": outcomes, "actual_duration": 1.0, "retries": 2, "usage": {"input_tokens": 3}},
        {"outcomes": outcomes, "actual_duration": 3.0, "usage": {"input_tokens": 4}},
    )
    builder.add("b", "one", {"outcomes": {"rouge": {"status": "error"}}, "error": "no connection"})
    builder.add("a", "two", {"outcomes": outcomes})
    built = build_report(builder.write(tmp_path), tmp_path)
    counted, recorded = explanation_of(built.explainers["rouge"])["models"]
    assert counted["llm_model_meta"] == {
        "success_count": 2,
        "retry_count": 2,
        "failure_count": 1,
        "duration_stats": {"n": 2, "sum": 4.0, "min": 1.0, "max": 3.0, "avg": 2.0},
        "usage": {"input_tokens": 7},
    }
    assert recorded["llm_model_meta"] == {"success_count": 7, "call_count": 9}


def test_the_evaluator_has_its_short_name_and_specifies_its_parameters(tmp_path):
    limit = {"name": "limit", "type": "int", "default": 5, "choices": [5, 6], "description": "Longest."}
    builder = RecordBuilder(
        evaluator("strict", type="rouge", name="ROUGE (strict)", parameters={"limit": 6}),
    )
    builder.header["schema_version"] = SCHEMA_VERSION
    builder.header["evaluators"]["strict"]["parameters_meta"] = [limit]
    described = describe_evaluator(evaluators_of(builder.run)["strict"], ["llm-eval-results"])
    assert (described["id"], described["name"], described["display_name"]) == (
        "strict",
        "rouge",
        "ROUGE (strict)",
    )
    assert described["parameters"] == [
        {
            "name": "limit",
            "description": "Longest.",
            "type": "int",
            "default_value": 5,
            "value": 6,
            "value_range": [5, 6],
        }
    ]
    assert described["parameter_values"] == {"limit": 6}
    (quality,) = described["metrics_meta"]
    assert {"key", "name", "description", "value_range", "threshold", "data_type"} <= set(quality)


def test_exports_and_log_have_the_start_and_end_of_each_evaluator(tmp_path):
    builder = RecordBuilder(evaluator("rouge"), evaluator("bleu"))
    builder.header["spans"] = {"rouge": {"started": STARTED, "finished": FINISHED}}
    builder.add("a", "one", {"outcomes": {"rouge": score(0.9), "bleu": score(0.9)}})
    built = build_report(builder.write(tmp_path), tmp_path)
    folder = built.explainers["rouge"]
    described = explanation_of(folder)["evaluator"]
    assert (described["started"], described["finished"]) == (STARTED, FINISHED)
    assert read(built.data)["evaluators"]["rouge"]["started"] == STARTED
    log = (folder / described["log"]).read_text().splitlines()
    assert (log[0], log[-1]) == (f"{STARTED} rouge: started", f"{FINISHED} rouge: finished")
    unknown = explanation_of(built.explainers["bleu"])["evaluator"]
    assert (unknown["started"], unknown["finished"]) == (None, None)


def test_problems_and_insights_name_model_and_evaluator(built):
    for path, entries in (
        ("problems/problems_and_actions.json", "problems"),
        ("insights/insights_and_actions.json", "insights"),
    ):
        content = read(built.explainers["rouge"] / path)[entries]
        assert content
        assert {entry["attributes"]["evaluator_name"] for entry in content} == {"Rouge"}
    flips = [entry for entry in read(built.data)["problems"] if entry["problem_type"] == "robustness"]
    assert flips
    for entry in flips:
        assert entry["attributes"]["model_name"] in ("one", "two")
        assert {"description", "severity", "problem_code", "actions"} <= set(entry)


def test_the_leaderboard_index_names_a_file_per_metric_and_all(built):
    place = built.explainers["rouge"] / "global_llm_heatmap_leaderboard" / "application_json"
    index = read(place / "explanation.json")
    assert index["files"] == {
        "rouge_1": "leaderboard_0.json",
        "rouge_l": "leaderboard_1.json",
        "ALL_METRICS": "leaderboard_2.json",
    }
    board = read(place / "leaderboard_1.json")
    assert board["data"] == {"m-one": {"rouge_l": 0.9}, "m-two": {"rouge_l": 0.2}}
    assert board["metadata"]["rouge_l"]["is_primary_metric"] is True
    boolean = read(
        built.explainers["text_matching"]
        / "global_llm_bool_leaderboard"
        / "application_json"
        / "explanation.json"
    )
    assert boolean["files"] == {"ALL_METRICS": "leaderboard_0.json"}


def test_the_interpretation_holds_the_whole_report(built):
    found = read(built.data)
    wanted = {
        "schema_version",
        "run",
        "models",
        "dataset",
        "evaluators",
        "problems",
        "insights",
        "flips",
        "repeats",
        "gates",
        "judging",
        "results_files",
    }
    assert set(found) == wanted
    assert found["run"]["verdicts"]["passed"] == 3
    assert (
        found["evaluators"]["classification"]["leaderboard"]["standings"][0]["metrics"]["f1"]["value"] == 0.5
    )
    assert found["gates"][0]["met"] is True
    assert {problem["severity"] for problem in found["problems"]} <= {"high", "medium", "low"}
    assert all(
        (built.data.parent / path).is_file()
        for files in found["results_files"].values()
        for path in files.values()
    )


def test_problems_and_insights_go_with_their_evaluator(built):
    problems = read(built.explainers["text_matching"] / "problems" / "problems_and_actions.json")["problems"]
    assert {problem["problem_code"]["code"] for problem in problems} == {"P0300"}
    assert read(built.explainers["rouge"] / "insights" / "insights_and_actions.json")["insights"]


def test_the_archive_holds_all_of_it_and_the_record(built):
    with zipfile.ZipFile(built.archive) as archive:
        assert archive.testzip() is None
        names = set(archive.namelist())
        assert archive.read("interpretation.html") == built.page.read_bytes()
    assert {"record.jsonl", "interpretation.html", "interpretation.json", "summary.md"} <= names
    on_disk = {
        path.relative_to(built.page.parent).as_posix()
        for path in built.page.parent.rglob("*")
        if path.is_file()
    }
    assert names == on_disk - {"evalstudio-report.zip", ".evalstudio-manifest.json"}


def test_the_same_record_gives_the_same_bytes(tmp_path):
    record = small_run().write(tmp_path)
    build_report(record, tmp_path / "first", {"classification": Macro()})
    build_report(record, tmp_path / "second", {"classification": Macro()})
    build_report(record, tmp_path / "second", {"classification": Macro()})
    assert digests(tmp_path / "first") == digests(tmp_path / "second")


def test_folders_of_an_earlier_run_go_and_those_of_others_stay(tmp_path):
    earlier = small_run()
    earlier.header["run_id"] = "00000000-0000-4000-8000-00000000000f"
    old = build_report(earlier.write(tmp_path), tmp_path, {}).explainers.values()
    mine = tmp_path / "explainer_of_somebody_else"
    mine.mkdir()
    (mine / "result_descriptor.json").write_text('{"producer": "another tool"}', encoding="utf-8")
    (tmp_path / "notes.txt").write_text("keep me", encoding="utf-8")
    new = build_report(small_run().write(tmp_path), tmp_path, {})
    assert not any(path.exists() for path in old)
    assert (mine / "result_descriptor.json").is_file()
    assert (tmp_path / "notes.txt").is_file()
    with zipfile.ZipFile(new.archive) as archive:
        assert not any("somebody_else" in name or "notes" in name for name in archive.namelist())


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
    own = evaluator(
        "quality",
        metric("calibrated_probability"),
        metric("uncertain", primary=False),
        calibration={"of": "uncertain"},
    )
    builder = RecordBuilder(own, evaluator("other"))
    for key, is_uncertain in (("a", True), ("b", False)):
        outcome = {"status": "score", "scores": {"calibrated_probability": 0.6, "uncertain": 0.25}}
        said = {
            "details": {
                "calibration": {"conformal_set": [0, 1] if is_uncertain else [1], "uncertain": is_uncertain}
            }
        }
        builder.add(key, "one", {"outcomes": {"quality": {**outcome, **said}, "other": score(0.5)}})
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


def test_half_a_surrogate_pair_and_control_characters_are_written(tmp_path):
    builder = RecordBuilder()
    text = "half \ud83d a pair, nul \x00, a line\u2028separator"
    builder.add(
        "a", "one", {"input": text, "actual_output": text, "outcomes": {"quality": score(0.1, reason=text)}}
    )
    report = build_report(builder.write(tmp_path), tmp_path, {})
    row = read(
        report.explainers["quality"] / "global_llm_eval_results" / "application_json" / "explanation.json"
    )["results"][0]
    assert row["actual_output"] == text
    assert "half" in report.page.read_text(encoding="utf-8")


def test_a_run_of_nothing_has_a_report(tmp_path):
    report = build_report(RecordBuilder().write(tmp_path), tmp_path, {})
    assert "No model was evaluated" in report.page.read_text(encoding="utf-8")
    assert "INCOMPLETE – nothing evaluated" in report.summary.read_text(encoding="utf-8")


def test_an_evaluator_id_cannot_leave_the_folder(tmp_path):
    builder = RecordBuilder(evaluator("../../evil", metric()))
    builder.add("a", "one", {"outcomes": {"../../evil": score(0.5)}})
    report = build_report(builder.write(tmp_path), tmp_path / "report", {})
    assert report.explainers["../../evil"].parent == tmp_path / "report"
    assert report.explainers["../../evil"].name.startswith("explainer_.._.._evil_")


def test_the_summary_has_the_commands_that_run_failures_again(tmp_path):
    builder = RecordBuilder()
    for number in range(12):
        builder.add(f"k`{number}", "one", {"outcomes": {"quality": score(0.1)}})
    builder.add("expected", "one", {"outcomes": {"quality": score(0.1)}}, verdict="xfailed")
    builder.add("two\nlines", "one", {"outcomes": {"quality": score(0.1)}})
    text = build_report(builder.write(tmp_path), tmp_path, {}).summary.read_text(encoding="utf-8")
    assert "  - ``pytest 'suite.json::k`0[one]'``\n" in text
    assert "- … and 3 more, in interpretation.html" in text
    assert "::expected[" not in text


def test_a_large_page_is_not_compressed_again(tmp_path, monkeypatch):
    monkeypatch.setattr("pytest_evalstudio.report.build.LARGE_PAGE", 1_000)
    report = build_report(small_run().write(tmp_path), tmp_path, {})
    with zipfile.ZipFile(report.archive) as archive:
        assert archive.getinfo("interpretation.html").compress_type == zipfile.ZIP_STORED
        assert archive.getinfo("interpretation.json").compress_type == zipfile.ZIP_DEFLATED
        assert archive.read("interpretation.html") == report.page.read_bytes()


def test_a_report_that_cannot_be_made_leaves_no_archive(tmp_path, monkeypatch):
    def broken(*args):
        raise OSError("the disk is full")

    monkeypatch.setattr("pytest_evalstudio.report.build.interpretation", broken)
    with pytest.raises(OSError, match="the disk is full"):
        build_report(small_run().write(tmp_path), tmp_path / "report", {})
    assert not list(tmp_path.rglob("*.zip.tmp")) + list((tmp_path / "report").glob("*.zip"))


@pytest.mark.parametrize("start", ["\n", "＝", "＋", "－", "＠"])
def test_further_starts_of_formulas_are_neutralised(tmp_path, start):
    builder = RecordBuilder()
    builder.add("a", "one", {"input": f"{start}1+1", "outcomes": {"quality": score(0.5)}})
    folder = build_report(builder.write(tmp_path), tmp_path, {}).explainers["quality"]
    text = (folder / "global_llm_eval_results" / "text_csv" / "explanation.csv").read_bytes().decode("utf-8")
    head, row = csv.reader(io.StringIO(text, newline=""))
    assert dict(zip(head, row, strict=True))["input"] == f"'{start}1+1"
