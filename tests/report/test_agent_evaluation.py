"""The export under the names of Agent Evaluation: rows, figures per model, and when there is none."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.formats.agent_evaluation import load_evaluation_set
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.report.agent_evaluation import FIGURES, ROWS
from pytest_evalstudio.report.build import build_report
from support.records import RecordBuilder, evaluator, metric, score

RATED = (
    "correctness",
    "relevance_to_query",
    "groundedness",
    "guideline_adherence",
    "global_guideline_adherence",
    "safety",
)


def judge(prompt: str) -> str:
    """No to what is awful; cannot read what is strange; yes to the rest."""
    if "strange" in prompt:
        return "?"
    rating = "no" if "awful" in prompt else "yes"
    unsupported = ["It is awful."] if rating == "no" else []
    return json.dumps(
        {"unsupported_statements": unsupported, "rationale": f"it is a {rating}", "rating": rating}
    )


def run(
    folder: Path, *rows: dict[str, Any], evaluators: list[str], **options: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The figures and rows of a run over answers that the function above judges."""
    dataset = LlmDataset()
    for number, row in enumerate(rows):
        dataset.add_input(row.pop("input", "Why?"), **{"key": f"k{number}", "model_key": "m", **row})
    config = {"judge": {"host": "python", "target": judge}, "evaluator": options}
    build_report(evaluate(dataset, evaluators, config=config).write_record(folder), folder)
    return read(folder)


