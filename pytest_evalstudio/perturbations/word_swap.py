"""Neighbouring words in the wrong order."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.perturbators import Change, Intensity, perturbator
from pytest_evalstudio.perturbations._words import WORD, WORD_LEVELS, too_few


@perturbator("word_swap", name="Word swap")
@dataclass(frozen=True)
class WordSwap:
    """Swaps every 10th, 3rd or 2nd word with the one before it; punctuation keeps its place."""

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        every = WORD_LEVELS[intensity]
        words = list(WORD.finditer(text))
        if len(words) < every:
            return Change.none(too_few(every))
        parts, end, edits = [], 0, 0
        for place in range(every - 1, len(words), every):
            first, second = words[place - 1], words[place]
            one, other = first[0], second[0]
            edits += one != other
            parts += [text[end : first.start()], other, text[first.end() : second.start()], one]
            end = second.end()
        parts.append(text[end:])
        return Change("".join(parts), edits) if edits else Change.none("the words to be swapped are the same")
