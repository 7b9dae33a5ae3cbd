"""Neighbouring words in the wrong order."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.perturbator import Change, Intensity, perturbator
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
        places = range(every - 1, len(spans), every)
        made = _swapped(text, spans, places)
        if made == text:  # all of these pairs are twins: another pair will do
            words = [text[start:end] for start, end in spans]
            differing = [place for place in range(1, len(words)) if words[place] != words[place - 1]]
            if not differing:
                return Change.none("its words are all the same")
            made = _swapped(text, spans, differing[:1])
        return Change(made, len(places))


def _swapped(text: str, spans: list[tuple[int, int]], places: range | list[int]) -> str:
    parts, end = [], 0
    for place in places:
        (first, first_end), (second, second_end) = spans[place - 1], spans[place]
        parts += [text[end:first], text[second:second_end], text[first_end:second], text[first:first_end]]
        end = second_end
    parts.append(text[end:])
    return "".join(parts)
