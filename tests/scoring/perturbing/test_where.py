"""Expressions over categories mean what pytest's own `-m` means."""

from __future__ import annotations

import pytest
from _pytest.mark.expression import Expression
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.scoring.perturbing.where import Where

NAMES = ["fees", "cards", "perturbed", "a:b", "x-y"]
ATOMS = st.sampled_from(NAMES)
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        inner.map(lambda text: f"not {text}" if " " not in text else f"not ({text})"),
        st.tuples(inner, inner).map(" and ".join),
        st.tuples(inner, inner).map(" or ".join),
        inner.map("({})".format),
    ),
    max_leaves=8,
)


@given(EXPRESSIONS, st.sets(ATOMS))
def test_it_agrees_with_pytest(text, categories):
    assert Where(text)(categories) == Expression.compile(text).evaluate(lambda name, **_: name in categories)


def test_names_are_categories_as_markers():
    assert Where("question_answering")(["Question Answering"])


@pytest.mark.parametrize(
    "text", ["", "fees and", "and", "(fees", "fees)", "fees cards", "not", "fees & cards", "fees or or cards"]
)
def test_what_cannot_be_read_is_told(text):
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Where(text)


@pytest.mark.parametrize("text", ["(" * 5_000, "not " * 5_000 + "(" * 5_000, "a and (" * 5_000])
def test_parentheses_in_parentheses_without_end_are_told(text):
    with pytest.raises(
        ConfigurationError, match="nests parentheses more than 100 deep; simplify it"
    ) as exc_info:
        Where(text)
    assert len(str(exc_info.value)) < 400


def test_many_negations_are_read():
    assert Where("not " * 5_000 + "a")(["a"])
