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
        pairs = [place for place in range(1, len(spans)) if not _apart(text, spans, place)]
        places = _spaced(pairs, every)
        swapped = _swapped(text, spans, places)
        if swapped == text:  # all of these pairs are twins: another pair will do
            words = [text[start:end] for start, end in spans]
            places = [place for place in pairs if words[place] != words[place - 1]][:1]
            if not places:
                return Change.none("its neighbouring words are all the same")
            swapped = _swapped(text, spans, places)
        return Change(swapped, len(places))


def _apart(text: str, spans: list[tuple[int, int]], place: int) -> bool:
    """Return whether a protected span is between a word and the one before it: a swap would move the span."""
    return MARK.search(text, spans[place - 1][1], spans[place][0]) is not None


def _spaced(places: list[int], every: int) -> list[int]:
    """Return places that are at least so many words apart; the next one replaces one that is missing.

    >>> _spaced([1, 2, 3, 5, 6, 7, 9], 3)
    [2, 5, 9]
    """
    chosen: list[int] = []
    for place in places:
        if place - (chosen[-1] if chosen else -1) >= every:
            chosen.append(place)
    return chosen


def _swapped(text: str, spans: list[tuple[int, int]], places: list[int]) -> str:
    parts, end = [], 0
    for place in places:
        (first, first_end), (second, second_end) = spans[place - 1], spans[place]
        parts += [text[end:first], text[second:second_end], text[first_end:second], text[first:first_end]]
        end = second_end
    parts.append(text[end:])
    return "".join(parts)
