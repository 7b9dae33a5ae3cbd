"""Options of every evaluator that change what is recorded and reported, and no score."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.core.errors import ConfigurationError


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReportingOptions:
    """Options of every evaluator's table in the configuration.

    Attributes:
        min_test_cases: a model with fewer scored cases is reported as a problem; None for the
            configuration's number.
        save_llm_result: whether the report has the files with each row and its scores.
        sentence_level_metrics: whether parts of answers are recorded with their scores.
    """

    min_test_cases: int | None = None
    save_llm_result: bool = True
    sentence_level_metrics: bool = True

    @classmethod
    def of(cls, table: Mapping[str, Any], evaluator: type, location: str) -> ReportingOptions:
        """Return the options in an evaluator's table; parameters of the evaluator itself are not among them.

        Raises:
            ConfigurationError: for a value of a wrong type.
        """
        options = {name: table[name] for name in names_for(evaluator) if name in table}
        for name, value in options.items():
            is_count = name == "min_test_cases"
            if is_count and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise ConfigurationError(
                    f"{location}.{name}: expected a whole number from 0, found {value!r}"
                )
            if not is_count and not isinstance(value, bool):
                raise ConfigurationError(f"{location}.{name}: expected true or false, found {value!r}")
        return cls(**options)


REPORTING_NAMES = tuple(field.name for field in dataclasses.fields(ReportingOptions))


def names_for(evaluator: type) -> tuple[str, ...]:
    """Return the names of the options, without those that the evaluator has as parameters of its own."""
    parameters = {field.name for field in dataclasses.fields(evaluator)}
    return tuple(name for name in REPORTING_NAMES if name not in parameters)
