"""Short labels of models for charts and tables, and their natural order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

MAX_CHARS = 24
"""Characters of a label; longer names are cut in the middle, so that version numbers at the end stay."""
_NUMBER = re.compile(r"(\d+)")
_LETTER = re.compile(r"[^\W\d_]")


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key by which numbers in a text count as numbers.

    >>> sorted(["model-10", "model-2"], key=natural_key)
    ['model-2', 'model-10']
    """
    parts = _NUMBER.split(text)
    # Python raises ValueError for a number of more than 4,300 digits.
    return tuple(
        (1, int(part[:300]), part) if index % 2 else (0, 0, part) for index, part in enumerate(parts)
    )


def short_labels(names: Sequence[str], limit: int = MAX_CHARS) -> list[str]:
    """Return labels without the words that all names begin with, cut in the middle; no two are equal.

    Names that are equal themselves get a number.

    >>> short_labels(["RAG model gpt-4o", "RAG model gpt-4-turbo"])
    ['gpt-4o', 'gpt-4-turbo']
    >>> short_labels(["mixtral-8x7b-instruct-v0.1", "gpt-4o"], 15)
    ['mixtral…ct-v0.1', 'gpt-4o']
    >>> short_labels(["h2oai/h2ogpt-70b-chat", "meta-llama/llama-2-70b-chat", "gpt-4o"])
    ['h2ogpt-70b-chat', 'llama-2-70b-chat', 'gpt-4o']
    """
    stripped = _without_vendors(_without_prefix(names, limit), limit)
    labels = [middle_cut(name, limit) for name in stripped]
    counts = Counter(labels)
    return [
        label if counts[label] == 1 else _numbered(label, number, limit)
        for number, label in enumerate(labels, 1)
    ]


def middle_cut(text: str, limit: int = MAX_CHARS) -> str:
    """Return a text with an ellipsis in its middle if it is too long.

    >>> middle_cut("mixtral-8x7b-instruct-v0.1", 15)
    'mixtral…ct-v0.1'
    """
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    head = limit - 1 - tail
    return f"{text[:head]}…{text[len(text) - tail :]}"


def _without_prefix(names: Sequence[str], limit: int) -> list[str]:
    """Strip the common first words; parts before "-", "_", "/" or ":" only from long names."""
    if len(set(names)) < 2:
        return list(names)
    shared = _common_start(min(names), max(names))
    cut = shared.rfind(" ") + 1
    if max(len(name) - cut for name in names) > limit:
        cut = max(cut, *(shared.rfind(sign) + 1 for sign in "-_/:"))
    rests = [name[cut:] for name in names]
    # A rest without a letter, e.g. a version number, would not be seen to be a model.
    return rests if all(_LETTER.search(rest) for rest in rests) else list(names)


def _without_vendors(names: Sequence[str], limit: int) -> list[str]:
    """Strip the part before the last "/" where a name is too long and the rests differ."""
    rests = [name.rpartition("/")[2] for name in names]
    is_needed = any(len(name) > limit for name in names)
    return rests if is_needed and len(set(rests)) == len(set(names)) and all(rests) else list(names)


def _common_start(first: str, last: str) -> str:
    """Return what two texts begin with; all texts that sort between them begin so, too."""
    size = next(
        (index for index, (char, other) in enumerate(zip(first, last, strict=False)) if char != other),
        min(len(first), len(last)),
    )
    return first[:size]


def _numbered(label: str, number: int, limit: int) -> str:
    mark = f" #{number}"
    return middle_cut(label, limit - len(mark)) + mark
