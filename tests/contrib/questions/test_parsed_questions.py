"""Questions by the parse of a pipeline, and the checks that a broken or wrong one fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.contrib.questions.checks.answered import answers_back
from pytest_evalstudio.contrib.questions.checks.wellformed import is_well_formed
from pytest_evalstudio.contrib.questions.parsing.pipeline import Pipeline, open_pipeline
from pytest_evalstudio.core.plugins.generator import Draft
from support.drafts import drafts, passes
from support.pipelines import PIPELINE, needs_pipeline
from support.project import Project

pytestmark = [needs_pipeline, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    spacy_pipeline = open_pipeline(PIPELINE)
    assert spacy_pipeline is not None
    return spacy_pipeline


QUESTIONS = [
    (
        "numerical_reasoning",
        "A day ticket costs £11 online.",
        "How much does a day ticket cost online?",
        "£11",
    ),
    (
        "numerical_reasoning",
        "The co-operative charges a late fee of £20 after the tenth day.",
        "What late fee does the co-operative charge after the tenth day?",
        "£20",
    ),
    (
        "numerical_reasoning",
        "A new password must have at least twelve characters.",
        "How many characters must a new password have?",
        "at least twelve characters",
    ),
    (
        "numerical_reasoning",
        "There are 18 parking spaces for visitors.",
        "How many parking spaces are there for visitors?",
        "18 parking spaces",
    ),
    (
        "numerical_reasoning",
        "Revenue rose by 3.8% in the spring.",
        "By what percentage did revenue rise in the spring?",
        "3.8%",
    ),
    (
        "numerical_reasoning",
        "Up to 16 guests can use the sauna at the same time.",
        "How many guests can use the sauna at the same time?",
        "up to 16 guests",
    ),
    (
        "temporal_reasoning",
        "Parcels are normally delivered within two working days.",
        "Within how many working days are parcels normally delivered?",
        "two working days",
    ),
    (
        "temporal_reasoning",
        "A guided tour lasts 75 minutes.",
        "How long does a guided tour last?",
        "75 minutes",
    ),
    ("temporal_reasoning", "The society was founded in 1908.", "When was the society founded?", "1908"),
    ("simple_factual", "The tank is emptied by the caretaker.", "Who empties the tank?", "the caretaker"),
    (
        "simple_factual",
        "The librarian may recall any item at any time.",
        "Who may recall any item at any time?",
        "the librarian",
    ),
    (
        "simple_factual",
        "If a booking is cancelled, the hotel keeps the deposit.",
        "What happens if a booking is cancelled?",
        "the hotel keeps the deposit",
    ),
    (
        "simple_factual",
        "The board may end the tenancy if the rent remains unpaid.",
        "In which case may the board end the tenancy?",
        "if the rent remains unpaid",
    ),
    (
        "yes_or_no",
        "Dogs must not be taken into the lighthouse.",
        "May dogs be taken into the lighthouse?",
        "No. Dogs must not be taken into the lighthouse.",
    ),
    (
        "yes_or_no",
        "Claims must be sent to the club within 30 days.",
        "Must claims be sent to the club within 30 days?",
        "Yes. Claims must be sent to the club within 30 days.",
    ),
]


@pytest.mark.parametrize(
    ("generator", "sentence", "question", "answer"), QUESTIONS, ids=lambda text: str(text)[:40]
)
def test_a_sentence_is_asked_about(generator: str, sentence: str, question: str, answer: str) -> None:
    by_question = {draft.question: draft for draft in drafts(generator, sentence, pipeline=PIPELINE)}
    assert question in by_question
    draft = by_question[question]
    assert draft.answer == answer
    assert draft.evidence == sentence
    assert passes(draft, draft.answer)
    assert not passes(draft, "I am sorry, I cannot answer this. Is there anything else?")


@pytest.mark.parametrize(
    "sentence",
    [
        "It costs £5.",
        "This takes two days.",
        "However, the fee rises to £8.",
        "The shop sells 3 or 4 kinds.",
        "Owners review standard rights every six months and other rights every quarter.",
        "A weekly ticket, but no refund over £5, is due when a place is accepted.",
        "Changes take effect after four minutes, other changes at once.",
        "All clubs are closed on 25 December and on 1 January.",
        "Our office is at 14 Albion Row, Leeds.",
        "Where the agency cannot be reached and the trip begins within 24 hours.",
    ],
)
def test_a_sentence_that_needs_others_or_has_two_cases_gives_no_amount(sentence: str) -> None:
    for generator in ("numerical_reasoning", "temporal_reasoning"):
        assert drafts(generator, sentence, pipeline=PIPELINE) == []


@pytest.mark.parametrize(
    ("generator", "sentence", "wrong"),
    [
        ("simple_factual", "In this text, supervisor means a user with a code.", "Who means"),
        ("simple_factual", "Call a hospital at once if you feel worse.", "How often"),
        ("simple_factual", "Staff attend a course in May and a refresher course once a year.", "How often"),
        (
            "simple_factual",
            "The director may alter the course or the starting times for safety.",
            "How often",
        ),
        ("simple_factual", "Numbers are given out on Friday from 14:00 to 20:00.", "When"),
        ("yes_or_no", "A weekly ticket costs £15 and is available to relatives.", "ticket costs"),
        ("yes_or_no", "A reminder is sent when an instalment is seven days late.", "eleven days"),
        ("yes_or_no", "Items not returned within 42 days are considered lost.", "Did items return"),
    ],
)
def test_a_known_wrong_question_is_not_asked(generator: str, sentence: str, wrong: str) -> None:
    questions = [
        draft.question
        for seed in range(3)
        for draft in drafts(generator, sentence, seed=seed, pipeline=PIPELINE)
    ]
    assert not any(wrong in question for question in questions), questions


def test_a_pronoun_is_replaced_by_the_subject_before_it() -> None:
    sentences = ("The router has two antennas.", "It consumes 9 W in operation.")
    questions = {draft.question for draft in drafts("numerical_reasoning", *sentences, pipeline=PIPELINE)}
    assert "What power does the router consume in operation?" in questions


@pytest.mark.parametrize("question", [question for _, _, question, _ in QUESTIONS])
def test_a_good_question_is_well_formed(question: str, pipeline: Pipeline) -> None:
    evidence = next(sentence for _, sentence, text, _ in QUESTIONS if text == question)
    assert is_well_formed(question, pipeline, evidence)


@pytest.mark.parametrize(
    "question",
    [
        "How often should you access to the case system is reviewed?",
        "When does the fee are paid?",
        "How much do a day ticket costs?",
        "Who it approves?",
        "How long is this period?",
        "What happens if the payment is late the bank charges a fee?",
        "Is hot food drinks in closed containers are allowed?",
        "Can the desk unlock it?",
        "The fee is £5.",
        "How many days of",
    ],
)
def test_a_garbled_question_is_not_well_formed(question: str, pipeline: Pipeline) -> None:
    assert not is_well_formed(question, pipeline)


@pytest.mark.parametrize(
    ("question", "answer", "evidence", "is_answered"),
    [
        ("How much does a new key cost?", "£18", "A new key costs £18.", True),
        ("How much does a new key cost?", "£18", "A new key costs £18 or £20 after an hour.", False),
        ("Who empties the tank?", "the caretaker", "The tank is emptied by the caretaker.", True),
        ("Who empties the tank?", "the landlord", "The tank is emptied by the caretaker.", False),
        ("Who empties the tank?", "the tank", "The tank is emptied by the caretaker.", False),
    ],
)
def test_an_answer_is_found_again_in_its_sentence(
    question: str, answer: str, evidence: str, is_answered: bool
) -> None:
    draft = Draft(question=question, answer=answer, condition="", evidence=evidence)
    assert answers_back(draft) is is_answered


DOCUMENT = """Boat Club Rules

