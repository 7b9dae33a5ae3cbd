"""GPTScore: how likely a language model finds a text after an instruction that asks for a quality."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Passage, Tools
from pytest_evalstudio.evaluators._common import keywords
from pytest_evalstudio.evaluators._likelihood import CUT, NO_TOKENS, language_model, mean_of, unscorable

MODEL = "gpt2-medium"
_REQUIRES = (f"language_model:{MODEL}",)
_KEYWORDS = keywords("", "", "evaluation-method-language-model")
_QUESTION = (
    "Answer the question based on the conversation between a human and AI. Question: Are the responses of AI"
    " {}? (a) Yes. (b) No. Conversation: "
)
_OWN_QUESTION = (
    "Read a conversation between a person and an AI and answer the question about it. Question: {} (a) Yes."
    " (b) No. Conversation: "
)


def metric(key: str, name: str, description: str, *, primary: bool = False) -> Metric:
    """A mean negative log-likelihood; without a threshold of the user's it informs."""
    return Metric(
        key,
        name,
        better="lower",
        range=(0.0, math.inf),
        threshold=math.inf,
        primary=primary,
        description=description,
    )


@dataclass(frozen=True)
class GptScore:
    """Common part of the four evaluators.

    Each metric has an instruction. Each case and instruction has one or two passages, whose mean is the
    score.

    The instruction is kept whole; of texts beyond the model's context the beginning is left out, and the
    outcome says so.

    Attributes:
        gpt_score_model: causal language model.
        wording: "published" for the instructions of GPTScore, with which scores can be compared with those
            of other tools; "own" for this project's instructions.

    Source: Fu et al., 2023 (GPTScore: Evaluate as You Desire); instructions as in H2O Eval Studio.
    """

    gpt_score_model: str = MODEL
    wording: Literal["published", "own"] = "published"
    instructions: ClassVar[Mapping[str, str]] = {}
    own_instructions: ClassVar[Mapping[str, str]] = {}

    @property
    def requires(self) -> tuple[str, ...]:
        """Return the tools that are needed with the configured options."""
        return (f"language_model:{self.gpt_score_model}",)

    def passages(self, case: Case, instruction: str) -> list[Passage]:
        """Return the passages that the model reads: here, paraphrases of reference and answer.

        Each of the two texts follows the other and "In other words,".
        """
        first, second = case.expected_output, case.actual_output
        return [
            # The blank belongs to the first word of the text: tokens of GPT-2 begin with theirs.
            Passage(instruction=instruction, before=f"{before} In other words,", text=f" {text}")
            for before, text in ((first, second), (second, first))
        ]

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        instructions = self.instructions if self.wording == "published" else self.own_instructions
        plans = [
            {key: self.passages(case, instruction) for key, instruction in instructions.items()}
            for case in cases
        ]
        # The passages of all metrics and cases in one batch; equal ones are read once.
        passages = list(
            dict.fromkeys(passage for plan in plans for of_metric in plan.values() for passage in of_metric)
        )
        likelihoods = language_model(tools, self.gpt_score_model).read(passages)
        read = dict(zip(passages, likelihoods, strict=True))
        means = {passage: mean_of(likelihood) for passage, likelihood in read.items()}
        cut = {passage for passage, likelihood in read.items() if likelihood.is_cut}
        return [_outcome(plan, means, cut) for plan in plans]


def _outcome(
    plan: Mapping[str, Sequence[Passage]], means: Mapping[Passage, float | None], cut: set[Passage]
) -> Outcome:
    scores = {}
    for key, passages in plan.items():
        values = [value for value in map(means.__getitem__, passages) if value is not None]
        # A mean over the other passages alone would compare only one direction.
        if len(values) < len(passages):
            return unscorable(f"the answer or what it is compared with has no tokens: {NO_TOKENS}")
        scores[key] = round(math.fsum(values) / len(values), 6)
    return Outcome.score(
        scores,
        reason=CUT if any(passage in cut for passages in plan.values() for passage in passages) else "",
    )


