"""Policies that reach a verdict from several repeats of a question."""

from __future__ import annotations

import re
from typing import Self

from msgspec import Struct

MEAN = "mean"
_WORDS = ("all", "any", MEAN)
_SHARE = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


class PassPolicy(Struct, frozen=True):
    """Rule for the verdict on several repeats.

    Attributes:
        text: as the user writes it.
        needed: so many of `of` repeats must pass.
        of: 0 where the policy is no share.
    """

    text: str = MEAN
    needed: int = 0
    of: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return a policy: "all", "any", "mean", or a share like "8/10".

        Raises:
            ValueError: if it is none of these.

        >>> PassPolicy.parse("8/10").holds(4, 5), PassPolicy.parse("all").holds(4, 5)
        (True, False)
        """
        if text in _WORDS:
            return cls(text)
        share = _SHARE.fullmatch(text)
        if share is None or not 1 <= int(share[1]) <= int(share[2]):
            raise ValueError(
                f'a policy of repeats is "all", "any", "mean" or a share like "8/10", not {text!r}'
            )
        return cls(text, int(share[1]), int(share[2]))

    @property
    def counts(self) -> bool:
        """Return True if the policy counts repeats that pass; "mean" compares the mean score instead."""
        return self.text != MEAN

    def holds(self, passed: int, total: int) -> bool:
        """Return True if so many repeats of a total satisfy a policy that counts."""
        if self.text == "any":
            return passed > 0
        if self.of:
            return passed * self.of >= self.needed * total
        return passed == total


BY_MEAN = PassPolicy()
"""Compares the mean score of the repeats with the threshold."""
