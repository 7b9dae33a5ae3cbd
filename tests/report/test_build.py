"""The report's folder: what lies in it, that it is complete, safe and the same each time."""

from __future__ import annotations

import fnmatch
import hashlib
import uuid
import zipfile
from pathlib import Path

import pytest

from pytest_evalstudio.report.build import build_report
from pytest_evalstudio.report.explainer import OUTPUTS
from support.records import RecordBuilder, evaluator, metric, score
from support.small_run import RUN, Macro, explanation_of, read, small_run

STARTED, FINISHED = "2026-11-20T22:00:01.250+00:00", "2026-11-20T22:00:07.500+00:00"


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
def test_each_evaluator_has_its_folder(small_report, id, board):
    folder = small_report.explainers[id]
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


def test_exports_and_log_have_the_start_and_end_of_each_evaluator(tmp_path):
    builder = RecordBuilder(evaluator("rouge"), evaluator("bleu"))
    builder.header["spans"] = {"rouge": {"started": STARTED, "finished": FINISHED}}
    builder.add("a", "one", {"outcomes": {"rouge": score(0.9), "bleu": score(0.9)}})
    report = build_report(builder.write(tmp_path), tmp_path)
    folder = report.explainers["rouge"]
    described = explanation_of(folder)["evaluator"]
    assert (described["started"], described["finished"]) == (STARTED, FINISHED)
    assert read(report.data)["evaluators"]["rouge"]["started"] == STARTED
    log = (folder / described["log"]).read_text().splitlines()
    assert (log[0], log[-1]) == (f"{STARTED} rouge: started", f"{FINISHED} rouge: finished")
    unknown = explanation_of(report.explainers["bleu"])["evaluator"]
    assert (unknown["started"], unknown["finished"]) == (None, None)


@pytest.fixture
def ranked(tmp_path):
    """The report of the small run with a second score per model, so that ROUGE ranks the models."""
    builder = small_run()
    for name, value in (("one", 0.9), ("two", 0.2)):
        scores = {"rouge_1": value, "rouge_l": value}
        builder.add("b", name, {"outcomes": {"rouge": {"status": "score", "scores": scores}}})
    return build_report(builder.write(tmp_path), tmp_path, {"classification": Macro()})


def test_problems_and_insights_name_model_and_evaluator(ranked):
    for path, entries in (
        ("problems/problems_and_actions.json", "problems"),
        ("insights/insights_and_actions.json", "insights"),
    ):
        content = read(ranked.explainers["rouge"] / path)[entries]
        assert content
        assert {entry["attributes"]["evaluator_name"] for entry in content} == {"Rouge"}
    flips = [entry for entry in read(ranked.data)["problems"] if entry["problem_type"] == "robustness"]
    assert flips
    for entry in flips:
        assert entry["attributes"]["model_name"] in ("one", "two")
        assert {"description", "severity", "problem_code", "actions"} <= set(entry)


def test_the_leaderboard_index_names_a_file_per_metric_and_all(small_report):
    place = small_report.explainers["rouge"] / "global_llm_heatmap_leaderboard" / "application_json"
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
        small_report.explainers["text_matching"]
        / "global_llm_bool_leaderboard"
        / "application_json"
        / "explanation.json"
    )
    assert boolean["files"] == {"ALL_METRICS": "leaderboard_0.json"}


def test_the_interpretation_holds_the_whole_report(small_report):
    result = read(small_report.data)
    keys = {
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
        "summary",
    }
    assert set(result) == keys
    assert result["run"]["verdicts"]["passed"] == 3
    assert (
        result["evaluators"]["classification"]["leaderboard"]["standings"][0]["metrics"]["f1"]["value"] == 0.5
    )
    assert result["gates"][0]["met"] is True
    assert {problem["severity"] for problem in result["problems"]} <= {"high", "medium", "low"}
    assert all(
        (small_report.data.parent / path).is_file()
        for files in result["results_files"].values()
        for path in files.values()
    )


