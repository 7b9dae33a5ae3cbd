"""Sentences that several kinds of question read in the same way."""

from __future__ import annotations

import pytest

from support.drafts import REGISTRY, drafts


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param("It costs £5.00 for each card.", id="what it leans on is not there"),
        pytest.param("After that the fee is £5.00 a month.", id="it continues another"),
        pytest.param("Fees of £5.00 and more", id="a heading"),
        pytest.param("The rise cost £5.00 per customer.", id="its subject was introduced before"),
        pytest.param("Does a card cost £5.00 in the branch?", id="a question"),
        pytest.param("Fee: £5.00.", id="too short"),
        pytest.param("Whoever breaks a rule can be fined £5.00.", id="its subject is a clause"),
    ],
)
@pytest.mark.parametrize(
    "generator", ["simple_factual", "numerical_reasoning", "multiple_choice", "yes_or_no"]
)
def test_sentences_that_do_not_stand_for_themselves_make_no_question(generator: str, sentence: str) -> None:
    assert drafts(generator, sentence) == []


def test_every_generator_is_found_and_described() -> None:
    ids = [
        id
        for id in REGISTRY.generators
        if REGISTRY.generators.spec(id).drafts and REGISTRY.generators.spec(id).purpose == "ordinary"
    ]
    assert ids == [
        "multiple_choice",
        "numerical_reasoning",
        "out_of_scope",
        "simple_factual",
        "temporal_reasoning",
        "yes_or_no",
    ]
    assert all(REGISTRY.generators.spec(id).description for id in REGISTRY.generators)


def test_a_letter_that_names_something_does_not_begin_a_sentence_after_a_heading() -> None:
    questions = [
        draft.question
        for generator in ("yes_or_no", "numerical_reasoning", "simple_factual")
        for draft in drafts(generator, "Each berth on pontoons A to E has a 16 amp socket.")
    ]
    assert questions
    assert all("each berth on pontoons A to E" in question for question in questions)


def test_two_verbs_after_a_passive_are_two_statements() -> None:
    sentence = "Electricity is metered and costs 34 pence per kilowatt hour."
    assert [draft.question for draft in drafts("numerical_reasoning", sentence)] == [
        "How much does electricity cost per kilowatt hour?"
    ]
    (draft,) = drafts("yes_or_no", sentence)
    assert draft.question == "Does electricity cost 34 pence per kilowatt hour?"


def test_participles_after_one_auxiliary_are_statements_of_their_own() -> None:
    sentence = "Smoke alarms are tested once a year and replaced after ten years."
    assert [draft.question for draft in drafts("temporal_reasoning", sentence)] == [
        "How often are smoke alarms tested?",
        "After how many years are smoke alarms replaced?",
    ]
    sentence = "Claims must be signed and returned within 30 days."
    assert [draft.question for draft in drafts("temporal_reasoning", sentence)] == [
        "Within how many days must claims be returned?",
    ]


@pytest.mark.parametrize(
    ("generator", "sentence"),
    [
        pytest.param("simple_factual", "A laboratory coat of cotton is compulsory.", id="an adjective"),
        pytest.param("simple_factual", "Shoes must cover the whole foot.", id="no list"),
        pytest.param(
            "simple_factual", "The lump sum is three times your salary if you die early.", id="no time"
        ),
        pytest.param("simple_factual", "The operator employs 29 people.", id="only a count"),
        pytest.param("yes_or_no", "The emergency number inside the university is 3333.", id="a number"),
        pytest.param("yes_or_no", "The form is described in section 12.", id="a section"),
        pytest.param("numerical_reasoning", "The Parking Office is at 12 Market Row.", id="an address"),
        pytest.param("temporal_reasoning", "The Parking Office decides within ten days.", id="no object"),
        pytest.param("temporal_reasoning", "The last entry is one hour before closing time.", id="a point"),
    ],
)
def test_sentences_that_give_no_sensible_question(generator: str, sentence: str) -> None:
    assert drafts(generator, sentence) == []


@pytest.mark.parametrize(
    ("generator", "sentence", "question", "answer"),
    [
        pytest.param(
            "numerical_reasoning",
            "The fume cupboards draw air at 0.5 metres per second.",
            "At what speed do the fume cupboards draw air?",
            "0.5 metres per second",
            id="a rate is a speed",
        ),
        pytest.param(
            "temporal_reasoning",
            "Nitrile gloves resist most acids for about thirty minutes.",
            "For how long do nitrile gloves resist most acids?",
            "about thirty minutes",
            id="about belongs to the answer",
        ),
        pytest.param(
            "temporal_reasoning",
            "The next election takes place in October 2025.",
            "When does the next election take place?",
            "October 2025",
            id="agreement",
        ),
        pytest.param(
            "temporal_reasoning",
            "4.4 Charges are reviewed every year in October.",
            "How often are charges reviewed?",
            "every year",
            id="the number of a section",
        ),
    ],
)
def test_questions_of_sentences_that_were_misread(
    generator: str, sentence: str, question: str, answer: str
) -> None:
    (draft,) = drafts(generator, sentence)
    assert (draft.question, draft.answer) == (question, answer)


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        (
            "HR Services keeps leave records for six years.",
            "For how long does HR Services keep leave records?",
        ),
        (
            "HR Services stores leave records for six years.",
            "For how long does HR Services store leave records?",
        ),
        (
            "The Harbour Works charges £5.00 for each card.",
            "How much does the Harbour Works charge for each card?",
        ),
        ("HR Services keep leave records for six years.", "For how long do HR Services keep leave records?"),
    ],
)
def test_the_verb_shows_whether_a_name_is_singular(sentence: str, question: str) -> None:
    questions = [
        draft.question
        for generator in ("temporal_reasoning", "numerical_reasoning", "simple_factual")
        for draft in drafts(generator, sentence)
    ]
    assert question in questions
