"""Delta debugging: minimal parts, and the number of tests that they take."""

from __future__ import annotations

import itertools
import random

import pytest

from pytest_evalstudio.scoring.shrinking.delta import ddmin


def minimal(changes, has_effect):
    """Return the minimal part and the number of tests."""
    parts, tests = ddmin(changes), 0
    try:
        part = next(parts)
        while True:
            tests += 1
            part = parts.send(has_effect(frozenset(part)))
    except StopIteration as end:
        return end.value, tests


@pytest.mark.parametrize("count", range(1, 33))
def test_one_change_is_found_wherever_it_is(count):
    for change in range(count):
        part, tests = minimal(range(count), lambda changes, target=change: target in changes)
        assert part == (change,)
        assert tests <= 2 * count.bit_length()


def test_the_result_is_one_of_the_parts_that_brute_force_calls_minimal():
    """The effect of each part is drawn at random, so that it need not grow with the part."""
    rng = random.Random(7)
    for _ in range(300):
        count = rng.randrange(2, 8)
        subsets = [
            frozenset(subset)
            for size in range(count + 1)
            for subset in itertools.combinations(range(count), size)
        ]
        effective = {subset for subset in subsets if rng.random() < 0.4}
        effective = (effective | {frozenset(range(count))}) - {frozenset()}
        by_brute_force = {
            subset for subset in effective if not any(subset - {change} in effective for change in subset)
        }
        part, tests = minimal(range(count), effective.__contains__)
        assert frozenset(part) in by_brute_force
        assert tests <= count**2 + 3 * count


def test_changes_that_are_all_needed_take_no_more_than_the_published_number_of_tests():
    for count in (2, 3, 8, 20, 33):
        part, tests = minimal(range(count), lambda changes, count=count: len(changes) == count)
        assert part == tuple(range(count))
        assert tests <= count**2 + 3 * count


def test_two_distant_changes_are_kept_in_their_order():
    part, _ = minimal("abcdefgh", lambda changes: {"b", "g"} <= changes)
    assert part == ("b", "g")


@pytest.mark.parametrize("changes", [(), ("a",)])
def test_nothing_is_tested_where_nothing_can_be_left_out(changes):
    assert minimal(changes, lambda _: pytest.fail("no test is needed")) == (changes, 0)
