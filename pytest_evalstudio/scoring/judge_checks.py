"""Results of judge-check that a configuration names for its evaluators."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.evaluator import EvaluatorSpec
from pytest_evalstudio.formats.config import Configuration

if TYPE_CHECKING:
    from pytest_evalstudio.formats.judge_checks import JudgeCheck

JUDGE_CHECK_OPTION = "judge_check"
"""Option of an evaluator that names the file."""


class AttachedCheck(Struct, frozen=True, kw_only=True):
    """A result of judge-check that an evaluator has.

    Attributes:
        file: as the configuration names it.
        sha256: of the file's content.
    """

    check: JudgeCheck
    file: str
    sha256: str


def check_of(config: Configuration, name: str, spec: EvaluatorSpec, file: object) -> AttachedCheck | None:
    """Load the result of judge-check that a configuration names for an evaluator; None without.

    Args:
        name: of the evaluator in the configuration.
        spec: of the evaluator.
        file: as the configuration names it.

    Raises:
        ConfigurationError: if it cannot be read, or belongs to an evaluator of another type.
    """
    if file is None:
        return None
    location = f"{config.file or 'configuration'}: evaluator.{name}.{JUDGE_CHECK_OPTION}"
    if not spec.prompts:
        raise ConfigurationError(f"{location}: evaluator {name!r} asks no judge; remove it")
    if not isinstance(file, str):
        raise ConfigurationError(
            f"{location}: expected the name of a file of `evalstudio judge-check -o FILE`, found {file!r}"
        )
    from pytest_evalstudio.formats.judge_checks import load_judge_check

    path = config.folder / file
    try:
        check = load_judge_check(path)
    except ConfigurationError as exc:
        raise ConfigurationError(f"{location}: {exc}") from None
    if check.type != spec.id:
        raise ConfigurationError(
            f"{location}: {file} measures the judge of {check.type}, not of {spec.id}; run judge-check for"
            f" {name!r}"
        )
    return AttachedCheck(check=check, file=file, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