@evaluator(
    "question_answering_gptscore",
    name="Question Answering (GPTScore)",
    domain="generation",
    needs=("question", "actual_output"),
    requires=_REQUIRES,
    method=("language-model",),
    extra="models",
    keywords=_KEYWORDS,
)
@dataclass(frozen=True)
class QuestionAnsweringGptScore(GptScore):
    """Improbability of 'Answer: Yes' to eight questions about question and answer, by a language model.

    The questions ask whether the answer is interesting, correct, fluent and so on.

    Source: Fu et al., 2023 (GPTScore: Evaluate as You Desire).
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        metric("interest", "Interest", "Is the answer interesting?", primary=True),
        metric("engagement", "Engagement", "Is the answer engaging?"),
        metric("understandability", "Understandability", "Is the answer understandable?"),
        metric("relevance", "Relevance", "Is the answer relevant to the question?"),
        metric("specific", "Specific", "Is the answer specific to the question, not generic?"),
        metric("correctness", "Correctness", "Is the answer correct?"),
        metric(
            "semantically_appropriate", "Semantically appropriate", "Is the answer appropriate in meaning?"
        ),
        metric("fluency", "Fluency", "Is the answer fluently written?"),
    )
    instructions: ClassVar[Mapping[str, str]] = {
        "interest": _QUESTION.format("interesting"),
        "engagement": _QUESTION.format("engaging"),
        "understandability": _QUESTION.format("understandable"),
        "relevance": _QUESTION.format("relevant to the conversation"),
        "specific": _QUESTION.format("generic or specific to the conversation"),
        "correctness": _QUESTION.format("correct to conversations"),
        "semantically_appropriate": _QUESTION.format("semantically appropriate"),
        "fluency": _QUESTION.format("fluently written"),
    }
    own_instructions: ClassVar[Mapping[str, str]] = {
        "interest": _OWN_QUESTION.format("Is what the AI says interesting?"),
        "engagement": _OWN_QUESTION.format("Is what the AI says engaging?"),
        "understandability": _OWN_QUESTION.format("Is what the AI says easy to understand?"),
        "relevance": _OWN_QUESTION.format("Is what the AI says relevant to the conversation?"),
        "specific": _OWN_QUESTION.format(
            "Is what the AI says specific to the conversation, and not generic?"
        ),
        "correctness": _OWN_QUESTION.format("Is what the AI says correct?"),
        "semantically_appropriate": _OWN_QUESTION.format("Is what the AI says appropriate in its meaning?"),
        "fluency": _OWN_QUESTION.format("Is what the AI says fluently written?"),
    }

    def passages(self, case: Case, instruction: str) -> list[Passage]:
        return [
            Passage(
                instruction=instruction, before=f"{case.question}\n{case.actual_output}\n", text="Answer: Yes"
            )
        ]


@evaluator(
    "machine_translation_gptscore",
    name="Machine Translation (GPTScore)",
    domain="generation",
    needs=("expected_output", "actual_output"),
    requires=_REQUIRES,
    method=("language-model",),
    extra="models",
    keywords=_KEYWORDS,
)
@dataclass(frozen=True)
class MachineTranslationGptScore(GptScore):
    """Improbability of the answer as a paraphrase of the expected answer, and the reverse.

    A language model rates three instructions.

    Source: Fu et al., 2023 (GPTScore: Evaluate as You Desire).
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        metric(
            "accuracy",
            "Accuracy",
            "Does the answer say what the expected one says, with nothing missing and nothing wrong?",
            primary=True,
        ),
        metric("fluency", "Fluency", "Is the answer well written and grammatical?"),
        metric(
            "multidimensional_quality_metrics",
            "Multidimensional quality metrics",
            "How good is the answer on the whole?",
        ),
    )
    instructions: ClassVar[Mapping[str, str]] = {
        "accuracy": "Rewrite the following text with its core information and consistent facts: ",
        "fluency": "Rewrite the following text to make it more grammatical and well-written: ",
        "multidimensional_quality_metrics": (
            "Rewrite the following text into high-quality text with its core information: "
        ),
    }
    own_instructions: ClassVar[Mapping[str, str]] = {
        "accuracy": "Say the following text again with the same main information and the same facts: ",
        "fluency": "Say the following text again in good style and correct grammar: ",
        "multidimensional_quality_metrics": (
            "Say the following text again as a text of high quality with the same main information: "
        ),
    }


