"""Generators on sentences written by hand: what they ask, what they expect, and what their conditions let
pass.
"""

from __future__ import annotations

import random
import re

import pytest

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.condition import parse_condition

REGISTRY = Registry()
ELSEWHERE = (
    "Closing an account costs £7.00.",
    "The price of a draft is £15.",
    "Records are kept for three years.",
    "The rate is 3% or 4.5%.",
    "The offer ends on 5 June 2027.",
    "You have 10 days.",
    "Tell us within 2 weeks.",
)


def drafts(
    generator: str, *sentences: str, seed: int = 0, elsewhere: tuple[str, ...] = ELSEWHERE
) -> list[Draft]:
    excerpt = Excerpt(id="c1", sentences=sentences, topic="1")
    corpus = Corpus((excerpt, Excerpt(id="c2", sentences=elsewhere, topic="1")))
    return list(REGISTRY.generators.get(generator)().drafts(excerpt, corpus, random.Random(seed)))


def passes(draft: Draft, answer: str) -> bool:
    return bool(parse_condition(draft.condition).check(answer))


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        (
            "A standing order is an instruction to pay a fixed sum.",
            "What is a standing order?",
            "an instruction to pay a fixed sum",
        ),
        (
            "The term chargeback means a refund by the scheme.",
            "What does “chargeback” mean?",
            "a refund by the scheme",
        ),
        (
            "The code E24 means that the drain hose is blocked.",
            "What does the code E24 mean?",
            "the drain hose is blocked",
        ),
        ("Parking fines are paid by the employee.", "Who pays parking fines?", "the employee"),
        (
            "Repairs may only be carried out by authorised technicians.",
            "Who may carry out repairs?",
            "authorised technicians",
        ),
        (
            "The principal risks are drought, cyber attacks and rising prices.",
            "What are the principal risks?",
            "drought, cyber attacks and rising prices",
        ),
        (
            "The regulator imposed a penalty because pollution targets were missed.",
            "Why did the regulator impose a penalty?",
            "because pollution targets were missed",
        ),
        (
            "If you forget a dose, take the tablet as soon as possible.",
            "What should you do if you forget a dose?",
            "take the tablet as soon as possible",
        ),
        ("The tablets are manufactured in Brno.", "Where are the tablets manufactured?", "in Brno"),
    ],
)
def test_simple_factual(sentence: str, question: str, answer: str) -> None:
    (draft,) = drafts("simple_factual", sentence)
    assert (draft.question, draft.answer, draft.evidence) == (question, sentence, sentence)
    assert passes(draft, sentence)
    assert passes(draft, answer)
    assert not passes(draft, "I do not know.")


def test_the_condition_of_a_definition_has_its_quantity() -> None:
    (draft,) = drafts(
        "simple_factual", "A business trip is a journey of more than 30 km from the normal office."
    )
    assert passes(draft, "A journey of over 30 kilometres from the normal office.")
    assert not passes(draft, "A journey of more than 300 km from the normal office.")


@pytest.mark.parametrize(
    ("sentence", "question", "answer", "right", "wrong"),
    [
        pytest.param(
            "Stopping a cheque costs £8.00; a stolen book is free.",
            "How much does stopping a cheque cost?",
            "£8.00",
            "It is 8 pounds.",
            "It is £8.50.",
            id="a price",
        ),
        pytest.param(
            "A foreign payment carries a fee of 2.75% of the amount.",
            "What fee does a foreign payment carry?",
            "2.75%",
            "You pay 2.75 per cent.",
            "You pay 12.75%.",
            id="a share",
        ),
        pytest.param(
            "The service was available for 99.95% of the time.", None, "", "", "", id="nothing natural to ask"
        ),
        pytest.param(
            "The Group hedges 80% of its electricity purchases.",
            "What percentage of its electricity purchases does the Group hedge?",
            "80%",
            "80 percent",
            "8%",
            id="a part",
        ),
        pytest.param(
            "The battery weighs 2.6 kg.",
            "How much does the battery weigh?",
            "2.6 kg",
            "2.6 kilograms",
            "26 kg",
            id="a weight",
        ),
        pytest.param(
            "Dealers pay 10.000 Euro per stall.",
            "How much do dealers pay per stall?",
            "10.000 Euro",
            "€10,000",
            "10 euros",
            id="a point between thousands",
        ),
    ],
)
def test_numerical_reasoning(
    sentence: str, question: str | None, answer: str, right: str, wrong: str
) -> None:
    made = drafts("numerical_reasoning", sentence)
    assert [(draft.question, draft.answer) for draft in made] == ([(question, answer)] if question else [])
    for draft in made:
        assert passes(draft, sentence)
        assert passes(draft, right)
        assert not passes(draft, wrong)


