"""Basis of the labels of a calibration: raters, disagreement, and segments without labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_evalstudio.contrib.calibration.labelling.agreement import Agreement
from pytest_evalstudio.contrib.calibration.labelling.segments import SegmentLabels
from pytest_evalstudio.formats.labels import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelReport:
    """Labels that a calibration is made of.

    Attributes:
        divided: answers on which raters are divided.
        outdated: number of labels of answers whose text has changed since.
        segments: labels by model and category, those with the smallest share first.
    """

    divided: Sequence[Identity]
    outdated: int
    agreement: Agreement
    segments: Sequence[SegmentLabels]
