"""Process that asks the application of a project, with questions alone: it has no expectations and no key.

It reads an `AskRequest` from standard input and writes a lab with the answers to standard output. What the
application prints goes to standard error.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from pytest_evalstudio.api.labs import LabBuilder
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.config import Configuration, load_configuration
from pytest_evalstudio.formats.recognition import find_configuration
from pytest_evalstudio.formats.suite import TestSuite


class AskRequest(Struct, frozen=True, kw_only=True):
    """Order to ask the models of a project.

    Attributes:
        suite: questions as JSON, in the form of a suite.
        path: of the project's suite, relative to the current folder; documents and the configuration are
            looked for from there.
    """

    suite: msgspec.Raw
    path: str


def lab_of(request: AskRequest) -> dict[str, object]:
    """Return a lab with the answers of all models.

    Raises:
        ConfigurationError: if the project has no model, or one cannot be opened.
    """
    folder = (Path.cwd() / request.path).parent
    file = find_configuration(folder, Path.cwd())
    config = load_configuration(file) if file is not None else Configuration(folder=folder)
    if not config.model:
        raise ConfigurationError(f"{config.file or request.path}: there is no [[model]]; add one")
    tables = [
        {
            "name": table.name,
            "runs": table.runs or config.runs,
            "budget": table.budget,
            **table.settings,
        }
        for table in config.model
    ]
    suite = TestSuite.model_validate(msgspec.json.decode(request.suite))
    with LabBuilder(
        suite,
        tables,
        folder=config.folder,
        documents=folder,
        allow_private_hosts=config.allow_private_hosts,
    ) as builder:
        return builder.complete_dataset().to_dict()


def main() -> int:
    """Ask, and return 0."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=AskRequest)
    output = os.dup(1)
    os.dup2(2, 1)
    lab = lab_of(request)
    with open(output, "wb") as file:
        file.write(msgspec.json.encode(lab))
    return 0


if __name__ == "__main__":
    sys.exit(main())
