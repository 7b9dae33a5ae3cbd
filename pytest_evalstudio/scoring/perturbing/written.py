"""Perturbations that a judge writes: asked for many texts at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import ClassVar

from pytest_evalstudio.core.judging import Judge
from pytest_evalstudio.core.plugins.perturbator import AsksJudge, Change, Intensity, PerturbatorSpec


class WrittenPerturbator:
    """A perturbator whose changes a judge writes; of a panel its first judge that has a usable word.

    Args:
        perturbator: one that has `consider`.
        judge: opens the judge when it is first asked.
    """

    __evalstudio__: ClassVar[PerturbatorSpec]

    def __init__(self, perturbator: AsksJudge, judge: Callable[[], Judge]) -> None:
        self._perturbator = perturbator
        self._open = judge
        self._changes: dict[str, Change] = {}

    def prepare(self, texts: Iterable[str]) -> None:
        """Ask for all texts at the same time."""
        waiting = [text for text in dict.fromkeys(texts) if text.strip() and text not in self._changes]
        if not waiting:
            return
        judgements = self._open().follow(
            [functools.partial(self._perturbator.consider, text) for text in waiting]
        )
        for text, panel_judgements in zip(waiting, judgements, strict=True):
            usable = [judgement.value for judgement in panel_judgements if judgement.fault is None]
            fault = next(
                (str(judgement.fault) for judgement in panel_judgements if judgement.fault is not None),
                "no judge",
            )
            self._changes[text] = (
                usable[0] if usable else Change.none(f"the judge wrote nothing usable: {fault}")
            )

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        """Return the judge's version of a text."""
        self.prepare([text])
        return self._changes[text]
