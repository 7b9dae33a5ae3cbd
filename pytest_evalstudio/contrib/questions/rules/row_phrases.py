"""Names of rows of tables as noun phrases: "the Plus account", "a parcel of up to 5 kg"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_evalstudio.contrib.questions.corpus import singular
from pytest_evalstudio.contrib.questions.parsing.tables import REMARK, Table
from pytest_evalstudio.contrib.questions.rules.wording import uncapitalised
from pytest_evalstudio.contrib.questions.words import word_set, word_table
from pytest_evalstudio.core.plugins.generator import Corpus

_GENERIC = word_table("general row heads")
"""Heads of first columns that do not say what the rows are."""
_PLACE_HEADS = word_table("place heads")
AREA_HEADS = word_set("area district region zone")
LINKS = word_set("of for in on at to with from by per before after")
MAX_ROW_WORDS, MAX_HEAD_WORDS = 8, 6
CODE = re.compile(r"(?:[A-Z]{0,2}-?\d+(?:\.\d+)*[a-z]?|[A-Z])(?:\s[A-Z][a-z]+(?:\s[a-z]+)*)?")
"""Code that names a row with the head of its column: "room B0.12"."""
_MASS = word_table("mass nouns")
"""Nouns that have no article."""
_BARE = re.compile(r"^(?:all|any|each|every|no|the)\b|\b(?:and|or|abroad|online)\b|[A-Z]{2}|\d")
"""Names of rows that have no article."""
_JOINED = re.compile(r"([a-z][a-z -]+) or ([a-z][a-z -]+)")
_NUMBER = r"[£$€]?\d[\d.,]*(?:\s?(?:%|[a-zA-Z°²³/]{1,12}))?"
BAND = re.compile(
    r"(?i)(?:up to|below|under|over|above|less than|more than|fewer than|at least|at most|from)\s"
    rf"{_NUMBER}"
    rf"(?:,?\s(?:up to|to(?: less than)?|but (?:less|not more) than|and up to)\s{_NUMBER})?"
    rf"|{_NUMBER}(?:\sto(?:\sless\sthan)?\s|\s?[–-]\s?){_NUMBER}|{_NUMBER}\s(?:and|or)\s(?:above|over|more|less|under|fewer|older)"
)
"""Row that is a range of a measure: "Up to 5 kg", "£500 to £999", "2 years or more"."""
_MEASURED = re.compile(r"(?:length|duration|size|amount|value|number|age|weight) of (?P<thing>[a-z]+)")
_NAMED = word_table("heads of names")
"""Heads of first columns that belong to the names below them: "the Plus account"."""
_PLAIN_BOUNDS = word_set("below under over above")


@dataclass(frozen=True, slots=True)
class TableContext:
    """A table with the words around it.

    Attributes:
        noun: property that the heading of its section names, "" for none: "charge".
        kinds: kinds of quantity of the cells by column.
        before: the two sentences before it, which may say what its rows are: "types of membership".
    """

    table: Table
    corpus: Corpus
    noun: str
    kinds: tuple[str, ...]
    before: str


def row_phrase(name: str, context: TableContext, noun: str, *, article: str) -> str:
    """Return a row as a noun phrase: "the Plus account", "room 2.09", "a parcel of up to 5 kg"."""
    label = REMARK.sub("", context.table.heads[0])
    kind = label_of_rows(label.lower(), context.before)
    if BAND.fullmatch(name):
        return _band_phrase(name, label, context.table.heads[0])
    if CODE.fullmatch(name):
        return f"{kind} {name}" if kind else ""
    if kind in _PLACE_HEADS:
        return name
    if "," in name:
        parts = name.split(", ")
        is_list = (" and " in parts[-1] or is_plural_name(parts[-1].split())) and not re.search(r"\d", name)
        if " and " in ", ".join(parts[:-1]) or not is_list:
            return ""
        if " and " not in name:
            name = f"{', '.join(parts[:-1])} and {parts[-1]}"
    is_title = any(word[0].isupper() and not word.isupper() for word in name.split()[1:])
    row = name if is_title or re.match(r"\w*[A-Z]{2}", name) else uncapitalised(name, context.corpus)
    words = row.split()
    is_name = (kind.split()[-1:] or [""])[0] in _NAMED and len(words) <= (2 if article == "the" else 1)
    is_name &= singular(words[-1].lower()) != kind
    if is_name or (len(words) == 1 and kind in AREA_HEADS):
        return f"the {name} {kind}"
    is_gerund = re.fullmatch(r"\w+ing", words[0]) and len(words) > 1 and kind.startswith("leave")
    is_bare = (
        is_title or is_plural_name(words) or _is_mass(main_noun(words)) or _BARE.search(row) or is_gerund
    )
    if joined := _JOINED.fullmatch(row):
        nouns = [main_noun(part.split()) for part in joined.groups()]
        if not any(is_plural_name([noun]) or _is_mass(noun) for noun in nouns):
            return f"{'an' if row[0] in 'aeiou' else 'a'} {row}"
    if is_bare:
        return row
    if article == "a":
        return f"{'an' if row[0] in 'aeiou' else 'a'} {row}"
    return f"the {row}"


def _band_phrase(name: str, label: str, head: str) -> str:
    """Return a range as the measure of a thing: "a balance below £500", "a shift of up to 6 hours"."""
    if len(label.split()) > MAX_HEAD_WORDS or not re.fullmatch(r"[A-Za-z]+(?: [A-Za-z]+)*", label):
        return ""
    if measured := _MEASURED.fullmatch(label.lower()):
        label = measured["thing"]
    words = label.split()
    end = next((at for at, word in enumerate(words) if at and word in LINKS), len(words))
    thing, rest = " ".join(words[:end]), " ".join(words[end:])
    thing = thing if len(words) > 1 and thing.istitle() and end > 1 else thing[0].lower() + thing[1:]
    if thing.lower() in _GENERIC or is_plural_name(words[:end]):
        return ""
    unit = re.search(r"\(([a-z ]+)\)", head)
    article = "" if _is_mass(thing.split()[-1]) else "an " if thing[0].lower() in "aeiou" else "a "
    band = of_band(name) + (f" {unit[1]}" if unit else "")
    return f"{article}{thing} {band} {rest}".strip()


def of_band(band: str) -> str:
    """Return a range as the complement of a noun: "of up to 5 kg", "below £500"."""
    band = band[0].lower() + band[1:]
    return band if band.split()[0] in _PLAIN_BOUNDS | {"from"} else f"of {band}"


def label_of_rows(label: str, before: str) -> str:
    """Return the word for the rows of a table: the head of its first column, or what "types of …" names."""
    if of := re.fullmatch(r"(?:type|kind|category)s? of ([a-z]+)", label):
        return "" if singular(of[1]) in _GENERIC | {"cost"} else singular(of[1])
    if label in _GENERIC:
        noun = re.search(rf"(?i)\b{label}s?\sof\s(?P<noun>[a-z]+)(?=[.:]|$)", before)
        return singular(noun["noun"].lower()) if noun else ""
    return label if re.fullmatch(r"[a-z]+(?:\s[a-z]+)?", label) and not label.endswith("s") else ""


def main_noun(words: Sequence[str]) -> str:
    """Return the main noun of a name in lower case."""
    ends = (at for at, word in enumerate(words) if at and word.lower() in LINKS)
    return words[next(ends, len(words)) - 1].lower()


def is_plural_name(words: Sequence[str]) -> bool:
    """Report whether the main noun of a name is a plural."""
    head = main_noun(words)
    return head.endswith("s") and not head.endswith(("ss", "us", "is"))


def with_small_initial(head: str) -> str:
    """Return a name as within a sentence; an abbreviation keeps its capitals."""
    return head[0].lower() + head[1:] if head[1:2].islower() or len(head) == 1 else head


def _is_mass(noun: str) -> bool:
    return noun in _MASS or noun.endswith("ing")