def test_problems_and_insights_go_with_their_evaluator(ranked):
    problems = read(ranked.explainers["text_matching"] / "problems" / "problems_and_actions.json")["problems"]
    assert {problem["problem_code"]["code"] for problem in problems} == {"P0300"}
    assert read(ranked.explainers["rouge"] / "insights" / "insights_and_actions.json")["insights"]


def test_the_archive_holds_all_of_it_and_the_record(small_report):
    with zipfile.ZipFile(small_report.archive) as archive:
        assert archive.testzip() is None
        names = set(archive.namelist())
        assert archive.read("interpretation.html") == small_report.page.read_bytes()
    assert {"record.jsonl", "interpretation.html", "interpretation.json", "summary.md"} <= names
    on_disk = {
        path.relative_to(small_report.page.parent).as_posix()
        for path in small_report.page.parent.rglob("*")
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
    assert row["actual_output"] == text.replace("\ud83d", "�")
    assert "half" in report.page.read_text(encoding="utf-8")


def test_a_run_of_nothing_has_a_report(tmp_path):
    report = build_report(RecordBuilder().write(tmp_path), tmp_path, {})
    assert "No model was evaluated" in report.page.read_text(encoding="utf-8")
    assert "INCOMPLETE – nothing evaluated" in report.markdown.read_text(encoding="utf-8")


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
    text = build_report(builder.write(tmp_path), tmp_path, {}).markdown.read_text(encoding="utf-8")
    assert "  - ``pytest 'suite.json::k`0[one]'``\n" in text
    assert "… and 3 more failures, in interpretation.html" in text
    assert "::expected[" not in text


def test_a_large_page_is_not_compressed_again(tmp_path, monkeypatch):
    monkeypatch.setattr("pytest_evalstudio.report.build.LARGE_PAGE", 1_000)
    report = build_report(small_run().write(tmp_path), tmp_path, {})
    with zipfile.ZipFile(report.archive) as archive:
        assert archive.getinfo("interpretation.html").compress_type == zipfile.ZIP_STORED
        assert archive.getinfo("interpretation.json").compress_type == zipfile.ZIP_DEFLATED
        assert archive.read("interpretation.html") == report.page.read_bytes()


def test_a_report_that_cannot_be_made_leaves_no_archive(tmp_path, monkeypatch):
    def raise_full_disk(*args):
        raise OSError("the disk is full")

    monkeypatch.setattr("pytest_evalstudio.report.build.interpretation", raise_full_disk)
    with pytest.raises(OSError, match="the disk is full"):
        build_report(small_run().write(tmp_path), tmp_path / "report", {})
    assert not list(tmp_path.rglob("*.zip.tmp")) + list((tmp_path / "report").glob("*.zip"))


@pytest.mark.parametrize("id", ["rouge", "text_matching", "classification"])
def test_the_table_of_outputs_declares_all_files_of_an_evaluator(small_report, id):
    folder = small_report.explainers[id]
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    declared = {
        output.path: {
            name
            for name in files
            if fnmatch.fnmatch(name, output.path.format(board="global_*_leaderboard", uuid="*", n="*"))
        }
        for output in OUTPUTS
    }
    optional = {path for path in declared if "parquet" in path or "model-wide" in path}

    assert {path for path, names in declared.items() if not names} <= optional
    assert files - set().union(*declared.values()) == {
        "result_descriptor.json",
        *(name for name in files if name.endswith(".meta")),
    }


def test_the_documentation_names_all_outputs():
    text = (Path(__file__).parents[2] / "docs/reference/report.md").read_text(encoding="utf-8")
    for output in OUTPUTS:
        *folders, name = output.path.split("/")
        assert name.replace("{n}", "<n>").replace("{uuid}", "<uuid>") in text
        assert all(folder in text for folder in folders if folder != "{board}")
