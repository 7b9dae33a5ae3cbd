"""Names of the documents of H2O Eval Studio, and of its open reference engine, that are read here.

Each of these names is declared in this module and nowhere else; `docs/reference/evaluators.md` has the
tables. Names that are read are reported once per file; any other unknown name gets the nearest known one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from pytest_evalstudio.core.errors import ConfigurationError

REFERENCE = "h2o_sonar.evaluators."
"""Package of the evaluators of the open reference engine."""
EVALUATOR_CLASSES: Mapping[str, str] = {
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
"""Our ids, and the module and class of the same evaluator in the open reference engine."""
EVALUATOR_NAMES: Mapping[str, tuple[str, ...]] = {
    "agent_sanity_check": ("Agent sanity check",),
    "answer_accuracy": ("Answer accuracy (semantic similarity)",),
    "answer_correctness": ("Answer correctness",),
    "answer_relevancy": ("Answer relevancy",),
    "answer_relevancy_sentence_similarity": (
        "Answer relevancy (sentence s.)",
        "Answer relevancy (sentence similarity)",
    ),
    "answer_semantic_sentence_similarity": (
        "Answer s. sentence similarity",
        "Answer semantic sentence similarity",
    ),
    "answer_semantic_similarity": ("Answer semantic similarity",),
    "bleu": ("BLEU",),
    "byop": ("BYOP: bring your own prompt", "Parameterizable BYOP"),
    "classification": ("Classification",),
    "contact_information": ("Contact information leakage", "Contact information"),
    "context_mean_reciprocal_rank": ("Context mean reciprocal rank",),
    "context_precision": ("Context precision",),
    "context_recall": ("Context recall",),
    "context_relevancy": ("Context relevancy",),
    "context_relevancy_soft": (
        "Context relevancy (s.r. & p.)",
        "Context relevancy (soft recall and precision)",
    ),
    "encoding_guardrail": ("Encoding guardrail",),
    "fact_check": ("Fact-check (agent-based)", "Fact-check agent-based"),
    "fairness_bias": ("Fairness bias",),
    "faithfulness": ("Faithfulness",),
    "groundedness": ("Groundedness", "Groundedness (semantic similarity)"),
    "hallucination": ("Hallucination",),
    "json_schema": ("JSon Schema",),
    "language_mismatch": ("Language mismatch (Judge)", "Language mismatch"),
    "looping_detection": ("Looping detection",),
    "machine_translation_gptscore": ("Machine Translation (GPTScore)",),
    "perplexity": ("Perplexity",),
    "pii_leakage": ("PII leakage",),
    "question_answering_gptscore": ("Question Answering (GPTScore)",),
    "questions_drift": ("Questions drift",),
    "ragas": ("Ragas",),
    "rouge": ("ROUGE",),
    "self_consistency": ("Self-consistency",),
    "sensitive_data_leakage": ("Sensitive data leakage",),
    "sexism": ("Sexism (Judge)", "Sexism"),
    "step_alignment": ("Step alignment & completeness", "Step alignment and completeness"),
    "stereotypes": ("Stereotypes (Judge)", "Stereotypes"),
    "summarization_completeness_faithfulness": (
        "Summarization (c. and f.)",
        "Summarization (completeness and faithfulness)",
    ),
    "summarization_judge": ("Summarization (Judge)",),
    "summarization_with_reference_gptscore": (
        "Summarization with ref. s.",
        "Summarization with reference (GPTScore)",
    ),
    "summarization_without_reference_gptscore": (
        "Summarization without ref. s.",
        "Summarization without reference (GPTScore)",
    ),
    "text_matching": ("Text matching", "Tokens presence"),
    "toxicity": ("Toxicity",),
}
"""Our ids, and the names of the same evaluator in the guide; upper and lower case are equal."""
KNOWN_EVALUATORS = EVALUATOR_NAMES.keys() | EVALUATOR_CLASSES.keys()
"""Ids of the evaluators that the guide or the reference engine has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionName:
    """Option of an evaluator.

    Attributes:
        guide: its name in the guide.
        ours: option here; a dot leads into a table. JUDGE_MODEL stands for the two options by which a table
            `judge` names a configured model or connection.
        evaluators: ids of the evaluators that have it; () for all of the guide's.
        implies: options that are set with it, unless they are given.
    """

    guide: str
    ours: str
    evaluators: tuple[str, ...] = ()
    implies: Mapping[str, str] = field(default_factory=dict)


