from fractions import Fraction

import pytest

from pytest_evalstudio.metrics.ranking import chunk_matches, document_matches
from pytest_evalstudio.text.comparison import equal_by_value, find_number, find_word, has_whole, normal_label
from pytest_evalstudio.text.values import decimal_text, number_value
from support.processor_time import assert_within


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("  Very\n Positive ", "very positive"),
        ("**Spam**.", "spam"),
        ("'no'", "no"),
        ("C++", "c++"),
        ("-1", "-1"),
        ("???", "???"),
        ("<18", "<18"),
        (">18", ">18"),
        ("<yes>", "yes"),
        ("A*", "a*"),
        ("(A)", "a"),
        ("A)", "a"),
        ("是。", "是"),
        ("¿sí?", "sí"),
        ("نعم؟", "نعم"),
        ("हाँ।", "हाँ"),
        ("1,000", "1000"),
        ("1 000.0", "1000"),
        (r"$\frac{1}{2}$", "1/2"),
        (r"\boxed{0.5}", "1/2"),
        ("007", "007"),
        ("5 %", "5%"),
        (r"5\%", "5%"),
        ("5", "5"),
        ("A†", "a†"),
        ("- spam", "spam"),
        ("Այո։", "այո"),
        ("አዎ።", "አዎ"),
        ("‹oui›", "oui"),
        ("〔是〕", "是"),
        ("[0, 1)", "[0, 1)"),
        (r"\(\frac12\)", "1/2"),
        (r"$$\text{Yes}$$", "yes"),
        (r"1\frac{1}{2}", "3/2"),
        ("1½", "3/2"),
        ("11/2", "11/2"),
        ("10^3", "1000"),
        (r"2\sqrt{2}", r"2\sqrt{2}"),
    ],
)
def test_labels_are_folded_but_not_confused(text: str, label: str) -> None:
    assert normal_label(text) == label


@pytest.mark.parametrize(
    ("text", "word", "is_found"),
    [
        ("It costs 5 USD.", "5 USD", True),
        ("It costs 15 USD.", "5 USD", False),
        ("It costs 5\u202fUSD.", "5 USD", True),
        ("It costs 5\nUSD.", "5 USD", True),
        ("It costs 1.5 USD.", "5 USD", False),
        ("It costs -5 USD.", "5 USD", False),
        ("It costs 3-5 USD.", "5 USD", True),
        ("It costs 5 USDT.", "5 USD", False),
        ("It is 5.", "5", True),
        ("It is 5.2", "5", False),
        ("It is 5%", "5", False),
        ("long\u2011term", "long-term", True),
        ("don\u2019t", "don't", True),
        ("你必须卖掉房子", "必须", True),
        ("open 18:00", "8:00", False),
        ("open 8:00", "8:00", True),
        ("किताब", "क", False),
        ("यह क है", "क", True),
    ],
)
def test_a_word_is_no_part_of_another(text: str, word: str, is_found: bool) -> None:
    span = find_word(text, word)
    assert (span is not None) == is_found
    if span:
        assert text[span[0] : span[1]].startswith(word[0])


@pytest.mark.parametrize(
    ("text", "value", "unit", "tolerance", "is_found"),
    [
        ("It costs 15 USD.", "15", "", "0", True),
        ("It costs 15 USD.", "5", "", "0", False),
        ("It costs $15.00.", "15", "USD", "0", True),
        ("It costs €15.", "15", "USD", "0", False),
        ("It costs 15.", "15", "USD", "0", False),
        ("1 200 people", "1200", "people", "0", True),
        ("1 200 people", "1200", "cars", "0", False),
        ("1.5 million", "1500000", "", "0", True),
        ("5000 g", "5", "kg", "0", True),
        ("about 1,210", "1200", "", "12", True),
        ("1. Open it\n2. Close it", "2", "", "0", False),
        ("It is free [2].", "2", "", "0", False),
        ("on 3 April 2024", "2024", "", "0", True),
        ("twelve dollars", "12", "USD", "0", True),
    ],
)
def test_a_number_is_found_by_its_value(
    text: str, value: str, unit: str, tolerance: str, is_found: bool
) -> None:
    span = find_number(text, Fraction(value), unit=unit, tolerance=Fraction(tolerance))
    assert (span is not None) == is_found


@pytest.mark.parametrize(
    ("text", "expected", "are_equal"),
    [
        ("1,000", "1000", True),
        ("1/2", r"\frac{1}{2}", True),
        ('{"a": 1, "b": [1, 2]}', '{"b": [1, 2], "a": 1.0}', True),
        ('```json\n{"a": 1}\n```', '{"a": 1}', True),
        ('{"a": true}', '{"a": 1}', False),
        ('{"a": 1, "b": 2}', '{"a": 1}', False),
        ("Yes.", "yes", True),
        ("Yes", "No", False),
        ("not JSON", '{"a": 1}', False),
    ],
)
def test_whole_texts_are_equal_by_value(text: str, expected: str, are_equal: bool) -> None:
    assert equal_by_value(text, expected) == are_equal


def test_a_long_row_of_digits_is_no_number() -> None:
    assert number_value("1" * 500) is None
    assert decimal_text("1e400") == ""


def test_a_part_ends_in_no_longer_word_or_number() -> None:
    assert not has_whole("a chunk c10", "c1")
    assert has_whole("这张卡片免费", "卡片")
    assert has_whole("xc1 c1", "c1")


def test_a_part_of_a_long_word_is_found_in_linear_time() -> None:
    def find(turn: int) -> None:
        assert not has_whole("a" * (400_000 + turn), "a" * 200_000)

    assert_within(2, find)


def test_expected_chunks_and_documents_are_compared_as_texts() -> None:
    assert chunk_matches(["c1"], ["c10"]) == ([0], ["c1"])
    assert chunk_matches(["5 USD"], ["15 USD"]) == ([0], ["5 USD"])
    assert chunk_matches(["caf\u00e9 menu"], ["cafe\u0301 menu"]) == ([1], [])
    assert document_matches(["caf\u00e9.pdf"], ["docs/cafe\u0301.pdf"]) == ([1], [])
