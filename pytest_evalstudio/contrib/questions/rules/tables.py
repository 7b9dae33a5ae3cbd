"""Questions for the cells of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pytest_evalstudio.contrib.questions.corpus import singular
from pytest_evalstudio.contrib.questions.quantities import pattern, quantities
from pytest_evalstudio.contrib.questions.rules.conditions import keywords_condition, quantity_condition
from pytest_evalstudio.contrib.questions.rules.slots import QuantityQuestion
from pytest_evalstudio.contrib.questions.words import word_set, word_table
from pytest_evalstudio.core.plugins.generator import Corpus
from pytest_evalstudio.formats.condition import Regexp

_TASKS = word_table("task verbs")
_DETERMINERS = word_table("determiners")
_PROPERTIES = word_table("attributes") | word_table("properties of rows")
_INHERENT = word_table("inherent properties")
_PLACE_HEADS = word_table("place heads")
_AREA_HEADS = word_set("area district region zone")
_GENERIC = word_set("type kind category class item name description option")
"""Heads of first columns that do not say what the rows are."""
_LINKS = word_set("of for in on at to with from by per")
_MAX_NAME_WORDS = 2
_MAX_ROW_WORDS = 6
_MAX_TEXT_CHARS = 300
_MAX_CELL_CHARS = 100
"""A quantity with its bound and rate is shorter; patterns of cells take more than linear time."""
_HOW_MUCH = "How much is"
_SERVICES = word_set("service transaction task activity work event")
"""Heads of first columns whose rows of several words are named without the head."""
_VALUES = word_set("value values specification data figure rating")
"""Heads of second columns whose rows are properties of one thing."""
_FREQUENCIES = word_set("interval frequency schedule")
_PLAIN_NAME = re.compile(r"[A-Z][\w'’-]*(?:\s[\w'’-]+)*")
"""Name of a row or column without remarks, numbers of items, or several things."""
_MASS = re.compile(r"\w*ing|insurance|maintenance|assistance|storage|postage|leave|access|cover|care|work")
"""Nouns that have no article."""
_TRAILING_ADVERB = re.compile(r"\s(?:abroad|online|overseas|worldwide)$")
_TIME_HEAD = re.compile(
    r"(?P<units>(?:paid\s|working\s|calendar\s)?(?:hours|days|weeks|months))(?P<rest>\s(?:per|a|in)\s.+)?"
)
_CELL = re.compile(
    r"(?i)(?:(?:up to|at least|at most|about|from)\s)?(?P<text>.+?)(?:\s(?:per|a|an|each|of)\s[a-z ]+)?"
)
_ADVERBS = {
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "quarterly": "quarter",
    "yearly": "year",
    "annually": "year",
}
_SIGNAL = re.compile(
    r"(?P<name>(?:error |fault )?code|(?:status )?light|colou?r|display|message|signal|symbol"
    r"|indicator|alarm)s?"
)
"""Heads of first columns whose rows mean something."""
_RULE = re.compile(r":?-{2,}:?")


class _Table(NamedTuple):
    heads: list[str]
    rows: list[list[str]]


def text_before_table(sentence: str, corpus: Corpus) -> str:
    """Return the two sentences before a table, "" for other text."""
    if not sentence.startswith("|") or sentence not in corpus.sentences:
        return ""
    at = corpus.sentences.index(sentence)
    return " ".join(corpus.sentences[max(0, at - 2) : at])


def cell_questions(text: str, before: str = "") -> Iterator[QuantityQuestion]:
    """Yield a question for each cell that its column and row name, e.g. the fee for the Plus account.

    Args:
        text: of a table.
        before: text before the table, which may say what its rows are: "four types of membership".
    """
    table = _table(text)
    if table is None:
        return
    if not table.heads[0]:
        yield from _questions_by_column(table)
        return
    label = _label(table.heads[0].lower(), before)
    is_specification = len(table.heads) == 2 and table.heads[1].lower() in _VALUES
    for row in table.rows:
        # A row may be shorter than the head.
        for head, cell in zip(table.heads[1:], row[1:], strict=False):
            noun = head.lower().split()[-1] if head else ""
            name = _row_name(row[0], label, noun) if label and noun in _PROPERTIES else ""
            question = f"What is the {_lower(head)} {name}?" if name else ""
            if is_specification:
                question = _property_question(row[0])
            elif not question or (label in _SERVICES and len(row[0].split()) > 1):
                question = _row_question(row[0], head, table)
            if question:
                yield from _cell_question(question, cell)


def cell_statements(text: str) -> Iterator[str]:
    """Yield each cell of a table with its row and the heads of both columns; nothing for other text.

    >>> list(cell_statements("| Leave | Days per year | |---|---| | Moving | 1 |"))
    ['Moving Leave Days per year: 1 Days']
    """
    table = _table(text)
    if table is None:
        return
    for row in table.rows:
        for head, cell in zip(table.heads[1:], row[1:], strict=False):
            counted = f" {head.split()[0]}" if head and re.fullmatch(r"[\d.,]+", cell) else ""
            yield f"{row[0]} {table.heads[0]} {head}: {cell}{counted}"


def _property_question(name: str) -> str:
    """Return the question for a row that is a property of the thing that a table describes."""
    is_property = _PLAIN_NAME.fullmatch(name) and name.lower().split()[-1] in _PROPERTIES
    return f"What is the {_lower(name)}?" if is_property else ""


def _row_question(name: str, head: str, table: _Table) -> str:
    """Return the question for a cell whose row is a thing or service of several words; "" in doubt."""
    words = name.split()
    is_plain = _PLAIN_NAME.fullmatch(name) and _PLAIN_NAME.fullmatch(head.split(" up to ")[0])
    first = table.heads[0].lower()
    is_nominal = len(words) > 1 or _is_plural([name.lower()])
    if not is_plain or not is_nominal or len(words) > _MAX_ROW_WORDS or words[0].lower() in _TASKS:
        return ""
    if head == "Time" or first in _GENERIC - {"item", "description"} or first in _PLACE_HEADS | _AREA_HEADS:
        return ""
    row = _with_article(name)
    if time := _TIME_HEAD.fullmatch(head.lower()):
        rest = time["rest"] or ""
        if row.endswith(" leave"):
            return f"How many {time['units']} of {row} are there{rest}?"
        return f"How many {time['units']} are there{rest} for {row}?"
    if head.lower().split()[-1] in _PROPERTIES:
        return f"What is the {_lower(head)} for {row}?"
    groups = [other for other in table.heads[1:] if _is_plural(other.lower().split()[:1])]
    is_price = head in groups and 2 * len(groups) >= len(table.heads) - 1
    is_price &= not words[0].lower().endswith("ing")  # "Rowing boat" has an article, "Moving house" has none
    return f"{_HOW_MUCH} {row} for {_lower(head)}?" if is_price else ""


def _with_article(name: str) -> str:
    """Return the name of a row with the article that its noun takes."""
    text = _lower(name) if name[1:2].islower() else name
    words = _TRAILING_ADVERB.sub("", text.lower()).split()
    if _is_plural(words) or words[0].endswith("ing") or _MASS.fullmatch(_head(words)):
        return text
    return f"{'an' if text[0].lower() in 'aeiou' else 'a'} {text}"


def text_cells(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield question, answer and condition for cells of words: meanings of codes, actions, frequencies."""
    table = _table(text)
    if table is None:
        return
    label = _SIGNAL.fullmatch(table.heads[0].lower())
    for row in table.rows:
        for head, cell in zip(table.heads[1:], row[1:], strict=False):
            if len(cell) > _MAX_TEXT_CHARS:
                continue
            if label is None:
                yield from _frequency(row[0], head, cell)
            elif condition := keywords_condition(cell) if re.fullmatch(r"\D+\s\D+", cell) else "":
                name = label["name"]
                thing = (
                    f"{name} {row[0]}" if re.fullmatch(r"[A-Z]+-?\d+", row[0]) else f"the {name} “{row[0]}”"
                )
                if head.lower() in ("meaning", "cause", "fault"):
                    yield f"What does {thing} mean?", cell, condition
                elif head.lower() in ("what to do", "action", "remedy"):
                    yield f"What should you do in case of {thing}?", cell, condition


