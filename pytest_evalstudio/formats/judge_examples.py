"""Examples that people have judged, for the prompt of a judge; `evalstudio judge-tune` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import Example
from pytest_evalstudio.core.reading import read_utf8
from pytest_evalstudio.formats.fields import fact


class JudgeExample(BaseModel):
    """One example.

    Attributes:
        texts: the material by name, as the prompt shows it.
        verdict: the option that is right.
    """

    model_config = ConfigDict(extra="forbid")

    texts: dict[str, str | list[str]]
    verdict: str


class JudgeExamples(BaseModel):
    """A file of examples.

    Attributes:
        evaluator: id of the evaluator that they are for.
        prompt: name of the prompt that shows them; "" where there are none.
        examples: in the order in which the prompt shows them.
        threshold: proposed threshold of the primary metric; None for no change.
        figures: agreement with people that was measured.
    """

    model_config = ConfigDict(extra="forbid")

    evaluator: str
    prompt: str = ""
    examples: list[JudgeExample] = Field(default_factory=list)
    threshold: float | None = None
    figures: dict[str, Any] = Field(default_factory=dict)

    def by_prompt(self) -> dict[str, tuple[Example, ...]]:
        """Return the examples by the name of their prompt."""
        if not self.examples:
            return {}
        return {
            self.prompt: tuple(
                Example(texts=example.texts, verdict=example.verdict) for example in self.examples
            )
        }

    @classmethod
    def load(cls, path: Path) -> JudgeExamples:
        """Read a file.

        Raises:
            ConfigurationError: with the file and what is wrong.
        """
        try:
            return cls.model_validate(json.loads(read_utf8(path)))
        except ValidationError as exc:
            error = exc.errors(include_url=False)[0]
            location = ".".join(str(step) for step in error["loc"])
            raise ConfigurationError(f"judge.examples: {path}: {location}: {fact(error)}") from None
        except (OSError, ValueError, RecursionError) as exc:
            raise ConfigurationError(f"judge.examples: {path} cannot be read: {exc}") from None
