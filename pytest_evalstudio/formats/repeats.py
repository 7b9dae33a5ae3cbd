"""Repeats in suites, rows and configurations: the policy `pass`, and `runs`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
)

from pytest_evalstudio.core.repeats import PassPolicy
from pytest_evalstudio.formats.fields import Text, fact


def _policy(text: str) -> str:
    if text:
        PassPolicy.parse(text)
    return text


Policy = Annotated[Text, AfterValidator(_policy)]
"""A policy of repeats, "" for none."""


class SequentialRuns(BaseModel):
    """Repeats that end as soon as Wald's sequential test has decided.

    Attributes:
        max: maximum number of repeats of a question.
        stop: the test that ends the asking; "sprt" is Wald's sequential probability ratio test.
        p0: pass rate of a good case.
        p1: pass rate of a bad case, less than `p0`.
        alpha: nominal probability of failing a case of pass rate `p0`.
        beta: nominal probability of passing a case of pass rate `p1`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    max: Annotated[int, Field(ge=1, le=1_000)]
    stop: Literal["sprt"]
    p0: Annotated[float, Field(gt=0, lt=1)] = 0.9
    p1: Annotated[float, Field(gt=0, lt=1)] = 0.7
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    beta: Annotated[float, Field(gt=0, lt=0.5)] = 0.1


_COUNT: TypeAdapter[int] = TypeAdapter(Annotated[int, Field(ge=1)])


def _runs(value: Any) -> int | SequentialRuns:
    """Check `runs`: a number, or a table with `max` and `stop`."""
    if isinstance(value, SequentialRuns):
        return value
    try:
        return (
            SequentialRuns.model_validate(value) if isinstance(value, dict) else _COUNT.validate_python(value)
        )
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        location = ".".join(map(str, error["loc"]))
        if error["type"] == "extra_forbidden":
            raise ValueError(
                f"{location}: unknown key; known keys: {', '.join(SequentialRuns.model_fields)}"
            ) from None
        raise ValueError(f"{location}: {fact(error)}" if location else fact(error)) from None


Runs = Annotated[int | SequentialRuns, PlainValidator(_runs, json_schema_input_type=int | SequentialRuns)]
"""Number of times that a question is asked: fixed, or up to a maximum."""


def max_runs(runs: int | SequentialRuns) -> int:
    """Return the maximum number of repeats of a question."""
    return runs.max if isinstance(runs, SequentialRuns) else runs
