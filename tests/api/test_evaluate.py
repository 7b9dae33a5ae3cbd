from __future__ import annotations

import json

import pytest
from msgspec import structs

from pytest_evalstudio.analysis.aggregates import aggregates_of
from pytest_evalstudio.api.builders import CaseFieldsWithCorpus, make_case
from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.formats.lab import Model, TestLab
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.schema import FileEntry
from pytest_evalstudio.report.build import build_report
from support.records import RecordBuilder, evaluator
from support.toys import toy_registry


def dataset(*answers, **fields):
    llm_dataset = LlmDataset()
    for number, answer in enumerate(answers):
        llm_dataset.add_input(f"question {number}", key=f"k{number}", actual_output=answer, **fields)
    return llm_dataset


def lab(**answers):
    test_lab = TestLab(
        name="Two",
        description="models",
        models=[Model(key=key, llm_model_name=f"llm-{key}") for key in answers],
    )
    for key, texts in answers.items():
        for number, text in enumerate(texts):
            test_lab.dataset.add_input(
                f"question {number}",
                key=f"k{number}",
                actual_output=text,
                expected_output="yes",
                model_key=key,
            )
    return test_lab


def evaluation_of(data, evaluators=("reading",), **options):
    return evaluate(data, list(evaluators), registry=toy_registry(), **options)


def test_each_row_gets_a_verdict():
    results = evaluation_of(dataset("0.9", "0.1", "silent", "nothing"))
    assert results.verdicts() == {
        "k0[dataset]": "passed",
        "k1[dataset]": "failed",
        "k2[dataset]": "error",
        "k3[dataset]": "skipped",
    }
    assert [result.task.key for result in results] == ["k0", "k1", "k2", "k3"]


def test_an_expected_failure_is_told_apart():
    assert list(evaluation_of(dataset("0.9", "0.1", "silent", xfail="known")).verdicts().values()) == [
        "xpassed",
        "xfailed",
        "error",
    ]


def test_a_lab_is_judged_model_by_model_in_its_order():
    results = evaluation_of(lab(b=["0.9", "0.1"], a=["0.1", "0.9"]))
    assert list(results.verdicts()) == ["k0[llm-b]", "k1[llm-b]", "k0[llm-a]", "k1[llm-a]"]
    assert list(results.verdicts().values()) == ["passed", "failed", "failed", "passed"]


def test_rows_without_a_key_are_cases_of_their_own():
    data = LlmDataset()
    for answer in ("0.9", "0.1"):
        data.add_input("What?", actual_output=answer)
    data.add_input("Who?", actual_output="0.9")
    results = evaluation_of(data)
    assert list(results.verdicts().values()) == ["passed", "failed", "passed"]
    assert len({result.task.key for result in results}) == 3


def test_without_a_choice_the_default_evaluators_judge():
    [result] = evaluate(dataset("It is fine."))
    assert [selected.id for selected in result.verdicts] == [
        "text_matching",
        "pii_leakage",
        "sensitive_data_leakage",
        "looping_detection",
    ]


def test_the_configuration_is_that_of_the_file():
    config = {"evaluators": ["reading"], "evaluator": {"reading": {"threshold": 0.05}}, "max_text_chars": 4}
    results = evaluate(dataset("0.1"), registry=toy_registry(), config=config)
    assert list(results.verdicts().values()) == ["error"]
    assert "longer than max_text_chars = 4" in results.items[0].errors[0].reason


def test_answers_to_one_question_are_compared_in_groups():
    data = LlmDataset()
    for number, question in enumerate("xyx"):
        data.add_input(question, key=f"k{number}", actual_output="1")
    assert list(evaluation_of(data, ["counting"]).verdicts().values()) == ["passed", "failed", "passed"]


def test_what_nobody_knows_is_told():
    with pytest.raises(ConfigurationError, match="Did you mean 'reading'"):
        evaluation_of(dataset("1"), ["readin"])
    with pytest.raises(ConfigurationError, match="runs: input should be greater than or equal to 1"):
        evaluation_of(dataset("1"), config={"runs": 0})


