"""Saved calibrations, which map scores to the probability that people call an answer good.

They are JSON that any version can check.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.dataclasses import dataclass as pydantic_dataclass

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.reading import read_bytes
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.formats.fields import fact
from pytest_evalstudio.stats.risk_rule import RiskRule, Rule

VERSION, VERSION_OF_SOFTMAX = 1, 2
"""Versions of files: the second one has a curve of the kind "softmax"."""
MARK = "evalstudio_calibration"
PROBABILITY = "calibrated_probability"
"""Key of the metric that replaces the primary one of an evaluator with a calibration."""
Method = Literal["logistic", "isotonic", "ordinal", "multinomial", "boosting"]
METHODS: tuple[Method, ...] = ("logistic", "isotonic", "ordinal", "multinomial", "boosting")
Coverage = Literal["class", "marginal"]
COVERAGES: tuple[Coverage, ...] = ("class", "marginal")
EVEN = 0.5
"""Probability from which on answers pass, in files without a decision."""

Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class _Part(BaseModel):
    # Unknown keys are refused: a curve that is read only in part would give wrong probabilities without
    # notice.
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), defer_build=True)


class CalibratedMetric(_Part):
    """A metric that a calibration takes.

    Attributes:
        evaluator, metric: as the run calls them.
        better: the metric's direction.
        embedder: the embedding model that its scores are of, "" for none.
    """

    evaluator: Annotated[str, Field(min_length=1)]
    metric: Annotated[str, Field(min_length=1)]
    better: Literal["higher", "lower"] = "higher"
    embedder: str = ""

    @property
    def key(self) -> str:
        """Name in commands: `evaluator.metric`."""
        return f"{self.evaluator}.{self.metric}"


class Logistic(_Part):
    """p = 1 / (1 + exp(−(intercept + Σ weight · (score − mean) / scale))).

    Attributes:
        logs: whether log(1 + score) replaces the score, as for metrics without an upper end.
        cuts: only of ordinal regression: level to what stands in the intercept's place for "this level or
            better"; the lowest level has none.
    """

    kind: Literal["logistic"] = "logistic"
    intercept: Finite
    weights: list[Finite]
    means: list[Finite]
    scales: list[Positive]
    logs: list[bool]
    cuts: dict[int, Finite] | None = None


class Line(_Part):
    """p by straight lines between points, level beyond the first and the last; of one metric."""

    kind: Literal["line"] = "line"
    x: Annotated[list[Finite], Field(min_length=1)]
    p: list[Probability]


class Steps(_Part):
    """p[i] for scores above cut i − 1, up to and with cut i; of one metric."""

    kind: Literal["steps"] = "steps"
    x: list[Finite]
    p: Annotated[list[Probability], Field(min_length=1)]


class Softmax(_Part):
    """p(level) ∝ exp(intercept + Σ weight · (score − mean) / scale), of labels with more than two levels.

    Attributes:
        levels: in rising order.
        good_from: the lowest level that counts as good.
        intercepts: of each level.
        weights: of each level, one for each metric.
        logs: whether log(1 + score) replaces the score, as for metrics without an upper end.
    """

    kind: Literal["softmax"] = "softmax"
    levels: Annotated[list[int], Field(min_length=2)]
    good_from: int
    intercepts: list[Finite]
    weights: list[list[Finite]]
    means: list[Finite]
    scales: list[Positive]
    logs: list[bool]


Curve = Annotated[Logistic | Line | Steps | Softmax, Field(discriminator="kind")]


class Conformal(_Part):
    """Result of split conformal prediction on labels that were not used to fit the curve.

    Attributes:
        alpha: share of answers whose set may not contain the label that people would give.
        quantile: quantile of the nonconformity |label − p| of all labels; the set of an answer has the labels
            whose nonconformity is at most the quantile.
        labels: number of labels used.
        kind: "class" for a quantile of good and one of bad answers, so that alpha holds for each of them
            (Mondrian); "marginal" for `quantile`, with which alpha holds for all answers together only.
        quantile_good, quantile_bad: of "class"; 1.0, which keeps the label in every set, where labels are too
            few.
        levels: only of ordinal and multinomial regression: each level that people gave to the quantile of its
            nonconformity.
    """

    alpha: Annotated[float, Field(gt=0, lt=1)]
    quantile: Probability
    labels: Annotated[int, Field(ge=1)]
    kind: Coverage = "marginal"
    quantile_good: Probability | None = None
    quantile_bad: Probability | None = None
    levels: dict[int, Probability] | None = None

    @model_validator(mode="after")
    def _has_its_quantiles(self) -> Conformal:
        if self.kind == "class" and (self.quantile_good is None or self.quantile_bad is None):
            raise ValueError("conformal: the kind 'class' needs quantile_good and quantile_bad")
        return self

    @property
    def limits(self) -> tuple[float, float]:
        """Return the largest nonconformity of a bad, and of a good label in a set."""
        # The first two conditions are excluded by the validator; they are here for the type checker.
        if self.quantile_good is None or self.quantile_bad is None or self.kind == "marginal":
            return self.quantile, self.quantile
        return self.quantile_bad, self.quantile_good


@pydantic_dataclass(
    frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid", defer_build=True)
)
class Decision(RiskRule):
    """Probability from which on an answer passes, and the rule that chose it.

    Attributes:
        probability: answers pass from it on.
    """

    rule: Rule
    limit: Annotated[float, Field(gt=0, lt=1)] | None = None
    cost_type_i: Positive | None = None
    cost_type_ii: Positive | None = None
    probability: Annotated[float, Field(gt=0, lt=1)]


class Calibration(_Part):
    """A calibration as it is saved.

    Attributes:
        metrics: what the curve takes, in its order.
        labels: how many the curve was fitted to.
        good_from: the lowest level that counts as good, where labels had more than two levels.
        decision: None in files without a rule: their answers pass from a probability of 0.5 on.
        figures: how good it is, cross-validated; for people.
    """

    version: Annotated[Literal[1, 2], Field(alias=MARK)] = 1
    method: Method
    metrics: Annotated[list[CalibratedMetric], Field(min_length=1)]
    curve: Curve
    labels: Annotated[int, Field(ge=1)]
    good_from: int | None = None
    conformal: Conformal
    decision: Decision | None = None
    figures: dict[str, Any] = Field(default_factory=dict)

    model_config = ConfigDict(
        extra="forbid", frozen=True, protected_namespaces=(), defer_build=True, populate_by_name=True
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Calibration:
        keys = [metric.key for metric in self.metrics]
        if len(set(keys)) < len(keys):
            raise ValueError(f"metrics: {next(key for key in keys if keys.count(key) > 1)!r} is named twice")
        check_curve(self.curve, len(self.metrics))
        # A reader of version 1 must refuse the file by its number, not stumble over an unknown curve.
        if isinstance(self.curve, Softmax) and self.version != VERSION_OF_SOFTMAX:
            raise ValueError(f"curve: files with the kind 'softmax' have the version {VERSION_OF_SOFTMAX}")
        return self

    @property
    def keys(self) -> list[str]:
        return [metric.key for metric in self.metrics]

    @property
    def cut(self) -> float:
        """Return the probability from which on an answer passes."""
        return EVEN if self.decision is None else self.decision.probability

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        content = self.model_dump(mode="json", by_alias=True)
        write_whole(
            path, (json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
        )


def check_curve(curve: Logistic | Line | Steps | Softmax, metrics: int) -> None:
    """Check that a curve's lists belong together.

    Raises:
        ValueError: if they do not.
    """
    if isinstance(curve, Softmax):
        _check_softmax(curve, metrics)
        return
    if isinstance(curve, Logistic):
        if any(len(numbers) != metrics for numbers in (curve.weights, curve.means, curve.scales, curve.logs)):
            raise ValueError(
                f"curve: weights, means, scales and logs must have one entry for each of the {metrics}"
                " metrics"
            )
        return
    if metrics != 1:
        raise ValueError(f"curve: a curve of kind {curve.kind!r} takes one metric, not {metrics}")
    if len(curve.p) != len(curve.x) + (isinstance(curve, Steps)):
        raise ValueError(
            "curve: steps have one p more than x"
            if isinstance(curve, Steps)
            else "curve: x and p must have the same length"
        )
    if any(one >= other for one, other in pairwise(curve.x)):
        raise ValueError("curve.x: each value must be larger than the one before")
    # A metric where lower is better has a falling curve.
    if list(curve.p) not in (sorted(curve.p), sorted(curve.p, reverse=True)):
        raise ValueError("curve.p: must be sorted, in ascending or descending order")


def _check_softmax(curve: Softmax, metrics: int) -> None:
    widths = {len(curve.means), len(curve.scales), len(curve.logs), *map(len, curve.weights)}
    if widths != {metrics}:
        raise ValueError(
            "curve: rows of weights, means, scales and logs must have one entry for each of the"
            f" {metrics} metrics"
        )
    if not len(curve.levels) == len(curve.intercepts) == len(curve.weights):
        raise ValueError("curve: levels, intercepts and weights must have the same length")
    if any(one >= other for one, other in pairwise(curve.levels)):
        raise ValueError("curve.levels: each level must be larger than the one before")
    if not curve.levels[0] < curve.good_from <= curve.levels[-1]:
        raise ValueError("curve.good_from: must be above the lowest level, and not above the highest")


def load_calibration(path: Path) -> Calibration:
    """Read and check a saved calibration.

    Raises:
        ConfigurationError: with file and key, if it cannot be read or is not a calibration.
    """
    try:
        data = json.loads(read_bytes(path))
    except OSError as exc:
        raise ConfigurationError(f"{path}: cannot be read: {exc.strerror or exc}") from None
    except (ValueError, RecursionError) as exc:
        raise ConfigurationError(f"{path}: is not JSON: {exc}") from None
    if not isinstance(data, dict) or MARK not in data:
        raise ConfigurationError(f"{path}: is not a calibration; `evalstudio calibrate … -o FILE` writes one")
    # Checked before the rest: a later version may have keys whose refusal would hide the real cause.
    if data[MARK] not in (VERSION, VERSION_OF_SOFTMAX):
        raise ConfigurationError(
            f"{path}: is a calibration of version {data[MARK]!r}; this version reads {VERSION} and"
            f" {VERSION_OF_SOFTMAX}. Calibrate again"
        )
    try:
        return Calibration.model_validate(data)
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        location = ".".join(str(step) for step in error["loc"])
        raise ConfigurationError(
            f"{path}: {location}: {fact(error)}" if location else f"{path}: {fact(error)}"
        ) from None
