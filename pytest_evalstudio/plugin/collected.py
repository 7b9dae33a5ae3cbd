"""Test cases of models by which a comparison knows what was collected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pytest_evalstudio.scoring.identifiers import safe_identifier

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.items import EvalItem

CaseOfModel = tuple[str, str, str]
"""File, key and model of an item, as the identities of a comparison have them."""


def cases_of_models(items: Iterable[EvalItem]) -> Iterator[CaseOfModel]:
    """Yield file, key and model of items; two of an item whose model has a label besides its key."""
    for item in items:
        model = item.task.model
        key = safe_identifier(item.task.key)
        for name in dict.fromkeys((model.label, model.key)):
            yield item.file.nodeid, key, name
