"""Evaluators whose scores stand in the answers, so that tests say all the numbers they expect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools


@evaluator("reading", name="Reading", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class Reading:
    """Reads its scores off the answer: "value", or "value size"; words say what else happens."""

    factor: float = 1.0
    times: int = 1
    mode: Literal["plain", "strict"] = "plain"
    label: str = ""
    loud: bool = False
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric("value", primary=True, threshold=0.5),
        Metric("size", better="lower", range=(0.0, math.inf), threshold=10.0),
        Metric("free", range=(0.0, math.inf), threshold=math.inf),
    )

    def not_applicable(self, case: Case) -> str:
        if case.actual_output == "break early":
            raise RuntimeError("broken early")
        return "nothing to read" if case.actual_output == "nothing" else ""

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Outcome:
        words = case.actual_output.split()
        if words == ["silent"]:
            return Outcome.error("the judge is silent")
        if words == ["fault"]:
            raise EvaluationError("the judge is down")
        if words == ["none"]:
            return None  # type: ignore[return-value]
        value, size, *_ = [*map(float, words), 1.0, 1.0]
        return Outcome.score(
            {"value": value * self.factor, "size": size, "free": 1.0}, reason=f"read {words[0]}"
        )


@evaluator("counting", name="Counting", domain="generation", needs=("actual_output",), scope="group")
@dataclass(frozen=True)
class Counting:
    """Number of answers to one question in a group; one that holds "5" cannot be counted."""

    surplus: int = 0
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric("count", range=(0.0, math.inf), threshold=2.0, primary=True),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        if any(case.actual_output == "5" for case in cases):
            raise ValueError("five")
        counts = [sum(other.question == case.question for other in cases) for case in cases]
        return [Outcome.score({"count": float(count)}) for count in counts] + [
            Outcome.error("too many")
        ] * self.surplus


@evaluator("answered", name="Answered", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class Answered:
    """Boolean: whether the answer says yes."""

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric("model_passes", threshold=0.5, primary=True),
        Metric("model_failures", better="lower", threshold=0.5),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [
            Outcome.score({"model_passes": float(yes), "model_failures": float(not yes)})
            for yes in ("yes" in case.actual_output for case in cases)
        ]


@evaluator(
    "picky",
    name="Picky",
    domain="generation",
    needs=("question", "expected_output", "context", "actual_output", "condition"),
)
@dataclass(frozen=True)
class Picky:
    """Needs everything; any case that it gets is worth 1."""

    file: str | None = None
    path_options: ClassVar[tuple[str, ...]] = ("file",)
    metrics: ClassVar[tuple[Metric, ...]] = (Metric("picky", primary=True),)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [Outcome.score({"picky": 1.0}) for _ in cases]


def toy_registry() -> Registry:
    """A registry that knows the evaluators of this file too."""
    registry = Registry()
    for cls in (Reading, Counting, Answered, Picky):
        registry.add_evaluator(cls)
    return registry
