"""Templates of promptfoo with plain variables: `{{ name }}`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.imported.records import Omissions, text_of
from pytest_evalstudio.text.unicode import valid_json

_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_LOGIC = re.compile(r"\{%|\{\{")


def has_logic(template: str) -> bool:
    """Return whether a template has more than plain variables."""
    return _LOGIC.search(_VARIABLE.sub("", template)) is not None


def chat_of(text: str) -> Json:
    """Return the messages of a prompt that is a JSON list of them, else the prompt."""
    if not text.lstrip().startswith("["):
        return text
    try:
        messages: Json = json.loads(valid_json(text))
    except (ValueError, RecursionError):
        return text
    return messages if isinstance(messages, list) else text


def filled(template: str, variables: Mapping[str, str]) -> str:
    """Return a template with its variables; unknown ones become empty."""
    return _VARIABLE.sub(lambda match: variables.get(match[1], ""), template)


def filled_json(value: Json, variables: Mapping[str, str]) -> Json:
    """Return a value of JSON whose texts are filled templates."""
    if isinstance(value, str):
        return filled(value, variables)
    if isinstance(value, list):
        return [filled_json(item, variables) for item in value]
    if isinstance(value, dict):
        return {name: filled_json(item, variables) for name, item in value.items()}
    return value


def plain_text(value: Json) -> str:
    """Return the text of a value of JSON."""
    return text_of(value, Omissions())
