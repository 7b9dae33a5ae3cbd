"""Tests of the search for quantities in documents."""

from __future__ import annotations

import random
import re

import pytest

from pytest_evalstudio.contrib.questions.quantities.occurrences import occurs
from pytest_evalstudio.contrib.questions.quantities.patterns import pattern
from pytest_evalstudio.core.plugins.generator import Corpus, Excerpt


def _corpus(*sentences: str) -> Corpus:
    return Corpus((Excerpt(id="c1", sentences=sentences, topic="1"),))


@pytest.mark.parametrize(
    ("quantity", "sentence", "expected"),
    [
        ("£2,500.00", "It costs at least £2500.", True),
        ("£2500", "It costs £2 500 a year.", True),
        ("10.000 Euro", "It costs €10,000.", True),
        ("7 days", "It takes seven days.", True),
        ("seven days", "It takes 7 days.", True),
        ("two and a half hours", "It takes 2.5 hours.", True),
        ("£5", "It costs £5.50.", False),
        ("8 days", "There are 8 branches.", False),
        ("8 days", "It takes 18 days.", False),
    ],
)
def test_a_quantity_is_found_in_other_notations(quantity: str, sentence: str, expected: bool) -> None:
    assert occurs(quantity, _corpus("A first sentence.", sentence)) is expected


def test_the_search_finds_what_a_search_of_all_sentences_finds() -> None:
    rng = random.Random(3)
    units = ["days", "working days", "%", "kg", ""]
    numbers = ["1", "five", "12", "1,200", "1200", "0.5", "2.50", "20", "12,000", "3 million"]
    sentences = [f"It is {rng.choice(numbers)} {rng.choice(units)}".strip() + "." for _ in range(40)]
    sentences += [f"It costs {rng.choice('£€$')}{rng.choice(numbers[2:])}." for _ in range(20)]
    corpus = _corpus(*sentences)
    quantities = [f"{number} {unit}".strip() for number in numbers for unit in units]
    quantities += [f"{symbol}{number}" for symbol in "£€$" for number in numbers[2:]]
    results = {quantity: occurs(quantity, corpus) for quantity in quantities}
    assert results == {
        quantity: any(re.search(pattern(quantity), sentence) for sentence in sentences)
        for quantity in quantities
    }
    assert len(set(results.values())) == 2
