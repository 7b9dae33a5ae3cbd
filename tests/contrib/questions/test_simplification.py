"""Simple sentences that complex ones imply, and the questions for them."""

from __future__ import annotations

import pytest

from pytest_evalstudio.contrib.questions.grammar.simplification import SimpleSentence, simple_sentences
from pytest_evalstudio.contrib.questions.rules.cases import single_statements
from support.drafts import drafts, passes

QUANTITIES = ("numerical_reasoning", "temporal_reasoning")


@pytest.mark.parametrize(
    ("sentence", "simple"),
    [
        pytest.param(
            "If a payment is late, a fee of £25 is added.",
            [("A fee of £25 is added.", "if a payment is late")],
            id="condition",
        ),
        pytest.param(
            "In the first year the club pays £30.",
            [("The club pays £30.", "in the first year")],
            id="adjunct",
        ),
        pytest.param(
            "Boots are your own; we contribute £120 towards boots.",
            [("Boots are your own.", ""), ("We contribute £120 towards boots.", "")],
            id="semicolon",
        ),
        pytest.param(
            "Lost keys are reported to the caretaker, Mr Owen Hadley, within 24 hours.",
            [("Lost keys are reported to the caretaker within 24 hours.", "")],
            id="name in apposition",
        ),
        pytest.param(
            "Records are kept for six years and then destroyed.",
            [("Records are kept for six years.", "")],
            id="end",
        ),
        pytest.param(
            "The depot is kept at 19 °C. Smoke detectors are replaced after eight years.",
            [("The depot is kept at 19 °C.", ""), ("Smoke detectors are replaced after eight years.", "")],
            id="joined sentences",
        ),
        pytest.param("If it is late, a fee of £25 is added.", [], id="pronoun in the condition"),
        pytest.param(
            "A card costs £5; for children it is free.", [("For children it is free.", "")], id="exception"
        ),
    ],
)
def test_a_sentence_implies_simple_ones(sentence: str, simple: list[tuple[str, str]]) -> None:
    assert simple_sentences(sentence) == tuple(SimpleSentence(*item) for item in simple)


@pytest.mark.parametrize(
    ("sentence", "statements"),
    [
        (
            "The fee is £48 for a full plot and £27 for a half plot.",
            ["The fee is £48 for a full plot.", "The fee is £27 for a half plot."],
        ),
        (
            "Tickets contributed £2.6 million, grants £1.5 million, and gifts £0.6 million.",
            [
                "Tickets contributed £2.6 million.",
                "Grants contributed £1.5 million.",
                "Gifts contributed £0.6 million.",
            ],
        ),
        ("The fee is £5, compared with £4 in 2020.", ["The fee is £5, compared with £4 in 2020."]),
        ("Members pay £30 a year, students £12.", ["Members pay £30 a year, students £12."]),
    ],
)
def test_each_case_and_each_member_has_its_own_amount(sentence: str, statements: list[str]) -> None:
    assert single_statements(sentence) == statements


