"""Difference of two texts word by word, as stretches for the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

# A number with separators is one word, so that another amount is marked as a whole.
_TOKEN = re.compile(r"\s+|\d+(?:[.,]\d+)+|\w+|[^\w\s]")
_WORDS = 120
"""Words on each side for which the order counts; of longer texts, words are compared without their order.

The case panel, whose words.js has the same rules, shows the same marks."""


class Stretch(Struct, frozen=True):
    """A stretch of a text; together the stretches of a text are the text."""

    text: str
    changed: bool = False


def changed_words(base: str, new: str) -> tuple[list[Stretch], list[Stretch]]:
    """Return both texts with the words marked that the other one does not have.

    The time is linear: only short texts are aligned in order.

    >>> [stretch.text for stretch in changed_words("The fee is 5 EUR.", "The fee is 7 EUR.")[1] if stretch.changed]
    ['7']
    """  # noqa: E501
    first, second = _TOKEN.findall(base), _TOKEN.findall(new)
    positions = [position for position, token in enumerate(first) if not token.isspace()]
    there = [position for position, token in enumerate(second) if not token.isspace()]
    # A word that differs in its case alone is the same word.
    words = [first[position].lower() for position in positions]
    others = [second[position].lower() for position in there]
    if max(len(words), len(others)) <= _WORDS:
        gone, added = _aligned(words, others)
    else:
        gone, added = _missing(words, others), _missing(others, words)
    return _stretches(first, {positions[position] for position in gone}), _stretches(
        second, {there[position] for position in added}
    )


def shared_words(stretches: Sequence[Stretch]) -> float:
    """Return the share of characters that are not marked, 1.0 for an empty text."""
    total = sum(len(stretch.text) for stretch in stretches)
    return sum(len(stretch.text) for stretch in stretches if not stretch.changed) / total if total else 1.0


def _aligned(words: Sequence[str], others: Sequence[str]) -> tuple[set[int], set[int]]:
    """Return the places of the words that a longest common subsequence leaves out."""
    # lengths[i][j] is that of the rests from i and j; the page's words.js breaks ties in the same way.
    lengths = [[0] * (len(others) + 1)]
    for word in reversed(words):
        below, row = lengths[-1], [0] * (len(others) + 1)
        for place in range(len(others) - 1, -1, -1):
            row[place] = below[place + 1] + 1 if word == others[place] else max(below[place], row[place + 1])
        lengths.append(row)
    lengths.reverse()
    gone, added = set(range(len(words))), set(range(len(others)))
    i = j = 0
    while i < len(words) and j < len(others):
        if words[i] == others[j]:
            gone.discard(i)
            added.discard(j)
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return gone, added


def _missing(words: Sequence[str], others: Sequence[str]) -> set[int]:
    counts = Counter(others)
    missing = set()
    for position, word in enumerate(words):
        if counts[word]:
            counts[word] -= 1
        else:
            missing.add(position)
    return missing


def _stretches(tokens: Sequence[str], marked: set[int]) -> list[Stretch]:
    """Join tokens; white space between two marked words is marked too."""
    stretches: list[tuple[list[str], bool]] = []
    for position, token in enumerate(tokens):
        between = token.isspace() and position - 1 in marked and position + 1 in marked
        is_marked = position in marked or between
        if stretches and stretches[-1][1] == is_marked:
            stretches[-1][0].append(token)
        else:
            stretches.append(([token], is_marked))
    return [Stretch("".join(parts), is_marked) for parts, is_marked in stretches]
