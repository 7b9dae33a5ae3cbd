"""Custom judge: yes or no by a definition of the user's, on the answer or on each retrieved chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError, nearest
from pytest_evalstudio.core.judging import JUDGE, PLACEHOLDER, PLACEHOLDERS, Flow, Question, asked_texts
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.replies import NO, YES
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._assessments import assessed, question, rated, rated_chunks, rating_metric
from pytest_evalstudio.evaluators._judged import judge_keywords

EXAMPLE_KEYS = ("question", "answer", "chunk", "rating", "rationale")


@evaluator(
    "custom_judge",
    name="Custom judge",
    domain="generation",
    needs=("question", "actual_output"),
    requires=(JUDGE, "option:definition"),
    method=("judge",),
    systems=("llm", "rag"),
    keywords=judge_keywords("S F VR", "C O M"),
)
@dataclass(frozen=True)
class CustomJudge:
    """Yes if the answer, or each retrieved chunk, meets the user's own definition.

    For chunks the rating is the share of those that meet it.

    Attributes:
        name: what exports call it; the evaluator's id in the configuration where not given.
        definition: when the rating is yes, in words. The judge sees question and answer, or question and
            chunk; {context}, {expected_output}, {actual_output} and {question} in braces are replaced by
            these texts, and needed then.
        examples: each a text, or a table of texts: question, answer or chunk, rating ("yes" or "no"),
            rationale.
        assessment_type: "ANSWER" to judge the answer, "RETRIEVAL" to judge each retrieved chunk by itself;
            then a case of which a chunk could not be judged is an error.

    Source: Mosaic AI Agent Evaluation, LLM judges reference.
    """

    name: str = ""
    definition: str = ""
    examples: Sequence[str | Mapping[str, str]] = ()
    assessment_type: Literal["ANSWER", "RETRIEVAL"] = "ANSWER"
    applies_to_refusals: ClassVar[bool] = True
    reads_all_outputs: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = (
        rating_metric(
            "Custom judge", "Share of the answers, or of each question's chunks, that meet the definition."
        ),
    )
    prompts: ClassVar[tuple[str, ...]] = ("custom_judge", "custom_judge_chunk")

    def __post_init__(self) -> None:
        if isinstance(self.examples, str):
            raise ConfigurationError("examples: expected a list of texts or tables, found a text")
        for number, example in enumerate(self.examples):
            _check_example(example, f"examples[{number}]")

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the needs of the kind of assessment, and the texts that the definition names."""
        named = (PLACEHOLDERS[name] for name in PLACEHOLDER.findall(self.definition))
        return tuple(dict.fromkeys(("question", "context" if self._of_chunks else "actual_output", *named)))

    @property
    def _of_chunks(self) -> bool:
        return self.assessment_type == "RETRIEVAL"

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return assessed(cases, tools, self.metrics, self._consider)

    def _consider(self, case: Case) -> Flow[Outcome]:
        values: Mapping[str, str | Sequence[str]] = {
            "expected_output": case.reference,
            "context": case.context,
            "actual_output": case.actual_output,
        }
        names = {PLACEHOLDERS[name] for name in PLACEHOLDER.findall(self.definition)} | (
            set() if self._of_chunks else {"actual_output"}
        )
        texts = {**asked_texts(case), **{name: text for name, text in values.items() if name in names}}
        settings = {
            "definition": self.definition,
            "examples": [_spoken(example) for example in self.examples],
        }

        def ask(chunk: str) -> Question:
            return question(
                "custom_judge_chunk",
                {**texts, "chunk": chunk},
                "Does the chunk meet the definition?",
                settings=settings,
            )

        if self._of_chunks:
            return rated_chunks(case, "rating", ask, "rated no")
        return rated(
            question("custom_judge", texts, "Does the answer meet the definition?", settings=settings)
        )


def _check_example(example: object, location: str) -> None:
    if isinstance(example, str):
        return
    if not isinstance(example, Mapping):
        raise ConfigurationError(f"{location}: expected a text or a table, found {example!r}")
    for key, value in example.items():
        if key not in EXAMPLE_KEYS:
            raise ConfigurationError(
                f"{location}.{key}: unknown key."
                f" {nearest(str(key), EXAMPLE_KEYS) or 'Known keys: ' + ', '.join(EXAMPLE_KEYS)}"
            )
        if not isinstance(value, str):
            raise ConfigurationError(f"{location}.{key}: expected a text, found {value!r}")
    if example.get("rating") not in (YES, NO):
        raise ConfigurationError(
            f'{location}.rating: expected "yes" or "no", found {example.get("rating")!r}'
        )


def _spoken(example: str | Mapping[str, str]) -> str:
    """An example as the prompt has it.

    >>> _spoken({"rating": "no", "answer": "Whatever."})
    'answer: Whatever. | rating: no'
    """
    return (
        example
        if isinstance(example, str)
        else " | ".join(f"{key}: {example[key]}" for key in EXAMPLE_KEYS if key in example)
    )
