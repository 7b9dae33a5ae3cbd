"""Compact form of an item's test report on its way from an xdist worker to the controller.

execnet writes and reads nested lists and dictionaries element by element in Python. The large parts of a
report travel as one JSON string instead, which takes a tenth of the time.
"""

from __future__ import annotations

import json
from typing import Any

from pytest_evalstudio.plugin.keys import PAYLOAD

PACKED = "evalstudio_packed"
"""Key of the JSON string among the serialised fields of a report."""
_PROPERTIES = "user_properties"


def pack(data: dict[str, Any]) -> None:
    """Replace the large fields of a serialised report by one string; other fields keep their types.

    Args:
        data: what pytest serialised; changed in place.
    """
    packed = {name: data[name] for name in (PAYLOAD, _PROPERTIES, "keywords") if name in data}
    if isinstance(data.get("longrepr"), dict):
        packed["longrepr"] = data["longrepr"]
    try:
        text = json.dumps(packed)
    except (TypeError, ValueError):  # another plugin's value, which only execnet can write
        return
    for name in packed:
        del data[name]
    data[PACKED] = text


def unpack(data: dict[str, Any]) -> None:
    """Restore the fields that `pack` replaced."""
    text = data.pop(PACKED, None)
    if text is None:
        return
    data.update(json.loads(text))
    if _PROPERTIES in data:
        data[_PROPERTIES] = [tuple(pair) for pair in data[_PROPERTIES]]
