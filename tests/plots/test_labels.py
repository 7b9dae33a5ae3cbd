"""Labels of models: short, distinct, in natural order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.plots.labels import MAX_CHARS, natural_key, short_labels
from support.report_runs import LAB_MODELS


def test_numbers_count_as_numbers():
    names = ["model-10", "model-2", "model-1.5", "alpha"]
    assert sorted(names, key=natural_key) == ["alpha", "model-1.5", "model-2", "model-10"]


def test_words_that_all_names_begin_with_are_left_out():
    labels = short_labels(LAB_MODELS)
    assert labels[0] == "gpt-4o-2024-08-06"
    assert not any(label.startswith("RAG") for label in labels)


def test_a_prefix_stays_where_only_a_number_would_be_left():
    assert short_labels(["model-2", "model-10"]) == ["model-2", "model-10"]
    assert short_labels(["GPT 4", "GPT 5"]) == ["GPT 4", "GPT 5"]


def test_a_name_stays_where_only_brackets_would_be_left():
    names = ["app (billing)", "app (support)"]
    assert short_labels(names) == names


def test_a_name_that_is_the_start_of_another_keeps_its_own():
    assert short_labels(["extractive", "extractive-one-sentence"]) == [
        "extractive",
        "extractive-one-sentence",
    ]


@given(st.lists(st.text(max_size=60), max_size=12))
def test_no_two_labels_are_equal_and_none_is_long(names):
    labels = short_labels(names)
    assert len(set(labels)) == len(names)
    assert all(len(label) <= MAX_CHARS for label in labels)


@given(st.text(max_size=80))
def test_every_text_has_a_sort_key(text):
    assert natural_key(text) == natural_key(text)
