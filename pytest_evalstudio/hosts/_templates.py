"""Requests made from templates, and replies read by JSON Pointers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.core.errors import ConfigurationError, nearest
from pytest_evalstudio.hosts._attachments import FIELDS

NAMES = (
    "prompt",
    "key",
    "system",
    "conversation",
    "messages",
    "corpus",
    "model",
    "run",
    "session",
    "context",
)
LISTS = tuple(
    f"{name}{field}" for name in ("images", "files") for field in ("", *(f".{field}" for field in FIELDS))
)
"""Names of lists of images and files, and of one of their fields; each is a whole value of a body."""
ALIASES: Mapping[str, str] = {"question": "prompt", "input": "prompt"}
"""Names that the question has elsewhere: in templates of prompts, and in data sets."""
MISSING: Any = object()
_PLACEHOLDER = re.compile(r"\{\{ *(\w*(?:\.\w+)?) *\}\}")
# Written as in Python's format strings, it would be sent as it is, and every answer would be to these words.
_SINGLE_BRACES = re.compile(r"(?<!\{)\{ *(prompt|question|input) *\}(?!\})")


def check_template(template: Any, location: str, *, has_lists: bool = False) -> None:
    """Check the names in a template.

    Args:
        location: of the template in the configuration.
        has_lists: whether it may have the images and files of a question.

    Raises:
        ConfigurationError: for the first unknown name, a question in single braces, or a list of images or
            files that is no whole value.
    """
    if isinstance(template, str):
        if single := _SINGLE_BRACES.search(template):
            raise ConfigurationError(
                f"{location}: {single[0]} is not a placeholder; write {{{{ {single[1]} }}}}"
            )
        for placeholder in _PLACEHOLDER.finditer(template):
            _check_placeholder(template, placeholder[1], location, has_lists=has_lists)
    elif isinstance(template, Mapping):
        for key, value in template.items():
            check_template(key, location)
            check_template(value, f"{location}.{key}", has_lists=has_lists)
    elif isinstance(template, list | tuple):
        for index, value in enumerate(template):
            check_template(value, f"{location}.{index}", has_lists=has_lists)


def _check_placeholder(template: str, name: str, location: str, *, has_lists: bool) -> None:
    if name in LISTS:
        if not (has_lists and _PLACEHOLDER.fullmatch(template.strip())):
            raise ConfigurationError(
                f"{location}: {{{{ {name} }}}} is a list; make it the whole value of a key of `body`"
            )
    elif ALIASES.get(name, name) not in NAMES:
        possible = (*NAMES, *LISTS)
        hint = nearest(name, possible) or f"Known names: {', '.join(possible)}"
        raise ConfigurationError(f"{location}: {{{{ {name} }}}} is unknown. {hint}")


def names_in(template: Any) -> set[str]:
    """Return the names in a template.

    >>> sorted(names_in({"q": "{{ prompt }}", "ids": ["{{ session }}"]}))
    ['prompt', 'session']
    """
    if isinstance(template, str):
        names = {placeholder[1] for placeholder in _PLACEHOLDER.finditer(template)}
        return {ALIASES.get(name, name) for name in names}
    if isinstance(template, Mapping):
        return names_in(list(template)) | names_in(list(template.values()))
    return set().union(*map(names_in, template)) if isinstance(template, list | tuple) else set()


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a template with its placeholders replaced.

    A text that is nothing but a placeholder becomes the value itself, e.g. a list of messages.

    >>> filled({"q": "{{ prompt }}!", "n": ["{{ run }}"]}, {"prompt": "Hi", "run": 2})
    {'q': 'Hi!', 'n': [2]}
    """
    if isinstance(template, str):
        whole = _PLACEHOLDER.fullmatch(template.strip())
        if whole:
            return values[ALIASES.get(whole[1], whole[1])]
        return _PLACEHOLDER.sub(
            lambda placeholder: _as_text(values[ALIASES.get(placeholder[1], placeholder[1])]), template
        )
    if isinstance(template, Mapping):
        return {filled_text(key, values): filled(value, values) for key, value in template.items()}
    return [filled(item, values) for item in template] if isinstance(template, list | tuple) else template


def filled_text(template: str, values: Mapping[str, Any]) -> str:
    """Return a template as text.

    >>> filled_text("{{ run }}", {"run": 2})
    '2'
    """
    return _as_text(filled(template, values))


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return "\n".join(
            f"{item['role']}: {item['content']}" if isinstance(item, Mapping) else str(item) for item in value
        )
    return str(value)


def at_pointer(value: Any, pointer: str) -> Any:
    """Return the part of a JSON value at a pointer (RFC 6901), MISSING where there is none.

    The name `*` stands for every item of a list; the result is then a list without the missing ones.

    >>> at_pointer({"hits": [{"text": "a"}, {"text": "b"}]}, "/hits/*/text")
    ['a', 'b']
    """
    return _at(value, pointer.removeprefix("/").split("/") if pointer not in ("", "/") else [])


def _at(value: Any, names: list[str]) -> Any:
    for index, raw in enumerate(names):
        name = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name == "*":
            parts = (_at(item, names[index + 1 :]) for item in value)
            return [part for part in parts if part is not MISSING]
        elif isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return MISSING
    return value
