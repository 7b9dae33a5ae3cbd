"""The service of the comparison with other tools, and the files of these tools; see peers/run.py."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks.peers import service

FILES = (
    "evalstudio/service.yaml.txt",
    "plain/service.py",
    "deepeval/service.py",
    "promptfoo/promptfooconfig.yaml",
    "inspect/service.py",
    "ragas/service.py",
    "mlflow/service.py",
)
FOLDER = service.DOCUMENTS.parent


def questions_of(file: str) -> list[str]:
    return re.findall(r"(?:What|How|When|Who) [^\"?\n]*\?", (FOLDER / file).read_text("utf-8"))


@pytest.mark.parametrize("file", FILES)
def test_each_tool_asks_the_same_fifteen_questions(file: str) -> None:
    questions = questions_of(file)
    assert len(questions) == 15
    assert questions == questions_of(FILES[0])


@pytest.mark.parametrize("change", [change for change in service.CHANGED_QUESTIONS if change])
def test_a_change_alters_the_answers_to_its_questions_and_no_other(change: str) -> None:
    changed = [
        question
        for question in questions_of(FILES[0])
        if service.ask(question, change)[0] != service.ask(question)[0]
    ]
    starts = service.CHANGED_QUESTIONS[change]
    assert len(changed) == len(starts)
    for question in changed:
        assert question.startswith(tuple(starts)), question


def test_the_sound_service_answers_each_question_but_the_last() -> None:
    unanswered = [
        question for question in questions_of(FILES[0]) if service.ask(question)[0] == service.UNKNOWN
    ]
    assert unanswered == ["Who won the chess championship?"]


def test_a_question_that_no_document_answers_retrieves_nothing() -> None:
    assert service.ask("Who won the chess championship?") == (service.UNKNOWN, [])
