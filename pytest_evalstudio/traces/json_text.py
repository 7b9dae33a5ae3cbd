"""Values as JSON text, fast where possible."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from pytest_evalstudio.formats.fields import encoded
from pytest_evalstudio.text.unicode import valid_json


def to_json(value: object) -> bytes:
    """Return JSON in UTF-8; numbers of more than 64 bits and lone surrogates are written, too."""
    try:
        return msgspec.json.encode(value)
    except (OverflowError, ValueError):
        return encoded(json.dumps(msgspec.to_builtins(value), ensure_ascii=False))


def from_json(text: bytes) -> Any:
    """Return the value of a text that `to_json` wrote."""
    try:
        return msgspec.json.decode(text)
    except ValueError:
        return json.loads(valid_json(text.decode()))
