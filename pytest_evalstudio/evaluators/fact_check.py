"""Fact-check: an agent, which may look things up, verifies each statement of the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import JUDGE, Flow, Question, asked_texts, independent
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.replies import choice, record, several, text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import listed
from pytest_evalstudio.evaluators._judged import judge_keywords, judged
from pytest_evalstudio.evaluators._similarity import has_words
from pytest_evalstudio.metrics.quoting import one_line

_REASON_CHARS = 300
TRUE, FALSE, UNKNOWN = "true", "false", "unknown"
_STATEMENT = record(
    statement=text("The statement, understood by itself."),
    reason=text("The source, or the knowledge, that confirms or contradicts it; one sentence."),
    verdict=choice("Is the statement true?", TRUE, FALSE, UNKNOWN),
)
_REPLY = record(
    statements=several("The statements of the answer, in order.", _STATEMENT),
    answer=text("The answer as it should read, corrected where it is false."),
    evaluation_summary=text(
        "What was checked, against which sources, and with which result, in a few sentences."
    ),
)
"""No score is asked for: it follows from the statements, and a score of the agent could contradict them."""


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
    """Share of the answer's statements that an agent confirms.

    A statement that it can neither confirm nor refute is not confirmed. An answer without statements is not
    applicable.

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
            description="Confirmed statements / all statements of the answer.",
        ),
    )
    prompts: ClassVar[tuple[str, ...]] = ("fact_check",)

    def __post_init__(self) -> None:
        if self.max_dataset_rows < 0:
            raise ConfigurationError(f"max_dataset_rows = {self.max_dataset_rows}: must be 0 or more")

    @property
    def own_judge(self) -> Mapping[str, str]:
        """The table of its judge."""
        options = {
            "model": self.agent_host,
            "llm_model_name": self.agent_llm_model_name,
            "collection_id": self.agent_collection_id,
        }
        return {key: value for key, value in options.items() if value}

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
                reply=_REPLY,
                # No part of the reply follows from another: the score is computed here.
                consistency=independent,
            )
        ]
        statements = [each for each in reply["statements"] if has_words(each["statement"])]
        if not statements:
            return Outcome.not_applicable("the answer makes no statements that can be true or false")
        confirmed = sum(statement["verdict"] == TRUE for statement in statements)
        return Outcome.score(
            {"fact_check": confirmed / len(statements)},
            reason=_reason(statements, reply["evaluation_summary"]),
            details={
                "answer": reply["answer"],
                "evaluation_score": confirmed / len(statements),
                "evaluation_summary": reply["evaluation_summary"],
                "statements": statements,
            },
        )


def _reason(statements: Sequence[Mapping[str, str]], summary: str) -> str:
    """Return the statements that lower the score, and the agent's summary."""
    parts = []
    for verdict, words in ((FALSE, "false"), (UNKNOWN, "not confirmed")):
        listing = [one_line(each["statement"]) for each in statements if each["verdict"] == verdict]
        if listing:
            parts.append(f"{words}: {listed(listing)}")
    return one_line("; ".join([*parts, summary]), _REASON_CHARS)
