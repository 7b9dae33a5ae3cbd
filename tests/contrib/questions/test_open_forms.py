"""Forms that graders found weak: each is refused or asked better, with a neighbour that is asked."""

from __future__ import annotations

import random

import pytest

from pytest_evalstudio.contrib.questions.checks.sections import Sections
from pytest_evalstudio.core.plugins.generator import Corpus, Excerpt
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.condition import parse_condition
from support import drafts
from support.pipelines import PIPELINE, needs_pipeline

pytestmark = [needs_pipeline, pytest.mark.filterwarnings("default")]

VOLUMES = "| Test | Minimum | |---|---| | Nitrate | 250 ml | | | Lead | none |"
PRICES = "| Room | Members | Guests | |---|---|---| | Sauna | €5 | €9 | | | Reading room | €4 | €8 |"
CHARGES = "| Item | Charge | |---|---| | Lost badge or key | €45 | | | Late return | €12 |"


def answers(*sentences: str, heading: str = "Club house") -> dict[str, str]:
    return drafts.answers(heading, *sentences, pipeline=PIPELINE, title="Rules")


@pytest.mark.parametrize(
    ("sentences", "question", "answer"),
    [
        ((VOLUMES,), "What is the minimum volume for the nitrate?", "250 ml"),
        (
            ("Last year 40 divers found 90 coins.",),
            "How many coins did 40 divers find last year?",
            "90 coins",
        ),
        (
            ("There are 12 lockers for 30 members.",),
            "How many lockers are there for 30 members?",
            "12 lockers",
        ),
        (("The sauna opens at noon.", PRICES), "How much does the sauna cost for guests?", "€9"),
        ((CHARGES,), "How much is the charge for a lost badge or key?", "€45"),
        (
            ("Members pay £20 a year; guests pay £5 a day.",),
            "Do members pay £20 a year?",
            "Yes. Members pay £20 a year.",
        ),
        (
            ("Members may bring 3 guests, but they must sign the book.",),
            "May members bring 3 guests?",
            "Yes. Members may bring 3 guests.",
        ),
    ],
    ids=["bound", "time", "there is", "the", "a … or", "clause of a yes", "but"],
)
def test_a_form_is_asked(sentences: tuple[str, ...], question: str, answer: str) -> None:
    assert answers(*sentences).get(question) == answer


@pytest.mark.parametrize(
    ("refused", "neighbour"),
    [
        ("Each further towel costs £3.", "Each towel of linen costs £3."),
        ("Unused vouchers lapse on 31 December.", "Vouchers for the sauna lapse on 31 December."),
        ("Replacement costs £30.", "Replacement of a key costs £30."),
        ("Elderly swimmers may pay slightly more.", "Elderly swimmers may pay more than juniors."),
        ("Votes on money need three-quarters.", "Votes on money need three-quarters of the members."),
        (
            "A team receives two points for a win and one for a draw.",
            "A team receives two points for a win.",
        ),
        (
            "The league consists of an upper division of 10 teams, two middle divisions of 12 teams each, and"
            " a number of lower divisions.",
            "The league consists of an upper division of 10 teams.",
        ),
        (
            "Heavy lockers of 25 kg are moved by two people or with a lift.",
            "Heavy lockers of 25 kg are moved by two people.",
        ),
        (
            "Dogs over 12 kg must wear a muzzle, except for guide dogs.",
            "Dogs over 12 kg must wear a muzzle.",
        ),
    ],
)
def test_an_open_form_is_refused_and_its_neighbour_kept(refused: str, neighbour: str) -> None:
    assert answers(refused) == {}
    assert answers(neighbour) != {}


def test_a_heading_explains_the_thing_that_it_names() -> None:
    assert "When do unused vouchers lapse?" in answers(
        "Unused vouchers lapse on 31 December.", heading="Vouchers"
    )


def test_a_plural_of_all_its_kind_needs_a_heading() -> None:
    sentence = "Answers are given within five days."
    assert answers(sentence, heading="General") == {}
    assert answers(sentence, heading="Complaints") != {}


def test_choices_for_how_often_are_frequencies() -> None:
    excerpt = Excerpt(id="c1", sentences=("The committee checks the boiler every six months.",), topic="1")
    drafts = Registry().generators.get("multiple_choice")()
    (draft,) = drafts.drafts(excerpt, Corpus((excerpt,), PIPELINE), random.Random(0))
    assert draft.question.startswith("How often does the committee check the boiler? A) every ")
    assert draft.answer.endswith(") every six months")
    assert draft.question.count("every ") == draft.question.count(") ")
    assert parse_condition(draft.condition).check("every six months")


def test_a_yes_is_not_given_by_a_sentence_that_contrasts_with_the_one_before() -> None:
    assert "May old members bring 3 guests?" in answers("Old members may bring 3 guests.")
    assert "May old members bring 3 guests?" not in answers("Old members, however, may bring 3 guests.")


def test_a_condition_with_a_list_is_not_cut() -> None:
    questions = answers("If the pool is closed because of ice, storm or flood, the club repays the fee.")
    assert not [text for text in questions.values() if text.startswith("storm")]


@pytest.mark.parametrize(
    ("lines", "heading"),
    [
        (("Your file", "Send us:", "A form", "Proof of age"), ""),
        (("Your file", "Tea.", "A form", "A photograph", "Proof of age"), ""),
        (("Your file", "Send us:", "A form", "Proof of age", "2. Deadlines"), "Deadlines"),
        (("Your file", "Deadlines"), "Deadlines"),
    ],
    ids=["after a colon", "three lines", "number", "headings"],
)
def test_a_line_of_a_list_is_no_heading(lines: tuple[str, ...], heading: str) -> None:
    assert (
        Sections(("Rules", "Text.", *lines, "Files close in May.")).heading("Files close in May.") == heading
    )
