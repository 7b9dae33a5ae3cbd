"""Fact retention: what the user said before is neither asked for again nor contradicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import keywords, listed
from pytest_evalstudio.formats.patterns import compiled
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.metrics.retention import Lapse, Messages, UserFact, declared_fact, lapses, user_facts
from pytest_evalstudio.text.folding import fold

_SENTENCE_CHARS = 200
_WORDS = {"asked_again": "asked for again", "contradicted": "contradicted"}


@evaluator(
    "fact_retention",
    name="Fact retention",
    domain="generation",
    needs=("question", "actual_output"),
    method=("rules",),
    keywords=keywords("S VR", "C O", "evaluation-method-rule-based", "evaluation-method-agents"),
)
@dataclass(frozen=True)
class FactRetention:
    """Facts that the user gave in a conversation are neither asked for again nor contradicted.

    Facts are identifiers with the word before them ("booking E1"), addresses, phone numbers, amounts, dates
    and names ("my name is ..."), in English. Requests are recognised by their form. `facts` declares others,
    e.g. `[{value = "peanuts", asked_by = "(?i)any allerg"}]`: a later sentence of the assistant that the
    pattern matches asks for the value again. A case without earlier messages or such facts is not scored.

    Source: own rules; the idea is that of DeepEval's knowledge retention, which asks a judge.
    """

    applies_without_text: ClassVar[bool] = True
    applies_to_refusals: ClassVar[bool] = True
    judges_conversations: ClassVar[bool] = True
    facts: tuple[Mapping[str, str], ...] = ()
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "facts_kept",
            "Facts kept",
            threshold=1.0,
            primary=True,
            description="Facts that are neither asked for again nor contradicted, divided by all.",
        ),
    )

    def __post_init__(self) -> None:
        for index, table in enumerate(self.facts):
            if (
                not isinstance(table, Mapping)
                or set(table) != {"value", "asked_by"}
                or not all(table.values())
            ):
                raise ConfigurationError(
                    f'facts[{index}]: expected value and asked_by, e.g. {{value = "E1", asked_by = "(?i)which'
                    ' booking"}'
                )
            try:
                compiled(table["asked_by"])
            except EvaluationError as exc:
                raise ConfigurationError(f"facts[{index}].asked_by: {exc}") from None

    def not_applicable(self, case: Case) -> str:
        """Return the reason, "" where it applies."""
        if not any(turn.role == "user" for turn in case.conversation):
            return "no earlier message of the user"
        return "" if self._facts(_messages(case)) else "the user gives no fact that is recognised"

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Outcome:
        messages = _messages(case)
        facts = self._facts(messages)
        # What tools, documents or the assistant itself named is no contradiction of the user.
        known = "\n".join(
            [*case.context, *(call.result or "" for call in case.tool_calls), *case.all_outputs]
        )
        try:
            forgotten = lapses(messages, facts, fold(known))
        except TimeoutError:
            fact = "a pattern of `facts` takes longer than 2 s"
            return Outcome.error(f"{fact}; simplify it", OutcomeCode.INPUT_INVALID)
        return Outcome.score(
            {"facts_kept": 1 - len(forgotten) / len(facts)}, reason=listed([*map(_described, forgotten)])
        )

    def _facts(self, messages: Messages) -> list[UserFact]:
        declared = [declared_fact(messages, fold(table["value"]), table["asked_by"]) for table in self.facts]
        return [*user_facts(messages), *(fact for fact in declared if fact is not None)]


def _messages(case: Case) -> list[tuple[str, str]]:
    turns = [(turn.role, turn.content) for turn in case.conversation]
    messages = [*turns, ("user", case.question), ("assistant", case.actual_output)]
    return [(role, fold(content)) for role, content in messages]


def _described(lapse: Lapse) -> str:
    label = f"{lapse.fact.label} " if lapse.fact.kind == "identifier" else ""
    sentence = one_line(lapse.sentence, _SENTENCE_CHARS)
    return f'{label}{one_line(lapse.fact.value)} is {_WORDS[lapse.kind]}: "{sentence}"'
