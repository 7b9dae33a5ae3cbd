# ruff: noqa: E501  (tables of cases)

from functools import partial

import pytest

from pytest_evalstudio.text.folding import fold, fold_with_origins
from pytest_evalstudio.text.numbers import FigureIndex, figures_of
from support.processor_time import assert_linear


def supported(source: str, answer: str) -> bool:
    index = FigureIndex()
    index.read(source)
    figures = figures_of(answer)
    assert figures
    return all(map(index.has, figures))


@pytest.mark.parametrize(
    ("source", "answer", "is_supported"),
    [
        ("5 million", "5 million", True),
        ("5 million", "-5 million", False),
        ("-5 million", "5 million", False),
        ("a loss of 5 million", "-5 million", True),
        ("1 200 euros", "1200", True),
        ("1'200 CHF", "1200 francs", True),
        ("1,200", "1200", True),
        ("1.200 euros, 1,5 %", "1200 euros", True),
        ("1.200 euros, 1,5 %", "1.2 euros", False),
        ("1.200 m, 1.5 m", "1.2 m", True),
        ("15 euros", "15 dollars", False),
        ("$15", "€15", False),
        ("$15", "15 USD", True),
        ("Fee (USD): 15", "15 USD", True),
        ("70 °C", "70 °F", False),
        ("5 kg", "5 g", False),
        ("5 kg", "5,000 g", True),
        ("5 %", "5 percent", True),
        ("5 %", "5 USD", False),
        ("15 USD", "51 USD", False),
        ("x + 1", "x - 1", False),
        ("x + 1", "x+1", True),
        ("3 April 2024", "4 March 2024", False),
        ("3 April 2024", "2024-04-03", True),
        ("3 April 2024", "April 3rd", True),
        ("03/04/2024", "04/03/2024", False),
        ("03/04/2024", "3.4.2024", True),
        ("6 November 1869", "1869", True),
        ("at least 18", "at most 18", False),
        ("at least 18", "18", True),
        ("three cards", "3 cards", True),
        ("five days", "5 days", True),
        ("24 hours", "1 day", True),
        ("2.30 pm", "14:30", True),
        ("10-15 USD", "10 USD", True),
        ("费用是15元", "51元", False),
        ("１５ USD", "15 USD", True),
        ("version 1.2.3", "version 1.2.4", False),
    ],
)
def test_a_figure_needs_its_value_unit_and_sign(source: str, answer: str, is_supported: bool) -> None:
    assert supported(source, answer) == is_supported


def test_citations_and_names_have_no_figures() -> None:
    assert figures_of("It is free [1] [2, 3], says COVID-19 in Q3.") == ()


def test_a_figure_is_where_it_stands() -> None:
    text = "It costs 1\u200b5\u202fUSD."
    [figure] = figures_of(text)
    assert text[figure.start : figure.end] == "1\u200b5\u202fUSD"


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("15\u202fUSD", "15 USD"),
        ("15\u00a0USD", "15 USD"),
        ("long\u2011term", "long-term"),
        ("don\u2019t", "don't"),
        ("\u22125", "-5"),
        ("\uff11\uff15\uff21", "15A"),
        ("1\u200b5", "15"),
        ("15\nUSD", "15 USD"),
        ("one\ntwo", "one\ntwo"),
        ("cafe\u0301", "caf\u00e9"),
        ("\u1112\u1161\u11ab", "\ud55c"),
        ("a\ud800b", "a\ud800b"),
    ],
)
def test_look_alikes_are_one_character(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_a_stretch_of_a_folded_text_leads_back() -> None:
    text = "x cafe\u0301\u200b \u00a05"
    folded = fold_with_origins(text)
    start = folded.text.index("caf\u00e9")
    first, last = folded.span(start, start + 4)
    assert text[first:last].startswith("cafe")
    assert folded.span(len(folded.text) - 1, len(folded.text)) == (len(text) - 1, len(text))


UNITS = (
    "1 ", "1.", "1,", "1'", "1/", "1-", "-", "$", "1 200 ", "100 ", "5 m", "a + 1 ", "x=", "[1,", "1:00 ", "3 May ",
    "five ", "at least ", "\u200b", "e\u0301", "\u0301", "1\n", "½", "年", "1.200,", "minus ", "v1.",
)  # fmt: skip


@pytest.mark.parametrize("count", [10_000, pytest.param(40_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("unit", UNITS)
def test_time_is_linear(unit: str, count: int) -> None:
    assert_linear(lambda size: partial(figures_of, unit * size + "x"), count // 10, times=10)
