"""Expressions over categories mean what pytest's own `-m` means."""

from __future__ import annotations

import pytest
from _pytest.mark.expression import Expression
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.engine.perturbing.where import Where

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


@settings(max_examples=300, deadline=None, database=None, derandomize=True)
@given(EXPRESSIONS, st.sets(ATOMS))
def test_it_agrees_with_pytest(text, categories):
    assert Where(text)(categories) == Expression.compile(text).evaluate(lambda name, **_: name in categories)


def test_names_are_categories_as_markers():
    assert Where("question_answering")(["Question Answering"])


@pytest.mark.parametrize("text", ["", "fees and", "and", "(fees", "fees)", "fees cards", "not", "fees & cards", "fees or or cards"])
def test_what_cannot_be_read_is_told(text):
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Where(text)
