"""Copies of workflow files under another name, with changes."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_evalstudio.contrib.validation.workflow.documents import moved
from pytest_evalstudio.contrib.validation.workflow_file import ROOT, read_workflow
from pytest_evalstudio.formats.source import Source


def cloned(
    source: Source,
    path: Path,
    target: Path,
    changes: Mapping[str, str],
    parameters: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the content of a copy of a workflow file.

    All keys stay, the parameters of the steps included, but not `folder`: each workflow has artifacts of its
    own. Documents are named from the folder of the copy.

    Args:
        source: the parsed workflow.
        path: its file.
        target: file of the copy.
        changes: values of keys such as `name` and `model`.
        parameters: parameters of steps that replace those of the source.

    Raises:
        DataError: if the source is not a workflow.
    """
    workflow = read_workflow(source)
    content: dict[str, Any] = copy.deepcopy(source.data)
    root = content[ROOT]
    root.pop("folder", None)
    root["name"] = f"{workflow.name or path.stem} (copy)"
    root.update(changes)
    root["documents"] = [
        moved(document, path.parent.absolute(), target.parent.absolute()) for document in workflow.documents
    ]
    for step, values in parameters.items():
        root.setdefault("steps", {})[step] = {**root.get("steps", {}).get(step, {}), **values}
    return content
