"""Short labels of models for charts and tables, and their natural order."""

from __future__ import annotations

import re
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
    """Return labels without the words that all names begin with, cut where they do not differ.

    No two are equal: names that are equal themselves get a number. A label is longer than the limit where
    nothing shorter keeps what differs.

    >>> short_labels(["RAG model gpt-4o", "RAG model gpt-4-turbo"])
    ['gpt-4o', 'gpt-4-turbo']
    >>> short_labels(["mixtral-8x7b-instruct-v0.1", "gpt-4o"], 15)
    ['mixtral…ct-v0.1', 'gpt-4o']
    >>> short_labels(["h2oai/h2ogpt-70b-chat", "meta-llama/llama-2-70b-chat", "gpt-4o"])
    ['h2ogpt-70b-chat', 'llama-2-70b-chat', 'gpt-4o']
    >>> short_labels(["app (billing)", "app (support)"])
    ['app (billing)', 'app (support)']
    >>> short_labels(["gpt-4-1106-preview (reverse) #1", "gpt-4 (reverse) #2"])
    ['gpt-4-1106-preview … #1', 'gpt-4 (reverse) #2']
    >>> short_labels(["new-model-a-with-a-long-end", "new-model-b-with-a-long-end", "d"], 10)
    ['…a…', '…b…', 'd']
    """
    stripped = _without_words(_without_vendors(_without_prefix(names, limit), limit), limit)
    labels = [middle_cut(name, limit) for name in stripped]
    for group in _equal(labels):
        # The cut has taken what differs: cut what is common instead.
        parts = _differing([stripped[place] for place in group], limit)
        for place, part in zip(group, parts, strict=True):
            labels[place] = part
    for group in _equal(labels):
        for number, place in enumerate(group, 1):
            labels[place] = _numbered(labels[place], number, limit)
    return labels


def _equal(labels: Sequence[str]) -> list[list[int]]:
    """Return the places of labels that are equal, in groups."""
    places: dict[str, list[int]] = {}
    for place, label in enumerate(labels):
        places.setdefault(label, []).append(place)
    return [group for group in places.values() if len(group) > 1]


def _differing(names: Sequence[str], limit: int) -> list[str]:
    """Return what differs between names, with ellipses for what is common; whole names if that is long."""
    if len(set(names)) < 2:
        return list(names)
    # What the first and the last in order have in common, all of them have.
    start = _common_start(min(names), max(names))
    backwards = [name[::-1] for name in names]
    end = min(_common_start(min(backwards), max(backwards)), *(name[len(start) :] for name in names), key=len)
    parts = [f"…{name[len(start) : len(name) - len(end)]}…" for name in names]
    parts = [part.removesuffix("…") if not end else part for part in parts]
    is_short = max(map(len, parts)) <= limit and len(set(parts)) == len(set(names))
    return parts if is_short and all(part.strip("…") for part in parts) else list(names)


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
    # Parts at a sign are often one name, e.g. "gpt-4", which is cut only where it does not fit.
    if max(len(name) - cut for name in names) > limit:
        cut = max(cut, *(shared.rfind(sign) + 1 for sign in "-_/:"))
    rests = [name[cut:] for name in names]
    # A rest such as "4 (long)" or "(long)" would not be seen to be a model.
    return rests if all(map(_LETTER.match, rests)) else list(names)


def _without_words(names: Sequence[str], limit: int) -> list[str]:
    """Replace words within a long name that all names have by an ellipsis."""
    words = [name.split() for name in names]
    common = set(words[0]).intersection(*words) if words else set()
    if not common or max(map(len, names)) <= limit or len(set(names)) < 2:
        return list(names)
    shorter = [
        name if len(name) <= limit else " ".join("…" if word in common else word for word in of_name)
        for name, of_name in zip(names, words, strict=True)
    ]
    return shorter if len(set(shorter)) == len(set(names)) else list(names)


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
