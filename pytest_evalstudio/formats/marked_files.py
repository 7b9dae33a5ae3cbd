"""JSON files that this package writes and reads again, recognised by a key of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.reading import read_utf8
from pytest_evalstudio.formats.fields import fact

Content = TypeVar("Content", bound=BaseModel)


def load_marked(path: Path, content: type[Content], mark: str, other_kind: str) -> Content:
    """Return the content of a file.

    Args:
        path: of the file.
        content: type of the content.
        mark: key that every file of this kind has.
        other_kind: fact and remedy for a file without it, e.g. "is no result of judge-check; write one".

    Raises:
        ConfigurationError: with the file and its fault.
    """
    try:
        data = json.loads(read_utf8(path))
    except (OSError, ValueError, RecursionError) as exc:
        raise ConfigurationError(f"{path} cannot be read: {exc}") from None
    if not isinstance(data, dict) or mark not in data:
        raise ConfigurationError(f"{path} {other_kind}")
    try:
        return content.model_validate(data)
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        location = ".".join(map(str, error["loc"]))
        raise ConfigurationError(f"{path}: {location}: {fact(error)}") from None
