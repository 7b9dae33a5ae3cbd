"""Changed answers: what was done to which answer."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.contrib.mutation.subjects import Subject
from pytest_evalstudio.contrib.mutation.texts import Damage


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A damaged answer.

    Attributes:
        case: file and key of the test case.
        is_harmless: its meaning is that of the original.
    """

    subject: Subject
    case: tuple[str, str]
    kind: str
    damage: Damage
    row_key: str
    is_harmless: bool = False
