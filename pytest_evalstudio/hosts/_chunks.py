"""Texts of documents from the chunks that a service keeps of them."""

from __future__ import annotations

from collections.abc import Iterable

MIN_OVERLAP_CHARS = 20
"""Shorter overlaps are coincidences: "... of a" and "a transfer" are no repeated text."""
MAX_OVERLAP_CHARS = 10_000
"""Maximum length of an overlap that is looked for."""
_ENDS = (".", "!", "?", ":", ";", "”", "»", '"', ")", "|")


def joined_chunks(chunks: Iterable[str]) -> str:
    r"""Return the text of consecutive chunks; text that a chunk repeats from the one before is kept once.

    Time is linear in the length of the chunks.

    >>> joined_chunks(["The fee of a transfer is 5 USD.", "a transfer is 5 USD. It is due at once."])
    'The fee of a transfer is 5 USD. It is due at once.'
    >>> joined_chunks(["One sentence.", "Another one.", "It goes", "on."])
    'One sentence.\n\nAnother one.\n\nIt goes\non.'
    """
    parts: list[str] = []
    previous = ""
    for chunk in filter(str.strip, chunks):
        overlap = _overlap(previous, chunk)
        if previous and not overlap:
            # A chunk that ends within a sentence goes on in the next one.
            parts.append("\n\n" if previous.rstrip().endswith(_ENDS) else "\n")
        parts.append(chunk[overlap:])
        previous = chunk
    return "".join(parts)


def _overlap(previous: str, following: str) -> int:
    """Return the length of the longest end of a text that the following text begins with, 0 for a short one.

    Source: prefix function of Knuth, Morris and Pratt, 1977.
    """
    end = previous[-MAX_OVERLAP_CHARS:]
    start = following[: len(end)]
    borders = _borders(start)
    matched = 0
    for char in end:
        while matched and (matched == len(start) or start[matched] != char):
            matched = borders[matched - 1]
        matched += matched < len(start) and start[matched] == char
    return matched if matched >= MIN_OVERLAP_CHARS else 0


def _borders(text: str) -> list[int]:
    """Return, for each prefix of a text, the length of its longest proper prefix that is also its end.

    >>> _borders("abab")
    [0, 0, 1, 2]
    """
    borders = [0] * len(text)
    length = 0
    for index in range(1, len(text)):
        while length and text[length] != text[index]:
            length = borders[length - 1]
        length += text[length] == text[index]
        borders[index] = length
    return borders
