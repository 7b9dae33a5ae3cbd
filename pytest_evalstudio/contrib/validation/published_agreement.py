"""Published agreement of metrics with people: area under the ROC curve with its 95 % interval."""

from __future__ import annotations

from collections.abc import Mapping

SAMPLES = ("BEGIN", "FRANK", "SummEdits")
"""Dialogues on passages, summaries of news, edited summaries."""
PUBLISHED: Mapping[str, tuple[str, str, str]] = {
    "answer_accuracy.answer_accuracy": ("", "0.48 (0.36–0.61)", "0.65 (0.57–0.72)"),
    "answer_semantic_sentence_similarity.mean_answer_similarity": (
        "",
        "0.52 (0.40–0.65)",
        "0.65 (0.57–0.72)",
    ),
    "answer_semantic_sentence_similarity.min_answer_similarity": ("", "0.48 (0.36–0.61)", "0.65 (0.57–0.72)"),
    "answer_semantic_similarity.answer_similarity": ("", "0.53 (0.40–0.65)", "0.64 (0.57–0.71)"),
    "bleu.bleu_1": ("", "0.44 (0.33–0.56)", "0.57 (0.50–0.65)"),
    "bleu.bleu_2": ("", "0.47 (0.34–0.60)", "0.51 (0.43–0.58)"),
    "bleu.bleu_3": ("", "0.56 (0.44–0.68)", "0.47 (0.39–0.55)"),
    "bleu.bleu_4": ("", "0.60 (0.49–0.70)", "0.44 (0.37–0.52)"),
    "classification.accuracy": ("", "", "0.55 (0.52–0.58)"),
    "groundedness.groundedness": ("0.83 (0.78–0.88)", "0.65 (0.53–0.77)", "0.43 (0.35–0.50)"),
    "hcat_completeness.completeness": ("0.77 (0.71–0.83)", "0.66 (0.54–0.77)", "0.49 (0.41–0.57)"),
    "hcat_completeness.wasserstein_distance": ("0.81 (0.75–0.87)", "0.66 (0.55–0.77)", "0.48 (0.40–0.56)"),
    "hcat_completeness.mean_transport_distance": ("0.81 (0.75–0.87)", "0.61 (0.49–0.72)", "0.46 (0.38–0.53)"),
    "hcat_groundedness.groundedness": ("0.83 (0.77–0.88)", "0.71 (0.60–0.82)", "0.46 (0.38–0.53)"),
    "hcat_groundedness.min_groundedness": ("0.83 (0.78–0.88)", "0.65 (0.53–0.77)", "0.43 (0.35–0.50)"),
    "lexical_groundedness.supported_words": ("0.92 (0.89–0.95)", "0.76 (0.67–0.85)", "0.39 (0.32–0.47)"),
    "lexical_groundedness.unsupported_words": ("0.92 (0.89–0.95)", "0.74 (0.65–0.84)", "0.36 (0.29–0.44)"),
    "lexical_groundedness.supported_bigrams": ("0.85 (0.80–0.90)", "0.80 (0.71–0.89)", "0.40 (0.32–0.47)"),
    "lexical_groundedness.worst_sentence_bigrams": (
        "0.88 (0.83–0.92)",
        "0.78 (0.69–0.88)",
        "0.38 (0.31–0.46)",
    ),
    "lexical_groundedness.supported_numbers": ("0.65 (0.54–0.76)", "0.63 (0.54–0.73)", "0.67 (0.58–0.76)"),
    "rouge.rouge_1": ("", "0.52 (0.40–0.63)", "0.49 (0.42–0.57)"),
    "rouge.rouge_2": ("", "0.52 (0.39–0.64)", "0.44 (0.37–0.52)"),
    "rouge.rouge_l": ("", "0.45 (0.33–0.57)", "0.49 (0.41–0.57)"),
    "step_alignment.edits": ("", "0.49 (0.37–0.62)", "0.59 (0.47–0.71)"),
    "step_alignment.insertions": ("", "0.49 (0.37–0.62)", "0.59 (0.47–0.71)"),
    "step_alignment.retrieved_context_steps": ("", "0.51 (0.38–0.63)", "0.41 (0.29–0.53)"),
}
"""`evaluator.metric` to a figure per sample, "" for none. Source: `tests/benchmarks/agreement.md`."""


def published_agreement(metric: str) -> str:
    """Return the figures of a metric in words, "" for none.

    >>> published_agreement("rouge.rouge_l")
    'FRANK 0.45 (0.33–0.57), SummEdits 0.49 (0.41–0.57)'
    """
    figures = zip(SAMPLES, PUBLISHED.get(metric, ()), strict=False)
    return ", ".join(f"{sample} {figure}" for sample, figure in figures if figure)
