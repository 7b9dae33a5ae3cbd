import pytest
from bank import ask
from deepeval import assert_test
from deepeval.metrics import PatternMatchMetric
from deepeval.test_case import LLMTestCase

NO_EMAIL = r"(?s)(?!.*\S+@\S+\.\w+).*"
CASES = {
    "card": ("What does a replacement card cost?", [r"\b5 USD"]),
    "domestic": ("What does a transfer within the country cost?", [r"\bfree\b"]),
    "abroad_fee": ("What does a transfer abroad cost?", [r"\b15 USD"]),
    "deposit": ("What deposit does a new account need?", [r"\b250 USD"]),
    "interest": ("How much interest do savings earn?", [r"\b2\.5 %"]),
    "statements": ("How long are statements kept?", [r"\b10 years"]),
    "abroad_time": ("How long does a transfer abroad take?", [r"\b3 days"]),
    "opening": ("When do branches open?", [r"\b9:30"]),
    "limit": ("How much does a card pay at most per day?", [r"\b1,000 USD"]),
    "pin": ("When does a wrong PIN block the card?", [r"\b3 attempts"]),
    "hotline": ("What is the number of the hotline?", [r"0800 555 0100"]),
    "complaint": ("When is a complaint answered?", [r"\b14 days"]),
    "abroad_both": (
        "What does a transfer abroad cost, and how long does it take?",
        [r"\b15 USD", r"\b3 days"],
    ),
    "card_both": (
        "What does a replacement card cost, and when is a lost card replaced?",
        [r"\b5 USD", r"\b5 working days"],
    ),
    "chess": ("Who won the chess championship?", ["do(n't| not) know|can('t|not)"]),
}


@pytest.mark.parametrize(("question", "patterns"), CASES.values(), ids=CASES)
def test_answer(question, patterns):
    metrics = [PatternMatchMetric(pattern=rf"(?s).*({pattern}).*", ignore_case=True) for pattern in patterns]
    metrics.append(PatternMatchMetric(pattern=NO_EMAIL))
    assert_test(LLMTestCase(input=question, actual_output=ask(question)), metrics)
