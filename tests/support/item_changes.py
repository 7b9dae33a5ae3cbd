"""Changes of items between two runs, as a comparison lists them."""

from __future__ import annotations

from typing import Any

from pytest_evalstudio.analysis.comparison.results import ItemChange


def item_change(key: str, **fields: Any) -> ItemChange:
    """Return a regressed item of the model `m`, unless the fields say otherwise."""
    defaults: dict[str, Any] = {
        "item_class": "regressed",
        "nodeid": f"s.json::{key}",
        "file": "s.json",
        "model": "m",
    }
    return ItemChange(key=key, **{**defaults, **fields})
