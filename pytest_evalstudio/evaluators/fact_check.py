"""Fact-check: an agent, which may look things up, verifies the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import JUDGE, Flow, Question
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.replies import number, record, text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._judged import asked_texts, judge_keywords, judged
from pytest_evalstudio.metrics.quoting import one_line

_REASON_CHARS = 300


@evaluator(
    "fact_check",
    name="Fact-check (agent-based)",
    domain="generation",
    needs=("question", "actual_output"),
    requires=(JUDGE,),
    method=("agent",),
    keywords=(*judge_keywords("S VR", "C M O"), "evaluation-method-agents"),
    avid="E0400",
)
@dataclass(frozen=True)
class FactCheck:
    """An agent verifies the answer, and says how free of false statements it is.

    Attributes:
        agent_host: name of the `[[model]]` that is the agent; the configuration's judge where not given.
        agent_llm_model_name, agent_collection_id: replace the agent's own llm_model_name and collection_id.
        max_dataset_rows: of each file and model only so many test cases are checked, the first ones; 0 for
            all.

    Source: H2O Eval Studio user guide, Fact-check Agent-based.
    """

    agent_host: str = ""
    agent_llm_model_name: str = ""
    agent_collection_id: str = ""
    max_dataset_rows: int = 0
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "fact_check",
            "Fact-check",
            primary=True,
            description="How free of false statements the answer is.",
        ),
    )
    prompts: ClassVar[tuple[str, ...]] = ("fact_check",)

    def __post_init__(self) -> None:
        if self.max_dataset_rows < 0:
            raise ConfigurationError(f"max_dataset_rows = {self.max_dataset_rows}: must be 0 or more")

    @property
    def own_judge(self) -> Mapping[str, str]:
        """The table of its judge."""
        given = {
            "model": self.agent_host,
            "llm_model_name": self.agent_llm_model_name,
            "collection_id": self.agent_collection_id,
        }
        return {key: value for key, value in given.items() if value}

    def not_applicable(self, case: Case) -> str:
        beyond = 0 < self.max_dataset_rows < case.position
        return (
            f"only the first {self.max_dataset_rows} test cases are checked (max_dataset_rows)"
            if beyond
            else ""
        )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return judged(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        [found] = yield [
            Question(
                prompt="fact_check",
                texts={**asked_texts(case), "answer": case.actual_output},
                reply=record(
                    answer=text(
                        "The answer's statements as they should read, corrected where they are false."
                    ),
                    evaluation_summary=text(
                        "What was checked, against what, and what was found, in a few sentences."
                    ),
                    evaluation_score=number(
                        "1 if nothing in the answer is false, 0 if what matters in it is false.",
                        least=0,
                        most=1,
                    ),
                ),
            )
        ]
        score, summary = float(found["evaluation_score"]), found["evaluation_summary"]
        details = {"answer": found["answer"], "evaluation_score": score, "evaluation_summary": summary}
        return Outcome.score({"fact_check": score}, reason=one_line(summary, _REASON_CHARS), details=details)
