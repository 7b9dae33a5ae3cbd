"""Changes between two answers: windows around each change, for page, terminal and Markdown alike."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Literal

from msgspec import Struct

from pytest_evalstudio.text.figures import counted

PieceKind = Literal["same", "removed", "added", "gap"]
WINDOW_CHARS = 200
"""Unchanged characters around a change, half of them on each side."""
CHANGE_CHARS = 300
"""Characters of a removed or added stretch that are shown; the page has all of it on a click."""
_MIN_GAP_WORDS = 8
"""Fewer unchanged words between two windows are shown: a mark would be as long."""
_ALIGNED = 120
"""Tokens of a stretch without a unique word that are still aligned; the time is quadratic in them."""
_MAX_DEPTH = 6
"""Levels of anchors within anchors; shuffled words would need as many as there are words."""
_TOKEN = re.compile(r"\s+|\d+(?:[.,]\d+)+|\w+|[^\w\s]")
_WORD = re.compile(r"\w")


class Piece(Struct, frozen=True, kw_only=True):
    """Stretch of two compared texts.

    Attributes:
        kind: in both texts, in the first one only, in the second one only, or left out of both.
        text: of the stretch, "" for a gap.
        words: number of words that a gap leaves out.
        cuts_change: whether the gap is within a removed or added stretch.
    """

    kind: PieceKind
    text: str = ""
    words: int = 0
    cuts_change: bool = False

    @property
    def note(self) -> str:
        """Return the mark that stands for a gap."""
        return f"… {counted(self.words, 'more word' if self.cuts_change else 'word')}{self._end}"

    @property
    def _end(self) -> str:
        return " …" if self.cuts_change else " unchanged …"


def change_windows(base: str, new: str, *, chars: int = WINDOW_CHARS) -> tuple[Piece, ...]:
    """Return the changes between two texts with unchanged words around each, and gaps between.

    The time is linear: stretches are aligned at words that both texts have once.

    Args:
        chars: unchanged characters around a change; 0 for all of them.

    >>> [(piece.kind, piece.text) for piece in change_windows("The fee is 5 EUR.", "The fee is 7 EUR.")]
    [('same', 'The fee is '), ('removed', '5'), ('added', '7'), ('same', ' EUR.')]
    """
    pieces = _joined(_pieces(_TOKEN.findall(base), _TOKEN.findall(new)))
    if not chars:
        return tuple(pieces)
    last = len(pieces) - 1
    return tuple(
        part
        for position, piece in enumerate(pieces)
        for part in (
            _shortened(piece.text, chars // 2, is_first=position == 0, is_last=position == last)
            if piece.kind == "same"
            else _limited(piece)
        )
    )


def word_diff(pieces: Sequence[Piece]) -> str:
    """Return changes as one line of text: [-removed-] and {+added+}, as `git diff --word-diff`.

    >>> word_diff(change_windows("The fee is 5 EUR.", "The fee is 7 EUR."))
    'The fee is [-5-]{+7+} EUR.'
    """
    form = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    texts = (
        f" {piece.note} " if piece.kind == "gap" else form[piece.kind].format(piece.text) for piece in pieces
    )
    return " ".join("".join(texts).split())


def _limited(piece: Piece) -> list[Piece]:
    """Return a removed or added stretch, of a long one its first words and a gap."""
    end = _end_of_word(piece.text, CHANGE_CHARS)
    words = len(piece.text[end:].split())
    # The mark of the gap would be as long as the rest.
    if words < _MIN_GAP_WORDS:
        return [piece]
    gap = Piece(kind="gap", words=words, cuts_change=True)
    return [Piece(kind=piece.kind, text=piece.text[:end]), gap]


def _pieces(first: Sequence[str], second: Sequence[str], depth: int = 0) -> Iterator[Piece]:
    """Yield the aligned stretches: equal ends first, then between words that both texts have once."""
    head = 0
    # Equal ends first: they are most of two similar texts, and need no search.
    while head < min(len(first), len(second)) and first[head] == second[head]:
        head += 1
    tail = 0
    while tail < min(len(first), len(second)) - head and first[-1 - tail] == second[-1 - tail]:
        tail += 1
    yield from _same(first[:head])
    middle, other = first[head : len(first) - tail], second[head : len(second) - tail]
    anchors = _anchors(middle, other) if depth < _MAX_DEPTH else []
    if anchors:
        start = other_start = 0
        for position, other_position in [*anchors, (len(middle), len(other))]:
            yield from _pieces(middle[start:position], other[other_start:other_position], depth + 1)
            yield from _same(middle[position : position + 1])
            start, other_start = position + 1, other_position + 1
    elif max(len(middle), len(other)) <= _ALIGNED:
        yield from _aligned(middle, other)
    else:
        yield from _replaced(middle, other)
    yield from _same(first[len(first) - tail :])


def _anchors(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Return the positions of words that both texts have once, as far as they are in the same order.

    Source: patience diff; the longest increasing sequence in O(n log n).
    """
    counts, others = Counter(first), Counter(second)
    positions = {token: position for position, token in enumerate(second) if others[token] == 1}
    pairs = [
        (position, positions[token])
        for position, token in enumerate(first)
        if counts[token] == 1 and token in positions
    ]
    ends: list[int] = []
    indices: list[int] = []
    before: list[int] = []
    for index, (_, position) in enumerate(pairs):
        # `ends` holds the lowest end of an increasing sequence of each length.
        length = bisect_left(ends, position)
        before.append(indices[length - 1] if length else -1)
        ends[length : length + 1] = [position]
        indices[length : length + 1] = [index]
    chain = []
    index = indices[-1] if indices else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]


