"""Noun phrases of questions that need the sentences around their evidence."""

from __future__ import annotations

import pytest

from pytest_evalstudio.contrib.questions.checks.references import References

DOCUMENT = (
    "Handbook of the Pool",
    "Penalties and appeals",
    "The Parking Office is at 12 Market Row.",
    "The head of the office is Margaret Ellison.",
    "The battery weighs two kilograms.",
    "Charge the battery every night.",
    "Never open the battery.",
    "The board has nine members and the chair of the board is Ann Lee.",
    "Ann Lee has led the board since 2019.",
    "Ether forms peroxides.",
    "An opened bottle must be tested every month.",
    "Each laboratory has a supervisor, and the supervisor trains the users.",
    "A voucher is valid for a day.",
    "Put the voucher behind the windscreen; a voucher is not sold.",
    "No voucher is refunded.",
    "The members of the Arrears Panel are named by the Bathing Council.",
)


@pytest.mark.parametrize(
    ("question", "unclear"),
    [
        ("Who is the head of the office?", "office"),
        ("How often must an opened bottle be tested?", "opened bottle"),
        ("By when must nominations reach you?", "nominations"),
        ("When does the next election take place?", "next election"),
        ("Must signs be put up before the suspension begins?", "signs"),
        ("Must the sign be removed before the suspension begins?", "sign"),
        ("How much is the charge?", "charge"),
        ("Who will make suitable arrangements?", "suitable arrangements"),
        ("Who washes coats every Thursday?", "coats"),
        ("What is the e-mail address of the supervisor?", "supervisor"),
        ("Within how many weeks is a decision normally made?", "decision"),
        ("Who appoints the Panel?", "Panel"),
    ],
)
def test_a_phrase_that_only_its_section_explains_is_unclear(question: str, unclear: str) -> None:
    assert References(DOCUMENT).unclear(question) == unclear


@pytest.mark.parametrize(
    "question",
    [
        "Who is the head of the Parking Office?",
        "How much does the battery weigh?",
        "How many members does the board have?",
        "For how long is a voucher valid? A) two days B) one day",
        "Who keeps the accident book?",
        "How often is the handbook revised by the Safety Committee?",
        "What is the penalty for parking without a badge?",
        "What is the monthly fee for the plan “Basic”?",
        "What does the code E24 mean?",
        "Within how many hours must every accident be entered?",
        "How are appeals decided?",
        "Why did the service charge rise?",
        "When did the bakery in Cork begin production?",
        "Who appoints the Arrears Panel?",
        "Who leads the Council?",
    ],
)
def test_names_complements_and_nouns_of_the_whole_document_are_clear(question: str) -> None:
    assert References(DOCUMENT).unclear(question) == ""