@pytest.mark.parametrize(
    ("sentence", "question", "answer", "right", "wrong"),
    [
        pytest.param(
            "Express delivery takes two working days.",
            "How long does express delivery take?",
            "two working days",
            "2 working days",
            "2 days",
            id="takes",
        ),
        pytest.param(
            "Statements are kept for seven years.",
            "For how long are statements kept?",
            "seven years",
            "For 7 years.",
            "For 17 years.",
            id="for",
        ),
        pytest.param(
            "Claims must be submitted within 7 days of the trip.",
            "Within how many days of the trip must claims be submitted?",
            "7 days",
            "Within seven days.",
            "Within 17 days.",
            id="within",
        ),
        pytest.param(
            "The schedule applies from 1 March 2026.",
            "From when does the schedule apply?",
            "1 March 2026",
            "Since March 1st, 2026.",
            "Since 11 March 2026.",
            id="a date",
        ),
        pytest.param(
            "Clean the filter once a week.",
            "How often should you clean the filter?",
            "once a week",
            "Every week.",
            "Once a month.",
            id="how often",
        ),
        pytest.param(
            "We answer your request within two working days.",
            "Within how many working days do you answer my request?",
            "two working days",
            "2 working days",
            "2 days",
            id="a customer asks",
        ),
    ],
)
def test_temporal_reasoning(sentence: str, question: str, answer: str, right: str, wrong: str) -> None:
    (draft,) = drafts("temporal_reasoning", sentence, elsewhere=("All statements and express delivery.",))
    assert (draft.question, draft.answer) == (question, answer)
    assert passes(draft, sentence)
    assert passes(draft, right)
    assert not passes(draft, wrong)


def test_a_question_never_repeats_its_sentence_with_a_gap() -> None:
    sentences = (
        "A foreign payment carries a fee of 2.75% of the amount.",
        "The contract ends on 3 May 2027.",
    )
    for generator in ("numerical_reasoning", "temporal_reasoning", "multiple_choice"):
        assert not any("____" in draft.question for draft in drafts(generator, *sentences))


def test_cells_of_a_table_are_asked_for_by_row_and_column() -> None:
    table = (
        "| Plan | Monthly fee | Notice period | | --- | --- | --- | | Basic | £4 | 14 days |"
        " | Plus | £9 | 30 days |"
    )
    fees = {draft.question: draft.answer for draft in drafts("numerical_reasoning", table)}
    periods = {draft.question: draft.answer for draft in drafts("temporal_reasoning", table)}
    assert fees == {
        "What is the monthly fee for the Basic plan?": "£4",
        "What is the monthly fee for the Plus plan?": "£9",
    }
    assert periods["What is the notice period for the Plus plan?"] == "30 days"


@pytest.mark.parametrize(
    ("sentence", "yes", "no"),
    [
        (
            "The card costs £5.00.",
            "Does the card cost £5.00?",
            "Does the card cost £7.50?",
        ),
        (
            "Claims must be submitted within 30 days.",
            "Must claims be submitted within 30 days?",
            "Must claims be submitted within 15 days?",
        ),
        (
            "Damaged items must be kept for at least 20 days.",
            "Must damaged items be kept for at least 20 days?",
            "Must damaged items be kept for at least 30 days?",
        ),
        (
            "Customers may withdraw up to £500.",
            "May customers withdraw up to £500?",
            "May customers withdraw up to £750?",
        ),
    ],
)
def test_a_question_to_be_answered_by_no_is_logically_false(sentence: str, yes: str, no: str) -> None:
    (first,) = drafts("yes_or_no", sentence, elsewhere=())
    other = "Zinc wire costs £1."
    (_, second) = drafts("yes_or_no", other, sentence, elsewhere=())
    assert (first.question, first.answer) == (yes, f"Yes. {sentence}")
    assert (second.question, second.answer) == (no, f"No. {sentence}")
    assert passes(second, "No, that is wrong.")
    assert not passes(second, "Yes, it is. No doubt.")


@pytest.mark.parametrize(
    "sentence",
    [
        "The fee is not charged to students.",
        "The battery retains at least 70% of its capacity.",
        "More than 30 km make a journey a trip.",
        "The range is between 60 and 110 km.",
        "The display may dim after 30 seconds.",
        "The works supply 487,000 people in the districts of Brent, Castle, Saltby and Tavern.",
    ],
)
def test_statements_whose_false_form_is_unclear_make_no_question_of_yes_or_no(sentence: str) -> None:
    assert drafts("yes_or_no", sentence) == []


