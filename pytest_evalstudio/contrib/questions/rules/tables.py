"""Questions for the cells of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pytest_evalstudio.contrib.questions.corpus import singular
from pytest_evalstudio.contrib.questions.quantities import pattern, quantities
from pytest_evalstudio.contrib.questions.rules.conditions import keywords_condition, quantity_condition
from pytest_evalstudio.contrib.questions.rules.fact import Fact
from pytest_evalstudio.contrib.questions.rules.slots import QuantityQuestion
from pytest_evalstudio.contrib.questions.rules.wording import uncapitalised
from pytest_evalstudio.contrib.questions.words import IN_TABLE, word_set, word_table
from pytest_evalstudio.core.plugins.generator import Corpus
from pytest_evalstudio.formats.condition import Regexp, parse_condition

_TASKS = word_table("task verbs")
_DETERMINERS = word_table("determiners")
_PROPERTIES = word_table("attributes") | word_table("properties of rows")
_INHERENT = word_table("inherent properties")
_PLACE_HEADS = word_table("place heads")
_AREA_HEADS = word_set("area district region zone")
_GENERIC = word_set("type kind category class item name description option service extra part object product")
"""Heads of first columns that do not say what the rows are."""
_VALUES = word_set("value values specification data figure rating")
"""Heads of second columns whose rows are such properties."""
_SPECIFIED = word_set("property feature characteristic parameter specification metric")
"""Heads of first columns whose rows are properties of one thing."""
_FREQUENCIES = word_set("interval frequency schedule")
_LINKS = word_set("of for in on at to with from by per")
_NO_HEADING = word_set(
    "a an the with without by to from if when where who what how not no and or each every all any other"
    " is are was were be has have paid kept given due"
)
"""Words of a heading that is no noun phrase."""
_MAX_ROW_WORDS, _MAX_HEAD_WORDS = 8, 6
_MAX_CELL_CHARS, _MAX_CELL_WORDS = 100, 14
"""A quantity with its bound and rate is shorter; patterns of cells take more than linear time."""
_ROW = re.compile(r"[A-Za-z][\w’'-]*(?:[ ,][\w’'/,-]+|\s[\w’'/-]+)*")
"""Name of a row without remarks."""
_HEAD = re.compile(
    r"(?P<noun>[A-Z][A-Za-z’'-]*(?:\s[a-z][a-z’'-]*)*?)(?:\s\((?P<unit>[^()]{1,25})\)|\sin\s(?P<in>\S+))?"
)
_CLAUSE = re.compile(r"(?i)\b(?:is|are|was|were|has|have|does|do|did|not|cannot|can|will|must)\b")
_COLUMNS = {"telephone": "telephone number", "phone": "telephone number", "tel": "telephone number"}
"""Names of columns in full."""
_VAGUE = word_set("time number date amount value age")
"""Attributes that need another word to say what they are."""
_PLAIN = re.compile(r"[^|“”?*_<>]{1,60}")
"""Text that is quoted as it is."""
_OTHERS = re.compile(r"(?i)(?:all |any )?others?\b")
"""Rows that only the rows before them explain."""
_EMPTY = re.compile(r"(?i)(?:yes|no|none|n/?a|[–—-]|free|as (?:required|needed|agreed))?\.?")
_MASS = re.compile(
    r"\w*ing|insurance|maintenance|assistance|storage|postage|leave|access|cover|care|work|service|equipment|water|data"
    r"|money|waste"
)
"""Nouns that have no article."""
_BARE = re.compile(r"^(?:all|any|each|every|no|the)\b|\b(?:and|or|abroad|online|\w+ing)\b|[A-Z]{2}|\d")
"""Names of rows that have no article."""
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
_VISIBLE = ("light", "signal", "symbol", "indicator", "alarm")
_MEANINGS, _REMEDIES = word_set("meaning cause fault problem"), ("what to do", "action", "remedy", "solution")
_RULE = re.compile(r":?-{2,}:?")


class _Table(NamedTuple):
    heads: list[str]
    rows: list[list[str]]


def cell_questions(text: str, corpus: Corpus) -> Iterator[QuantityQuestion | Fact]:
    """Yield a question for each cell that its column and row name, e.g. the fee for the Plus account.

    A column that is no attribute of its rows is quoted: "In the table, what is given as “Rafting” for “Fish
    Dock”?".
    """
    table = _table(text)
    if table is None:
        return
    before = _text_before(text, corpus)
    names = {row[0].casefold() for row in table.rows}
    for row in table.rows:
        # A row may be shorter than the head.
        for head, cell in zip(table.heads[1:], row[1:], strict=False):
            if len(cell) > _MAX_CELL_CHARS or _EMPTY.fullmatch(cell) or cell.casefold() in names:
                continue
            question = _question(row[0], head, cell, table, corpus, before)
            if question or (question := _quoted(row[0], head)):
                yield from _answered(question, cell)


def _quoted(name: str, head: str) -> str:
    """Return the question that quotes the column, and the row unless it is a name; "" for long ones."""
    if not _PLAIN.fullmatch(name) or not _PLAIN.fullmatch(head) or _OTHERS.match(name):
        return ""
    row = name if _is_title(name) else f"“{name}”"
    return f"{IN_TABLE}, what is given as “{head}” for {row}?"


def _is_title(name: str) -> bool:
    """Report whether a row is a name of several words: "Kiln Hall"."""
    words = name.split()
    return len(words) > 1 and all(word[0].isupper() and word[1:].islower() for word in words)


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


def _text_before(sentence: str, corpus: Corpus) -> str:
    """Return the two sentences before a table, which may say what its rows are: "types of membership"."""
    if sentence not in corpus.sentences:
        return ""
    at = corpus.sentences.index(sentence)
    return " ".join(corpus.sentences[max(0, at - 2) : at])


def _question(name: str, head: str, cell: str, table: _Table, corpus: Corpus, before: str) -> str:
    """Return the question for a cell, "" where its row or column has no plain name."""
    first = table.heads[0].lower()
    if not first:
        return _of_column(name, head, cell)
    if signal := _SIGNAL.fullmatch(first):
        return _of_signal(name, head, signal["name"])
    if not _ROW.fullmatch(name) or _CLAUSE.search(name) or len(name.split()) > _MAX_ROW_WORDS:
        return ""
    if _frequency_condition(cell):
        return _frequency(name, head)
    if len(table.heads) == 2 and (first in _SPECIFIED or head.lower() in _VALUES):
        return f"What is the {_lower(name)}?" if _is_attribute(name) else ""
    return _of_row(name, head, cell, table, corpus, before)


def _of_row(name: str, head: str, cell: str, table: _Table, corpus: Corpus, before: str) -> str:
    is_title = any(word[0].isupper() and not word.isupper() for word in name.split()[1:])
    row = name if is_title else uncapitalised(name, corpus)
    if head.lower() in _TASKS - _PROPERTIES:
        is_recurring = re.match(r"(?i)(?:every|after|once|twice)\s", cell) is not None
        return f"How often should I {head.lower()} the {row}?" if is_recurring else ""
    if name.split()[0].lower() in _TASKS or _OTHERS.match(row):
        return ""
    match = _HEAD.fullmatch(head)
    column = _COLUMNS.get(match["noun"].lower(), _lower(match["noun"])) if match else ""
    if match is None or head.lower() in _VAGUE or not _is_attribute(column):
        if _is_attribute(name) and re.fullmatch(r"[A-Z][a-z]+ mode", head):
            return f"What is the {_lower(name)} in {_lower(head)}?"
        return _price(row, head, cell, table)
    noun, unit = _head(column.split()), match["unit"] or match["in"]
    row = _row_phrase(name, row, noun, table.heads[0], before)
    return f"What is the {column}{f' in {unit}' if unit else ''} {row}?"


def _is_attribute(head: str) -> bool:
    """Report whether a heading is a noun phrase whose main noun is an attribute in the singular."""
    words = head.lower().split()
    is_phrase = _NO_HEADING.isdisjoint(words) and len(words) <= _MAX_HEAD_WORDS
    return bool(words) and is_phrase and _head(words) in _PROPERTIES


def _price(row: str, head: str, cell: str, table: _Table) -> str:
    """Return the question for the price of a row for a group of persons, which the column names."""
    groups = [other for other in table.heads[1:] if _is_plural(other.lower().split()[:1])]
    is_price = head in groups and 2 * len(groups) >= len(table.heads) - 1 and row.split()[1:]
    has_money = any(quantity.kind == "money" for quantity in quantities(cell))
    is_nominal = not row.split()[0].endswith("ing") or row.split()[0] == "rowing"
    if not is_price or not has_money or not is_nominal or not re.fullmatch(r"[A-Z][\w ]*", head):
        return ""
    article = "" if _is_plural(row.split()) else ("an " if row[0].lower() in "aeiou" else "a ")
    return f"How much is {article}{row} for {_lower(head)}?"


def _row_phrase(name: str, row: str, noun: str, label: str, before: str) -> str:
    """Return a row with its preposition as people say it: "for the Plus account"."""
    kind = _label(label.lower(), before)
    if kind in _PLACE_HEADS:
        return f"for {name}"
    if kind in _AREA_HEADS:
        return f"in the {name} {kind}"
    words = row.split()
    is_named = len(words) == 1 and not _is_plural(words) and not _MASS.fullmatch(words[0])
    if is_named and kind:
        return f"{'of' if noun in _INHERENT else 'for'} the {name} {kind}"
    is_title = any(word[0].isupper() for word in words[1:])
    is_bare = (
        is_title or _is_plural(words) or _MASS.fullmatch(_head(words)) or _BARE.search(row) or len(words) == 1
    )
    return f"for {'' if is_bare else 'the '}{row}"


def _of_signal(name: str, head: str, signal: str) -> str:
    """Return the question for the meaning of a code or signal, or for what to do about it."""
    if len(name.split()) > _MAX_ROW_WORDS or not re.fullmatch(r"[\w -]+", name):
        return ""
    thing = f"the {signal} {_lower(name)}"
    if re.fullmatch(r"[A-Z]*-?\d+", name):
        thing = f"{signal} {name}"
    elif signal.endswith(_VISIBLE):
        thing = f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name.lower()} {signal}"
    if head.lower() in _MEANINGS:
        return f"What does {thing} mean?"
    return f"What should I do in case of {thing}?" if head.lower() in _REMEDIES else ""


def _frequency(name: str, head: str) -> str:
    """Return the question for a task, or for a part and what is done to it: "How often should I …"."""
    words = name.split()
    is_task = words[0].lower() in _TASKS and words[1:2] and words[1].lower() in _DETERMINERS
    if head.lower() in _FREQUENCIES and is_task:
        return f"How often should I {_lower(name)}?"
    is_part = head.lower() in _TASKS and head.lower() not in _PROPERTIES and not is_task
    return f"How often should I {head.lower()} the {_lower(name)}?" if is_part else ""


def _of_column(name: str, head: str, cell: str) -> str:
    """Return the question for a cell whose column is a year, or a thing with a name."""
    if not re.fullmatch(r"[A-Z][a-z]+(?:\s[a-z]+)*", name):
        return ""
    row = _lower(name)
    kind = next((quantity.kind for quantity in quantities(cell)), None)
    if re.fullmatch(r"(?:19|20)\d\d", head):
        is_amount = kind in ("money", "percent") and not row.endswith("s")
        return f"What was the {row} in {head}?" if is_amount else ""
    is_named = re.fullmatch(r"[A-Z].*\d.*", head) and row.split()[-1] in _PROPERTIES
    return f"What is the {row} of the {head}?" if is_named else ""


def _answered(question: str, cell: str) -> Iterator[QuantityQuestion | Fact]:
    """Yield a question with the condition of its cell: by the only quantity, or by words."""
    match, hits = _CELL.fullmatch(cell), quantities(cell)
    if match is not None and len(hits) == 1 and hits[0].text == match["text"]:
        yield QuantityQuestion(
            question=question, quantity=hits[0], answer=cell, condition=pattern(hits[0].text)
        )
        return
    condition = _frequency_condition(cell) or keywords_condition(cell)
    is_short = len(cell.split()) <= _MAX_CELL_WORDS
    if condition and is_short and parse_condition(condition).check(cell):
        yield Fact(question=question, answer=cell, condition=condition)


def _frequency_condition(cell: str) -> str:
    """Return the condition of a frequency: "every 3 months", "weekly"; "" for other text."""
    text = cell.lower()
    if unit := _ADVERBS.get(text):
        others = "|".join(adverb for adverb, other in _ADVERBS.items() if other == unit)
        return str(Regexp(rf"(?i)\b(?:{others}|(?:every|once an?|once per|each) {unit})\b"))
    hits = quantities(cell)
    is_period = len(hits) == 1 and hits[0].kind == "period" and text == f"every {hits[0].text.lower()}"
    return quantity_condition(cell) if is_period else ""


def _label(label: str, before: str) -> str:
    """Return the word for the rows of a table: the head of its first column, or what "types of …" names."""
    if label in _GENERIC:
        noun = re.search(rf"(?i)\b{label}s?\sof\s(?P<noun>[a-z]+)(?=[.:]|$)", before)
        return singular(noun["noun"].lower()) if noun else ""
    return label if re.fullmatch(r"[a-z]+(?:\s[a-z]+)?", label) and not label.endswith("s") else ""


def _head(words: Sequence[str]) -> str:
    """Return the main noun of a name in lower case."""
    ends = (at for at, word in enumerate(words) if at and word.lower() in _LINKS)
    return words[next(ends, len(words)) - 1].lower()


def _is_plural(words: Sequence[str]) -> bool:
    head = _head(words)
    return head.endswith("s") and not head.endswith(("ss", "us", "is"))


def _lower(head: str) -> str:
    return head[0].lower() + head[1:] if head[1:2].islower() or len(head) == 1 else head
