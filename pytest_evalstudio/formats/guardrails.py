"""Guardrail configurations: evaluators that check answers where they are given, with their thresholds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.reading import read_utf8
from pytest_evalstudio.formats.fields import fact, write_json

REFERENCE = "h2o_sonar.evaluators."
REFERENCE_IDS: Mapping[str, str] = {
    "answer_accuracy": "answer_accuracy_evaluator.AnswerAccuracyEvaluator",
    "answer_correctness": "rag_answer_correctness_evaluator.AnswerCorrectnessEvaluator",
    "answer_relevancy": "rag_answer_relevancy_evaluator.AnswerRelevancyEvaluator",
    "answer_relevancy_sentence_similarity": (
        "rag_answer_relevancy_no_judge_evaluator.RagAnswerRelevancyNoJudgeEvaluator"
    ),
    "answer_semantic_sentence_similarity": (
        "answer_semantic_similarity_per_sentence_evaluator.AnswerSemanticSimilarityPerSentenceEvaluator"
    ),
    "answer_semantic_similarity": "rag_answer_similarity_evaluator.AnswerSemanticSimilarityEvaluator",
    "bertscore": "bertscore_evaluator.BertscoreEvaluator",
    "bleu": "bleu_evaluator.BleuEvaluator",
    "byop": "parameterizable_byop_evaluator.ParameterizableByopEvaluator",
    "classification": "classification_evaluator.ClassificationEvaluator",
    "contact_information": "contact_information_byop_evaluator.ContactInformationByopEvaluator",
    "context_mean_reciprocal_rank": "rag_context_mean_reciprocal_rank_evaluator.MeanReciprocalRankEvaluator",
    "context_precision": "rag_context_precision_evaluator.ContextPrecisionEvaluator",
    "context_recall": "rag_context_recall_evaluator.ContextRecallEvaluator",
    "context_relevancy": "rag_context_relevancy_evaluator.ContextRelevancyEvaluator",
    "context_relevancy_soft": "rag_chunk_relevancy_evaluator.ContextChunkRelevancyEvaluator",
    "encoding_guardrail": "encoding_guardrail_evaluator.EncodingGuardrailEvaluator",
    "fact_check": "agentic_fact_check_evaluator.FactCheckAgenticEvaluator",
    "fairness_bias": "fairness_bias_evaluator.FairnessBiasEvaluator",
    "faithfulness": "rag_faithfulness_evaluator.FaithfulnessEvaluator",
    "groundedness": "rag_groundedness_evaluator.RagGroundednessEvaluator",
    "hallucination": "rag_hallucination_evaluator.RagHallucinationEvaluator",
    "json_schema": "json_schema_evaluator.JSONSchemaEvaluator",
    "language_mismatch": "language_mismatch_byop_evaluator.LanguageMismatchByopEvaluator",
    "looping_detection": "looping_detection_evaluator.LoopingDetectionEvaluator",
    "machine_translation_gptscore": (
        "gptscore_machine_translation_evaluator.GptScoreMachineTranslationEvaluator"
    ),
    "perplexity": "perplexity_evaluator.PerplexityEvaluator",
    "pii_leakage": "pii_leakage_evaluator.PiiLeakageEvaluator",
    "question_answering_gptscore": "gptscore_question_answering_evaluator.GptScoreQuestionAnsweringEvaluator",
    "questions_drift": "questions_drift_evaluator.QuestionsDriftEvaluator",
    "ragas": "rag_ragas_evaluator.RagasEvaluator",
    "rouge": "rouge_evaluator.RougeEvaluator",
    "self_consistency": "self_consistency_evaluator.SelfConsistencyEvaluator",
    "sensitive_data_leakage": "sensitive_data_leakage_evaluator.SensitiveDataLeakageEvaluator",
    "sexism": "sexism_byop_evaluator.SexismByopEvaluator",
    "stereotypes": "stereotype_byop_evaluator.StereotypeByopEvaluator",
    "summarization_completeness_faithfulness": "summarization_evaluator.SummarizationEvaluator",
    "summarization_judge": "summarization_byop_evaluator.SummarizationByopEvaluator",
    "summarization_with_reference_gptscore": (
        "gptscore_summary_with_reference_evaluator.GptScoreSummaryWithReferenceEvaluator"
    ),
    "summarization_without_reference_gptscore": (
        "gptscore_summary_without_reference_evaluator.GptScoreSummaryWithoutReferenceEvaluator"
    ),
    "text_matching": "rag_tokens_presence_evaluator.RagStrStrEvaluator",
    "toxicity": "toxicity_evaluator.ToxicityEvaluator",
}
"""Our ids, and what the open reference engine calls the same evaluator after REFERENCE."""
_OF_MODULES = {name.partition(".")[0]: id for id, name in REFERENCE_IDS.items()}


class Guardrails(BaseModel):
    """Guardrail configuration: evaluators that check answers, and their thresholds.

    Attributes:
        calibrated_thresholds: evaluator id to metric key to threshold.
        evaluator_ids: all evaluators, those without a threshold of their own too.
        not_calibrated: evaluator id to the keys of the metrics whose threshold is the run's and not
            calibrated by people's labels.
        optional: evaluators and metrics, as `ID` or `ID.METRIC`, that may not apply to an answer; any other
            one that does not apply makes the guard's verdict uncertain.
        expected: expected use of the calibrated thresholds together, for people: share of flagged answers,
            misses per 1,000 answers, cost.
    """

    model_config = ConfigDict(extra="allow", defer_build=True)

    calibrated_thresholds: dict[str, dict[str, float]] = Field(default_factory=dict)
    evaluator_ids: list[str] = Field(default_factory=list)
    not_calibrated: dict[str, list[str]] = Field(default_factory=dict)
    optional: list[str] = Field(default_factory=list)
    expected: dict[str, Any] | None = None

    def save(self, path: Path, *, reference_ids: bool = False) -> None:
        """Write the configuration as JSON.

        Args:
            reference_ids: whether to use the evaluator ids of the reference engine; evaluators and keys that
                it does not have are left out.
        """
        options = (
            {id: REFERENCE + name for id, name in REFERENCE_IDS.items()}
            if reference_ids
            else {id: id for id in self.evaluators}
        )
        content: dict[str, object] = {
            "calibrated_thresholds": {
                options[id]: metrics for id, metrics in self.calibrated_thresholds.items() if id in options
            },
            "evaluator_ids": [options[id] for id in self.evaluators if id in options],
        }
        if not reference_ids:
            marks = {
                "not_calibrated": self.not_calibrated,
                "optional": self.optional,
                "expected": self.expected,
            }
            content |= {name: value for name, value in marks.items() if value}
        write_json(path, content)

    @property
    def evaluators(self) -> list[str]:
        """Distinct ids, in order."""
        return list(dict.fromkeys([*self.evaluator_ids, *self.calibrated_thresholds]))


def read_guardrails(path: Path) -> Guardrails:
    """Read a guardrail configuration; ids of the reference engine are translated.

    Raises:
        ConfigurationError: with the file and the fault.
    """
    try:
        data: Any = json.loads(read_utf8(path))
    except OSError as exc:
        raise ConfigurationError(f"{path}: cannot be read: {exc.strerror or exc}") from None
    except (ValueError, RecursionError) as exc:
        raise ConfigurationError(f"{path}: is not JSON: {exc}") from None
    if not isinstance(data, dict) or not data.keys() & {"calibrated_thresholds", "evaluator_ids"}:
        raise ConfigurationError(
            f"{path}: is not a guardrail configuration: it has neither 'calibrated_thresholds' nor"
            " 'evaluator_ids'"
        )
    try:
        guardrails = Guardrails.model_validate(data)
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        raise ConfigurationError(
            f"{path}: {'.'.join(str(step) for step in error['loc'])}: {fact(error)}"
        ) from None
    try:
        return Guardrails(
            calibrated_thresholds={
                own_id(id): metrics for id, metrics in guardrails.calibrated_thresholds.items()
            },
            evaluator_ids=[own_id(id) for id in guardrails.evaluator_ids],
            not_calibrated={own_id(id): metrics for id, metrics in guardrails.not_calibrated.items()},
            optional=[_own_name(name) for name in guardrails.optional],
            expected=guardrails.expected,
        )
    except ConfigurationError as exc:
        raise ConfigurationError(f"{path}: {exc}") from None


def _own_name(name: str) -> str:
    """Return `ID` or `ID.METRIC` with the id that this package uses."""
    if name.startswith(REFERENCE):
        return own_id(name)
    id, dot, metric = name.partition(".")
    return own_id(id) + dot + metric


def own_id(id: str) -> str:
    """Return the id that this package uses for an evaluator of a guardrail configuration.

    Raises:
        ConfigurationError: for an evaluator of the reference engine that has no counterpart.

    >>> own_id("h2o_sonar.evaluators.pii_leakage_evaluator.PiiLeakageEvaluator")
    'pii_leakage'
    >>> own_id("rouge")
    'rouge'
    """
    if not id.startswith(REFERENCE):
        return id
    module = id.removeprefix(REFERENCE).partition(".")[0]
    if module not in _OF_MODULES:
        raise ConfigurationError(f"{id!r} has no counterpart in this package; remove it")
    return _OF_MODULES[module]