JUDGE_MODEL, JUDGE_CONNECTION = "judge.model", "judge.connection"
OPTIONS: tuple[OptionName, ...] = (
    OptionName(guide="metric_threshold", ours="threshold"),
    OptionName(guide="custom_eval_judge_config_key", ours=JUDGE_MODEL),
    OptionName(guide="agent_host_connection_config_key", ours=JUDGE_MODEL, evaluators=("fact_check",)),
    OptionName(
        guide="agent_eval_h2ogpte_collection_id", ours="agent_collection_id", evaluators=("fact_check",)
    ),
    OptionName(
        guide="h2ogpte_connection_config_key",
        ours=JUDGE_MODEL,
        evaluators=("step_alignment",),
        implies={"step_extractor": "llm"},
    ),
    OptionName(
        guide="h2ogpte_llm_model_name",
        ours="judge.llm_model_name",
        evaluators=("step_alignment",),
        implies={"step_extractor": "llm"},
    ),
    OptionName(guide="drift_threshold", ours="threshold", evaluators=("questions_drift",)),
)
"""Options of evaluators whose name differs."""
PERTURBATORS: Mapping[str, str] = {
    "random_character_replacement": "random_replacement",
    "random_character_insert": "random_insert",
    "random_character_delete": "random_delete",
    "keyword_typos": "keyboard_typos",
    "random_keyboard_typos": "keyboard_typos",
    "random_ocr": "ocr",
}
"""Perturbators of the guide, and the class names of the reference engine without `Perturbator`, as words."""
PROBLEM_TYPE_NAMES: Mapping[str, str] = {"stability": "robustness", "data quality": "data_quality"}
"""Types of problems of the guide whose name differs."""
CONNECTION_KEYS: Mapping[str, str] = {"server_url": "url", "token": "api_key"}
"""Keys of a connection in the reference engine whose name differs."""
OTHER_CONNECTION_KEYS = frozenset({"connection_type", "token_use_type", "name", "key"})
"""Keys of a connection in the reference engine that say nothing to a host here."""
ARENA_REPLY: Mapping[str, str] = {"model_a": "first", "model_b": "second"}
"""Names of the two answers in the published procedure, and here: values of `choice`, keys of `scores`."""
GENERATOR_SUFFIX = "_questions"
"""Ending of the names of generators in the guide's client."""
_PERTURBATOR = re.compile(r"(?:h2o_sonar\.utils\.perturbations\.)?\w+Perturbator(?:Base16|Base64)?(?!\w)")
_INTENSITY = re.compile(r"\bPerturbationIntensity\.(?=\w)")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class NamesRead:
    """Names of the guide that a file or a run uses, each with the name here."""

    def __init__(self) -> None:
        self._pairs: dict[str, str] = {}
        self._noted: set[str] = set()

    def add(self, guide: str, ours: str) -> None:
        """Take a name that was read."""
        if guide not in self._noted:
            self._pairs[guide] = ours

    def note(self) -> str:
        """Return one sentence about the names since the last call, "" if there are none."""
        if not self._pairs:
            return ""
        listed = ", ".join(f"{guide!r} as {ours!r}" for guide, ours in self._pairs.items())
        self._noted.update(self._pairs)
        self._pairs.clear()
        return f"names of H2O Eval Studio are read: {listed}"


@lru_cache(maxsize=1024)
def own_evaluator(name: str) -> str:
    """Return the id of an evaluator that the guide or the reference engine calls so; "" for any other name.

    >>> own_evaluator("Tokens presence"), own_evaluator("PiiLeakageEvaluator"), own_evaluator("rouge")
    ('text_matching', 'pii_leakage', '')
    >>> own_evaluator("h2o_sonar.evaluators.pii_leakage_evaluator.PiiLeakageEvaluator")
    'pii_leakage'
    """
    by_name = _evaluators()
    words = " ".join(name.casefold().split())
    # Of `PACKAGE.MODULE.CLASS` the class decides; a module alone names its evaluator too.
    parts = words.removeprefix(REFERENCE).split(".")
    id = by_name.get(words) or by_name.get(words.removesuffix(" evaluator")) or by_name.get(parts[-1], "")
    if not id and words.startswith(REFERENCE):
        id = by_name.get(parts[0], "")
    if not id and name.endswith("Evaluator"):
        id = _snake(name.rpartition(".")[2].removesuffix("Evaluator"))
    # Our own ids are no names of the guide, and are not to be noted.
    return id if id in KNOWN_EVALUATORS and id != name else ""


def class_and_metric(name: str) -> tuple[str, str] | None:
    """Return the evaluator and the metric of `PACKAGE.MODULE.CLASS[.METRIC]`, None for another name.

    >>> class_and_metric("h2o_sonar.evaluators.rouge_evaluator.RougeEvaluator.rouge_1")
    ('rouge_evaluator.RougeEvaluator', 'rouge_1')
    """
    if not name.startswith(REFERENCE):
        return None
    module, _, rest = name.removeprefix(REFERENCE).partition(".")
    cls, _, metric = rest.partition(".")
    return f"{module}.{cls}", metric


def plain_evaluator(name: str) -> str:
    """Return a class name or a title of an evaluator as words, to look for the nearest id.

    >>> plain_evaluator("PiiLeakgeEvaluator"), plain_evaluator("Roug Evaluator")
    ('pii_leakge', 'roug')
    """
    words = _snake(name.strip().rpartition(".")[2].replace(" ", "_"))
    return words.removesuffix("_evaluator").rstrip("_")


