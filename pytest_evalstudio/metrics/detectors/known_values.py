"""Values that a run has found to be personal data and that no format shows, such as names of persons."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from threading import Lock

from pytest_evalstudio.metrics.detectors.redact import further_masks, redact
from pytest_evalstudio.metrics.detectors.spans import mask
from pytest_evalstudio.metrics.function_words import FUNCTION_WORDS

MAX_VALUES = 50_000
"""Values that are kept, the latest ones: a service finds new ones for as long as it runs."""
MIN_CHARS = 2
_MAX_WORDS = 12
_WORD = re.compile(r"\w+")
_POSSESSIVE = re.compile(r"\s?['’]s?$")
_BETWEEN_CHARS = 3
"""Most characters between two words of a value in a text, such as a line break."""

_values: dict[tuple[str, ...], None] = {}
_lengths: dict[str, dict[int, int]] = {}
"""First word of the values to the numbers of their words, each with the number of such values."""
_lock = Lock()


def remember(values: Iterable[str]) -> None:
    """Mask values in all texts from now on."""
    has_new = False
    for value in values:
        words = tuple(_WORD.findall(_POSSESSIVE.sub("", value)))
        if not words or len(words) > _MAX_WORDS or sum(map(len, words)) < MIN_CHARS:
            continue
        with _lock:
            if words in _values:
                continue
            _values[words] = None
            has_new = True
            lengths = _lengths.setdefault(words[0], {})
            lengths[len(words)] = lengths.get(len(words), 0) + 1
            if len(_values) > MAX_VALUES:
                _forget(next(iter(_values)))
    if has_new:
        redact.clear()


def remember_parts(names: Iterable[str]) -> None:
    """Mask the single words of names from now on: evaluators quote them from texts that they have split.

    Words in lower case and function words are left out.
    """
    words = {word for name in names for word in _WORD.findall(name)}
    remember(word for word in words if word[0].isupper() and word.lower() not in FUNCTION_WORDS)


def forget() -> None:
    """Forget all values."""
    with _lock:
        _values.clear()
        _lengths.clear()
    redact.clear()


def mask_known(text: str) -> str:
    """Return a text of the same length with the known values masked, in upper and lower case as found.

    Args:
        text: any text; time is linear in its length.
    """
    if not _values:
        return text
    words = list(_WORD.finditer(text))
    parts: list[str] = []
    position = index = 0
    while index < len(words):
        count = _count_from(words, index)
        if count:
            start, end = words[index].start(), words[index + count - 1].end()
            parts += text[position:start], mask(text[start:end])
            position = end
        index += count or 1
    return "".join(parts) + text[position:]


def _count_from(words: list[re.Match[str]], index: int) -> int:
    """Return the number of words of the longest known value that begins at a word, 0 for none."""
    for count in sorted(_lengths.get(words[index][0], ()), reverse=True):
        window = words[index : index + count]
        if tuple(word[0] for word in window) in _values and all(
            later.start() - earlier.end() <= _BETWEEN_CHARS for earlier, later in itertools.pairwise(window)
        ):
            return count
    return 0


def _forget(words: tuple[str, ...]) -> None:
    del _values[words]
    lengths = _lengths[words[0]]
    lengths[len(words)] -= 1
    if not lengths[len(words)]:
        del lengths[len(words)]
    if not lengths:
        del _lengths[words[0]]


further_masks.append(mask_known)