def test_a_row_of_an_unknown_model_is_told():
    data = lab(a=["1"])
    data.dataset.add_input("q", model_key="b")
    with pytest.raises(DataError, match="/dataset/inputs/1/model_key: no model of this lab has the key 'b'"):
        evaluation_of(data)


def test_an_empty_lab_has_no_verdicts_and_a_record(tmp_path):
    results = evaluation_of(TestLab())
    assert results.verdicts() == {}
    assert list(RecordReader(results.write_record(tmp_path)).items()) == []


def test_the_record_of_an_evaluation_holds_the_run(tmp_path):
    path = evaluation_of(lab(a=["0.9", "0.1"], b=["silent", "nothing"])).write_record(tmp_path)
    record = RecordReader(path)
    run = record.run
    assert run.files == (FileEntry(path="Two", kind="lab", name="Two", description="models"),)
    assert {key: model.name for key, model in run.models.items()} == {"a": "llm-a", "b": "llm-b"}
    assert list(run.evaluators) == ["reading"]
    assert (run.interrupted, run.exit_status, run.settings.flips) == (False, 0, "fail")
    items = list(record.items())
    assert [(item.nodeid, item.verdict) for item in items] == [
        ("Two::k0[llm-a]", "passed"),
        ("Two::k1[llm-a]", "failed"),
        ("Two::k0[llm-b]", "error"),
        ("Two::k1[llm-b]", "skipped"),
    ]
    assert [item.reason for item in items] == [
        "",
        "reading: value 0.1 < 0.5: read 0.1",
        "the judge is silent",
        "",
    ]


def test_two_records_of_one_evaluation_differ_in_nothing_but_when(tmp_path):
    results = evaluation_of(lab(a=["0.9"], b=["0.1"]))
    records = [
        [
            json.loads(text)
            for text in results.write_record(tmp_path / name).read_text(encoding="ascii").splitlines()
        ]
        for name in "ab"
    ]
    for header, *_ in records:
        for name in ("run_id", "created", "finished"):
            assert header.pop(name)
    assert records[0] == records[1]


def test_a_report_is_built_from_the_record(tmp_path):
    data = lab(a=["yes", "no"], b=["yes", "yes"])
    path = evaluation_of(data, ["reading", "answered", "classification"]).write_record(tmp_path)
    aggregates = aggregates_of(RecordReader(path).run, toy_registry())
    assert list(aggregates) == ["classification"]
    report = build_report(path, tmp_path / "out", aggregates)
    assert report.page.read_text(encoding="utf-8").startswith("<!")
    exported = json.loads(report.data.read_text(encoding="utf-8"))
    assert exported
    assert report.archive.stat().st_size > 0


def test_evaluators_that_this_installation_does_not_know_have_no_aggregates():
    run = RecordBuilder(evaluator("theirs")).run
    assert aggregates_of(run, toy_registry()) == {}


def test_a_case_by_hand_takes_lists_and_single_texts():
    case = make_case("q", "a", context="chunk", categories=["x"], condition='"a"')
    assert (case.context, case.categories, case.is_rag, case.model_key) == (
        ("chunk",),
        ("x",),
        True,
        "by hand",
    )
    assert make_case("q", context=["c"], is_rag=False).is_rag is False
    with pytest.raises(
        ConfigurationError, match=r"eval_case: a case has no field 'contxt'. Did you mean 'context'"
    ):
        make_case("q", contxt="x")


def test_the_types_of_a_cases_fields_are_those_of_cases_and_answers() -> None:
    fields = {field.name for cls in (Case, Answer) for field in structs.fields(cls)}
    by_path = {"images", "files"}
    assert set(CaseFieldsWithCorpus.__annotations__) == (fields | by_path) - {"question", "answer", "text"}
