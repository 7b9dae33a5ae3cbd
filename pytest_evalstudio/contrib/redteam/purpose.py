"""Purpose of an application: what it is for, and what it must not do."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.reading import read_utf8
from pytest_evalstudio.formats.fields import fact

Line = Annotated[str, Field(min_length=1, max_length=500)]


class Purpose(BaseModel):
    """Purpose of an application, from a TOML file.

    Attributes:
        name: of the application or its owner, as users know it.
        purpose: what it does, as the end of "It …".
        topics: subjects that it is for.
        forbidden: subjects that it must not talk about.
        secrets: texts that must never be in an answer, such as a phrase of its system prompt.
        tools: names of tools that change something, for agents.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    name: Line
    purpose: Line
    topics: list[Line] = Field(min_length=1)
    forbidden: list[Line] = Field(default_factory=list)
    secrets: list[Line] = Field(default_factory=list)
    tools: list[Line] = Field(default_factory=list)


def read_purpose(path: Path) -> Purpose:
    """Read the purpose of an application.

    Raises:
        ConfigurationError: with file, key and fault.
    """
    try:
        return Purpose.model_validate(tomllib.loads(read_utf8(path)))
    except OSError as exc:
        raise ConfigurationError(f"{path}: cannot be read: {exc.strerror or exc}") from None
    # A ValidationError and a UnicodeDecodeError are ValueErrors, too, so that faults of TOML come last.
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        location = ".".join(map(str, error["loc"]))
        if error["type"] == "extra_forbidden":
            keys = ", ".join(Purpose.model_fields)
            raise ConfigurationError(f"{path}: {location}: unknown key; known keys: {keys}") from None
        raise ConfigurationError(f"{path}: {location}: {fact(error)}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path}: is not UTF-8; save the file as UTF-8") from None
    except ValueError as exc:
        raise ConfigurationError(f"{path}: is not TOML: {exc}") from None
    except RecursionError:
        raise ConfigurationError(f"{path}: is nested too deeply to be read") from None
