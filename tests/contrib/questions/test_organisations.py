"""The organisation that says "we" in a document."""

from __future__ import annotations

import pytest

from pytest_evalstudio.contrib.questions.checks.organisations import (
    of_organisation,
    organisation_of,
    speaks_of_itself,
)


@pytest.mark.parametrize(
    ("sentences", "name"),
    [
        (
            ["TARN VALLEY WATER", "Annual Report", "Tarn Valley Water serves all."],
            "Tarn Valley Water",
        ),
        (["Ashdown School – Policy on Trips", "Parents of Ashdown School are told."], "Ashdown School"),
        (["Annual Report 2024", "The Annual Report is published in May."], ""),
        (["Terms of the Loan", "We lend up to £500."], ""),
        (["Larkfield Care", *("Larkfield pays for jury service.",) * 3], "Larkfield"),
        (["Eastmere Libraries", *("Join in the district of Eastmere.",) * 3], ""),
        (["ROWAN HOSPICE", "Review of the year", "We cared for 642 people."], "Rowan Hospice"),
    ],
)
def test_the_name_is_in_the_title_and_in_the_text(sentences: list[str], name: str) -> None:
    assert organisation_of(sentences) == name


def test_a_letter_to_its_readers_is_no_report_of_an_organisation() -> None:
    report = ["We sold two boats.", "Our profit rose.", "We employ ten people."]
    assert speaks_of_itself(report)
    assert not speaks_of_itself([*report, "You may sell your shares."])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How much did you invest?", "How much did Tarn Water invest?"),
        ("Do you employ 50 people?", "Does Tarn Water employ 50 people?"),
        ("What was your profit?", "What was Tarn Water's profit?"),
        ("Have you sold your boats?", "Has Tarn Water sold its boats?"),
        ("Who audits the accounts?", "Who audits the accounts?"),
    ],
)
def test_a_question_to_an_organisation_becomes_one_about_it(question: str, expected: str) -> None:
    assert of_organisation(question, "Tarn Water") == expected
