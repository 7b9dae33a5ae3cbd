"""Compact form of test reports between the processes of pytest-xdist.

execnet writes and reads nested lists and dictionaries element by element in Python. The large parts of a
report travel as one JSON string instead, which takes a tenth of the time.
"""

from __future__ import annotations

import copy
import json
from typing import Any

from pytest_evalstudio.plugin.keys import PAYLOAD

PACKED = "evalstudio_packed"
"""Key of the JSON string among the serialised fields of a report."""
_PROPERTIES = "user_properties"
_TRACEBACK, _CRASH = "reprtraceback", "reprcrash"


def pack(data: dict[str, Any]) -> None:
    """Replace the large fields of a serialised report by one string; other fields keep their types.

    Args:
        data: what pytest serialised; changed in place.
    """
    packed = {name: data[name] for name in (PAYLOAD, _PROPERTIES, "keywords") if name in data}
    if isinstance(data.get("longrepr"), dict):
        packed["longrepr"] = _without_repetition(data["longrepr"])
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
    failure = data.get("longrepr")
    if isinstance(failure, dict) and failure.get("chain") and _TRACEBACK not in failure:
        # Copies: pytest changes the entries of each traceback in place.
        failure[_TRACEBACK], failure[_CRASH] = copy.deepcopy(failure["chain"][-1][:2])
    if _PROPERTIES in data:
        data[_PROPERTIES] = [tuple(pair) for pair in data[_PROPERTIES]]


def _without_repetition(failure: dict[str, Any]) -> dict[str, Any]:
    """Return a failure without the traceback and place that the end of its chain of exceptions has, too."""
    chain = failure.get("chain")
    if not chain or [failure.get(_TRACEBACK), failure.get(_CRASH)] != list(chain[-1][:2]):
        return failure
    return {name: value for name, value in failure.items() if name not in (_TRACEBACK, _CRASH)}
