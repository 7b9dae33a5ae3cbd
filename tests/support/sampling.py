"""Samples of long series of cases: the ordinary runs take some, a run before a release takes all."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from typing import TypeVar

TAKES_ALL = os.environ.get("EVALSTUDIO_TESTS") == "all"
T = TypeVar("T")


def sampled(entries: Sequence[T], every: int) -> Sequence[T]:
    """Return one of so many entries, beginning with the first; all of them where all are taken."""
    return entries if TAKES_ALL else entries[::every]


def sampled_for(name: str, entries: Sequence[T], every: int) -> Sequence[T]:
    """Return one of so many entries for a subject.

    Another subject gets others: together the subjects of a series take all. The choice follows from the name
    alone.
    """
    return entries if TAKES_ALL else entries[zlib.crc32(name.encode()) % every :: every]
