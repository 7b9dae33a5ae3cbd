"""Perturbed copies that fail like their original, which are one entry with it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_evalstudio.analysis.causes import CauseKey
from pytest_evalstudio.core.origins import SOURCE
from pytest_evalstudio.record.schema import Item
from pytest_evalstudio.report.failure_types import FailedCopy, FailedItem

LISTED_COPIES = 50
"""Copies of one original that the page lists; the matrix has all."""
QUESTION_CHARS = 200

_CaseId = tuple[str, str, str]
"""File, model key and key of a case."""
_Likeness = tuple[CauseKey, str]
"""Cause of a failure, and its class in the comparison with a baseline."""


@dataclass(slots=True)
class _Copies:
    likeness: _Likeness
    listed: list[FailedCopy]
    total: int = 0


class FailingCopies:
    """Failing originals and the copies that fail alike: for the same cause."""

    def __init__(self) -> None:
        self._originals: dict[_CaseId, _Copies] = {}
        self._roots: dict[_CaseId, _CaseId] = {}
        self._cases: dict[str, _CaseId] = {}
        self._early: dict[str, tuple[_CaseId, _Likeness, FailedCopy]] = {}
        self._late_folds: set[str] = set()

    def folds(self, item: Item, cause: CauseKey, change: str) -> bool:
        """Add a failing item; return True for a copy whose original failed alike before."""
        likeness = cause, change
        case = item.file, item.model_key, item.key
        source = _source_of(item)
        if not source:
            self._originals[case] = _Copies(likeness, [])
            self._cases[item.nodeid] = case
            return False
        root = self._roots.get((item.file, item.model_key, source), (item.file, item.model_key, source))
        self._roots[case] = root
        copy = _copy_of(item)
        if self._add(root, likeness, copy):
            return True
        self._early[item.nodeid] = root, likeness, copy
        return False

    def folded(self, items: list[FailedItem]) -> list[FailedItem]:
        """Return items without the copies whose original came after them, and originals with their copies."""
        for item in items:
            if item.nodeid in self._early and self._add(*self._early[item.nodeid]):
                del self._early[item.nodeid]
                self._late_folds.add(item.nodeid)
        return [self._with_copies(item) for item in items if item.nodeid not in self._late_folds]

    def _add(self, root: _CaseId, likeness: _Likeness, copy: FailedCopy) -> bool:
        copies = self._originals.get(root)
        if copies is None or copies.likeness != likeness:
            return False
        copies.total += 1
        if len(copies.listed) < LISTED_COPIES:
            copies.listed.append(copy)
        return True

    def _with_copies(self, item: FailedItem) -> FailedItem:
        case = self._cases.get(item.nodeid)
        copies = self._originals[case] if case is not None else None
        if copies is None or not copies.total:
            return item
        return replace(item, copies=tuple(copies.listed), copy_count=copies.total)


def _source_of(item: Item) -> str:
    """Return the key of the case that an item is a perturbed copy of, or "" for an original."""
    if item.perturbed is None or not item.rows:
        return ""
    return next((link.target for link in item.rows[0].relationships if link.type == SOURCE), "")


def _copy_of(item: Item) -> FailedCopy:
    perturbed = item.perturbed
    return FailedCopy(
        nodeid=item.nodeid,
        key=item.key,
        by=", ".join(perturbed.by) if perturbed is not None else "",
        question=item.rows[0].question[:QUESTION_CHARS],
    )
