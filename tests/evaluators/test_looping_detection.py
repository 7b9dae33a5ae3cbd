"""Looping detection: sentences, stretches, compression."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import pytest

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.looping_detection import LoopingDetection

Make = Callable[..., Case]
LOOP = "I will try again now. "


def test_a_single_sentence_does_not_loop(case: Make, tools: Tools) -> None:
    (outcome,) = LoopingDetection().score([case("The rate rose to 5.25 percent in 2023.")], tools)
    assert outcome.scores["unique_sentences"] == 1.0
    assert outcome.scores["longest_repeated_substring"] == 0.0
    assert outcome.reason == ""


def test_a_loop_is_found_by_all_three(case: Make, tools: Tools) -> None:
    (outcome,) = LoopingDetection().score([case(LOOP * 20)], tools)
    assert outcome.scores["unique_sentences"] == 1 / 20
    assert outcome.scores["longest_repeated_substring"] == pytest.approx(1.0, abs=0.02)
    assert outcome.scores["compression_ratio"] == len(zlib.compress((LOOP * 20).encode(), 9)) / len(LOOP * 20)
    assert outcome.reason == "a sentence occurs 20 times: 'I will try again now.'"
    assert len(outcome.fragments) == 19


def test_short_sentences_count_and_blanks_do_not(case: Make, tools: Tools) -> None:
    (outcome,) = LoopingDetection().score(
        [case("Yes. Yes. Yes. This is long enough. THIS is  long enough. And this is another.")], tools
    )
    assert outcome.scores["unique_sentences"] == 3 / 6


def test_a_loop_inside_one_sentence_is_told(case: Make, tools: Tools) -> None:
    (outcome,) = LoopingDetection().score([case("and so on and on " * 8)], tools)
    assert outcome.scores["unique_sentences"] == 1.0
    assert "times" in outcome.reason
    assert all(outcome.fragments[0].end <= other.start for other in outcome.fragments[1:])


def test_repeats_count_from_the_length_that_the_option_states(case: Make, tools: Tools) -> None:
    values = [
        LoopingDetection(**options).score([case("ab cd ab")], tools)[0].scores["longest_repeated_substring"]
        for options in ({}, {"min_repeat_chars": 1})
    ]
    assert values == [0.0, 4 / 8]
    with pytest.raises(ConfigurationError, match="min_repeat_chars: 0 is not at least 1"):
        LoopingDetection(min_repeat_chars=0)


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("the the the the " * 60, "longest_repeated_substring"),
        ("Wait. " * 200, "unique_sentences"),
        ("这张卡不需要年费。" * 50, "unique_sentences"),
        ("\n".join(f"Step {n} is done, and nothing else is to do" for n in range(900)), "compression_ratio"),
    ],
)
def test_each_metric_can_fail_a_loop(case: Make, tools: Tools, text: str, metric: str) -> None:
    metrics = {each.key: each for each in LoopingDetection.metrics}
    (outcome,) = LoopingDetection().score([case(text)], tools)
    value = outcome.scores[metric]
    assert value is not None
    assert all(each.primary or each.decides for each in metrics.values())
    assert not metrics[metric].passes(value)
