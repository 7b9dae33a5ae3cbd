"""Tables are scored as the engine scores cases, whatever the file, the batches and the processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fsspec
import msgspec
import pytest
from pyarrow import parquet

from pytest_evalstudio import make_case, score_table
from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.contrib.tables.comparison.compare import compare_tables
from pytest_evalstudio.contrib.tables.figures.estimates import mean_of, pass_share_of
from pytest_evalstudio.contrib.tables.figures.leaderboards import leaderboard_lines
from pytest_evalstudio.contrib.tables.pages.page import excerpt_of
from pytest_evalstudio.contrib.tables.pages.population import verdicts_of
from pytest_evalstudio.contrib.tables.sketches import percentiles
from pytest_evalstudio.contrib.tables.table.reader import ScoredTable
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.report.build import build_report
from pytest_evalstudio.scoring.pipeline import Pipeline
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.tasks import EvalTask
from pytest_evalstudio.text.sentences import split_sentences
from support.tables_of_answers import KEYED, MAP, answers, values_of, write_csv, write_jsonl, write_parquet

ROWS = answers(120)
WRITERS = {"parquet": write_parquet, "jsonl": write_jsonl, "csv": write_csv}


def score(
    source: Path | str, output: Path | str, evaluators: tuple[str, ...] = ("rouge",), **options: Any
) -> ScoredTable:
    settings = {"mapping": MAP, "keep": ("topic",), "workers": 1, "batch_rows": 32, **options}
    return score_table(source, evaluators, output, **settings)


@pytest.mark.parametrize("format", WRITERS)
def test_every_format_gives_the_scores_of_the_evaluator_itself(format: str, tmp_path: Path) -> None:
    source = WRITERS[format](tmp_path / f"log.{format}", ROWS)
    table = score(source, tmp_path / "out.parquet", ("lexical_groundedness", "rouge"))
    cases = [
        make_case(
            row["question"], row["answer"], expected_output=row["expected_output"], context=row["chunks"]
        )
        for row in ROWS
    ]
    tools = Tools(split_sentences=split_sentences)
    for name, metric in (("lexical_groundedness", "supported_words"), ("rouge", "rouge_l")):
        outcomes = Registry().evaluators.get(name)().score(cases, tools)
        assert values_of(table, metric) == {i: outcome.scores[metric] for i, outcome in enumerate(outcomes)}
    manifest = table.manifest
    assert (manifest.answers, manifest.rows) == (120, 120 * 8)
    assert [source.rows for source in manifest.sources] == [120]
    assert [model.key for model in manifest.models] == ["m0", "m1"]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le"])
@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_a_file_in_another_encoding_is_to_be_converted(format: str, encoding: str, tmp_path: Path) -> None:
    rows = [{**row, "answer": "It is in the café."} for row in ROWS[:4]]
    source = WRITERS[format](tmp_path / f"log.{format}", rows)
    text = source.read_text(encoding="utf-8").replace("\\u00e9", "é")
    source.write_bytes(text.encode(encoding))

    message = rf"log\.{format}(:1)?: is not UTF-8; convert the file to UTF-8"
    with pytest.raises(DataError, match=message):
        score(source, tmp_path / "out.parquet")


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_sources_without_any_answer_are_an_error_and_an_empty_file_among_others_is_not(
    format: str, tmp_path: Path
) -> None:
    empty = WRITERS[format](tmp_path / f"a.{format}", ROWS[:1])
    if format == "parquet":
        parquet.write_table(parquet.read_table(empty).slice(0, 0), empty)
    else:
        empty.write_text(empty.read_text().splitlines()[0] + "\n")
    with pytest.raises(DataError, match=rf"a\.{format}: has no answers; give a file with rows"):
        score(empty, tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()

    WRITERS[format](tmp_path / f"b.{format}", ROWS[:4])
    assert score(tmp_path, tmp_path / "out.parquet").manifest.answers == 4


def test_aggregates_are_the_figures_of_the_scores(tmp_path: Path) -> None:
    table = score(write_parquet(tmp_path / "log.parquet", ROWS), tmp_path / "out.parquet")
    values = values_of(table, "rouge_1")
    aggregate = table.manifest.aggregate("rouge", "rouge_1", "m0")
    assert aggregate is not None
    of_model = [values[i] for i in range(0, 120, 2)]
    assert aggregate.scored == 60
    assert aggregate.mean == pytest.approx(sum(of_model) / 60)
    assert (aggregate.min, aggregate.max) == (min(of_model), max(of_model))
    assert percentiles(aggregate.sketch, [0.5])[0] in of_model
    assert [row.value for row in aggregate.worst] == sorted(of_model)[:20]
    group = table.manifest.aggregate("rouge", "rouge_1", "m0", "topic", "cards")
    assert group is not None
    assert group.scored == 20
    assert pass_share_of(aggregate).value == aggregate.passed / 60
    interval = mean_of(aggregate).interval
    assert interval is not None
    assert interval[0] < aggregate.mean < interval[1]


def test_answers_are_kept_masked_with_their_place_in_the_source(tmp_path: Path) -> None:
    rows = [*answers(3), {**answers(1)[0], "answer": "Write to jane.doe@bank.com."}]
    folder = tmp_path / "logs"
    write_parquet(folder / "a.parquet", rows)
    write_jsonl(folder / "b.jsonl", rows)
    write_jsonl(folder / "_hidden.jsonl", rows)
    table = score(folder, tmp_path / "out.parquet", mapping={**MAP, "key": "id"})
    stored_answers = table.answers_of(range(8))
    assert stored_answers[3].actual_output == "Write to ****.***@****.***."
    assert [(row.source, row.source_row, row.key) for row in stored_answers.values()] == [
        (source, row, f"row-{row % 3}") for source in (0, 1) for row in range(4)
    ]
    assert stored_answers[1].context == (rows[1]["answer"], "Fees are charged at the end of a month.")
    assert stored_answers[1].groups == {"topic": "cards"}


@pytest.mark.parametrize(("texts", "count"), [("all", 120), ("worst", None), ("none", 0)])
def test_texts_are_kept_as_asked(texts: str, count: int | None, tmp_path: Path) -> None:
    source = write_parquet(tmp_path / "log.parquet", ROWS)
    table = score(source, tmp_path / "out.parquet", texts=texts, keep=())
    worst = {row.row_id for entry in table.manifest.aggregates for row in entry.worst}
    stored_answers = table.answers_of(range(120))
    assert len(stored_answers) == (len(worst) if count is None else count)
    if texts == "worst":
        assert set(stored_answers) == worst
        assert [file.name for file in (tmp_path / "out.parquet" / "answers").iterdir()] == [
            "part-worst.parquet"
        ]


def test_a_pool_of_processes_gives_the_table_of_one_process(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "log.jsonl", ROWS)
    single_process = score(source, tmp_path / "one.parquet")
    pool = score(source, tmp_path / "two.parquet", workers=2)
    assert values_of(pool, "rouge_l") == values_of(single_process, "rouge_l")
    assert [part.path for part in pool.manifest.scores] == [
        part.path for part in single_process.manifest.scores
    ]
    for first, second in zip(single_process.manifest.aggregates, pool.manifest.aggregates, strict=True):
        assert first.mean == pytest.approx(second.mean)
        assert (first.identity, first.passed, first.worst) == (second.identity, second.passed, second.worst)


def test_sources_and_output_may_be_in_any_store(tmp_path: Path) -> None:
    source = write_parquet(tmp_path / "log.parquet", ROWS)
    url = f"memory://{tmp_path.name}"
    with fsspec.open(f"{url}/logs/a.parquet", "wb") as file:
        file.write(source.read_bytes())
    table = score(f"{url}/logs", f"{url}/out.parquet")
    assert ScoredTable.open(f"{url}/out.parquet").manifest == table.manifest
    assert len(values_of(table, "rouge_l")) == 120


def test_a_row_without_an_answer_is_an_error_and_one_without_context_does_not_apply(tmp_path: Path) -> None:
    rows = answers(3)
    rows[0]["answer"] = None
    rows[1]["chunks"] = None
    table = score(
        write_jsonl(tmp_path / "log.jsonl", rows), tmp_path / "out.parquet", ("lexical_groundedness",)
    )
    lines = [
        row for batch in table.scores() for row in batch.to_pylist() if row["metric"] == "supported_words"
    ]
    assert [(row["status"], row["code"], row["reason"]) for row in lines[:2]] == [
        ("error", "no_answer", "the row has no answer"),
        ("not_applicable", "input_missing", None),
    ]
    aggregate = table.manifest.aggregate("lexical_groundedness", "supported_words", "m0")
    assert aggregate is not None
    assert (aggregate.errors, aggregate.rows) == ({"no_answer": 1}, 2)


def test_an_empty_answer_is_no_answer_and_counts_for_no_evaluator(tmp_path: Path) -> None:
    rows = answers(40)
    for row in rows[:5]:
        row["answer"] = " \u200b"
    table = score(
        write_jsonl(tmp_path / "log.jsonl", rows), tmp_path / "out.parquet", ("pii_leakage", "rouge")
    )
    lines = [row for batch in table.scores() for row in batch.to_pylist() if row["row_id"] == 0]
    assert {(row["status"], row["code"], row["value"]) for row in lines} == {
        ("no_answer", "answer_empty", None)
    }
    for evaluator, metric in (("pii_leakage", "model_passes"), ("rouge", "rouge_l")):
        of_models = [table.manifest.aggregate(evaluator, metric, model) for model in ("m0", "m1")]
        counts = [(each.no_answer, each.scored, each.rows) for each in of_models if each is not None]
        assert [sum(column) for column in zip(*counts, strict=True)] == [5, 35, 40]
    assert sum(table.manifest.empty_answers.values()) == 5
    assert sum("answers of" in line for line in leaderboard_lines(table.manifest)) == 2
    assert not any("error (" in line or "errors (" in line for line in leaderboard_lines(table.manifest))

    excerpt = excerpt_of(table, tmp_path / "page", size=40, seed=1)
    items = {item.key: item for item in RecordReader(excerpt.record).items()}
    failed = [item for item in items.values() if item.code == "answer_empty"]
    assert [item.verdict for item in failed] == ["failed"] * 5
    assert sum(counts["failed"] for counts in verdicts_of(table).values()) == sum(
        item.verdict == "failed" for item in items.values()
    )
    analysis = analyse(excerpt.record, {}, population=excerpt.population)
    assert {model.key: model.empty for model in analysis.models} == table.manifest.empty_answers


def test_causes_of_an_excerpt_say_that_they_are_of_the_listed_answers(tmp_path: Path) -> None:
    rows = answers(200)
    for row in rows[:100]:
        row["answer"] = "Card 4111 1111 1111 1111."
    table = score(write_jsonl(tmp_path / "log.jsonl", rows), tmp_path / "out.parquet", ("pii_leakage",))
    excerpt = excerpt_of(table, tmp_path / "page", size=20, seed=1)
    report = build_report(excerpt.record, tmp_path / "report", {}, population=excerpt.population)
    cause_count = sum(cause.total for cause in report.summary.causes)
    assert cause_count < report.analysis.verdicts["failed"]
    assert report.summary.causes_of == "the listed answers"
    assert "among the listed answers" in report.page.read_text(encoding="utf-8")
    assert "Why (among the listed answers): " in report.markdown.read_text(encoding="utf-8")


def test_an_answer_that_becomes_empty_is_regressed(tmp_path: Path) -> None:
    before, after = answers(40), answers(40)
    after[0]["answer"] = ""
    tables = [
        score(
            write_jsonl(tmp_path / f"{name}.jsonl", rows),
            tmp_path / f"{name}.parquet",
            ("pii_leakage",),
            mapping=KEYED,
        )
        for name, rows in (("before", before), ("after", after))
    ]
    comparison = compare_tables(*tables)
    assert (comparison.items["regressed"], comparison.items["gone"]) == (1, 0)


def test_labels_give_the_confusion_matrix_and_macro_figures_of_a_model(tmp_path: Path) -> None:
    pairs = [("yes", "Yes"), ("yes", "no"), ("no", "no"), ("no", "no"), ("no", "perhaps")]
    rows = [{"expected_output": expected, "answer": answer} for expected, answer in pairs * 10]
    table = score_table(
        write_jsonl(tmp_path / "log.jsonl", rows),
        ["classification"],
        tmp_path / "out.parquet",
        mapping={"actual_output": "answer"},
        workers=1,
        batch_rows=7,
    )
    accuracy = table.manifest.aggregate("classification", "accuracy", "dataset")
    recall = table.manifest.aggregate("classification", "recall", "dataset")
    assert accuracy is not None
    assert recall is not None
    assert {(label.expected, label.answered): label.count for label in accuracy.labels} == {
        ("yes", "yes"): 10,
        ("yes", "no"): 10,
        ("no", "no"): 20,
        ("no", "perhaps"): 10,
    }
    assert accuracy.value == pytest.approx(0.6)
    assert recall.value == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_labels_are_masked_before_they_are_cut(tmp_path: Path) -> None:
    secret = f"sk-proj-{'a1B2' * 10}"
    rows = [{"expected_output": "yes", "answer": f"{'no ' * 13}{secret}"}] * 3
    table = score_table(
        write_jsonl(tmp_path / "log.jsonl", rows),
        ["classification"],
        tmp_path / "out.parquet",
        mapping={"actual_output": "answer"},
        workers=1,
    )
    assert "a1b2" not in (tmp_path / "out.parquet" / "manifest.json").read_text().lower()
    accuracy = table.manifest.aggregate("classification", "accuracy", "dataset")
    assert accuracy is not None
    assert [label.answered[:44] for label in accuracy.labels] == [f"{'no ' * 13}**-**"]


@pytest.mark.parametrize(("times", "failed"), [(1, set()), (99, set(range(32, 64)))], ids=["once", "always"])
def test_a_batch_that_fails_is_scored_again_and_then_its_rows_are_errors(
    times: int, failed: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate, remaining = Pipeline.evaluate, [times]

    def breaks(self: Pipeline, tasks: list[EvalTask]) -> list[Result]:
        if tasks[0].case.position == 33 and remaining[0] > 0:
            remaining[0] -= 1
            raise RuntimeError("a fault, jane.doe@bank.com")
        return evaluate(self, tasks)

    monkeypatch.setattr(Pipeline, "evaluate", breaks)
    table = score(write_parquet(tmp_path / "log.parquet", ROWS), tmp_path / "out.parquet")
    lines = [row for batch in table.scores() for row in batch.to_pylist()]
    errors = {row["row_id"]: (row["code"], row["reason"]) for row in lines if row["status"] == "error"}
    assert set(errors) == failed
    for code, reason in errors.values():
        assert code == "worker_failed"
        assert reason.startswith("its batch could not be scored: RuntimeError: a fault, ****.***@")


# `effort` has metrics with an infinite range.
@pytest.mark.parametrize("evaluator", ["rouge", "effort"])
def test_an_interrupted_run_is_continued_with_the_same_result(evaluator: str, tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "log.jsonl", ROWS)
    full_table = score(source, tmp_path / "whole.parquet", (evaluator,))

    def stop(count: int, total: int | None) -> None:
        if count == 64:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score(source, tmp_path / "out.parquet", (evaluator,), progress=stop)
    progress: list[int] = []
    table = score(
        source,
        tmp_path / "out.parquet",
        (evaluator,),
        resume=True,
        progress=lambda count, total: progress.append(count),
    )
    assert progress == [96, 120]
    run_fields = {"run_id": "", "started": "", "finished": "", "seconds": 0.0}
    assert msgspec.structs.replace(table.manifest, **run_fields) == msgspec.structs.replace(
        full_table.manifest, **run_fields
    )


def test_answers_are_not_paired_by_keys_that_a_source_lacks(tmp_path: Path) -> None:
    def score_both(folder: Path, *fields: str) -> ScoredTable:
        rows = [{"actual_output": row["answer"], "input": row["question"]} for row in answers(20)]
        for number, field in enumerate(fields):
            keyed = [{**row, field: f"{number}-{at}"} for at, row in enumerate(rows)]
            write_jsonl(folder / f"{number}.jsonl", keyed)
        sources = [str(folder / f"{number}.jsonl") for number in range(len(fields))]
        return score_table(sources, ["looping_detection"], folder / "out.parquet", workers=1)

    for name, fields in {"some": ("key", "other"), "all": ("key", "key")}.items():
        (tmp_path / name).mkdir()
        table = score_both(tmp_path / name, *fields)
        assert ("key" in table.manifest.mapping) == (name == "all")
        notes = compare_tables(table, table).notes
        assert any("not paired" in note for note in notes) == (name == "some")


@pytest.mark.parametrize("texts", ["all", "worst"])
def test_errors_are_reported_with_their_first_reason(texts: str, tmp_path: Path) -> None:
    rows = [{**row, "failure": ""} for row in answers(120)]
    for number in (70, 100):
        rows[number]["failure"] = f"timeout of request {number}, key sk-proj-{'a1B2' * 10}"
    source = write_jsonl(tmp_path / "log.jsonl", rows)
    table = score(source, tmp_path / "out.parquet", mapping={**MAP, "error": "failure"}, texts=texts)

    (line,) = [line for line in leaderboard_lines(table.manifest) if "error" in line and "first row" in line]
    assert line.startswith("  2 errors (no answer), first row 70: ")
    assert "timeout of request 70" in line
    assert "sk-proj" not in line
    assert 70 in table.answers_of([70])

    excerpt = excerpt_of(table, tmp_path / "page", size=1, seed=1)
    items = [item for item in RecordReader(excerpt.record).items() if item.verdict == "error"]
    assert [item.rows[0].answer.error or item.rows[0].outcomes["rouge"].reason for item in items]
    report = build_report(excerpt.record, tmp_path / "report", {}, population=excerpt.population)
    facts = report.page.read_text(encoding="utf-8")
    assert "Not answered: " in facts
    assert "timeout of request 70" in facts


def test_an_empty_list_of_chunks_was_not_retrieved_and_a_missing_one_says_nothing(tmp_path: Path) -> None:
    rows = [
        {**ROWS[0], "chunks": chunks, "answer": "It costs 5 USD."}
        for chunks in (["It costs 5 USD."], [], None)
    ]
    table = score(
        write_parquet(tmp_path / "log.parquet", rows), tmp_path / "out.parquet", ("lexical_groundedness",)
    )
    assert values_of(table, "supported_words") == {0: 1.0, 1: 0.0, 2: None}
