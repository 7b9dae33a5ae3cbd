"""The search for one flip: minimal questions, and what is asked for them."""

from __future__ import annotations

import itertools
import random

import pytest

from pytest_evalstudio.core.flips import ShrinkCode
from pytest_evalstudio.scoring.shrinking.search import FIRST_REPETITION, LAST_REPETITION, FlipSearch
from pytest_evalstudio.text.edits import applied

ORIGINAL = "What does a replacement card cost?"
PERTURBED = "Waht does, a repalcement, crad cot?"


def end_of(search, flips, history=None):
    """Run a search with a function that says whether a probe flips; return its end."""
    probes = search.probes()
    try:
        probe = next(probes)
        while True:
            if history is not None:
                history.append(probe)
            probe = probes.send(flips(probe))
    except StopIteration as end:
        return end.value


@pytest.mark.parametrize(
    ("word", "question"),
    [
        ("crad", "What does a replacement crad cost?"),
        ("Waht", "Waht does a replacement card cost?"),
        (", a", "What does, a replacement card cost?"),
        ("cot", "What does a replacement card cot?"),
    ],
)
def test_the_question_differs_in_the_one_word_that_flips(word, question):
    search = FlipSearch(ORIGINAL, PERTURBED, is_repeatable=True)
    assert end_of(search, lambda probe: word in probe.text) is ShrinkCode.MINIMAL
    assert (search.question, len(search.smallest), search.total) == (question, 1, 6)


def test_a_broken_model_that_flips_on_everything_is_left_with_one_edit():
    search = FlipSearch(ORIGINAL, PERTURBED, is_repeatable=True)
    assert end_of(search, lambda probe: probe.text != ORIGINAL) is ShrinkCode.MINIMAL
    assert len(search.smallest) == 1


def test_the_characters_of_a_word_are_shrunk_too():
    search = FlipSearch("a replacement card", "x rxplxcxmxnt cxrd", is_repeatable=True)
    assert end_of(search, lambda probe: "plxc" in probe.text) is ShrinkCode.MINIMAL
    assert search.question == "a replxcement card"


def test_the_result_is_minimal_by_brute_force_over_all_parts_of_the_edits():
    rng = random.Random(3)
    for _ in range(60):
        search = FlipSearch(ORIGINAL, PERTURBED, is_repeatable=True)
        edits = search.smallest
        questions = {
            applied(ORIGINAL, part): frozenset(part)
            for size in range(len(edits) + 1)
            for part in itertools.combinations(edits, size)
        }
        assert len(questions) == 2 ** len(edits)
        flipping = {text for text in questions if rng.random() < 0.4} - {ORIGINAL} | {PERTURBED}
        assert end_of(search, lambda probe, flipping=flipping: probe.text in flipping) is ShrinkCode.MINIMAL
        assert search.question in flipping
        for edit in search.smallest:
            assert applied(ORIGINAL, [other for other in search.smallest if other != edit]) not in flipping


def test_a_model_that_may_answer_otherwise_is_asked_again_before_and_after():
    probes = []
    search = FlipSearch(ORIGINAL, PERTURBED, is_repeatable=False)
    assert end_of(search, lambda probe: "crad" in probe.text, probes) is ShrinkCode.MINIMAL
    assert [(probe.text, probe.sample) for probe in probes[:2]] == [
        (ORIGINAL, FIRST_REPETITION),
        (PERTURBED, FIRST_REPETITION),
    ]
    assert (probes[-1].text, probes[-1].sample) == (search.question, LAST_REPETITION)
    assert not any(probe.sample for probe in probes[2:-1])


@pytest.mark.parametrize(("answers", "count"), [([True], 1), ([False, False], 2)])
def test_a_flip_that_is_not_reproduced_is_not_shrunk(answers, count):
    probes = []
    search = FlipSearch(ORIGINAL, PERTURBED, is_repeatable=False)
    end = end_of(search, lambda _: answers[len(probes) - 1], probes)
    assert (end, len(probes), search.question) == (ShrinkCode.NOT_REPRODUCED, count, PERTURBED)


def test_a_smallest_edit_that_does_not_flip_once_more_is_not_confirmed():
    search = FlipSearch(ORIGINAL, PERTURBED, is_repeatable=False)
    end = end_of(search, lambda probe: "crad" in probe.text and probe.sample != LAST_REPETITION)
    assert end is ShrinkCode.NOT_CONFIRMED


@pytest.mark.parametrize(("is_repeatable", "count"), [(True, 0), (False, 2)])
def test_a_single_edit_is_only_reproduced(is_repeatable, count):
    probes = []
    search = FlipSearch("a card", "a crad", is_repeatable=is_repeatable)
    assert end_of(search, lambda probe: probe.text == "a crad", probes) is ShrinkCode.MINIMAL
    assert len(probes) == count