def _frequency(name: str, head: str, cell: str) -> Iterator[tuple[str, str, str]]:
    """Yield the question for a task, or for a part and what is done to it: "How often should you …"."""
    condition = _frequency_condition(cell)
    words = name.split()
    if not condition or not _PLAIN_NAME.fullmatch(name) or len(words) > _MAX_ROW_WORDS:
        return
    is_task = words[0].lower() in _TASKS and words[1:2] and words[1].lower() in _DETERMINERS
    if head.lower() in _FREQUENCIES and is_task:
        yield f"How often should you {_lower(name)}?", cell, condition
    elif head.lower() in _TASKS and head.lower() not in _PROPERTIES and not is_task:
        yield f"How often should you {head.lower()} the {_lower(name)}?", cell, condition


def _frequency_condition(cell: str) -> str:
    """Return the condition of a frequency: "every 3 months", "weekly"; "" for other text."""
    text = cell.lower()
    if unit := _ADVERBS.get(text):
        others = "|".join(adverb for adverb, other in _ADVERBS.items() if other == unit)
        return str(Regexp(rf"(?i)\b(?:{others}|(?:every|once an?|once per|each) {unit})\b"))
    hits = quantities(cell)
    is_period = len(hits) == 1 and hits[0].kind == "period" and text == f"every {hits[0].text.lower()}"
    return quantity_condition(cell) if is_period else ""


