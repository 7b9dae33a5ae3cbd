"""Context recall of RAGAS: does the context hold what the expected answer says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.judging import JUDGE, Flow
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._judged import judge_keywords, judged
from pytest_evalstudio.evaluators._ragas import ATTRIBUTION, CONTEXT_RECALL, context_recall


@evaluator(
    "context_recall",
    name="Context recall",
    domain="retrieval",
    needs=("question", "expected_output", "context"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("rag",),
    keywords=judge_keywords("S VR", "C O M"),
    problem_type="retrieval",
)
@dataclass(frozen=True)
class ContextRecall:
    """Share of the sentences of the expected answer that can be attributed to the context.

    Source: Es et al., 2023 (RAGAS).
    """

    metrics: ClassVar[tuple[Metric, ...]] = (CONTEXT_RECALL,)
    prompts: ClassVar[tuple[str, ...]] = (ATTRIBUTION,)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        def consider(case: Case) -> Flow[Outcome]:
            part = yield from context_recall(case, tools)
            return part.outcome(CONTEXT_RECALL)

        return judged(cases, tools, self.metrics, consider, reads_answer=False)
