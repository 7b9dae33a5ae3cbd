"""Sources of the answers that people label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from pytest_evalstudio.contrib.calibration.labelling.cases import AnswerPopulation, LabelledCase
from pytest_evalstudio.contrib.calibration.labelling.state import Labelling
from pytest_evalstudio.formats.labels import Label


class ReviewSource(Protocol):
    """A source of answers, and the use of their labels.

    Attributes:
        title: of the page.
        labels: the file that labels are kept in.
        good: the lowest label that counts as good, where labels have levels; None where they are good or bad.
        population: the answers that may have a label.
        command: uses the labels.
        advice: on the labels, "" for none.
        nothing: the reason why there is no answer to label.
    """

    @property
    def title(self) -> str:
        """Return the title of the page."""

    @property
    def labels(self) -> Path:
        """Return the path of the labels."""

    @property
    def good(self) -> int | None:
        """Return the lowest label that counts as good; None for good or bad."""

    @property
    def population(self) -> AnswerPopulation:
        """Return the answers that may have a label."""

    @property
    def command(self) -> str:
        """Return the command that uses the labels."""

    @property
    def advice(self) -> str:
        """Return advice on the labels, "" for none."""

    @property
    def nothing(self) -> str:
        """Return the reason why no answer is asked for."""

    def labelling_state(self, ratings: Sequence[Label]) -> Labelling:
        """Return the state of the labelling by the labels of all raters."""

    def doubt(self, case: LabelledCase) -> str:
        """Return the reason why a verdict is uncertain, "" for a certain one."""

    def goes_on(self, *, complete: bool) -> str:
        """Return the next action as the end of a sentence.

        Args:
            complete: True if the rater has labelled all answers.
        """
