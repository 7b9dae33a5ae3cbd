"""The edits that make a perturbed question of the original, each of which can be left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from pytest_evalstudio.text.windows import change_windows

_WORDS = re.compile(r"(\w+(?:['’-]\w+)*)")
"""Splits a text alternately into separators and words."""
_WORD = re.compile(r"\w+")
_PIECE = re.compile(r"\S+\s*")
_MAX_WORD_CHARS = 60
"""Longer words are one edit: the time to align characters is quadratic."""
_MIN_SIMILARITY = 0.5
"""Words that share no more of their characters are one edit: parts of a synonym are no words."""
_MAX_MOVE_WORDS = 3
"""A word that moves over more words is a deletion and an insertion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replacement of a part of a text.

    Attributes:
        start, end: characters of the original, `text[start:end]`; equal for an insertion.
        text: takes their place, "" for a deletion.
    """

    start: int
    end: int
    text: str


Change = tuple[Edit, ...]
"""A changed word or separator: the edits of its characters, which together make the change."""


def changes_between(original: str, perturbed: str) -> tuple[Change, ...]:
    """Return the changed words and separators of a perturbed text, in order.

    All edits together make the perturbed text of the original. Any of them can be left out. Words that
    exchange their places are one edit, so is a word that moves by a few words. The time is linear.

    >>> [[edit.text for edit in change] for change in changes_between("a blue card", "a bule, crd")]
    [['ul'], [','], ['']]
    """
    by_word, aligned = _by_word(original, perturbed), _aligned(original, perturbed)
    regions = aligned
    # Words in their places explain typos best; an alignment explains an inserted or deleted word.
    if by_word is not None and _changed(original, by_word) <= _changed(original, aligned):
        regions = by_word
    return tuple(
        tuple(_characters(original[region.start : region.end], region.text, region.start))
        for region in regions
    )


def applied(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with some of its edits, in the order of `changes_between`."""
    parts: list[str] = []
    end = 0
    for edit in edits:
        parts += [text[end : edit.start], edit.text]
        end = edit.end
    return "".join([*parts, text[end:]])


def _changed(original: str, edits: Sequence[Edit]) -> int:
    """Return the number of words that edits remove or put in their place; words in another order are one."""
    count = 0
    for edit in edits:
        old = [word.casefold() for word in _WORD.findall(original, edit.start, edit.end)]
        new = [word.casefold() for word in _WORD.findall(edit.text)]
        count += bool(old) if sorted(old) == sorted(new) else max(len(old), len(new))
    return count


def _by_word(original: str, perturbed: str) -> list[Edit] | None:
    """Return the edits of texts whose words correspond by position; None for other numbers of words."""
    before, after = _WORDS.split(original), _WORDS.split(perturbed)
    if len(before) != len(after):
        return None
    edits = []
    position = index = 0
    while index < len(before):
        # Two words and the separator between them.
        width = 3 if _is_exchange(before, after, index) else 1
        old, new = "".join(before[index : index + width]), "".join(after[index : index + width])
        if old != new:
            edits.append(_without_spaces(old, new, position))
        position += len(old)
        index += width
    return edits


def _is_exchange(before: Sequence[str], after: Sequence[str], index: int) -> bool:
    """Return whether two neighbouring words have exchanged their places; a capital may stay in its place."""
    if index % 2 == 0 or index + 2 >= len(before) or before[index + 1] != after[index + 1]:
        return False
    first, second = before[index].casefold(), before[index + 2].casefold()
    return first != second and (after[index].casefold(), after[index + 2].casefold()) == (second, first)


def _aligned(original: str, perturbed: str) -> list[Edit]:
    """Return the edits of any two texts, aligned at the words that they have in common."""
    edits: list[Edit] = []
    position = between = 0
    removed = added = ""
    # None ends a change at the end of the text, after which no unchanged piece comes.
    for piece in (*change_windows(original, perturbed, chars=0), None):
        if piece is not None and piece.kind == "removed":
            removed += piece.text
        elif piece is not None and piece.kind == "added":
            added += piece.text
        else:
            if removed or added:
                parts = list(_parts(removed, added, position))
                moved = _move(edits, parts, original) if between <= _MAX_MOVE_WORDS else None
                # A move replaces the last edit, which is its other half; other parts are appended.
                edits[len(edits) - (moved is not None) :] = parts if moved is None else [moved]
                position += len(removed)
                removed = added = ""
            if piece is not None:
                position += len(piece.text)
                between = len(piece.text.split())
    return edits


