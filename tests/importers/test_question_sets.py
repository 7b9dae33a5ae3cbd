"""Public sets of questions in the forms of their files: SQuAD, HotpotQA, and retrieval sets of BEIR."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.suite import TestCase, TestSuite
from pytest_evalstudio.importers.kinds import Import, import_file

PASSAGE = "The old library opened in 1887, eighteen years after the canal."
ANSWERS = [{"text": "1887", "answer_start": 26}, {"text": "in 1887", "answer_start": 23}]
QUESTIONS = [
    {"id": "q1", "question": "When did the library open?", "answers": ANSWERS, "is_impossible": False},
    {
        "id": "q2",
        "question": "Who built the library?",
        "answers": [],
        "is_impossible": True,
        "plausible_answers": [{"text": "the canal", "answer_start": 50}],
    },
]
SQUAD = {
    "version": "v2.0",
    "data": [{"title": "Library", "paragraphs": [{"context": PASSAGE, "qas": QUESTIONS}]}],
}
SQUAD_ROWS = [
    {
        "id": "q1",
        "title": "Library",
        "context": PASSAGE,
        "question": QUESTIONS[0]["question"],
        "answers": {"text": ["1887", "in 1887"], "answer_start": [26, 23]},
    },
    {
        "id": "q2",
        "title": "Library",
        "context": PASSAGE,
        "question": QUESTIONS[1]["question"],
        "answers": {"text": [], "answer_start": []},
    },
]
PARAGRAPHS = [["Canal", ["The canal is from 1869.", " It is long."]], ["Tower", ["It is high."]]]
HOTPOT = {
    "_id": "h1",
    "question": "Is the canal older than the library?",
    "answer": "yes",
    "supporting_facts": [["Canal", 0], ["Library", 0]],
    "context": [*PARAGRAPHS, ["Library", ["It opened in 1887."]]],
    "type": "comparison",
    "level": "easy",
}
HOTPOT_ROW = {
    **HOTPOT,
    "supporting_facts": {"title": ["Canal", "Library"], "sent_id": [0, 0]},
    "context": {
        "title": ["Canal", "Tower", "Library"],
        "sentences": [PARAGRAPHS[0][1], PARAGRAPHS[1][1], ["It opened in 1887."]],
    },
}
QRELS = "query-id\tcorpus-id\tscore\n1\td1\t1\n1\td2\t0\n1\td3\t2\n2\td2\t0\n"
QUERIES = [
    {"_id": "1", "text": "What is a canal?"},
    {"_id": "2", "text": "And a tower?"},
    {"_id": "3", "text": "?"},
]
CORPUS = [
    {"_id": "d1", "title": "Canal", "text": "A canal is a waterway."},
    {"_id": "d2", "title": "", "text": "A tower is high."},
    {"_id": "d3", "title": "", "text": "Canals have locks."},
]


def cases(result: Import) -> list[TestCase]:
    assert isinstance(result.content, TestSuite)
    assert not result.errors
    return [case for _, case in result.content.cases()]


def file_of(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def lines(records: list[dict[str, str]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    file_of(tmp_path, "queries.jsonl", lines(QUERIES))
    file_of(tmp_path, "corpus.jsonl", lines(CORPUS))
    return file_of(tmp_path, "qrels/test.tsv", QRELS)


@pytest.mark.parametrize("content", [SQUAD, SQUAD_ROWS])
def test_all_answers_of_squad_are_accepted_and_a_question_without_one_is_to_be_refused(
    tmp_path: Path, content: object
) -> None:
    result = import_file("squad", file_of(tmp_path, "dev.json", content))
    first, second = cases(result)
    assert (first.key, first.expected_output, first.accepted_outputs) == ("q1", "1887", ["in 1887"])
    assert (first.expected_chunks, first.expects) == ([PASSAGE], "")
    assert (second.expects, second.expected_output, second.expected_chunks) == ("refusal", "", [])
    assert first.model_extra == {"metadata": {"title": "Library"}}
    plausible_notes = [note for note in result.notes if "plausible" in note]
    assert len(plausible_notes) == (content is SQUAD)
    assert any("--to dataset keeps them" in note for note in result.notes)


def test_a_faulty_question_of_squad_is_named_by_its_place(tmp_path: Path) -> None:
    content = {"data": [{"title": "x", "paragraphs": [{"context": "c", "qas": [5, QUESTIONS[0]]}]}]}
    result = import_file("squad", file_of(tmp_path, "dev.json", content))
    assert ["/data/0/paragraphs/0/qas/0" in str(error) for error in result.errors] == [True]
    assert isinstance(result.content, TestSuite)
    assert len(result.content.cases()) == 1


@pytest.mark.parametrize("content", [HOTPOT, HOTPOT_ROW])
def test_supporting_paragraphs_of_hotpotqa_are_expected(tmp_path: Path, content: object) -> None:
    [case] = cases(import_file("hotpotqa", file_of(tmp_path, "dev.json", [content])))
    assert (case.key, case.expected_output) == ("h1", "yes")
    assert case.expected_documents == ["Canal", "Library"]
    assert case.expected_chunks == ["The canal is from 1869. It is long.", "It opened in 1887."]
    assert case.model_extra == {"metadata": {"type": "comparison", "level": "easy"}}


def test_relevant_documents_of_beir_are_expected(beir: Path) -> None:
    result = import_file("beir", beir)
    [case] = cases(result)
    assert (case.key, case.prompt, case.expected_documents) == ("1", "What is a canal?", ["d1", "d3"])
    assert case.expected_chunks == ["Canal\nA canal is a waterway.", "Canals have locks."]
    assert [note.partition(" (")[0] for note in result.notes] == [
        "not imported: grade of relevance above 1",
        "not imported: query without a relevant document",
    ]


@pytest.mark.parametrize(
    ("name", "content", "fact"),
    [
        ("queries.jsonl", "{}\n", "the judged query '1' is not in queries.jsonl"),
        ("corpus.jsonl", "[1]\n", "corpus.jsonl:1:1: is not a JSON object"),
        ("qrels/test.tsv", "a\tb\n1\t2\n", "expected the columns query-id, corpus-id, score"),
        ("qrels/test.tsv", QRELS.replace("\t2\n", "\tmuch\n"), "test.tsv:4:1: the score is not a number"),
    ],
)
def test_faults_of_beir_are_named(beir: Path, name: str, content: str, fact: str) -> None:
    file_of(beir.parent.parent, name, content)
    with pytest.raises(DataError, match=fact.replace("[", r"\[")):
        import_file("beir", beir)


def test_a_missing_corpus_is_named(beir: Path) -> None:
    (beir.parent.parent / "corpus.jsonl").unlink()
    with pytest.raises(DataError, match=r"corpus\.jsonl was not found in the folder of the judgements"):
        import_file("beir", beir)


@pytest.mark.parametrize(
    ("kind", "content"), [("squad", SQUAD), ("squad", SQUAD_ROWS), ("hotpotqa", [HOTPOT])]
)
def test_a_file_of_another_kind_is_named(tmp_path: Path, kind: str, content: object) -> None:
    with pytest.raises(DataError, match=f"`evalstudio import {kind} FILE"):
        import_file("promptfoo", file_of(tmp_path, "dev.json", content))


@pytest.mark.parametrize(
    ("document", "fact"),
    [({"id": "d", "text": "t"}, "has no score"), ({"id": "d", "text": "t", "score": "x"}, "is not a number")],
)
def test_a_faulty_document_of_a_judged_query_is_named_by_its_place(
    tmp_path: Path, document: object, fact: str
) -> None:
    content = [{"id": "q", "text": "Q?", "documents": [document]}]
    [error] = import_file("beir", file_of(tmp_path, "queries.json", content)).errors
    assert "/0/documents/0" in str(error)
    assert fact in str(error)


def test_a_question_whose_id_is_0_keeps_it(tmp_path: Path) -> None:
    [case] = cases(import_file("hotpotqa", file_of(tmp_path, "dev.json", [{**HOTPOT, "_id": 0}])))
    assert case.key == "0"
