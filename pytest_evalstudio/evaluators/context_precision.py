"""Context precision of RAGAS: do the useful chunks stand above the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.judging import JUDGE, Flow
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._judged import judge_keywords, judged
from pytest_evalstudio.evaluators._ragas import CHUNK_USEFULNESS, CONTEXT_PRECISION, context_precision


@evaluator(
    "context_precision",
    name="Context precision",
    domain="retrieval",
    needs=("question", "expected_output", "context"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("rag",),
    keywords=judge_keywords("S VR", "C O M"),
    problem_type="retrieval",
)
@dataclass(frozen=True)
class ContextPrecision:
    """Precision at each depth of the retrieved context, over the chunks that help to arrive at the expected
    answer.

    Source: Es et al., 2023 (RAGAS).
    """

    metrics: ClassVar[tuple[Metric, ...]] = (CONTEXT_PRECISION,)
    prompts: ClassVar[tuple[str, ...]] = (CHUNK_USEFULNESS,)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return judged(cases, tools, self.metrics, self._consider, reads_answer=False)

    def _consider(self, case: Case) -> Flow[Outcome]:
        part = yield from context_precision(case)
        return part.outcome(CONTEXT_PRECISION)