def test_always_yes_is_right_half_of_the_time() -> None:
    sentences = tuple(
        f"The {noun} costs £{number}.00." for number, noun in enumerate(("card", "box", "book", "pen"), 3)
    )
    answers = [draft.answer.split(".")[0] for draft in drafts("yes_or_no", *sentences, elsewhere=())]
    assert answers.count("Yes") == answers.count("No") == 2


def test_multiple_choice() -> None:
    (draft,) = drafts("multiple_choice", "A banker's draft costs £12.00.")
    assert draft.question.startswith("How much does a banker's draft cost? A) ")
    assert {f" {letter}) " in draft.question for letter in "ABCD"} == {True}
    letter, right = draft.answer.split(") ")
    assert right == "£12.00"
    assert f"{letter}) £12.00" in draft.question
    assert passes(draft, letter)
    assert passes(draft, "It costs £12.")
    assert all(
        passes(draft, text)
        for text in (f"{letter}.", f"({letter.lower()}) £12.00", f"{letter}: twelve pounds")
    )
    assert not passes(draft, f"{letter} draft is free of charge.")
    assert not passes(draft, next(other for other in "ABCD" if other != letter))


def test_choices_are_of_the_unit_and_size_of_the_answer() -> None:
    elsewhere = ("A bridge costs £4 million.", "A pen costs £15.", "A card costs £9.", "It lasts 12 days.")
    (draft,) = drafts("multiple_choice", "A banker's draft costs £12.00.", elsewhere=elsewhere)
    assert "million" not in draft.question
    assert "days" not in draft.question


def test_out_of_scope_asks_for_a_near_miss() -> None:
    (draft,) = drafts("out_of_scope", "The code E24 means that the drain hose is blocked.")
    assert draft.question.startswith("What does the code E")
    assert "E24" not in draft.question
    assert draft.evidence == ""


def test_out_of_distribution_asks_for_something_that_no_word_of_the_documents_is_about() -> None:
    made = [
        draft
        for seed in range(200)
        for draft in drafts(
            "out_of_distribution",
            "Our roses are pruned in March.",
            seed=seed,
            elsewhere=("Penguins live in the zoo.", "A Python is fed on Fridays."),
        )
    ]
    asked = {draft.question for draft in made}
    assert len(asked) >= 25
    assert not any(word in question for question in asked for word in ("roses", "penguins", "Python"))
    for draft in made:
        assert draft.evidence == ""
        assert passes(draft, "The documents contain no information about that.")
        assert not passes(draft, "Certainly! Here you are: seven minutes.")


@pytest.mark.parametrize(
    "answer",
    [
        "The documents do not answer this question.",
        "I'm sorry, the context has no information about that.",
        "This is outside the scope of the provided documents.",
        "The manual doesn't mention this code.",
        "I cannot find this in the documents.",
        "I don't know.",
        "That is not stated in the manual.",
        "There is no mention of this code.",
        "I am unable to answer this from the given sources.",
        "The question can't be answered with this information.",
        "None of the documents mentions it.",
        "The manual only describes E24.",
    ],
)
def test_refusals_in_many_wordings_pass(answer: str) -> None:
    (draft,) = drafts("out_of_scope", "The code E24 means that the drain hose is blocked.")
    assert passes(draft, answer)


@pytest.mark.parametrize(
    "answer",
    [
        "It means that the pump is blocked.",
        "The pump is not running.",
        "It is not recommended to open the door.",
        "Wait for 20 minutes, which is not mentioned in the documents.",
        "The appliance cannot be used.",
        "",
    ],
)
def test_made_up_answers_to_questions_out_of_scope_fail(answer: str) -> None:
    (draft,) = drafts("out_of_scope", "The code E24 means that the drain hose is blocked.")
    assert not passes(draft, answer)


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
    found = [
        id
        for id in REGISTRY.generators
        if REGISTRY.generators.spec(id).drafts and REGISTRY.generators.spec(id).purpose == "ordinary"
    ]
    assert found == [
        "multiple_choice",
        "numerical_reasoning",
        "out_of_scope",
        "simple_factual",
        "temporal_reasoning",
        "yes_or_no",
    ]
    assert all(REGISTRY.generators.spec(id).description for id in REGISTRY.generators)


def test_the_choices_of_a_year_are_years_near_it() -> None:
    (draft,) = drafts("multiple_choice", "A total of 61 complaints were received in 2024.")
    years = re.findall(r"[A-D]\) (\S+)", draft.question)
    assert "2024" in years
    assert all(abs(int(year) - 2024) <= 5 for year in years)