@evaluator(
    "summarization_with_reference_gptscore",
    name="Summarization with ref. s.",
    domain="summarization",
    needs=("expected_output", "actual_output"),
    requires=_REQUIRES,
    method=("language-model",),
    extra="models",
    keywords=_KEYWORDS,
    problem_type="summarization",
)
@dataclass(frozen=True)
class SummarizationWithReferenceGptScore(GptScore):
    """Improbability of the summary as a paraphrase of the reference, and the reverse.

    A language model rates six instructions.

    Source: Fu et al., 2023 (GPTScore: Evaluate as You Desire).
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        metric(
            "semantic_coverage",
            "Semantic coverage",
            "How much of the reference's content is in the summary?",
            primary=True,
        ),
        metric("factuality", "Factuality", "Does the summary keep the facts?"),
        metric("informativeness", "Informativeness", "Does the summary have the key ideas?"),
        metric("coherence", "Coherence", "Does the summary make sense as a text?"),
        metric("relevance", "Relevance", "Does the summary keep to what matters?"),
        metric("fluency", "Fluency", "Is the summary well written and grammatical?"),
    )
    instructions: ClassVar[Mapping[str, str]] = {
        "semantic_coverage": "Rewrite the following text with the same semantics. ",
        "factuality": "Rewrite the following text with consistent facts. ",
        "informativeness": "Rewrite the following text with its core information. ",
        "coherence": "Rewrite the following text into a coherent text. ",
        "relevance": "Rewrite the following text with consistent details. ",
        "fluency": "Rewrite the following text into a fluent and grammatical text. ",
    }
    own_instructions: ClassVar[Mapping[str, str]] = {
        "semantic_coverage": "Say the following text again with the same meaning. ",
        "factuality": "Say the following text again with the same facts. ",
        "informativeness": "Say the following text again with its main information. ",
        "coherence": "Say the following text again as a coherent text. ",
        "relevance": "Say the following text again with the same details. ",
        "fluency": "Say the following text again as a fluent and grammatical text. ",
    }


@evaluator(
    "summarization_without_reference_gptscore",
    name="Summarization without ref. s.",
    domain="summarization",
    needs=("question", "actual_output"),
    requires=_REQUIRES,
    method=("language-model",),
    extra="models",
    keywords=_KEYWORDS,
    problem_type="summarization",
)
@dataclass(frozen=True)
class SummarizationWithoutReferenceGptScore(GptScore):
    """Improbability of the summary after the source text and 'Tl;dr', by a language model.

    There are seven instructions; the question is the source.

    Source: Fu et al., 2023 (GPTScore: Evaluate as You Desire).
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        metric(
            "semantic_coverage",
            "Semantic coverage",
            "How much of the source's content is in the summary?",
            primary=True,
        ),
        metric("factuality", "Factuality", "Does the summary keep the facts?"),
        metric("consistency", "Consistency", "Is the summary consistent in what it says?"),
        metric("informativeness", "Informativeness", "Does the summary have the key ideas?"),
        metric("coherence", "Coherence", "Does the summary make sense as a text?"),
        metric("relevance", "Relevance", "Does the summary keep to what matters?"),
        metric("fluency", "Fluency", "Is the summary well written and grammatical?"),
    )
    instructions: ClassVar[Mapping[str, str]] = {
        "semantic_coverage": (
            "Generate a summary with as much semantic coverage as possible for the following text: "
        ),
        "factuality": "Generate a summary with consistent facts for the following text: ",
        "consistency": "Generate a factually consistent summary for the following text: ",
        "informativeness": (
            "Generate an informative summary that captures the key points of the following text: "
        ),
        "coherence": "Generate a coherent summary for the following text: ",
        "relevance": "Generate a relevant summary with consistent details for the following text: ",
        "fluency": "Generate a fluent and grammatical summary for the following text: ",
    }
    own_instructions: ClassVar[Mapping[str, str]] = {
        "semantic_coverage": (
            "Write a summary that covers as much as possible of what the following text says: "
        ),
        "factuality": "Write a summary with the same facts as the following text: ",
        "consistency": "Write a summary that agrees in its facts with the following text: ",
        "informativeness": "Write an informative summary with the key points of the following text: ",
        "coherence": "Write a coherent summary of the following text: ",
        "relevance": "Write a summary with the relevant details of the following text: ",
        "fluency": "Write a fluent and grammatical summary of the following text: ",
    }

    def passages(self, case: Case, instruction: str) -> list[Passage]:
        return [Passage(instruction=instruction, before=f"{case.question}\nTl;dr\n", text=case.actual_output)]
