"""Words of texts, and the tables of words that the rules use."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files

from pytest_evalstudio.contrib.questions.corpus import STOP_WORDS, singular
from pytest_evalstudio.core.plugins.generator import Corpus

_WORD = re.compile(r"\w+(?:[.,'’]\w+)*")
_LONGEST_ABBREVIATION = 4
_TABLE = re.compile(r"^\[(?P<name>.+?)\] .+\n(?P<text>(?:.+\n)+)", re.MULTILINE)


def word_set(text: str) -> frozenset[str]:
    """Return the words of a table that is written as text."""
    return frozenset(text.split())


def data_text(name: str) -> str:
    """Return the text of a file of data."""
    return files(__package__).joinpath("data", name).read_text(encoding="utf-8")


def parsed_tables(text: str) -> Mapping[str, str]:
    """Return the tables of a text by name."""
    return {match["name"]: match["text"] for match in _TABLE.finditer(text)}


@functools.cache
def tables(file: str) -> Mapping[str, str]:
    """Return the texts of the tables of a file of data by name."""
    return parsed_tables(data_text(file))


def word_table(name: str) -> frozenset[str]:
    """Return the words of a table of `data/words.txt`, where its content is described."""
    return word_set(tables("words.txt")[name])


def pattern_tables() -> Mapping[str, Sequence[str]]:
    """Return the lines of the tables of `data/patterns.txt`, where their content is described."""
    return {name: text.splitlines() for name, text in tables("patterns.txt").items()}


def content_words(text: str) -> list[str]:
    """Return lower-case words and numbers without stop words, in the singular, in order.

    >>> content_words("The fees are £2.50.")
    ['fee', '2.50']
    """
    return [singular(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]


def distinctive_words(text: str, count: int = 2) -> list[str]:
    """Return the longest content words of a text, which an equivalent answer usually has.

    >>> distinctive_words("a summary of what was agreed")
    ['summary', 'agreed']
    """
    words = dict.fromkeys(word for word in content_words(text) if not word[0].isdigit() and len(word) > 4)
    longest = sorted(words, key=lambda word: -len(word))[:count]
    # In the order of the text.
    return [word for word in words if word in longest]


def title_case(text: str) -> str:
    """Return a heading in capitals with capitals at the beginning of its words only, any other as it is.

    >>> title_case("TERMS OF MEMBERSHIP"), title_case("Fees in EUR")
    ('Terms of Membership', 'Fees in EUR')
    """
    if ": " in text:
        return ": ".join(map(title_case, text.split(": ")))
    words = text.split()
    is_capital = [word.isupper() or word == "&" for word in words]
    if len(words) == 1 and text.isupper() and len(text) > _LONGEST_ABBREVIATION:
        return text.capitalize()
    small = {"of", "the", "and", "for", "in", "on", "to", "a", "an", "by", "with"}
    titled = []
    for at, word in enumerate(words):
        is_in_run = is_capital[at] and (
            is_capital[at - 1 : at] == [True] or is_capital[at + 1 : at + 2] == [True]
        )
        if is_in_run:
            word = word.lower() if at and word.lower() in small else _capitalised(word)
        titled.append(word)
    return " ".join(titled)


def _capitalised(word: str) -> str:
    """Return a word with a capital at its first letter only, also after a quotation mark."""
    return re.sub(r"[^\W\d_]", lambda letter: letter[0].upper(), word.lower(), count=1)


def share_in(words: Sequence[str], text: Sequence[str]) -> float:
    """Return the share of distinct words that a text has; 1.0 without words.

    >>> share_in(["fee", "card"], ["the", "fee"])
    0.5
    """
    distinct = set(words)
    return len(distinct.intersection(text)) / len(distinct) if distinct else 1.0


# One, here and in other caches of a corpus: a run has one, and an earlier one is not kept alive.
@functools.lru_cache(maxsize=1)
def lower_text(corpus: Corpus) -> str:
    """Return the text of all documents in lower case."""
    return " ".join(corpus.sentences).lower()
