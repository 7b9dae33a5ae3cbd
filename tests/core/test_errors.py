from __future__ import annotations

import pytest

from pytest_evalstudio.core.errors import (
    ConfigurationError,
    DataError,
    EvalStudioError,
    EvaluationError,
    ThresholdMissed,
    nearest,
    unknown_name,
)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({}, "is wrong"),
        ({"source": "s.json"}, "s.json: is wrong"),
        ({"source": "s.json", "line": 4, "column": 7}, "s.json:4:7: is wrong"),
        ({"source": "s.json", "line": 4, "column": 7, "pointer": "/a/0"}, "s.json:4:7 /a/0: is wrong"),
        ({"source": "s.csv", "pointer": "/a/0"}, "s.csv /a/0: is wrong"),
        ({"pointer": "/a/0"}, "/a/0: is wrong"),
        ({"column": 7}, "is wrong"),
    ],
)
def test_a_data_error_shows_what_is_known_of_its_place(place, message):
    assert str(DataError("is wrong", **place)) == message


def test_all_errors_have_one_base_and_a_missed_threshold_is_an_assertion():
    for error in (DataError, ConfigurationError, EvaluationError, ThresholdMissed):
        assert issubclass(error, EvalStudioError)
    assert issubclass(ThresholdMissed, AssertionError)
    assert not issubclass(EvaluationError, AssertionError)


@pytest.mark.parametrize(
    ("name", "remedy", "message"),
    [
        ("rogue", "", "no evaluator named 'rogue'. Did you mean 'rouge'?"),
        ("rogue", "`x` lists all.", "no evaluator named 'rogue'. Did you mean 'rouge'? `x` lists all."),
        ("zzz", "", "no evaluator named 'zzz'."),
        ("", "", "no evaluator named ''."),
    ],
)
def test_an_unknown_name_proposes_the_nearest(name, remedy, message):
    assert str(unknown_name("evaluator", name, iter(["rouge", "bleu"]), remedy)) == message


def test_without_a_near_name_nothing_is_proposed():
    assert nearest("abc", []) == ""
