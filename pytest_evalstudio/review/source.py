"""Where the answers come from that people are asked about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from pytest_evalstudio.formats.labels import Label
from pytest_evalstudio.mrm.steps.human_calibration.cases import Case, Population
from pytest_evalstudio.mrm.steps.human_calibration.labelling import Labelling


class ReviewSource(Protocol):
    """What a review asks for, and what its labels are for.

    Attributes:
        title: of the page.
        labels: the file that labels are kept in.
        good: the lowest label that counts as good, where labels have levels; None where they are good or bad.
        population: the answers that may have a label.
        command: what goes on with the labels.
        advice: what to know before it does, "" for nothing.
        nothing: why nobody is asked anything, for when there is no answer to be labelled.
    """

    @property
    def title(self) -> str: ...

    @property
    def labels(self) -> Path: ...

    @property
    def good(self) -> int | None: ...

    @property
    def population(self) -> Population: ...

    @property
    def command(self) -> str: ...

    @property
    def advice(self) -> str: ...

    @property
    def nothing(self) -> str: ...

    def stand(self, ratings: Sequence[Label]) -> Labelling:
        """How the labelling stands, by what all raters have said."""

    def doubt(self, case: Case) -> str:
        """Why the verdict on an answer is uncertain, "" where it is not."""

    def goes_on(self, *, complete: bool) -> str:
        """What to do next, as a sentence's end; `complete` if the rater has labelled all that is asked
        for.
        """