def _table(text: str) -> _Table | None:
    """Return the cells of a table with at least two columns; None for other text."""
    if not text.startswith("|"):
        return None
    cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
    width = next((at for at, cell in enumerate(cells) if _RULE.fullmatch(cell)), 0) - 1
    if width < 2 or not all(_RULE.fullmatch(cell) for cell in cells[width + 1 : 2 * width + 1]):
        return None
    # Rows are joined by an empty cell: "| c | 1 | | d | 2 |".
    rows = [cells[start : start + width] for start in range(2 * width + 2, len(cells), width + 1)]
    return _Table(cells[:width], [row for row in rows if row[0]])


def _questions_by_column(table: _Table) -> Iterator[QuantityQuestion]:
    """Yield questions for the cells of a table whose columns are years, or things with a name."""
    for row in table.rows:
        if not re.fullmatch(r"[A-Z][a-z]+(?:\s[a-z]+)*", row[0]):
            continue
        name = _lower(row[0])
        for head, cell in zip(table.heads[1:], row[1:], strict=False):
            is_year = re.fullmatch(r"(?:19|20)\d\d", head)
            is_named = re.fullmatch(r"[A-Z].*\d.*", head)
            kind = next((quantity.kind for quantity in quantities(cell)), None)
            if is_year and kind in ("money", "percent") and not name.endswith("s"):
                yield from _cell_question(f"What was the {name} in {head}?", cell)
            elif is_year and kind == "number" and name.endswith("s"):
                yield from _cell_question(f"How many {name} were there in {head}?", cell)
            elif is_named and name.split()[-1] in _PROPERTIES:
                yield from _cell_question(f"What is the {name} of the {head}?", cell)


def _cell_question(question: str, cell: str) -> Iterator[QuantityQuestion]:
    """Yield the question for a cell that holds one quantity, with a bound or rate at most."""
    if len(cell) > _MAX_CELL_CHARS:
        return
    match, hits = _CELL.fullmatch(cell), quantities(cell)
    if match is None or len(hits) != 1 or (question.startswith(_HOW_MUCH) and hits[0].kind != "money"):
        return
    if hits[0].text == match["text"]:
        condition = pattern(hits[0].text)
        yield QuantityQuestion(question=question, quantity=hits[0], answer=cell, condition=condition)


def _label(label: str, before: str) -> str:
    """Return the word for the rows of a table: the head of its first column, or what "types of …" names."""
    if label in _GENERIC:
        noun = re.search(rf"(?i)\b{label}s?\sof\s(?P<noun>[a-z]+)(?=[.:]|$)", before)
        return singular(noun["noun"].lower()) if noun else ""
    return label if re.fullmatch(r"[a-z]+", label) and not label.endswith("s") else ""


def _head(words: Sequence[str]) -> str:
    """Return the main noun of a name in lower case."""
    ends = (at for at, word in enumerate(words) if at and word.lower() in _LINKS)
    return words[next(ends, len(words)) - 1].lower()


def _is_plural(words: Sequence[str]) -> bool:
    head = _head(words)
    return head.endswith("s") and not head.endswith(("ss", "us", "is"))


def _lower(head: str) -> str:
    return head[0].lower() + head[1:]


def _row_name(name: str, label: str, noun: str) -> str:
    """Return a row with its preposition as people say it: "for the Plus account"; "" for long names."""
    if not name[0].isupper() or len(name.split()) > _MAX_NAME_WORDS:
        return ""
    if label in _PLACE_HEADS:
        return f"in {name}"
    if label in _AREA_HEADS:
        return f"in the {name} {label}"
    return f"{'of' if noun in _INHERENT else 'for'} the {name} {label}"