@pytest.mark.parametrize(
    ("sentence", "questions"),
    [
        pytest.param(
            "If a debit is returned unpaid, we charge £9.",
            {"How much do you charge if a debit is returned unpaid?": "£9"},
            id="condition",
        ),
        pytest.param(
            "A single ticket costs £11 online and £13 on board.",
            {
                "How much does a single ticket cost online?": "£11",
                "How much does a single ticket cost on board?": "£13",
            },
            id="cases",
        ),
        pytest.param(
            "The hirer must be at least 21 years old and must be present.",
            {"How old must the hirer be?": "at least 21 years"},
            id="age",
        ),
        pytest.param(
            "The customer may terminate the agreement with six months' notice.",
            {"With how much notice may the customer terminate the agreement?": "six months"},
            id="notice",
        ),
        pytest.param(
            "Theft from a garage is covered up to £3,500.",
            {"Up to what amount is theft from a garage covered?": "up to £3,500"},
            id="limit",
        ),
        pytest.param(
            "Velora grants a warranty of two years on the frame.",
            {"How long is the warranty that Velora grants on the frame?": "two years"},
            id="warranty of a part",
        ),
        pytest.param(
            "- Urgent repairs: within three working days.",
            {"What is the time limit for urgent repairs?": "within three working days"},
            id="label of a time limit",
        ),
        pytest.param(
            "- Exceeding the limit: £12;", {"What is the charge for exceeding the limit?": "£12"}, id="label"
        ),
        pytest.param("A card costs £5; for children it is free.", {}, id="exception"),
        pytest.param("The rider must be at least 14 years old and weigh 30 kg.", {}, id="second verb"),
        pytest.param(
            "Staff may apply if they are 16 and have held £5 for 30 days.", {}, id="verb of a condition"
        ),
    ],
)
def test_questions_for_parts_keep_what_restricts_them(sentence: str, questions: dict[str, str]) -> None:
    elsewhere = (f"{sentence} Velora Velora.", "Ask Velora.")
    results = [draft for id in QUANTITIES for draft in drafts(id, sentence, elsewhere=elsewhere)]
    assert {draft.question: draft.answer for draft in results} == questions
    for draft in results:
        assert draft.evidence == sentence
        assert passes(draft, draft.answer)
        assert passes(draft, f"As the document says, it is {draft.answer}.")
        assert not any(passes(draft, text) for text in ("", "I do not know.", "It is £7.77 after 77 days."))


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("If a plot is neglected, the club sends a letter.", "What happens if a plot is neglected?"),
        (
            "If a bill remains unpaid, the supplier may interrupt the supply.",
            "What may the supplier do if a bill remains unpaid?",
        ),
        ("When baking is finished, the appliance beeps and cools.", ""),
        ("If it is lost, the club sends a letter.", ""),
        ("If you do not agree, you may close the account.", ""),
    ],
)
def test_the_consequence_of_a_condition_is_asked_for(sentence: str, question: str) -> None:
    results = drafts("simple_factual", sentence)
    assert [draft.question for draft in results] == ([question] if question else [])
    assert all(passes(draft, sentence) and not passes(draft, "Nothing changes.") for draft in results)


@pytest.mark.parametrize(
    ("sentence", "question", "answer"),
    [
        ("Guests under 18 may not stay overnight.", "May guests under 18 stay overnight?", "No"),
        ("Costs must not exceed 7 percent of income.", "May costs exceed 7 percent of income?", "No"),
        (
            "No charge is made during the first 12 months.",
            "Is any charge made during the first 12 months?",
            "No",
        ),
        (
            "Parcels are lost if they have not arrived within 20 days.",
            "Are parcels lost if they have not arrived within 20 days?",
            "Yes",
        ),
        (
            "Allow the stove to cool for two hours before cleaning.",
            "Should you allow the stove to cool for two hours before cleaning?",
            "Yes",
        ),
    ],
)
def test_whole_statements_are_confirmed_or_denied(sentence: str, question: str, answer: str) -> None:
    (draft,) = drafts("yes_or_no", sentence)
    assert (draft.question, draft.answer) == (question, f"{answer}. {sentence}")
    assert passes(draft, draft.answer)
    assert not passes(draft, {"Yes": "No.", "No": "Yes."}[answer])


@pytest.mark.parametrize(
    "sentence",
    [
        "Emergency calls to 999 and 112 remain possible at all times.",
        "The risks described on pages 38 to 43 of the annual report remain relevant.",
        "The grant is paid in two instalments and runs until 2027.",
        "The deposit is not refunded until 30 days after the event.",
        "No more than 50 litres may be stored.",
        "You may withdraw £500 a day, as long as the account has the money.",
        "A fee of £40 is charged.",
        "The office closes at 5 pm.",
        "Never store the device above 25 °C and do not freeze it.",
    ],
)
def test_unclear_statements_are_neither_confirmed_nor_denied_by_another_number(sentence: str) -> None:
    assert all(draft.question.endswith("at 5 pm?") for draft in drafts("yes_or_no", sentence))
