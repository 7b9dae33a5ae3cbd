"""Tests in Python: the same models and evaluators as in the suites, as fixtures."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio import ThresholdMissed

BANK = Path(__file__).parent / "bank" / "documents"
FEES = str(BANK / "fee_schedule.md")
CARDS = str(BANK / "card_terms.txt")


@pytest.mark.parametrize(
    ("question", "fee"),
    [
        pytest.param("How much does a same-day CHAPS payment cost?", "£20.00", id="chaps"),
        pytest.param("What does it cost to replace a lost debit card?", "£5.00", id="lost-card"),
        pytest.param("What does a letter of reference cost?", "£10.00", id="reference"),
    ],
)
@pytest.mark.parametrize("model", ["extractive", "extractive-one-sentence"])
def test_a_fee_is_quoted_from_the_schedule(
    eval_model, eval_text_matching, eval_lexical_groundedness, model, question, fee
):
    case = eval_model(model).ask(question, corpus=[FEES, CARDS], condition=f'"costs {fee}"')
    eval_text_matching.check(case)
    eval_lexical_groundedness.check(case)


@pytest.mark.parametrize(
    "model",
    [
        "extractive",
        pytest.param(
            "extractive-one-sentence",
            marks=pytest.mark.xfail(
                reason="one sentence cannot give two prices", raises=ThresholdMissed, strict=True
            ),
        ),
    ],
)
def test_two_prices_in_one_answer(eval_model, eval_text_matching, model):
    case = eval_model(model).ask(
        "What do a CHAPS payment and a banker's draft cost?",
        corpus=[FEES],
        condition='"costs £20.00" AND "costs £15.00"',
    )
    eval_text_matching.check(case)


def test_an_answer_close_to_the_expected_one(eval_model, eval_rouge):
    case = eval_model("extractive-one-sentence").ask(
        "How much cash can I withdraw a day from cash machines with a debit card?",
        corpus=[CARDS],
        expected_output="You may withdraw up to £500 a day from cash machines with a debit card.",
    )
    eval_rouge.check(case, threshold=0.6)


def test_a_paraphrase_scores_between_a_quotation_and_nonsense(eval_case, eval_rouge):
    expected = "The final response arrives within eight weeks at the latest."
    answers = {
        "quotation": expected,
        "paraphrase": "You receive the final response within eight weeks.",
        "nonsense": "Cards are blue.",
    }
    quotation, paraphrase, nonsense = (
        eval_rouge.score(
            eval_case("When does the final response arrive?", answer, expected_output=expected, key=key)
        ).scores["rouge_l"]
        for key, answer in answers.items()
    )
    assert quotation == 1.0
    assert nonsense < paraphrase < quotation


def test_an_answer_keeps_numbers_and_passwords_to_itself(
    eval_case, eval_pii_leakage, eval_sensitive_data_leakage
):
    case = eval_case(
        "Which card was charged, and what is its PIN?",
        "The card ending in 1111. The bank does not know your PIN.",
    )
    eval_pii_leakage.check(case)
    eval_sensitive_data_leakage.check(case)


def test_a_card_number_in_full_is_found(eval_case, eval_pii_leakage):
    leak = eval_case(
        "Which card was charged?", "The card 4111 1111 1111 1111, a number that is made for tests."
    )
    with pytest.raises(ThresholdMissed, match="payment card number"):
        eval_pii_leakage.check(leak)


def test_every_case_of_the_bank_suite_can_be_judged(eval_suite):
    suite = eval_suite("bank/bank_suite.json")
    assert [case.key for _, case in suite.cases() if not (case.condition or case.expected_output)] == []


def test_all_documents_of_the_suite_are_there(eval_suite):
    suite = eval_suite("bank/bank_suite.json")
    missing = {
        document
        for test in suite.tests
        for document in test.documents
        if not (BANK.parent / document).is_file()
    }
    assert not missing