def _aligned(first: Sequence[str], second: Sequence[str]) -> Iterator[Piece]:
    # With `autojunk`, frequent tokens such as blanks would not be aligned.
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        if tag == "equal":
            yield from _same(first[start:end])
        else:
            yield from _replaced(first[start:end], second[other_start:other_end])


def _replaced(first: Sequence[str], second: Sequence[str]) -> Iterator[Piece]:
    if first:
        yield Piece(kind="removed", text="".join(first))
    if second:
        yield Piece(kind="added", text="".join(second))


def _same(tokens: Sequence[str]) -> Iterator[Piece]:
    if tokens:
        yield Piece(kind="same", text="".join(tokens))


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Join neighbours; changes with only white space between them become one change."""
    kinds: dict[PieceKind, str] = dict.fromkeys(("same", "removed", "added"), "")
    result: list[Piece] = []
    pending = ""
    for piece in pieces:
        is_change = piece.kind != "same"
        has_change = bool(kinds["removed"] or kinds["added"])
        # Unchanged text after a change is held back until it is known whether another change follows.
        if is_change and pending:
            for side in ("removed", "added") if pending.isspace() else ():
                kinds[side] += pending
            if not pending.isspace():
                result += _filled(kinds)
                kinds = {"same": pending, "removed": "", "added": ""}
            pending = ""
        if is_change:
            kinds[piece.kind] += piece.text
        elif has_change:
            pending += piece.text
        else:
            kinds["same"] += piece.text
    return [*result, *_filled(kinds), *_filled({"same": pending})]


def _filled(texts: Mapping[PieceKind, str]) -> Iterator[Piece]:
    for kind, text in texts.items():
        if text:
            yield Piece(kind=kind, text=text)


def _shortened(text: str, side: int, *, is_first: bool, is_last: bool) -> list[Piece]:
    """Return an unchanged stretch with a gap, cut at words; all of it where the gap would be short."""
    if is_first and is_last:
        return [Piece(kind="same", text=text)]
    head = 0 if is_first else _end_of_word(text, side)
    # Reversed, to find the beginning of a word from the end.
    tail = len(text) if is_last else len(text) - _end_of_word(text[::-1], side)
    words = sum(bool(_WORD.search(word)) for word in text[head:tail].split()) if head < tail else 0
    if words < _MIN_GAP_WORDS:
        return [Piece(kind="same", text=text)]
    parts = (
        Piece(kind="same", text=text[:head]),
        Piece(kind="gap", words=words),
        Piece(kind="same", text=text[tail:]),
    )
    return [part for part in parts if part.text or part.kind == "gap"]


def _end_of_word(text: str, limit: int) -> int:
    """Return the last position before a limit where a word ends; the limit within a long word."""
    if len(text) <= limit:
        return len(text)
    spaces = [match.start() for match in re.finditer(r"\s", text[: limit + 1])]
    return spaces[-1] if spaces else limit
