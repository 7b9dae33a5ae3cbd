"""Questions for amounts, dates, periods and cells of tables."""

from __future__ import annotations

import pytest

from support.drafts import drafts, passes


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
    results = drafts("numerical_reasoning", sentence)
    assert [(draft.question, draft.answer) for draft in results] == ([(question, answer)] if question else [])
    for draft in results:
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


@pytest.mark.parametrize("word", ["unless", "provided that", "where", "whereas", "so that", "except where"])
def test_a_date_of_a_subordinate_clause_is_not_asked_of_the_main_clause(word: str) -> None:
    sentence = f"A berth contract is renewed automatically {word} the holder gives notice by 31 January."
    assert drafts("temporal_reasoning", sentence) == []


@pytest.mark.parametrize("period", ["ten to fourteen days", "10 to 14 days", "10–14 days"])
def test_a_range_of_periods_has_one_unit(period: str) -> None:
    sentence = f"Stitches are removed after {period}."
    (draft,) = drafts("temporal_reasoning", sentence)
    assert draft.question == "After how many days are stitches removed?"
    assert draft.answer == period
    assert passes(draft, "After 10 to 14 days.")
    assert not passes(draft, "After 14 days.")
    assert drafts("multiple_choice", sentence) == []


def test_one_of_two_numbers_is_not_asked_for() -> None:
    sentence = "Applicants receive ten points for each child and five points for every year on the list."
    assert drafts("numerical_reasoning", sentence) == []


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param("Lectures are held on the first Thursday of every month.", id="a day of a period"),
        pytest.param(
            "Technicians arrive within 24 hours in winter and within three working days in summer.",
            id="two periods",
        ),
        pytest.param("Drinks stations are located every 5 km.", id="a distance, not a frequency"),
        pytest.param("Today 46 active volunteers answer about 110 calls a year.", id="it begins with a time"),
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
    ("generator", "sentence", "question", "answer"),
    [
        pytest.param(
            "numerical_reasoning",
            "A day ticket costs £6 if you book online.",
            "How much does a day ticket cost if you book online?",
            "£6",
            id="a condition is kept",
        ),
        pytest.param(
            "numerical_reasoning",
            "Turnover fell by 11 per cent to 742,000 pounds.",
            "By what percentage did turnover fall?",
            "11 per cent",
            id="no unit is left over",
        ),
        pytest.param(
            "temporal_reasoning",
            "Deliveries to islands take up to five working days.",
            "How long do deliveries to islands take?",
            "up to five working days",
            id="the bound is in the answer",
        ),
        pytest.param(
            "temporal_reasoning",
            "Carers can take two weeks of unpaid leave a year.",
            "How many weeks of unpaid leave can carers take a year?",
            "two weeks",
            id="a period of something",
        ),
        pytest.param(
            "temporal_reasoning",
            "The manufacturer grants a warranty of two years.",
            "How long is the manufacturer's warranty?",
            "two years",
            id="the owner of an attribute",
        ),
        pytest.param(
            "numerical_reasoning",
            "Private cars are reimbursed at 45 pence per mile.",
            "How much is reimbursed per mile for private cars?",
            "45 pence",
            id="a rate of payment",
        ),
        pytest.param(
            "numerical_reasoning",
            "Cover for valuables is limited to £1,000.",
            "What is the limit on cover for valuables?",
            "£1,000",
            id="a limit",
        ),
        pytest.param(
            "numerical_reasoning",
            "Europe accounted for 54 per cent of revenue.",
            "What percentage of revenue did Europe account for?",
            "54 per cent",
            id="a region at the beginning",
        ),
        pytest.param(
            "numerical_reasoning",
            "Repairs to the turbine cost £186,000, of which the insurer paid half.",
            "How much did repairs to the turbine cost?",
            "£186,000",
            id="the tense of the sentence",
        ),
    ],
)
def test_questions_are_worded_as_people_ask(
    generator: str, sentence: str, question: str, answer: str
) -> None:
    (draft,) = drafts(generator, sentence)
    assert (draft.question, draft.answer) == (question, answer)


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param("A lost card costs £2.50; for children the replacement is free.", id="a second case"),
        pytest.param("The warranty lasts 24 months, and 36 months if a service is made.", id="an extension"),
        pytest.param("The Board proposes a rate of 3.5% for 2025.", id="a rate of anything"),
        pytest.param("The price in that contract is fixed at 8.9 pence per unit.", id="what is named before"),
        pytest.param("Each year we put aside 5,000 pounds per megawatt.", id="no subject at the beginning"),
        pytest.param("The trustees aim for nine months.", id="no duration"),
        pytest.param("Members pay £30 a year, students £12.", id="a second case without a verb"),
    ],
)
@pytest.mark.parametrize("generator", ["numerical_reasoning", "temporal_reasoning", "yes_or_no"])
def test_amounts_that_hold_in_part_are_not_asked_for(generator: str, sentence: str) -> None:
    assert drafts(generator, sentence) == []


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        pytest.param(
            "A day ticket costs £6 unless it rains.",
            "Does a day ticket cost £6 unless it rains?",
            id="exception",
        ),
        pytest.param(
            "Claims can be made once a parcel has been missing for ten days.",
            "Can claims be made once a parcel has been missing for ten days?",
            id="another clause",
        ),
    ],
)
def test_an_exception_is_kept_in_a_confirmation_and_no_amount_is_asked_for(
    sentence: str, question: str
) -> None:
    assert drafts("numerical_reasoning", sentence) == drafts("temporal_reasoning", sentence) == []
    (draft,) = drafts("yes_or_no", sentence)
    assert (draft.question, draft.answer) == (question, f"Yes. {sentence}")


