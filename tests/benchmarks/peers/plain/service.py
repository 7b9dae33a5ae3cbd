import re

import pytest
from bank import ask

CASES = [
    ("What does a replacement card cost?", ["5 USD"]),
    ("What does a transfer within the country cost?", ["free"]),
    ("What does a transfer abroad cost?", ["15 USD"]),
    ("What deposit does a new account need?", ["250 USD"]),
    ("How much interest do savings earn?", ["2.5 %"]),
    ("How long are statements kept?", ["10 years"]),
    ("How long does a transfer abroad take?", ["3 days"]),
    ("When do branches open?", ["9:30"]),
    ("How much does a card pay at most per day?", ["1,000 USD"]),
    ("When does a wrong PIN block the card?", ["3 attempts"]),
    ("What is the number of the hotline?", ["0800 555 0100"]),
    ("When is a complaint answered?", ["14 days"]),
    ("What does a transfer abroad cost, and how long does it take?", ["15 USD", "3 days"]),
    ("What does a replacement card cost, and when is a lost card replaced?", ["5 USD", "5 working days"]),
    ("Who won the chess championship?", ["do not know"]),
]


@pytest.mark.parametrize(("question", "facts"), CASES)
def test_answer(question, facts):
    answer = ask(question)
    assert [fact for fact in facts if fact.lower() not in answer.lower()] == [], answer
    assert not re.search(r"\S+@\S+\.\w+", answer), answer