@lru_cache(maxsize=1)
def _evaluators() -> Mapping[str, str]:
    """Return names in the guide, classes and modules of the reference engine, in lower case, to our ids."""
    by_name = {name.casefold(): id for id, names in EVALUATOR_NAMES.items() for name in names}
    for id, address in EVALUATOR_CLASSES.items():
        module, _, name = address.partition(".")
        by_name |= {module: id, name.casefold(): id}
    return by_name


def own_evaluators(names: Iterable[str], read: NamesRead) -> list[str]:
    """Return ids in place of the guide's names of evaluators; other names stay as they are."""
    ids = []
    for name in names:
        id = own_evaluator(name)
        if id:
            read.add(name, id)
        ids.append(id or name)
    return ids


def own_options(
    id: str,
    options: Mapping[str, object],
    read: NamesRead,
    location: str,
    *,
    connections: Collection[str] = (),
) -> dict[str, object]:
    """Return the options of an evaluator with our names.

    Args:
        id: of the evaluator, or its type; of one that the guide does not have, all options stay.
        read: takes the names that were read.
        location: of the options, for messages.
        connections: names of the configured connections.

    Raises:
        ConfigurationError: if an option is given by both names.
    """
    by_name = {each.guide: each for each in OPTIONS if id in (each.evaluators or KNOWN_EVALUATORS)}
    converted = {name: value for name, value in options.items() if name not in by_name}
    for name in [name for name in options if name in by_name]:
        value = options[name]
        if value == "":  # the guide's default of texts
            continue
        path = by_name[name].ours
        if path == JUDGE_MODEL and value in connections:
            path = JUDGE_CONNECTION
        read.add(name, path)
        _set(converted, path, value, f"{location}.{name}")
        for option, implied in by_name[name].implies.items():
            converted.setdefault(option, implied)
    return converted


def _set(own: dict[str, object], path: str, value: object, location: str) -> None:
    table, _, name = path.rpartition(".")
    target = own.get(table, {}) if table else own
    if not isinstance(target, Mapping) or name in target:
        raise ConfigurationError(f"{location}: is {path!r} here, which is given too; remove one of them")
    if table:
        own[table] = {**target, name: value}
    else:
        own[name] = value


def own_perturbations(text: str, read: NamesRead) -> str:
    """Return a specification of perturbations with our ids and intensities.

    >>> own_perturbations("h2o_sonar.utils.perturbations.CommaPerturbator:PerturbationIntensity.HIGH", NamesRead())
    'comma:HIGH'
    """  # noqa: E501

    def renamed(match: re.Match[str]) -> str:
        id = own_perturbator(match[0])
        read.add(match[0], id)
        return id

    text = _INTENSITY.sub("", _PERTURBATOR.sub(renamed, text))
    for guide, ours in PERTURBATORS.items():
        text, count = re.subn(rf"(?i)(?<![\w.]){guide}(?!\w)", ours, text)
        if count:
            read.add(guide, ours)
    return text


def own_perturbator(name: str) -> str:
    """Return the id of a perturbator that the guide or the reference engine calls so.

    >>> own_perturbator("h2o_sonar.utils.perturbations.CommaPerturbator"), own_perturbator("RandomOCRPerturbator")
    ('comma', 'ocr')
    """  # noqa: E501
    last = name.rpartition(".")[2]
    words = _snake(last.replace("OCR", "Ocr").replace("Perturbator", ""))
    return PERTURBATORS.get(words, words)


def own_connection(keys: Mapping[str, object]) -> dict[str, object]:
    """Return the keys of a connection by our names.

    >>> own_connection({"name": "mine", "server_url": "http://localhost", "token": "t"})
    {'url': 'http://localhost', 'api_key': 't'}
    """
    return {
        CONNECTION_KEYS.get(name, name): value
        for name, value in keys.items()
        if name not in OTHER_CONNECTION_KEYS
    }


def own_arena_reply(reply: Mapping[str, object]) -> Mapping[str, object]:
    """Return a judge's reply in the published form of the arena with our keys; any other reply as it is.

    >>> own_arena_reply({"choice": "model_b", "reason": "…", "scores": {"model_a": 4, "model_b": 9}})
    {'choice': 'second', 'reason': '…', 'score_first': 4, 'score_second': 9}
    """
    converted: dict[str, object] = {}
    for key, value in reply.items():
        if key == "scores" and isinstance(value, Mapping) and value.keys() <= ARENA_REPLY.keys():
            converted |= {f"score_{ARENA_REPLY[name]}": score for name, score in value.items()}
        elif key == "choice" and isinstance(value, str):
            converted[key] = ARENA_REPLY.get(value.strip().lower().replace(" ", "_"), value)
        else:
            converted[key] = value
    return converted


def own_generators(names: Sequence[str], ids: Collection[str], read: NamesRead) -> list[str]:
    """Return ids in place of the guide's names of generators; other names stay as they are."""
    converted = []
    for name in names:
        id = name.removesuffix(GENERATOR_SUFFIX)
        if name not in ids and id in ids:
            read.add(name, id)
            name = id
        converted.append(name)
    return converted


def _snake(name: str) -> str:
    return _HUMP.sub("_", name).lower().strip("_")
