"""Content words and numbers of a text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.metrics.grounding import _scanned, read_source, tokens_of


def test_words_are_compared_by_their_stems() -> None:
    assert [token.keys[0] for token in tokens_of("raising raised raises")] == ["rais"] * 3
    assert tokens_of("The bank's")[0].keys == tokens_of("banks")[0].keys


_PIECES = (
    "revenue",
    "Company's",
    "five",
    "1.5",
    " million",
    "3rd",
    "12,000",
    " bn",
    "k",
    " ",
    "-",
    ".",
    ",",
    "'",
    "_",
)


@given(st.lists(st.sampled_from(_PIECES), max_size=12).map("".join))
def test_an_ascii_text_has_the_tokens_that_it_has_beside_other_scripts(text: str) -> None:
    assert tokens_of(text) == tokens_of(f"{text} ’ 中")[:-1]


@given(
    st.lists(
        st.sampled_from((*_PIECES, " ", " ", "\n", " billion", " m-5", "ies", "Bank", "中")), max_size=20
    ).map("".join)
)
def test_tokens_of_parts_are_those_of_the_whole_text(text: str) -> None:
    assert tokens_of(text) == list(_scanned(text))


def test_a_source_without_bigrams_has_the_same_words_and_numbers() -> None:
    texts = ["The bank lends 5 million. The bank lends 5 million.", "Rates rose by 2 percent."]
    source, smaller = read_source(texts), read_source(texts, with_bigrams=False)
    assert (smaller.words, smaller.numbers) == (source.words, source.numbers)
    assert ("lend", "5000000") in source.bigrams
    assert smaller.bigrams == set()