def test_the_rows_of_a_table_of_types_are_named_by_the_sentence_before() -> None:
    table = "| Type | Monthly fee | | --- | --- | | Single | £41 | | Family | £96 |"
    results = drafts("numerical_reasoning", "We offer two types of membership:", table)
    assert {draft.question: draft.answer for draft in results} == {
        "What is the monthly fee for the Single membership?": "£41",
        "What is the monthly fee for the Family membership?": "£96",
    }
    assert drafts("numerical_reasoning", table) == []


def test_columns_of_years_and_of_models_are_asked_for() -> None:
    rule = " | --- | --- | --- | "
    years = f"| | 2024 | 2023 |{rule}| Active members | 11,420 | 11,655 | | Cost per member | £94 | £101 |"
    models = f"| | Duo 2 S | Duo 2 T |{rule}| Power | 3.4 kW | 5.2 kW | | Voltage | 230 V, 50 Hz | 400 V |"
    results = drafts("numerical_reasoning", years, models)
    assert [(draft.question, draft.answer) for draft in results] == [
        ("How many active members were there in 2024?", "11,420"),
        ("How many active members were there in 2023?", "11,655"),
        ("What was the cost per member in 2024?", "£94"),
        ("What was the cost per member in 2023?", "£101"),
        ("What is the power of the Duo 2 S?", "3.4 kW"),
        ("What is the power of the Duo 2 T?", "5.2 kW"),
    ]


def test_codes_of_a_table_have_a_meaning() -> None:
    rule = " | --- | --- | --- | "
    table = f"| Code | Meaning | What to do |{rule}| E01 | Steam boiler not filled | Check the tap |"
    draft, action = drafts("simple_factual", table)
    assert (action.question, action.answer) == ("What should you do in case of code E01?", "Check the tap")
    assert (draft.question, draft.answer) == ("What does code E01 mean?", "Steam boiler not filled")
    assert passes(draft, "The steam boiler is not filled.")
    assert not passes(draft, "Check the tap.")


def test_an_abstract_noun_is_no_name_even_if_a_contract_writes_it_with_a_capital() -> None:
    (draft,) = drafts(
        "numerical_reasoning",
        "Liability is limited to £600 per suitcase.",
        elsewhere=("This clause sets out our Liability.",),
    )
    assert draft.question == "What is the limit on liability per suitcase?"


RULE = " | --- | --- | --- | "


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        pytest.param(
            f"| Service | Fee | Time |{RULE}| Replacement card | £10 | 5 days |"
            " | Cash withdrawals abroad | 2.75% | none |",
            {
                "What is the fee for a replacement card?": "£10",
                "What is the fee for cash withdrawals abroad?": "2.75%",
            },
            id="services",
        ),
        pytest.param(
            f"| Type of leave | Days per year | Notice |{RULE}| Study leave | up to 5 | 6 weeks |"
            " | Moving house | 2 | 10 days |",
            {
                "How many days of study leave are there per year?": "up to 5",
                "How many days are there per year for moving house?": "2",
            },
            id="days",
        ),
        pytest.param(
            f"| Ticket | Adults | Children (4–15) |{RULE}| Annual pass | £345 | £160 |"
            " | Family day | free | £9 |",
            {"How much is an annual pass for adults?": "£345"},
            id="prices by group",
        ),
        pytest.param(
            "| Item | Value | | --- | --- | | Tank capacity | 3.5 litres | | Noise level, low | 38 dB |",
            {"What is the tank capacity?": "3.5 litres"},
            id="properties",
        ),
    ],
)
def test_rows_of_several_words_are_asked_for(table: str, expected: dict[str, str]) -> None:
    assert {draft.question: draft.answer for draft in drafts("numerical_reasoning", table)} == expected


@pytest.mark.parametrize(
    ("table", "question", "right", "wrong"),
    [
        pytest.param(
            f"| Task | Interval | Time |{RULE}| Check the belts | every 3 months | 20 minutes |",
            "How often should you check the belts?",
            "Every three months.",
            "Every 6 months.",
            id="task",
        ),
        pytest.param(
            f"| Part | Clean | Replace |{RULE}| Main brush | Weekly | – |",
            "How often should you clean the main brush?",
            "Once a week.",
            "Monthly.",
            id="part",
        ),
        pytest.param(
            f"| Code | Fault | What to do |{RULE}| E04 | Low | Let it cool, call the service |",
            "What should you do in case of code E04?",
            "Let it cool and call the service.",
            "Switch it on again.",
            id="code",
        ),
    ],
)
def test_cells_of_words_are_asked_for(table: str, question: str, right: str, wrong: str) -> None:
    (draft,) = drafts("simple_factual", table)
    assert draft.question == question
    assert passes(draft, right)
    assert not passes(draft, wrong)


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        pytest.param(
            "(3) A full scholarship is EUR 850 per month.",
            "What is a full scholarship?",
            "EUR 850 per month",
            id="number of a paragraph",
        ),
        pytest.param(
            "Travel expenses are reimbursed up to EUR 120.",
            "Up to what amount are travel expenses reimbursed?",
            "up to EUR 120",
            id="limit of a payment",
        ),
    ],
)
def test_amounts_of_numbered_paragraphs_and_limits(sentence: str, question: str, answer: str) -> None:
    (draft,) = drafts("numerical_reasoning", sentence)
    assert (draft.question, draft.answer) == (question, answer)
