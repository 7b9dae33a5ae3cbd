"""Files that govern validations, named by a workflow: a JSON object under one key, checked by a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.paths import path_below
from pytest_evalstudio.formats.fields import fact
from pytest_evalstudio.formats.source import Source, pointer

ModelT = TypeVar("ModelT", bound=BaseModel)


def governance_file(name: str, workflow: Path, key: str) -> Path:
    """Return the path of a file that a workflow names.

    Args:
        name: from the folder of the workflow's file.
        workflow: path of the workflow's file.
        key: of `governance` in the workflow, which names the file.

    Raises:
        DataError: if there is no such file below that folder.
    """
    place = f"/evalstudio_workflow/governance/{key}"
    try:
        file = path_below(workflow.parent, name)
    except ValueError as exc:
        raise DataError(str(exc), source=str(workflow), pointer=place) from None
    if not file.is_file():
        raise DataError(f"there is no file {name}", source=str(workflow), pointer=place)
    return file


def governance_of(source: Source, model: type[ModelT], root: str, schema: str) -> ModelT:
    """Return the content of a parsed file.

    Args:
        model: of the content.
        root: key of the content.
        schema: name of its schema, as `evalstudio schema` knows it.

    Raises:
        DataError: at the place of the first thing that is wrong.
    """
    data: Any = source.data
    if not isinstance(data, dict) or root not in data:
        raise source.error("", f"is not a {schema} file: it has no key {root!r}")
    try:
        return model.model_validate(data[root])
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        location = pointer(root, *error["loc"])
        if error["type"] == "extra_forbidden":
            raise source.error(location, f"unknown key; `evalstudio schema {schema}` prints all") from None
        raise source.error(location, fact(error)) from None
