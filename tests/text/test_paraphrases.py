from pathlib import Path

import pytest

from pytest_evalstudio.text.paraphrases import RULES, paraphrase, variants
from pytest_evalstudio.text.sentences import split_sentences
from pytest_evalstudio.text.stated_values import stated_values


@pytest.mark.parametrize(
    ("rule", "text", "other"),
    [
        ("unit", "It takes 30 minutes.", "It takes half an hour."),
        ("unit", "within 14 days", "within two weeks"),
        ("unit", "It lasts 12 months.", "It lasts one year."),
        ("unit", "within 5 working days", ""),
        ("unit", "the last six months", ""),
        ("unit", "every 14 days", ""),
        ("unit", "Members aged 12 years", ""),
        ("number_form", "It has 7 rooms.", "It has seven rooms."),
        ("number_form", "Thirty-seven members came.", "37 members came."),
        ("number_form", "It costs 30 USD.", ""),
        ("number_form", "See Section 5 below.", ""),
        ("number_form", "On 3 March at 9 a.m.", ""),
        ("notation", "It costs £1,200.50.", "It costs 1,200.50 pounds."),
        ("notation", "It costs 15 USD.", "It costs $15."),
        ("notation", "5 % of it", "5 percent of it"),
        ("date", "On 3 March 2026.", "On March 3, 2026."),
        ("date", "2026-03-03", "3 March 2026"),
        ("frequency", "It is tested every six months.", "It is tested twice a year."),
        ("frequency", "The fee is charged monthly.", "The fee is charged every month."),
        ("frequency", "The monthly fee is low.", ""),
        ("list_order", "doctors and nurses", "nurses and doctors"),
        ("list_order", "Bring a towel, a lock and soap.", "Bring a towel, soap and a lock."),
        ("list_order", "First dial, wait and then speak.", ""),
        ("list_order", "- a\n- b\n- c", "- c\n- b\n- a"),
        ("list_order", "1. a\n2. b", ""),
        ("clause_order", "If you cancel, we refund half.", "We refund half if you cancel."),
        ("clause_order", "We refund half if you cancel.", "If you cancel, we refund half."),
        ("clause_order", "We refund it only if you ask.", ""),
        ("clause_order", "You pay 5 days before departure.", ""),
        ("voice", "The house is run by the council.", "The council runs the house."),
        ("voice", "The roof was repaired by our staff.", "Our staff repaired the roof."),
        ("voice", "The fee is paid by card.", ""),
        ("contraction", "It cannot be moved.", "It can't be moved."),
        ("contraction", "It isn't free.", "It is not free."),
    ],
)
def test_a_rule_changes_the_form_and_keeps_what_is_said(rule: str, text: str, other: str) -> None:
    assert RULES[rule](text) in ((other,) if other else ("", text))


@pytest.mark.parametrize("text", ["```\nfees = 14\n```", "| Fee | 5 USD |", '{"fee": "5 USD"}', "Paris", ""])
def test_code_tables_and_texts_without_such_a_form_stay_as_they_are(text: str) -> None:
    assert paraphrase(text) is None
    assert list(variants(text)) == []


def test_all_rules_follow_one_another() -> None:
    result = paraphrase("If you cancel within 14 days, we do not charge £5.")
    assert result is not None
    assert result.text == "We don't charge 5 pounds if you cancel within two weeks."
    assert result.rules == ("number_form", "unit", "notation", "clause_order", "contraction")


def test_a_paraphrase_keeps_the_values_of_all_sentences_of_documents() -> None:
    texts = {
        " ".join(text[start:end].split())
        for path in (Path(__file__).parents[1] / "data" / "documents").glob("*/*")
        for text in [path.read_text(encoding="utf-8")]
        for start, end in split_sentences(text)
    }
    # What is longer is a table of plain text, whose columns are lost here.
    sentences = [text for text in texts if len(text.split()) <= 60]
    paraphrases = [(sentence, each) for sentence in sorted(sentences) for each in variants(sentence)]
    losses = [
        (sentence, each)
        for sentence, each in paraphrases
        for value in stated_values(sentence)
        if value.kind in ("frequency", "share") or any(unit for _, unit in value.readings)
        if not any(value.equals(other) for other in stated_values(each.text))
    ]
    assert len(paraphrases) > 3_000
    assert losses == []
