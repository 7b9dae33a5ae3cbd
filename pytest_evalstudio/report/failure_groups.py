"""Failures that the page writes out, in the groups of their causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from pytest_evalstudio.analysis.causes import KINDS, Cause, CauseKey, Kind
from pytest_evalstudio.report.failure_types import FailedItem


class FailureGroup(Struct, frozen=True, kw_only=True):
    """Failures of one cause.

    Attributes:
        items: those that are written out; none where the page has no room for this cause.
    """

    cause: Cause
    items: tuple[FailedItem, ...]

    @property
    def kind(self) -> Kind:
        return self.cause.kind

    @property
    def has_regressed(self) -> bool:
        return any(item.change in ("regressed", "error_now") for item in self.items)

    @property
    def left_out(self) -> int:
        """Return the number of failures that are not written out."""
        return self.cause.total - sum(1 + item.equal_answers + item.copy_count for item in self.items)


def grouped(causes: Sequence[Cause], items: Mapping[CauseKey, Sequence[FailedItem]]) -> list[FailureGroup]:
    """Return the causes with their items: by kind, those with regressed items and the large ones first."""
    groups = [FailureGroup(cause=cause, items=tuple(items.get(cause.identity, ()))) for cause in causes]
    return sorted(
        groups,
        key=lambda group: (
            KINDS.index(group.kind),
            -sum(item.change == "regressed" for item in group.items),
            -group.cause.total,
        ),
    )
