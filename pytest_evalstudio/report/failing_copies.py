"""Perturbed copies that fail like their original, which are one entry with it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

from pytest_evalstudio.analysis.causes import CauseKey
from pytest_evalstudio.core.origins import SOURCE
from pytest_evalstudio.record.schema import Item
from pytest_evalstudio.report.failure_types import FailedCopy, FailedItem

LISTED_COPIES = 50
"""Copies of one original that the page lists; the matrix has all."""
QUESTION_CHARS = 200

_Likeness = tuple[CauseKey, str]
"""Cause of a failure, and its class in the comparison with a baseline."""
_ModelCases = tuple[str, str]
"""File and model key, which many cases share."""


@dataclass(slots=True)
class _Copies:
    listed: list[FailedCopy] = field(default_factory=list)
    total: int = 0


class FailingCopies:
    """Failing originals and the copies that fail alike: for the same cause.

    Most failing items have no copies: of each there is only its key.
    """

    def __init__(self) -> None:
        self._originals: defaultdict[_ModelCases, dict[str, _Likeness]] = defaultdict(dict)
        self._distinct: dict[_Likeness, _Likeness] = {}
        self._copies: defaultdict[tuple[_ModelCases, str], _Copies] = defaultdict(_Copies)
        self._roots: defaultdict[_ModelCases, dict[str, str]] = defaultdict(dict)
        self._early: dict[str, tuple[_ModelCases, str, _Likeness, FailedCopy]] = {}
        self._late_folds: set[str] = set()

    def folds(self, item: Item, cause: CauseKey, change: str) -> bool:
        """Add a failing item; return True for a copy whose original failed alike before."""
        likeness = self._distinct.setdefault((cause, change), (cause, change))
        group = item.file, item.model_key
        source = _source_of(item)
        if not source:
            self._originals[group][item.key] = likeness
            return False
        roots = self._roots[group]
        root = roots[item.key] = roots.get(source, source)
        copy = _copy_of(item)
        if self._add(group, root, likeness, copy):
            return True
        self._early[item.nodeid] = group, root, likeness, copy
        return False

    def folded(self, items: list[FailedItem]) -> list[FailedItem]:
        """Return items without the copies whose original came after them, and originals with their copies."""
        for item in items:
            if item.nodeid in self._early and self._add(*self._early[item.nodeid]):
                del self._early[item.nodeid]
                self._late_folds.add(item.nodeid)
        return [self._with_copies(item) for item in items if item.nodeid not in self._late_folds]

    def _add(self, group: _ModelCases, root: str, likeness: _Likeness, copy: FailedCopy) -> bool:
        if self._originals[group].get(root) != likeness:
            return False
        copies = self._copies[group, root]
        copies.total += 1
        if len(copies.listed) < LISTED_COPIES:
            copies.listed.append(copy)
        return True

    def _with_copies(self, item: FailedItem) -> FailedItem:
        copies = self._copies.get(((item.file, item.model_key), item.key))
        if copies is None or item.nodeid in self._early:
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
