"""Files as the other tools write them are imported; `files/VERSIONS.md` names the versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.dataset import LlmDataset, Row
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.importers.kinds import Import, import_file

FILES = Path(__file__).parent / "files"
QUESTION = "What does a transfer abroad cost?"
ANSWER = "A transfer abroad costs 15 USD."
CHUNKS = ["A transfer abroad costs 15 USD.", "A transfer within the country is free."]


def imported(kind: str, name: str, target: str = "") -> Import:
    result = import_file(kind, FILES / name, target=target)
    assert not result.errors
    return result


def rows(kind: str, name: str) -> list[Row]:
    content = imported(kind, name, "dataset").content
    assert isinstance(content, LlmDataset)
    return content.inputs


def test_goldens_of_deepeval_become_a_suite() -> None:
    result = imported("deepeval", "deepeval_goldens.json")
    assert isinstance(result.content, TestSuite)
    cases = [case for _, case in result.content.cases()]
    assert [(case.prompt, case.expected_output) for case in cases] == [
        (QUESTION, "15 USD"),
        ("Is a transfer within the country free?", "Yes"),
    ]
    assert cases[0].expected_documents == ["fees.md"]
    assert cases[0].model_extra == {"metadata": {"comments": "from the branch", "source_file": "fees.md"}}
    assert cases[1].expected_chunks == CHUNKS


@pytest.mark.parametrize("name", ["deepeval_cases.json", "deepeval_cases.csv"])
def test_test_cases_of_deepeval_become_answers(name: str) -> None:
    assert imported("deepeval", name).kind == "dataset"
    [row] = rows("deepeval", name)
    assert (row.input, row.actual_output, row.expected_output) == (QUESTION, ANSWER, "15 USD")
    assert row.context == CHUNKS


def test_a_data_set_of_ragas_becomes_answers() -> None:
    first, second = rows("ragas", "ragas.jsonl")
    assert (first.input, first.actual_output, first.expected_output) == (QUESTION, ANSWER, "15 USD")
    assert first.context == CHUNKS
    assert (second.actual_output, second.context) == ("No.", [])


def test_lists_in_a_table_of_ragas_are_decoded() -> None:
    [row] = rows("ragas", "ragas.csv")
    assert row.context == CHUNKS


def test_turns_of_ragas_become_a_conversation() -> None:
    [row] = rows("ragas", "ragas_turns.jsonl")
    assert row.input == QUESTION
    assert [(turn.role, turn.content) for turn in row.conversation] == [
        ("user", "Hello?"),
        ("assistant", "Hello!"),
    ]


def test_examples_of_langsmith_become_a_suite() -> None:
    first, second = rows("langsmith", "langsmith.jsonl")
    assert (first.input, first.expected_output, first.categories) == (QUESTION, "15 USD", ["base"])
    assert first.key == "00000000-0000-0000-0000-000000000002"
    assert second.input == QUESTION
    assert [turn.role for turn in second.conversation] == ["system", "user", "assistant"]
    assert imported("langsmith", "langsmith.jsonl").kind == "suite"


def test_records_of_braintrust_become_a_suite() -> None:
    first, second = rows("braintrust", "braintrust.jsonl")
    assert (first.key, first.input, first.expected_output) == ("abroad", QUESTION, "15 USD")
    assert first.categories == ["fees"]
    assert first.model_extra == {"metadata": {"branch": "north"}}
    assert (second.input, second.expected_output) == ("Is it fast?", "No")


def test_samples_of_openai_become_questions() -> None:
    several, single, item = rows("openai-evals", "openai_evals.jsonl")
    assert several.output_condition == 'word("15 USD") OR word("15 dollars")'
    assert (several.expected_output, several.accepted_outputs) == ("15 USD", ["15 dollars"])
    assert [turn.role for turn in several.conversation] == ["system", "user", "assistant"]
    assert (single.input, single.expected_output) == (QUESTION, "15 USD")
    assert (item.input, item.expected_output) == (QUESTION, "15 USD")


def test_records_of_mlflow_become_questions_and_answers() -> None:
    question_row, answer_row = rows("mlflow", "mlflow_records.jsonl")
    assert (question_row.input, question_row.expected_output, question_row.guidelines) == (
        QUESTION,
        "15 USD",
        ["Be brief."],
    )
    assert (answer_row.input, answer_row.actual_output, len(answer_row.conversation)) == (QUESTION, ANSWER, 3)


@pytest.mark.parametrize(
    ("kind", "name", "facts"),
    [("mlflow", "mlflow_trace.json", []), ("agent-evaluation", "mlflow_traces.jsonl", ["15 USD"])],
)
def test_a_trace_has_the_answer_and_the_retrieved_documents(kind: str, name: str, facts: list[str]) -> None:
    [row] = rows(kind, name)
    assert (row.input, row.actual_output) == (QUESTION, ANSWER)
    assert (row.context, row.context_sources) == (CHUNKS, ["fees.md", "fees.md"])
    assert row.expected_facts == facts


@pytest.mark.parametrize("name", ["inspect.json", "inspect.eval"])
def test_a_log_of_inspect_becomes_a_lab(name: str) -> None:
    result = imported("inspect", name)
    assert isinstance(result.content, TestLab)
    assert (result.content.name, [model.key for model in result.content.models]) == (
        "fees",
        ["mockllm/model"],
    )
    rows = sorted(result.content.dataset.inputs, key=lambda row: (row.key, row.run))
    assert [(row.key, row.run, row.actual_output, row.error) for row in rows] == [
        ("abroad", 1, ANSWER, ""),
        ("abroad", 2, "It costs 5 USD.", ""),
        ("free", 1, "Yes, it is free.", ""),
        ("late", 1, "", "timed out"),
    ]
    assert result.notes == ["not imported: scores (3 times): evaluators score the answers anew"]


def test_a_configuration_of_promptfoo_becomes_a_suite() -> None:
    result = imported("promptfoo", "promptfoo.yaml")
    assert isinstance(result.content, TestSuite)
    assert result.content.name == "Fees"
    cases = [case for _, case in result.content.cases()]
    assert len(cases) == (1 + 2 + 2) * 2
    assert {category for case in cases for category in case.categories} == {"plain", "polite"}
    first = cases[0]
    assert first.condition == '"15 USD" AND NOT (regexp("(?i)sorry"))'
    assert first.guidelines == ["States one amount only."]
    assert set(first.evaluators or {}) == {"text_matching", "guideline_adherence_judge", "effort"}
    assert (first.evaluators or {})["effort"] == {"max_seconds": 5.0}
    card, fee = cases[-4], cases[-2]
    assert (card.prompt, card.condition) == ("What does a replacement card cost?", '"5 USD"')
    assert fee.evaluators == {
        "answer_semantic_similarity": {"threshold": 0.8},
        "effort": {"max_seconds": 5.0},
    }
    assert fee.expected_output == "The Basic card has no yearly fee."


def test_what_promptfoo_alone_does_is_listed() -> None:
    notes = imported("promptfoo", "promptfoo.yaml").notes
    assert [note.partition(":")[2].partition("(")[0].strip() for note in notes] == [
        "provider 'openai:chat:gpt-4o-mini'",
        "assertion 'javascript'",
    ]


def test_a_file_of_another_tool_is_an_error_with_its_place() -> None:
    with pytest.raises(
        DataError, match=r"promptfoo\.yaml: is a promptfoo configuration; `evalstudio import p"
    ):
        import_file("ragas", FILES / "promptfoo.yaml")
    with pytest.raises(
        DataError, match=r"ragas\.jsonl: is a data set of Ragas; `evalstudio import ragas FILE"
    ):
        import_file("promptfoo", FILES / "ragas.jsonl")


def test_results_of_promptfoo_become_answers_of_its_providers() -> None:
    result = imported("promptfoo", "promptfoo_results.json")
    assert result.kind == "lab"
    assert isinstance(result.content, TestLab)
    assert result.content.name == "Fees"
    assert [model.key for model in result.content.models] == ["failing", "parrot"]
    inputs = {(row.model_key, row.input): row for row in result.content.dataset.inputs}
    assert len(inputs) == 8
    row = inputs["failing", f"Answer briefly. {QUESTION}"]
    assert (row.actual_output, row.error) == ("It costs 15 USD.", "")
    assert row.output_condition == f'regexp("(?i)ABROAD") AND "{QUESTION}"'
    assert (row.cost, row.usage) == (0.0003, {"input_tokens": 10, "output_tokens": 5})
    assert row.model_extra == {"metadata": {"description": "abroad", "metadata": {"area": "fees"}}}
    broken = inputs["failing", "Answer politely. Is it free?"]
    assert (broken.actual_output, broken.error) == ("", "no credit")
    echo = inputs["parrot", "Answer politely. Is it free?"]
    assert (echo.actual_output, echo.error, echo.output_condition) == (echo.input, "", '"15 USD"')
    assert all(row.actual_duration is not None for row in inputs.values())


def test_an_evaluation_table_of_mlflow_becomes_answers(tmp_path: Path) -> None:
    table = {
        "columns": ["question", "ground_truth", "outputs", "latency", "toxicity/v1/score"],
        "data": [[QUESTION, "15 USD", ANSWER, 0.5, 0.01], ["Is it free?", "No", "Yes", 1, 0.02]],
    }
    path = tmp_path / "eval_results_table.json"
    path.write_text(json.dumps(table))

    result = import_file("mlflow", path)

    assert isinstance(result.content, LlmDataset)
    assert [
        (row.input, row.expected_output, row.actual_output, row.actual_duration)
        for row in result.content.inputs
    ] == [(QUESTION, "15 USD", ANSWER, 0.5), ("Is it free?", "No", "Yes", 1.0)]
    assert result.notes == ["not imported: scores of metrics (2 times): evaluators score the answers anew"]
    path.write_text(json.dumps({**table, "data": [[QUESTION]]}))
    with pytest.raises(DataError, match="/data/0: has 1 values for 5 columns; complete it"):
        import_file("mlflow", path)


REFERENCES: list[tuple[str, dict[str, object]]] = [
    ("langsmith", {"inputs": "Fee?", "outputs": {"answer": "15 USD", "unit": "USD"}}),
    ("langsmith", {"inputs": "Fee?", "outputs": {"answers": ["15 USD", "fifteen"]}}),
    ("braintrust", {"input": "Fee?", "expected": ["15 USD", "fifteen"]}),
    ("mlflow", {"inputs": {"q": "Fee?"}, "expectations": {"expected_response": ["15 USD", "fifteen"]}}),
    ("ragas", {"user_input": "Fee?", "reference": ["15 USD", "fifteen"], "reference_contexts": ["Fee: 15"]}),
    ("deepeval", {"input": "Fee?", "expected_output": ["15 USD", "fifteen"]}),
    ("openai-evals", {"input": "Fee?", "ideal": ["15 USD", "fifteen"]}),
    ("openai-evals", {"item": {"question": "Fee?", "answer": ["15 USD", "fifteen"]}}),
    ("table", {"input": "Fee?", "expected_output": ["15 USD", "fifteen"]}),
    ("table", {"input": "Fee?", "expected_output": {"value": "15 USD", "aliases": ["15 USD", "fifteen"]}}),
    ("table", {"input": "Fee?", "expected_output": {"short_answers": [{"text": ["15 USD", "fifteen"]}]}}),
    ("table", {"input": "Fee?", "expected_output": {"text": ["15 USD", "fifteen"], "answer_start": [4, 9]}}),
]


@pytest.mark.parametrize(("kind", "record"), REFERENCES)
def test_several_references_are_accepted_answers_or_named(
    tmp_path: Path, kind: str, record: dict[str, object]
) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps([record]))
    result = import_file(kind, path, target="dataset")
    assert not result.errors
    assert isinstance(result.content, LlmDataset)
    [row] = result.content.inputs
    if "unit" in json.dumps(record):
        assert (row.expected_output, row.accepted_outputs) == ("15 USD", [])
        assert result.notes == [
            "not imported: expected output 'unit' (1 time): the expected answer is one text; state further"
            " expectations in the suite"
        ]
    else:
        assert (row.expected_output, row.accepted_outputs, result.notes) == ("15 USD", ["fifteen"], [])
