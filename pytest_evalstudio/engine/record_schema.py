"""The form of a record's lines, checked when it is read: records are edited, cut and merged by hand."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Required

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from pytest_evalstudio.formats.fields import fact

# A record of 1,000,000 lines is checked in seconds: unknown keys are passed over, texts and numbers are not converted.
_STRICT = ConfigDict(strict=True, extra="ignore")
Number = float | Literal["Infinity", "-Infinity"]
"""JSON has no infinities; a record writes them as words."""
Place = Annotated[int, Field(ge=0)]


@with_config(_STRICT)
class _Metric(TypedDict, total=False):
    key: Required[str]
    name: str
    better: Literal["higher", "lower"]
    range: Annotated[list[Number], Field(min_length=2, max_length=2)]
    threshold: Number
    primary: bool
    asserted: bool
    description: str


@with_config(_STRICT)
class _Evaluator(TypedDict, total=False):
    type: str
    name: str
    description: str
    domain: str
    method: list[str]
    needs: list[str]
    scope: str
    boolean: bool
    model_types: list[str]
    parameters: dict[str, Any]
    metrics: Required[Annotated[list[_Metric], Field(min_length=1)]]
    keywords: list[str]
    problem_type: str
    avid: str
    embedder: str
    judge: dict[str, Any]
    calibration: dict[str, Any]


@with_config(_STRICT)
class _Header(TypedDict, total=False):
    run_id: str
    created: str
    finished: str | None
    interrupted: bool
    tool: dict[str, Any]
    python: str
    gates: list[str]
    settings: dict[str, Any]
    evaluators: Required[dict[str, _Evaluator]]
    models: Required[dict[str, dict[str, Any]]]
    files: Required[list[dict[str, Any]] | dict[str, dict[str, Any]]]
    steps: dict[str, dict[str, Any]]
    judging: dict[str, Any]


@with_config(_STRICT)
class _Fragment(TypedDict, total=False):
    part: str
    start: Required[Place]
    end: Required[Place]
    message: str
    scores: dict[str, Number | None]


@with_config(_STRICT)
class _Finding(TypedDict, total=False):
    description: str
    severity: Literal["low", "medium", "high"]
    problem_type: str
    avid: str
    actions: str


@with_config(_STRICT)
class _Outcome(TypedDict, total=False):
    status: Required[str]
    reason: str
    scores: dict[str, Number | None]
    fragments: list[_Fragment]
    findings: list[_Finding]
    sketch: str
    details: dict[str, Any]
    judging: dict[str, Any]


@with_config(_STRICT)
class _Verdict(TypedDict, total=False):
    status: Required[str]
    passed: bool | None
    scores: dict[str, Number | None]
    missed: list[str]
    reason: str


@with_config(_STRICT)
class _Link(TypedDict, total=False):
    type: Required[str]
    target: Required[str]
    target_type: str


@with_config(_STRICT)
class _Row(TypedDict, total=False):
    run: Place
    input: Required[str]
    corpus: list[str]
    context: list[str]
    context_sources: list[str]
    categories: list[str]
    relationships: list[_Link]
    expected_output: str
    output_condition: str
    actual_output: str
    actual_duration: float
    cost: float | None
    usage: dict[str, int]
    retries: Place
    error: str
    is_rag: bool
    outcomes: dict[str, _Outcome]


@with_config(_STRICT)
class _Flip(TypedDict, total=False):
    evaluator: Required[str]
    metric: Required[str]
    direction: Required[Literal["pass_to_fail", "fail_to_pass"]]
    perturbators: list[str]


@with_config(_STRICT)
class _Item(TypedDict, total=False):
    kind: Required[Literal["item"]]
    index: Place
    nodeid: Required[str]
    verdict: Required[Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]]
    duration_s: float
    file: Required[str]
    key: Required[str]
    test_key: str
    model_key: Required[str]
    reason: str
    rows: list[_Row]
    verdicts: dict[str, _Verdict]
    flips: list[_Flip]
    perturbed: dict[str, Any]


def header_fault(header: Mapping[str, Any]) -> str:
    """Return what is wrong with a header, "" for nothing."""
    return _fault(_headers(), header)


def item_fault(item: Mapping[str, Any]) -> str:
    """Return what is wrong with an item, "" for nothing."""
    return _fault(_items(), item)


@functools.cache
def _headers() -> TypeAdapter[Any]:
    return TypeAdapter(_Header)


@functools.cache
def _items() -> TypeAdapter[Any]:
    return TypeAdapter(_Item)


def _fault(adapter: TypeAdapter[Any], value: Any) -> str:
    try:
        adapter.validate_python(value)
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        return f"{'/'.join(str(step) for step in error['loc']) or 'the line'}: {fact(error)}"
    return ""