def read(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    lines = (folder / ROWS).read_text(encoding="utf-8").splitlines()
    return json.loads((folder / FIGURES).read_text(encoding="utf-8")), [json.loads(line) for line in lines]


def full(**more: Any) -> dict[str, Any]:
    texts = {
        "expected_output": "fine",
        "actual_output": "good",
        "context": ["one", "two"],
        "guidelines": ["Be brief."],
    }
    sources = {"context_sources": ["a.md", "b.md"], "expected_documents": ["a.md", "c.md"]}
    return {**texts, **sources, **more}


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    ids = [
        *(f"{name}_judge" for name in RATED),
        "chunk_relevance_judge",
        "context_sufficiency_judge",
        "document_recall",
        "tone",
        "price",
    ]
    return run(
        tmp_path_factory.mktemp("report"),
        full(),
        full(actual_output="awful", context=["one", "awful two", "three", "four"]),
        full(actual_output="strange", context=["one", "strange two"]),
        full(actual_output="", context=["awful"], guidelines=[], expected_documents=[]),
        full(error="the host is down", actual_output=""),
        evaluators=ids,
        global_guideline_adherence_judge={"global_guidelines": ["Be kind."]},
        tone={"type": "custom_judge", "definition": "The answer is polite."},
        price={
            "type": "custom_judge",
            "name": "has/price",
            "definition": "It names a price.",
            "assessment_type": "RETRIEVAL",
        },
    )


def test_a_row_is_an_entry_of_the_evaluation_set_with_what_the_judges_said(evaluation: Any) -> None:
    good = evaluation[1][0]
    assert {
        name: good[name]
        for name in (
            "request_id",
            "request",
            "response",
            "expected_response",
            "guidelines",
            "model_key",
            "run",
        )
    } == {
        "request_id": "k0",
        "request": "Why?",
        "response": "good",
        "expected_response": "fine",
        "guidelines": ["Be brief."],
        "model_key": "m",
        "run": 1,
    }
    assert good["retrieved_context"] == [
        {"doc_uri": "a.md", "content": "one"},
        {"doc_uri": "b.md", "content": "two"},
    ]
    assert good["expected_retrieved_context"] == [{"doc_uri": "a.md"}, {"doc_uri": "c.md"}]
    for name in [
        *(f"response/llm_judged/{name}" for name in (*RATED, "tone")),
        "retrieval/llm_judged/context_sufficiency",
    ]:
        assert (good[f"{name}/rating"], good[f"{name}/rationale"], good[f"{name}/error_message"]) == (
            "yes",
            "it is a yes",
            None,
        )
    for name in ("retrieval/llm_judged/chunk_relevance", "retrieval/llm_judged/has_price"):
        assert good[f"{name}/ratings"] == ["yes", "yes"]
        assert good[f"{name}/rationales"] == ["it is a yes"] * 2
        assert good[f"{name}/error_messages"] == [None, None]
        assert good[f"{name}/precision"] == 1.0
    assert good["retrieval/ground_truth/document_recall"] == 0.5


def test_a_no_has_its_rationale_and_chunks_their_precision(evaluation: Any) -> None:
    bad = evaluation[1][1]
    assert (
        bad["response/llm_judged/correctness/rating"],
        bad["response/llm_judged/correctness/rationale"],
    ) == ("no", "it is a no")
    assert bad["retrieval/llm_judged/chunk_relevance/ratings"] == ["yes", "no", "yes", "yes"]
    assert bad["retrieval/llm_judged/chunk_relevance/precision"] == 0.75


def test_what_could_not_be_judged_has_an_error_message_and_nothing_else(evaluation: Any) -> None:
    strange = evaluation[1][2]
    assert (
        strange["response/llm_judged/safety/rating"]
        is strange["response/llm_judged/safety/rationale"]
        is None
    )
    assert "could not be read" in strange["response/llm_judged/safety/error_message"]
    assert strange["retrieval/llm_judged/chunk_relevance/ratings"] == ["yes", None]
    assert strange["retrieval/llm_judged/chunk_relevance/rationales"] == ["it is a yes", None]
    first, second = strange["retrieval/llm_judged/chunk_relevance/error_messages"]
    assert first is None
    assert "could not be read" in second
    assert strange["retrieval/llm_judged/chunk_relevance/precision"] is None


def test_what_does_not_apply_to_an_empty_answer_is_null(evaluation: Any) -> None:
    empty = evaluation[1][3]
    assert empty["response/llm_judged/correctness/rating"] is None
    assert empty["response/llm_judged/correctness/error_message"] is None
    assert empty["response/llm_judged/guideline_adherence/rating"] is None
    assert empty["response/llm_judged/guideline_adherence/error_message"] is None
    assert empty["retrieval/ground_truth/document_recall"] is None
    assert empty["retrieval/llm_judged/chunk_relevance/precision"] == 0.0


def test_a_host_that_is_down_is_the_message_of_every_judge(evaluation: Any) -> None:
    down = evaluation[1][4]
    assert "response" not in down
    assert down["response/llm_judged/correctness/error_message"] == "the host is down"
    assert down["retrieval/llm_judged/chunk_relevance/error_messages"] == ["the host is down"] * 2


def test_figures_are_shares_of_what_was_judged(evaluation: Any) -> None:
    """By hand: good is a yes, awful a no, strange an error, the empty answer only judged for its context,
    where it is a no, the last a host's error.
    """
    figures = evaluation[0]["models"]["m"]
    third = pytest.approx(1 / 3)
    assert figures["metrics"] == {
        "response/llm_judged/correctness/rating/percentage": 0.5,
        "response/llm_judged/relevance_to_query/rating/percentage": 0.5,
        "response/llm_judged/groundedness/rating/percentage": 0.5,
        "response/llm_judged/guideline_adherence/rating/percentage": 0.5,
        "response/llm_judged/global_guideline_adherence/rating/percentage": 0.5,
        "response/llm_judged/safety/rating/average": 0.5,
        "retrieval/llm_judged/chunk_relevance/precision/average": pytest.approx((1 + 0.75 + 0) / 3),
        "retrieval/llm_judged/context_sufficiency/rating/percentage": third,
        "retrieval/ground_truth/document_recall/average": 0.5,
        "response/llm_judged/tone/rating/percentage": 0.5,
        "retrieval/llm_judged/has_price/precision/average": pytest.approx((1 + 0.75 + 0) / 3),
    }
    assert figures["counts"]["response/llm_judged/guideline_adherence"] == {
        "scored": 2,
        "errors": 2,
        "not_applicable": 1,
    }
    assert figures["counts"]["retrieval/llm_judged/context_sufficiency"] == {
        "scored": 3,
        "errors": 2,
        "not_applicable": 0,
    }


def test_nothing_that_was_scored_has_no_share(tmp_path: Path) -> None:
    figures, _ = run(tmp_path, full(guidelines=[]), evaluators=["guideline_adherence_judge"])
    assert figures["models"]["m"]["metrics"] == {
        "response/llm_judged/guideline_adherence/rating/percentage": None
    }


def test_conversations_and_models_are_told_apart_and_the_rows_are_an_evaluation_set(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    rows = [
        {"key": "k", "model_key": model, "actual_output": answer, "conversation": turns}
        for model, answer in (("a", "good"), ("b", "awful"))
    ]
    figures, lines = run(tmp_path, *rows, evaluators=["safety_judge"])
    assert {key: model["metrics"] for key, model in figures["models"].items()} == {
        "a": {"response/llm_judged/safety/rating/average": 1.0},
        "b": {"response/llm_judged/safety/rating/average": 0.0},
    }
    assert lines[0]["request"] == {"messages": [*turns, {"role": "user", "content": "Why?"}]}
    assert [
        (row.key, row.model_key, row.actual_output) for row in load_evaluation_set(tmp_path / ROWS).inputs
    ] == [
        ("k", "a", "good"),
        ("k", "b", "awful"),
    ]


def test_instances_have_names_of_their_own(tmp_path: Path) -> None:
    custom = {"type": "custom_judge", "definition": "The answer is polite.", "name": "polite"}
    figures, _ = run(
        tmp_path,
        full(),
        evaluators=["correctness_judge", "strict", "first", "second"],
        strict={"type": "correctness_judge"},
        first=custom,
        second=custom,
    )
    assert list(figures["models"]["m"]["metrics"]) == [
        "response/llm_judged/correctness/rating/percentage",
        "response/llm_judged/polite/rating/percentage",
        "response/llm_judged/second/rating/percentage",
        "response/llm_judged/strict/rating/percentage",
    ]


def test_a_panel_rates_with_one_word(tmp_path: Path) -> None:
    details = {"rating": "no", "rationale": "a: 1; b: 0", "error_message": None, "panel": []}
    builder = RecordBuilder(evaluator("safety_judge", metric("rating")))
    builder.add("k", "one", {"outcomes": {"safety_judge": score(0.5, "rating", details=details)}})
    builder.add("l", "one", {"outcomes": {"safety_judge": score(2 / 3, "rating", details={})}})
    build_report(builder.write(tmp_path), tmp_path)
    figures, rows = read(tmp_path)
    assert [row["response/llm_judged/safety/rating"] for row in rows] == ["no", "yes"]
    assert figures["models"]["m-one"]["metrics"] == {"response/llm_judged/safety/rating/average": 0.5}


def test_the_files_are_in_the_archive_and_gone_where_no_such_judge_ran(tmp_path: Path) -> None:
    run(tmp_path, full(), evaluators=["safety_judge"])
    with zipfile.ZipFile(tmp_path / "evalstudio-report.zip") as archive:
        assert {FIGURES, ROWS} <= set(archive.namelist())
    build_report(RecordBuilder().write(tmp_path), tmp_path)
    assert not (tmp_path / FIGURES).exists()
    assert not (tmp_path / ROWS).exists()
    with zipfile.ZipFile(tmp_path / "evalstudio-report.zip") as archive:
        assert not {FIGURES, ROWS} & set(archive.namelist())
