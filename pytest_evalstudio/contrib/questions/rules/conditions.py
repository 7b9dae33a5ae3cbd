"""Conditions of generated test cases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pytest_evalstudio.contrib.questions.quantities import (
    Quantity,
    pattern,
    quantities,
    quantities_and_counts,
)
from pytest_evalstudio.contrib.questions.words import content_words, distinctive_words
from pytest_evalstudio.formats.condition import Regexp, parse_condition
from pytest_evalstudio.formats.condition_writing import value_or_pattern_condition
from pytest_evalstudio.text.stated_values import value_alone

_MAX_PHRASE_WORDS = 4
"""Maximum number of words of an answer that a right answer must contain."""
_MAX_QUANTITY_WORDS = 12
"""Maximum number of words of an answer with a single quantity."""
_MAX_ITEM_WORDS = 8
_NUMBER_OF_ITEMS = range(2, 8)
_YES_OR_NO = re.compile(r"(Yes|No)(?:[.,;:!]|$)", re.IGNORECASE)
_CHOICE = re.compile(r"([A-F])\)\s")


def quantity_condition(quantity: str, *statements: str) -> str:
    """Return the condition that the answer names a quantity, by its value where it has one.

    Args:
        statements: texts that name it and must meet the condition.
    """
    return _value_condition(quantity, pattern(quantity), statements)


def stated_condition(answer: str, quantity: str, pattern_of_quantity: str, sentence: str) -> str:
    """Return the condition that an answer states what an expected answer does, by value.

    Args:
        answer: expected; "every 3 months" is a value of its own, and not that of its quantity.
        quantity: in the expected answer, for an answer with other words.
        pattern_of_quantity: for a quantity whose value the answer does not state.
        sentence: of the document, which states it too.
    """
    text = answer if value_alone(answer) is not None else quantity
    return _value_condition(text, pattern_of_quantity, (answer, sentence))


def _value_condition(quantity: str, written: str, statements: Sequence[str]) -> str:
    # "Below 25 °C" does not state "25 °C", and "5 to 10 km" not "10 km": the first is a limit, by value too,
    # the second needs the quantity as it is written.
    for limit in ("", "less than ", "more than "):
        condition = value_or_pattern_condition(f"{limit}{quantity}", written)
        if all(parse_condition(condition).check(statement) for statement in statements):
            return condition
    return str(Regexp(written))


def words_condition(words: Iterable[str]) -> str:
    """Return the condition that the answer has words with these beginnings, in any case."""
    return " AND ".join(str(Regexp(rf"(?i)\b{re.escape(_stem(word))}")) for word in words)


def first_word_condition(word: str) -> str:
    """Return the condition on the first word of the answer, in any case."""
    return str(Regexp(rf"(?i)^\W*{re.escape(word)}\b"))


def choice_condition(letter: str) -> str:
    """Return the condition that the answer is the letter of a choice, or begins with it.

    "A", "A)" and "(a):" choose A; "A card" does not.
    """
    return str(Regexp(rf"(?i)^\W*{re.escape(letter)}\s*(?:[).:,]|$)"))


def keywords_condition(text: str) -> str:
    """Return the condition that an answer has the longest words of a text and its quantities; "" for none."""
    hits = quantities_and_counts(text)
    plain = text
    # From the end, so that the positions of the others stay right.
    for quantity in reversed(hits):
        plain = f"{plain[: quantity.start]} {plain[quantity.end :]}"
    words = distinctive_words(plain) or [word for word in content_words(plain) if len(word) > 2][:1]
    return _conjunction(words, hits, text)


def items_condition(text: str) -> str:
    """Return the condition that an answer names all items of a list; "" for no list of names."""
    body = text.split(" but ")[0]
    items = [item for item in re.split(r",\s(?:and\s|or\s)?|\s(?:and|or)\s", body) if item.strip()]
    if (
        len(items) not in _NUMBER_OF_ITEMS
        or not re.search(r"\s(?:and|or)\s", body)
        or any(len(item.split()) > _MAX_ITEM_WORDS for item in items)
    ):
        return ""
    words = [_item_word(item) for item in items]
    return _conjunction(dict.fromkeys(words), quantities(body), body) if all(words) else ""


def list_condition(items: Iterable[str]) -> str:
    """Return the condition that an answer names all items of a list by a word each; "" if one has none."""
    words = [_item_word(item) for item in items]
    return _conjunction(dict.fromkeys(words), ()) if all(words) else ""


def _item_word(item: str) -> str:
    """Return the word that names an item: its last one, or its longest if it has a complement."""
    words = [word for word in content_words(item) if len(word) > 2 and not word[0].isdigit()]
    has_complement = re.search(r" (?:of|in|to) ", item) is not None
    return max(words, key=len) if words and has_complement else words[-1] if words else ""


def _conjunction(words: Iterable[str], hits: Iterable[Quantity], *statements: str) -> str:
    parts = [words_condition(words), *(quantity_condition(quantity.text, *statements) for quantity in hits)]
    return " AND ".join(filter(None, parts))


def condition_of_answer(answer: str, evidence: str) -> str:
    r"""Return the condition that follows from a free-text answer, "" for none.

    Without a condition, other evaluators judge the answer.

    It follows from a yes or no, from the letter of a choice, from the one quantity of a short answer, and
    from an answer of four words or fewer that is in the evidence. The answer itself meets it.

    >>> condition_of_answer("HM Treasury", "The scheme is run by HM Treasury.")
    'regexp("(?i)(?<!\\w)HM\\s+Treasury(?!\\w)")'
    >>> condition_of_answer("It depends on which card is meant.", "A card costs £5.")
    ''
    """
    condition = _condition_by_form(answer, evidence)
    return condition if condition and parse_condition(condition).check(answer) else ""


def condition_without(condition: str, word: str) -> str:
    """Return a condition extended by the absence of a word."""
    absent = f"NOT {Regexp(rf'(?i){re.escape(word)}')}"
    return f"({condition}) AND {absent}" if condition else absent


def _condition_by_form(answer: str, evidence: str) -> str:
    if match := _YES_OR_NO.match(answer):
        return first_word_condition(match[1].capitalize())
    if match := _CHOICE.match(answer):
        return choice_condition(match[1])
    if value_alone(answer) is not None:
        return quantity_condition(answer.strip().rstrip("."))
    words = answer.rstrip(".").split()
    hits = quantities(answer.rstrip("."))
    if len(hits) == 1 and len(words) <= _MAX_QUANTITY_WORDS:
        return quantity_condition(hits[0].text, answer)
    is_quoted = " ".join(words).casefold() in " ".join(evidence.split()).casefold()
    if hits or len(words) > _MAX_PHRASE_WORDS or not is_quoted:
        return ""
    return str(Regexp(r"(?i)(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)"))


def _stem(word: str) -> str:
    """Return a singular without the y that its plural changes."""
    return word[:-1] if word.endswith("y") and len(word) > 3 else word