Members

A single membership costs £48 a year. Applications are approved by the secretary. Members who move away get
half of the fee back. The committee consists of seven members and meets four times a year. Boats must be
returned within three hours. If a boat is damaged, the member informs the boatman at once. The boathouse is
locked at 9 p.m. because the path has no light.
"""


def generated(capsys: pytest.CaptureFixture[str], folder: Path, *options: str) -> tuple[list[str], str]:
    """Return the questions that the command writes, and its output."""
    (folder / "rules.txt").write_text(DOCUMENT, encoding="utf-8")
    suite = folder / "rules_suite.json"
    assert (
        main(
            ["generate", str(folder / "rules.txt"), "-o", str(suite), "--cache", str(folder / "c"), *options]
        )
        == 0
    )
    tests = json.loads(suite.read_text(encoding="utf-8"))["tests"]
    return [case["prompt"] for test in tests for case in test["test_cases"]], capsys.readouterr().out


def test_the_command_asks_about_prose(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions, output = generated(capsys, tmp_path, "--pipeline", PIPELINE)
    assert "are made from tables" not in output
    assert len(questions) >= 8
    assert any("ho approves applications?" in question for question in questions)


def test_the_workflow_asks_about_prose(pytester: pytest.Pytester) -> None:
    project = Project(pytester)
    project.write("rules.txt", DOCUMENT)
    steps = {"topic_modeling": {"vectors": "tf-idf"}, "test_generation": {"pipeline": PIPELINE}}
    workflow = {"name": "Club", "model": "app", "documents": ["rules.txt"], "steps": steps}
    project.write("club_workflow.json", json.dumps({"evalstudio_workflow": workflow}))
    project.run("club_workflow.json::test_generation", "club_workflow.json::topic_modeling")
    path = next(project.folder.rglob("tests_suite.json"))
    assert "ho approves applications?" in path.read_text(encoding="utf-8")