@pytest.mark.parametrize("word", ["unless", "provided that", "where", "whereas", "so that", "except where"])
def test_a_date_of_a_subordinate_clause_is_not_asked_of_the_main_clause(word: str) -> None:
    sentence = f"A berth contract is renewed automatically {word} the holder gives notice by 31 January."
    assert drafts("temporal_reasoning", sentence) == []


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
    assert drafts("yes_or_no", sentence) == []


def test_part_of_a_list_is_no_answer_to_what_it_consists_of() -> None:
    sentence = "The committee consists of five members, three of whom are independent of the festival."
    assert drafts("simple_factual", sentence) == []
    assert [draft.question for draft in drafts("numerical_reasoning", sentence)] == [
        "How many members does the committee consist of?"
    ]


@pytest.mark.parametrize("period", ["ten to fourteen days", "10 to 14 days", "10–14 days"])
def test_a_range_of_periods_has_one_unit(period: str) -> None:
    sentence = f"Stitches are removed after {period}."
    (draft,) = drafts("temporal_reasoning", sentence)
    assert draft.question == "After how many days are stitches removed?"
    assert draft.answer == period
    assert passes(draft, "After 10 to 14 days.")
    assert not passes(draft, "After 14 days.")
    assert drafts("multiple_choice", sentence) == []


def test_a_condition_with_another_quantity_may_hold_as_well() -> None:
    """A quorum that is reached with 25 members is reached with 38."""
    sentence = "A quorum is reached when 25 members are present."
    assert [
        d for _ in range(2) for d in drafts("yes_or_no", sentence, elsewhere=(*ELSEWHERE, sentence))
    ] == []


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


def test_one_of_two_numbers_is_not_asked_for() -> None:
    sentence = "Applicants receive ten points for each child and five points for every year on the list."
    assert drafts("numerical_reasoning", sentence) == []


def test_a_frequency_has_no_choices() -> None:
    assert drafts("multiple_choice", "The committee meets four times a year.") == []


@pytest.mark.parametrize(
    ("sentence", "right", "wrong"),
    [
        (
            "A reminder is sent when an instalment is seven days late.",
            "When an instalment is 7 days late.",
            "When an instalment is 9 days late.",
        ),
        ("A beginners' course consists of twelve lessons.", "It has 12 lessons.", "It has 10 lessons."),
    ],
)
def test_a_number_word_of_a_fact_may_be_written_in_digits(sentence: str, right: str, wrong: str) -> None:
    (draft,) = drafts("simple_factual", sentence)
    assert passes(draft, right)
    assert not passes(draft, wrong)


def test_a_year_is_no_amount_that_can_be_multiplied() -> None:
    sentence = "A dividend was paid for 2024."
    assert drafts("yes_or_no", sentence, elsewhere=(*ELSEWHERE, sentence)) == []


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param(
            "The depot is kept at 19 °C. Smoke detectors are replaced after eight years.", id="two sentences"
        ),
        pytest.param("Lectures are held on the first Thursday of every month.", id="a day of a period"),
        pytest.param(
            "Technicians arrive within 24 hours in winter and within three working days in summer.",
            id="two periods",
        ),
        pytest.param("A visit outside warranty costs £95 plus materials.", id="more than the amount"),
    ],
)
@pytest.mark.parametrize("generator", ["numerical_reasoning", "temporal_reasoning", "multiple_choice"])
def test_a_quantity_that_is_part_of_more_is_not_asked_for(generator: str, sentence: str) -> None:
    assert drafts(generator, sentence) == []


def test_an_amount_of_something_known_has_its_preposition() -> None:
    (draft,) = drafts("numerical_reasoning", "The appliance contains 1.3 kg of the refrigerant R290.")
    assert draft.question == "How much of the refrigerant R290 does the appliance contain?"


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
        pytest.param("yes_or_no", "The Parking Office is at 12 Market Row.", id="an address"),
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


def test_who_asks_for_persons_and_bodies_only() -> None:
    questions = [
        draft.question
        for draft in drafts(
            "simple_factual",
            "Zone B covers the station quarter between the lane and the railway.",
            "Green Card covers accidents in every country of the Union.",
            "The green line on the map is a card.",
            "Helen Marsh has chaired the board since 2019.",
        )
    ]
    assert [question for question in questions if question.startswith("Who")] == [
        "Who has chaired the board since 2019?"
    ]


def test_your_things_are_mine_in_a_question() -> None:
    (draft,) = drafts("yes_or_no", "Your contribution remains at 8.2 percent of salary.")
    assert draft.question == "Does my contribution remain at 8.2 percent of salary?"
