"""Neighbouring words in the wrong order."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.perturbator import MARK, Change, Intensity, perturbator
from pytest_evalstudio.perturbations._words import WORD, WORD_LEVELS


@perturbator("word_swap", name="Word swap")
@dataclass(frozen=True)
class WordSwap:
    """Swaps every 10th, 3rd or 2nd word with the one before it; punctuation keeps its place."""

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        every = WORD_LEVELS[intensity]
        spans = [match.span() for match in WORD.finditer(text)]
        if len(spans) < every:
            return Change.none(f"it has fewer than {every} words")
        pairs = [position for position in range(1, len(spans)) if not _apart(text, spans, position)]
        positions = _spaced(pairs, every)
        swapped = _swapped(text, spans, positions)
        if swapped == text:  # all of these pairs are twins: another pair will do
            words = [text[start:end] for start, end in spans]
            positions = [position for position in pairs if words[position] != words[position - 1]][:1]
            if not positions:
                return Change.none("its neighbouring words are all the same")
            swapped = _swapped(text, spans, positions)
        return Change(swapped, len(positions))


def _apart(text: str, spans: list[tuple[int, int]], position: int) -> bool:
    """Return whether a protected span is between a word and the one before it: a swap would move the span."""
    return MARK.search(text, spans[position - 1][1], spans[position][0]) is not None


def _spaced(positions: list[int], every: int) -> list[int]:
    """Return places that are at least so many words apart; the next one replaces one that is missing.

    >>> _spaced([1, 2, 3, 5, 6, 7, 9], 3)
    [2, 5, 9]
    """
    selected: list[int] = []
    for position in positions:
        # −1: the first pair is that of word `every`, whose index is one less.
        if position - (selected[-1] if selected else -1) >= every:
            selected.append(position)
    return selected


def _swapped(text: str, spans: list[tuple[int, int]], positions: list[int]) -> str:
    parts, end = [], 0
    for position in positions:
        (first, first_end), (second, second_end) = spans[position - 1], spans[position]
        parts += [text[end:first], text[second:second_end], text[first_end:second], text[first:first_end]]
        end = second_end
    parts.append(text[end:])
    return "".join(parts)
