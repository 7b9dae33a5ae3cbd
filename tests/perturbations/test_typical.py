"""Typical typos: one or two, inside words, and none that makes another word."""

from __future__ import annotations

import sys

import pytest

from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.perturbations._typos import real_words
from pytest_evalstudio.perturbations._wordnet import find_wordnet
from pytest_evalstudio.scoring.perturbing.specs import parse_perturbations, put_to
from support import real_words as script

REGISTRY = Registry()
TYPO_PERTURBATORS = [
    "keyboard_typos",
    "ocr",
    "random_character",
    "random_delete",
    "random_insert",
    "random_replacement",
]
QUESTION = "Where can customers collect the documents that they left at the counter of the branch?"


def label_and_change(spec, text, seed=1):
    (chain,) = parse_perturbations(spec, REGISTRY)
    return chain[0].label, put_to(chain, text, seed)


@pytest.mark.parametrize("id", TYPO_PERTURBATORS)
def test_it_is_the_default_and_makes_one_or_two_typos(id):
    counts = set()
    for seed in range(40):
        label, change = label_and_change(id, QUESTION, seed)
        assert label == f"{id}:TYPICAL"
        before, after = QUESTION.split(), change.text.split()
        wrong = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
        assert len(wrong) == change.edits
        assert all(len(old.strip("?")) >= 4 and old[0] == new[0] for old, new in wrong)
        assert all(abs(len(old) - len(new)) <= 1 for old, new in wrong)
        assert not any(new.strip("?") in real_words() for _, new in wrong)
        counts.add(change.edits)
    assert counts == {1, 2}


def test_all_four_slips_of_the_finger_occur():
    lengths, anagrams = set(), 0
    for seed in range(60):
        _, change = label_and_change("keyboard_typos", "is it possible", seed)
        word = change.text.split()[-1]
        lengths.add(len(word))
        anagrams += sorted(word) == sorted("possible")
    assert lengths == {7, 8, 9}
    assert 0 < anagrams < 60


@pytest.mark.parametrize("word", ["from", "trial", "card", "form", "quiet", "costs"])
def test_no_typo_makes_another_word(word):
    results = {label_and_change("keyboard_typos", f"is it {word}", seed)[1].text for seed in range(80)}
    assert not {text.split()[-1] for text in results if text} & real_words()
    assert {"form", "trail", "cart", "quite"} <= real_words()


def test_a_short_question_has_one_typo_and_capitals_come_last():
    for seed in range(30):
        change = label_and_change("keyboard_typos", "Where is the branch?", seed)[1]
        assert change.edits == 1
        assert change.text.startswith("Where is the ")
    assert label_and_change("keyboard_typos", "Where is it?")[1].text.startswith("Wh")


def test_other_scripts_get_the_typos_that_fit():
    assert label_and_change("random_insert", "сколько стоит карта")[1].edits == 1
    assert label_and_change("random_replacement", "сколько стоит карта")[1].edits == 1
    assert (
        label_and_change("keyboard_typos", "сколько стоит")[1].reason
        == "none of its characters is on a US keyboard"
    )
    assert "no word of four letters" in label_and_change("random_delete", "is it me")[1].reason


@pytest.mark.slow
@pytest.mark.skipif(not find_wordnet(), reason="there is no WordNet: apt-get install wordnet-base")
def test_the_list_of_words_is_the_one_of_wordnet():
    assert script.typo_words() == real_words(), f"run {sys.executable} tests/support/real_words.py"
