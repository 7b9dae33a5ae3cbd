"""Contradictions of the context by rules: other values, wider scope, negations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS, keywords
from pytest_evalstudio.metrics.detectors import redact
from pytest_evalstudio.metrics.groundedness.contradictions import Contradiction, contradictions
from pytest_evalstudio.metrics.quoting import one_line

_FACTS = {
    "value": "another value",
    "scope": "said of some only",
    "negation": "said to the contrary",
}
_QUOTED_CHARS = 80


@evaluator(
    "context_contradictions",
    name="Contradictions of the context",
    domain="generation",
    needs=("context", "actual_output"),
    method=("rules",),
    systems=("rag",),
    keywords=keywords("S VR", "C O M", "evaluation-method-rule-based", "capability-answer-highlight"),
    avid="E0400",
)
@dataclass(frozen=True)
class ContextContradictions:
    """Report whether no clause of the answer contradicts the clauses of the context that share its words.

    A contradiction is another value, "all" for "some", a negation or an opposite, in a clause that is worded
    like one of the context. A pass is no proof of support. The metric is yes or no, and its threshold needs
    no calibration.

    Source: own definition.
    """

    measures_support: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "agrees",
            "Agrees with the context",
            threshold=1.0,
            primary=True,
            boolean=True,
            description="1 if no clause contradicts the context by its values, scope or negations.",
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [_score(case) for case in cases]


def _score(case: Case) -> Outcome:
    contrary = list(contradictions(case.actual_output, case.context))[:MAX_FRAGMENTS]
    fragments = tuple(
        Fragment(start=each.start, end=each.end, message=f"context: {_FACTS[each.kind]}") for each in contrary
    )
    reason = _described(contrary[0]) if contrary else ""
    return Outcome.score({"agrees": float(not contrary)}, reason=reason, fragments=fragments)


def _described(contradiction: Contradiction) -> str:
    clause, counterpart = (
        one_line(redact(text), _QUOTED_CHARS) for text in (contradiction.clause, contradiction.counterpart)
    )
    return f"{_FACTS[contradiction.kind]} in the context: “{clause}”, but “{counterpart}”"
