"""Tables of the evaluators, made from the registry: a choice by need, and details."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from typing import Any

from pytest_evalstudio import Registry
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.plugins.declaring import parameters
from pytest_evalstudio.core.plugins.evaluator import BOOLEAN_KEYS, EvaluatorSpec
from pytest_evalstudio.formats.config import DEFAULT_EVALUATORS
from support.documented import as_sentence, paragraphs, source_line
from support.table_rows import head, row

_FORM = "nothing: watch the form"
_BY_NEED = {
    "an expected answer": """answer_accuracy answer_correctness answer_semantic_sentence_similarity
        answer_semantic_similarity bertscore bleu classification correctness_judge
        machine_translation_gptscore rouge""",
    "a condition, a schema or expected files": "agent_sanity_check json_schema text_matching",
    "the context of the answer": """context_contradictions faithfulness groundedness groundedness_judge
        groundedness_signals hallucination hcat_completeness hcat_groundedness hcat_nli_groundedness
        lexical_groundedness step_alignment""",
    "the context, and the question or what should be retrieved": """chunk_relevance_judge
        context_mean_reciprocal_rank context_precision context_recall context_relevancy context_relevancy_soft
        context_sufficiency_judge document_recall hcat_context_relevancy labelled_retrieval ragas""",
    "a criterion in words": """byop custom_judge global_guideline_adherence_judge guideline_adherence_judge
        rubric_judge""",
    "calls of tools, rules, a state or a budget": """disturbed_tool_security disturbed_tool_utility effort
        final_state task_completion tool_arguments tool_calls tool_consistency tool_rules
        trajectory_judge""",
    "a conversation": "conversation_judge fact_retention",
    "a text to summarize": """summarization_completeness_faithfulness summarization_judge
        summarization_with_reference_gptscore summarization_without_reference_gptscore""",
    "only question and answer": """answer_relevancy answer_relevancy_sentence_similarity fact_check
        hcat_answer_relevancy language_mismatch question_answering_gptscore relevance_to_query_judge""",
    "nothing: search for leaks": """contact_information encoding_guardrail pii_leakage
        sensitive_data_leakage""",
    "nothing: search for harm and unfairness": """counterfactual_bias fairness_bias safety_judge sexism
        stereotypes toxicity""",
    _FORM: "looping_detection perplexity questions_drift self_consistency",
}
_ANSWER = "actual_output"
_BY_INPUT = {
    "condition": "a condition, a schema or expected files",
    "expected_output": "an expected answer",
    "context": "the context of the answer",
    "question": "only question and answer",
}
"""Groups of evaluators that are not listed above, by the first of these inputs that they need."""


def by_need() -> dict[str, list[str]]:
    """Return what a test case has, to the evaluators that use it."""
    groups = {need: names.split() for need, names in _BY_NEED.items()}
    known_ids = {id for ids in groups.values() for id in ids}
    for id, spec in _specs().items():
        if id not in known_ids:
            need = next((_BY_INPUT[name] for name in _BY_INPUT if name in spec.needs), _FORM)
            groups[need].append(id)
    return groups


def choice() -> Iterator[str]:
    """Yield the evaluators by what a test case has and by the models that they need."""
    specs = _specs()
    yield from head("You have", "No model", "Local model", "Judge")
    for need, ids in by_need().items():
        cells = ([id for id in ids if _model_of(specs[id]) == model] for model in ("none", "local", "judge"))
        yield row(_capital(need), *(", ".join(_marked(specs[id]) for id in cell) or "–" for cell in cells))


def details() -> Iterator[str]:
    """Yield meaning, metrics, inputs, options and source of each evaluator."""
    plugins = Registry().evaluators
    cited: set[str] = set()
    for id in plugins:
        spec, cls = plugins.spec(id), plugins.get(id)
        yield from ("", f"### {id}", "")
        yield from paragraphs(cls)
        yield from _metrics(spec)
        facts = [*_only_metric(spec), *_needs(spec), *_options(cls)]
        source = _shortened(source_line(cls))
        title = re.search(r" \([^()]{20,}\)", source)
        if title and title[0] in cited:
            source = source.replace(title[0], "")
        elif title:
            cited.add(title[0])
        facts.append(f"Source: {source}")
        if id in DEFAULT_EVALUATORS:
            facts.append("It runs by default.")
        if needs_labels(spec):
            facts.append("† Do not gate on it without labels of your own.")
        yield from ("", " ".join(facts))


def _shortened(source: str) -> str:
    """Return a source without the place in documents whose places have the names of evaluators."""
    short = re.sub(r"^(?:H2O )?Eval Studio(?: user guide)?, [^;.]*\.$", "H2O Eval Studio.", source)
    return short.replace("Mosaic AI Agent Evaluation, LLM judges reference", "Mosaic AI Agent Evaluation")


def needs_labels(spec: EvaluatorSpec) -> bool:
    """Report whether an evaluator grades support by words or embeddings, so that a threshold needs labels."""
    has_grades = spec.measures_support and not spec.primary.boolean
    return has_grades and not {"judge", "nli", "hallucination_model"} & set(spec.requires)


def _specs() -> dict[str, EvaluatorSpec]:
    plugins = Registry().evaluators
    return {id: plugins.spec(id) for id in plugins}


def _model_of(spec: EvaluatorSpec) -> str:
    """Return "none", "local" for a model on this machine, or "judge"."""
    required = [name for name in spec.requires if not name.startswith(("option:", "module:"))]
    if "judge" in required:
        return "judge"
    return "local" if required else "none"


def _marked(spec: EvaluatorSpec) -> str:
    default = " \\*" if spec.id in DEFAULT_EVALUATORS else ""
    return f"`{spec.id}`{default}{' †' if needs_labels(spec) else ''}"


def _bound(metric: Metric) -> str:
    worst = metric.range[0 if metric.better == "higher" else 1]
    if metric.threshold == worst:  # it decides nothing
        return f"`{metric.key}`"
    return f"`{metric.key}` {'≥' if metric.better == 'higher' else '≤'} {metric.threshold:g}"


_MAX_DESCRIBED = 5
"""An evaluator with more metrics is shown with their names only, which say what they are."""
_NAMED_ONLY = (
    "answer_semantic_sentence_similarity",
    "bleu",
    "context_relevancy_soft",
    "hcat_answer_relevancy",
    "hcat_context_relevancy",
    "hcat_groundedness",
    "machine_translation_gptscore",
    "perplexity",
    "questions_drift",
    "ragas",
    "rouge",
    "self_consistency",
)
"""Evaluators whose first sentence, with the names of their metrics, says what the metrics are."""


def _metrics(spec: EvaluatorSpec) -> Iterator[str]:
    """Yield the metrics of an evaluator that has several, or one with a range of its own."""
    if _is_boolean(spec) or _has_one_plain_metric(spec):
        return
    yield ""
    if spec.id not in _NAMED_ONLY and len(spec.metrics) <= _MAX_DESCRIBED:
        for metric in spec.metrics:
            kind = f" ({_kind(metric)})" if _kind(metric) else ""
            yield f"* {_key_with_threshold(metric)}{kind}: {_sentence(metric)}"
        return
    by_kind: dict[str, list[str]] = {}
    for metric in spec.metrics:
        by_kind.setdefault(_kind(metric), []).append(_key_with_threshold(metric))
    parts = (f"{', '.join(names)}{f' ({kind})' if kind else ''}" for kind, names in by_kind.items())
    yield f"Metrics: {'; '.join(parts)}."


def _is_boolean(spec: EvaluatorSpec) -> bool:
    return {metric.key for metric in spec.metrics} <= set(BOOLEAN_KEYS)


def _has_one_plain_metric(spec: EvaluatorSpec) -> bool:
    return len(spec.metrics) == 1 and spec.primary.range == (0.0, 1.0)


def _only_metric(spec: EvaluatorSpec) -> Iterator[str]:
    """Yield the metric of an evaluator whose metrics are not listed; one like its id has no mention."""
    if _is_boolean(spec):
        yield "Boolean."
    elif _has_one_plain_metric(spec) and _key_with_threshold(spec.primary) != f"`{spec.id}`":
        yield f"Metric: {_key_with_threshold(spec.primary)}."


def _needs(spec: EvaluatorSpec) -> Iterator[str]:
    """Yield what a case needs in addition to an answer, which most evaluators read."""
    needs = ", ".join(name for name in spec.needs if name != _ANSWER)
    if _ANSWER not in spec.needs:
        needs += "; no answer" if needs else "no answer"
    if needs:
        yield f"Needs: {needs}."


def _key_with_threshold(metric: Metric) -> str:
    """Return the key of a metric, with its threshold where it is not the usual one."""
    has_default = (metric.threshold, metric.better) == (0.75, "higher")
    return f"`{metric.key}`" if has_default else _bound(metric)


def _sentence(metric: Metric) -> str:
    """Return the description of a metric; a question keeps its mark."""
    text = metric.description or metric.name
    return text if text.endswith("?") else as_sentence(text)


def _kind(metric: Metric) -> str:
    """Return range and direction of a metric, "" for 0 to 1 and higher is better."""
    low, high = metric.range
    texts = []
    if high == float("inf"):
        texts.append(f"{low:g} or more")
    elif (low, high) != (0.0, 1.0):
        texts.append(f"{low:g} to {high:g}")
    if metric.better == "lower":
        texts.append("lower is better")
    return ", ".join(texts)


def _options(cls: type) -> Iterator[str]:
    defaults = {item.name: _default_of(item) for item in dataclasses.fields(cls)}
    options = [f"`{name}={defaults.get(name, '')}`" for name in parameters(cls)]
    text = " ".join(paragraphs(cls))
    are_described = all(defaults.get(name) == "null" and f"`{name}`" in text for name in parameters(cls))
    if options and not are_described:
        yield f"Options: {', '.join(options)}."


def _default_of(item: dataclasses.Field[Any]) -> str:
    if item.default is not dataclasses.MISSING:
        return json.dumps(item.default, default=str)
    if item.default_factory is not dataclasses.MISSING:
        return json.dumps(item.default_factory(), default=list)
    return "…"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
