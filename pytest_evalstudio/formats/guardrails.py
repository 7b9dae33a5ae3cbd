"""Guardrail configurations: evaluators that check answers where they are given, with their thresholds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.reading import read_utf8
from pytest_evalstudio.formats.fields import fact, write_json


class Guardrails(BaseModel):
    """Guardrail configuration: evaluators that check answers, and their thresholds.

    Attributes:
        calibrated_thresholds: evaluator id to metric key to threshold.
        evaluator_ids: all evaluators, those without a threshold of their own too.
        not_calibrated: evaluator id to the keys of the metrics whose threshold is the run's and not
            calibrated by people's labels.
        optional: evaluators and metrics, as `ID` or `ID.METRIC`, that may not apply to an answer; any other
            one that does not apply makes the guard's verdict uncertain.
        expected: expected use of the calibrated thresholds together, for people: share of flagged answers,
            misses per 1,000 answers, cost.
    """

    model_config = ConfigDict(extra="allow", defer_build=True)

    calibrated_thresholds: dict[str, dict[str, float]] = Field(default_factory=dict)
    evaluator_ids: list[str] = Field(default_factory=list)
    not_calibrated: dict[str, list[str]] = Field(default_factory=dict)
    optional: list[str] = Field(default_factory=list)
    expected: dict[str, Any] | None = None

    def save(self, path: Path, *, reference_ids: bool = False) -> None:
        """Write the configuration as JSON.

        Args:
            reference_ids: whether to use the evaluator ids of the reference engine; evaluators and keys that
                it does not have are left out.
        """
        from pytest_evalstudio.core.guide_names import EVALUATOR_CLASSES, REFERENCE

        options = (
            {id: REFERENCE + name for id, name in EVALUATOR_CLASSES.items()}
            if reference_ids
            else {id: id for id in self.evaluators}
        )
        content: dict[str, object] = {
            "calibrated_thresholds": {
                options[id]: metrics for id, metrics in self.calibrated_thresholds.items() if id in options
            },
            "evaluator_ids": [options[id] for id in self.evaluators if id in options],
        }
        if not reference_ids:
            marks = {
                "not_calibrated": self.not_calibrated,
                "optional": self.optional,
                "expected": self.expected,
            }
            content |= {name: value for name, value in marks.items() if value}
        write_json(path, content)

    @property
    def evaluators(self) -> list[str]:
        """Distinct ids, in order."""
        return list(dict.fromkeys([*self.evaluator_ids, *self.calibrated_thresholds]))


def read_guardrails(path: Path) -> Guardrails:
    """Read a guardrail configuration; ids of the reference engine are translated.

    Raises:
        ConfigurationError: with the file and the fault.
    """
    try:
        data: Any = json.loads(read_utf8(path))
    except OSError as exc:
        raise ConfigurationError(f"{path}: cannot be read: {exc.strerror or exc}") from None
    except (ValueError, RecursionError) as exc:
        raise ConfigurationError(f"{path}: is not JSON: {exc}") from None
    if not isinstance(data, dict) or not data.keys() & {"calibrated_thresholds", "evaluator_ids"}:
        raise ConfigurationError(
            f"{path}: is not a guardrail configuration: it has neither 'calibrated_thresholds' nor"
            " 'evaluator_ids'"
        )
    try:
        guardrails = Guardrails.model_validate(data)
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        raise ConfigurationError(
            f"{path}: {'.'.join(str(step) for step in error['loc'])}: {fact(error)}"
        ) from None
    try:
        return Guardrails(
            calibrated_thresholds={
                own_id(id): metrics for id, metrics in guardrails.calibrated_thresholds.items()
            },
            evaluator_ids=[own_id(id) for id in guardrails.evaluator_ids],
            not_calibrated={own_id(id): metrics for id, metrics in guardrails.not_calibrated.items()},
            optional=[_own_name(name) for name in guardrails.optional],
            expected=guardrails.expected,
        )
    except ConfigurationError as exc:
        raise ConfigurationError(f"{path}: {exc}") from None


def _own_name(name: str) -> str:
    """Return `ID` or `ID.METRIC` with the id that this package uses."""
    from pytest_evalstudio.core.guide_names import REFERENCE

    if name.startswith(REFERENCE):
        return own_id(name)
    id, dot, metric = name.partition(".")
    return own_id(id) + dot + metric


def own_id(id: str) -> str:
    """Return the id that this package uses for an evaluator of a guardrail configuration.

    Raises:
        ConfigurationError: for an evaluator of the reference engine that has no counterpart.

    >>> own_id("h2o_sonar.evaluators.pii_leakage_evaluator.PiiLeakageEvaluator")
    'pii_leakage'
    >>> own_id("rouge")
    'rouge'
    """
    from pytest_evalstudio.core.guide_names import REFERENCE, own_evaluator

    own_id = own_evaluator(id)
    if not own_id and id.startswith(REFERENCE):
        raise ConfigurationError(f"{id!r} has no counterpart in this package; remove it")
    return own_id or id
