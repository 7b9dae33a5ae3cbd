"""Prompts of models: template files that `[[model]]` names by `prompt`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.reading import read_utf8

MAX_PROMPT_BYTES = 1_000_000


class PromptFile(BaseModel):
    """Template of the prompt with which a model is asked.

    Attributes:
        file: as the configuration names it.
        text: of the template.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    file: str
    text: str


def read_prompts(files: Sequence[str], folder: Path, location: str) -> list[PromptFile]:
    """Read the templates that a model names.

    Args:
        files: paths, relative to the folder.
        folder: of the configuration.
        location: of the key, for messages.

    Raises:
        ConfigurationError: if a file is named twice, cannot be read, or is too long.
    """
    prompts: list[PromptFile] = []
    for file in files:
        if file in [prompt.file for prompt in prompts]:
            raise ConfigurationError(f"{location}: {file!r} is named twice; remove one of them")
        path = folder / file
        try:
            if path.stat().st_size > MAX_PROMPT_BYTES:
                raise ConfigurationError(f"{location}: {file} is longer than {MAX_PROMPT_BYTES:,} bytes")
            text = read_utf8(path)
        except OSError as exc:
            raise ConfigurationError(f"{location}: {file} cannot be read: {exc.strerror or exc}") from None
        except UnicodeDecodeError:
            raise ConfigurationError(f"{location}: {file} is not UTF-8; save the file as UTF-8") from None
        prompts.append(PromptFile(file=file, text=text))
    return prompts


def prompt_file_of(settings: Mapping[str, object]) -> PromptFile | None:
    """Return the template in the settings of a model, None where they have none."""
    value = settings.get("prompt")
    return None if value is None else PromptFile.model_validate(value)
