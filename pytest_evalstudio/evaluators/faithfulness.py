"""Faithfulness of RAGAS: the share of an answer's claims that its context bears out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.judging import JUDGE, Flow
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._judged import judge_keywords, judged
from pytest_evalstudio.evaluators._ragas import CLAIM_SUPPORT, CLAIMS, FAITHFULNESS, faithfulness


@evaluator(
    "faithfulness",
    name="Faithfulness",
    domain="generation",
    needs=("question", "context", "actual_output"),
    requires=(JUDGE,),
    method=("judge",),
    systems=("rag",),
    keywords=judge_keywords("S VR", "C O M"),
)
@dataclass(frozen=True)
class Faithfulness:
    """Share of the claims in the answer that can be inferred from the context; an answer without claims is
    not applicable.

    Source: Es et al., 2023 (RAGAS).
    """

    metrics: ClassVar[tuple[Metric, ...]] = (FAITHFULNESS,)
    prompts: ClassVar[tuple[str, ...]] = (CLAIMS, CLAIM_SUPPORT)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return judged(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        part = yield from faithfulness(case)
        return part.outcome(FAITHFULNESS)