def _move(edits: Sequence[Edit], parts: Sequence[Edit], original: str) -> Edit | None:
    """Return the move of a word that one of two neighbouring edits inserts and the other one deletes."""
    if not edits or len(parts) != 1:
        return None
    first, last = edits[-1], parts[0]
    removed = [original[edit.start : edit.end].strip() for edit in (first, last)]
    added = [edit.text.strip() for edit in (first, last)]
    if not (removed == [added[1], ""] or removed == ["", added[0]]) or not any(removed):
        return None
    if any(removed[number] and added[number] for number in (0, 1)):
        return None
    return Edit(
        start=first.start, end=last.end, text=first.text + original[first.end : last.start] + last.text
    )


def _parts(removed: str, added: str, start: int) -> Iterator[Edit]:
    """Yield the edits of a changed stretch, word by word where its words correspond."""
    whole = _without_spaces(removed, added, start)
    old, new = removed[whole.start - start : whole.end - start], whole.text
    if not old.strip() or not new.strip():
        yield from _words_of(whole, old) if not (old and new) else [whole]
        return
    # Each space separates, so that a word whose letters are all deleted leaves an empty one.
    words, others = re.split(r"(\s)", old), re.split(r"(\s)", new)
    if len(words) != len(others) or words[1::2] != others[1::2]:
        yield whole
        return
    position = whole.start
    for word, other in zip(words, others, strict=True):
        if word != other:
            yield Edit(start=position, end=position + len(word), text=other)
        position += len(word)


def _words_of(edit: Edit, removed: str) -> Iterator[Edit]:
    """Yield an insertion or deletion word by word, each with the spaces around it."""
    text = removed or edit.text
    pieces = _PIECE.findall(text)
    if not pieces:
        yield edit
        return
    pieces[0] = text[: len(text) - len(text.lstrip())] + pieces[0]
    position = edit.start
    for piece in pieces:
        if removed:
            yield Edit(start=position, end=position + len(piece), text="")
            position += len(piece)
        else:
            yield Edit(start=position, end=position, text=piece)


def _without_spaces(removed: str, added: str, start: int) -> Edit:
    """Return a replacement without the white space that both texts begin or end with."""
    limit = min(len(removed), len(added))
    head = 0
    while head < limit and removed[head] == added[head] and removed[head].isspace():
        head += 1
    tail = 0
    while tail < limit - head and removed[-1 - tail] == added[-1 - tail] and removed[-1 - tail].isspace():
        tail += 1
    return Edit(start=start + head, end=start + len(removed) - tail, text=added[head : len(added) - tail])


def _characters(removed: str, added: str, start: int) -> list[Edit]:
    """Return the edits of the characters of a word; one edit for several words, and for long ones."""
    whole = [Edit(start=start, end=start + len(removed), text=added)]
    if not removed or not added or max(len(removed), len(added)) > _MAX_WORD_CHARS:
        return whole
    if any(map(str.isspace, removed + added)):
        return whole
    matcher = SequenceMatcher(None, removed, added, autojunk=False)
    if matcher.ratio() <= _MIN_SIMILARITY:
        return whole
    edits: list[Edit] = []
    for tag, low, high, other_low, other_high in matcher.get_opcodes():
        width, other_width = high - low, other_high - other_low
        if tag == "equal":
            continue
        # Of other lengths, e.g. "m" for "rn": no character of one belongs to one of the other.
        if width and other_width and width != other_width:
            edits.append(Edit(start=start + low, end=start + high, text=added[other_low:other_high]))
            continue
        for number in range(max(width, other_width)):
            at = start + low + min(number, width)
            next_edit = Edit(
                start=at,
                end=at + (width > 0),
                text=added[other_low + number] if other_width else "",
            )
            if edits and (transposed := _transposed(edits[-1], next_edit, removed, start)):
                edits[-1] = transposed
            else:
                edits.append(next_edit)
    return edits


def _transposed(first: Edit, last: Edit, word: str, start: int) -> Edit | None:
    """Return the exchange of two neighbouring characters, one of which is inserted and deleted."""
    old = [word[edit.start - start : edit.end - start] for edit in (first, last)]
    if last.start - first.end != 1 or not (
        (old[0] == last.text and not first.text and not old[1])
        or (old[1] == first.text and not last.text and not old[0])
    ):
        return None
    between = word[first.end - start : last.start - start]
    return Edit(start=first.start, end=last.end, text=first.text + between + last.text)
