"""Fact-check: an agent, which may look things up, verifies each statement of the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import JUDGE, Flow, Question, asked_texts
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.replies import choice, number, record, several, text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._judged import judge_keywords, judged
from pytest_evalstudio.metrics.quoting import one_line

_REASON_CHARS = 300
_STATEMENT = record(
    statement=text("The statement, understood by itself."),
    reason=text("The source, or the knowledge, that confirms or contradicts it; one sentence."),
    verdict=choice("Is the statement true?", "true", "false", "unknown"),
)


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
        agent_host: name of the `[[model]]` that is the agent; where not given, the configuration's judge, or
            without one the first model that is an agent.
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
        [reply] = yield [
            Question(
                prompt="fact_check",
                texts={**asked_texts(case), "answer": case.actual_output},
                reply=record(
                    statements=several("The statements of the answer, in order.", _STATEMENT),
                    answer=text("The answer as it should read, corrected where it is false."),
                    evaluation_summary=text(
                        "What was checked, against which sources, and with which result, in a few sentences."
                    ),
                    evaluation_score=number(
                        "1 if no statement is false, 0 if the main point is false; see the anchors above.",
                        least=0,
                        most=1,
                    ),
                ),
            )
        ]
        score, summary = float(reply["evaluation_score"]), reply["evaluation_summary"]
        details = {
            "answer": reply["answer"],
            "evaluation_score": score,
            "evaluation_summary": summary,
            "statements": reply["statements"],
        }
        return Outcome.score({"fact_check": score}, reason=one_line(summary, _REASON_CHARS), details=details)
