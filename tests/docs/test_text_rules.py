"""The tables of `tests/data/text/rules.md`: each row is a test."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_evalstudio.text.affirmation import polarity_of
from pytest_evalstudio.text.claims import claims_of
from pytest_evalstudio.text.comparison import normal_label
from pytest_evalstudio.text.folding import fold
from pytest_evalstudio.text.numbers import FigureIndex, figures_of
from pytest_evalstudio.text.paraphrases import paraphrase
from pytest_evalstudio.text.sentences import split_sentences
from pytest_evalstudio.text.stated_values import find_value, value_alone
from pytest_evalstudio.text.thoughts import split_thoughts
from pytest_evalstudio.text.words import words_of

PAGE = Path(__file__).parents[1] / "data" / "text" / "rules.md"


def _is_supported(source: str, answer: str) -> bool:
    index = FigureIndex()
    index.read(source)
    return all(map(index.has, figures_of(answer)))


def _states_value(condition: str, answer: str) -> bool:
    value = value_alone(condition)
    return value is not None and find_value(answer, value) is not None


RULES: dict[str, Callable[..., object]] = {
    "thoughts": lambda text: split_thoughts(text).text,
    "units": lambda text: [text[start:end] for start, end in split_sentences(text)],
    "claims": lambda text: [claim.text for claim in claims_of(text)],
    "characters": fold,
    "numbers": _is_supported,
    "values": _states_value,
    "polarity": polarity_of,
    "paraphrases": lambda text: getattr(paraphrase(text), "text", text),
    "labels": normal_label,
    "words": words_of,
}


def rows() -> Iterator[tuple[str, list[object]]]:
    """Yield the name of each table with the values of the code cells of each of its rows."""
    for name, table in re.findall(r"<!-- (\w+) -->\n((?:\|.*\n)+)", PAGE.read_text(encoding="utf-8")):
        for line in table.splitlines()[2:]:
            cells = re.findall(r"(?<=\| )(`+)(.*?)\1(?= \|)", line)
            yield name, [json.loads(cell.replace("\\|", "|")) for _, cell in cells]


@pytest.mark.parametrize(("name", "values"), list(rows()))
def test_a_row_of_the_page_holds(name: str, values: list[object]) -> None:
    *arguments, result = values
    assert RULES[name](*arguments) == result


def test_each_rule_has_rows() -> None:
    assert {name for name, _ in rows()} == set(RULES)
