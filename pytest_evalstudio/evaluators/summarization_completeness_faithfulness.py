"""Summarization without a reference: faithfulness and completeness of a summary for its document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Entailment, Tools
from pytest_evalstudio.evaluators._common import keywords
from pytest_evalstudio.evaluators._similarity import (
    NO_WORDS,
    TextEmbeddings,
    best_columns,
    sentence_fragments,
    worst_sentence,
)
from pytest_evalstudio.evaluators._support import DIGITS, judged
from pytest_evalstudio.metrics.entailment import (
    CONV_FILE,
    ConvWeights,
    read_conv_weights,
    summac_conv,
    summac_zs,
)
from pytest_evalstudio.text.claims import Claim, claims_of

NO_DOCUMENT_WORDS = "the question, which is the document, has no words"


MAX_PAIRS = 100_000
"""Maximum number of compared pairs of sentences; the inference model reads each of them."""


@evaluator(
    "summarization_completeness_faithfulness",
    name="Summarization (c. and f.)",
    domain="summarization",
    needs=("question", "actual_output"),
    requires=("nli", "embedder"),
    method=("nli", "embeddings"),
    systems=("llm", "rag"),
    extra="models",
    keywords=keywords(
        "S", "C O", "evaluation-method-nli", "evaluation-method-embeddings", "capability-answer-highlight"
    ),
    problem_type="summarization",
    avid="P0200",
)
@dataclass(frozen=True)
class SummarizationCompletenessFaithfulness:
    """Similarity of the faithful part of a summary to the whole document, and SummaC's faithfulness.

    The question is the document. A sentence of the summary is faithful if a sentence of the document entails
    it with a probability of at least `faithful_from`. SummaC Conv is computed only where `conv_weights`
    names a file with its trained layer.

    Source: Laban et al., 2022 (SummaC).
    """

    conv_weights: str = ""
    faithful_from: float = 0.5
    path_options: ClassVar[tuple[str, ...]] = ("conv_weights",)
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "completeness",
            "Completeness",
            primary=True,
            description="Cosine of the document and the summary's faithful sentences.",
        ),
        Metric(
            "faithfulness_conv",
            "Faithfulness (SummaC Conv)",
            description="Probability of consistency by SummaC's trained layer; needs conv_weights.",
        ),
        Metric(
            "faithfulness_zs",
            "Faithfulness (SummaC ZS)",
            description="Mean over the summary's sentences of the best entailment by the document.",
        ),
    )

    def __post_init__(self) -> None:
        if not 0.0 <= self.faithful_from <= 1.0:
            raise ConfigurationError(f"faithful_from: expected a probability, found {self.faithful_from}")
        if self.conv_weights and not Path(self.conv_weights).is_file():
            raise ConfigurationError(
                f"conv_weights: there is no file {self.conv_weights}; download the published file once from"
                f" {CONV_FILE}"
            )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        weights = read_conv_weights(Path(self.conv_weights)) if self.conv_weights else None
        read = [(case, claims_of(case.actual_output), claims_of(case.question)) for case in cases]
        pairs = [
            pair
            for _, summary, document in read
            if not _is_too_long(summary, document)
            for pair in _pairs(summary, document)
        ]
        by_pair = judged(pairs, tools)
        tables = [
            [] if _is_too_long(summary, document) else _entailment(summary, document, by_pair)
            for _, summary, document in read
        ]
        parts = [self._faithful(summary, table) for (_, summary, _), table in zip(read, tables, strict=True)]
        vectors = TextEmbeddings(
            (
                text
                for (case, _, _), part in zip(read, parts, strict=True)
                if part
                for text in (case.question, part)
            ),
            tools.embedder,
        )
        return [
            self._score(case, summary, document, table, part, vectors, weights)
            for (case, summary, document), table, part in zip(read, tables, parts, strict=True)
        ]

    def _faithful(self, summary: Sequence[Claim], table: Sequence[Sequence[float]]) -> str:
        """The faithful sentences of a summary as one text, "" for none."""
        return " ".join(
            sentence.text
            # The table of texts that are too long is empty.
            for sentence, row in zip(summary, table, strict=False)
            if row and max(row) >= self.faithful_from
        )

    def _score(
        self,
        case: Case,
        summary: Sequence[Claim],
        document: Sequence[Claim],
        table: Sequence[Sequence[float]],
        faithful: str,
        vectors: TextEmbeddings,
        weights: ConvWeights | None,
    ) -> Outcome:
        if not summary or not document:
            return Outcome.worst(self.metrics, NO_DOCUMENT_WORDS if summary else NO_WORDS)
        if _is_too_long(summary, document):
            return Outcome.error(
                f"{len(summary):,} sentences of the summary and {len(document):,} of the document are too"
                " many to compare; shorten one",
                OutcomeCode.TEXT_TOO_LONG,
            )
        best = [max(row) for row in table]
        lowest = worst_sentence(case.actual_output, summary, best, "least faithful sentence")
        return Outcome.score(
            {
                "completeness": float(best_columns(vectors, [faithful], [case.question])[0])
                if faithful
                else 0.0,
                "faithfulness_conv": summac_conv(table, weights) if weights else None,
                "faithfulness_zs": summac_zs(table),
            },
            reason=lowest if faithful else f"no sentence of the summary follows from the document; {lowest}",
            fragments=sentence_fragments(summary, best, "faithfulness_zs"),
        )


def _is_too_long(summary: Sequence[Claim], document: Sequence[Claim]) -> bool:
    return len(summary) * len(document) > MAX_PAIRS


def _pairs(summary: Sequence[Claim], document: Sequence[Claim]) -> list[tuple[str, str]]:
    """Each distinct sentence of the document with each distinct one of the summary."""
    theirs = dict.fromkeys(sentence.text for sentence in document)
    return [
        (premise, text) for text in dict.fromkeys(sentence.text for sentence in summary) for premise in theirs
    ]


def _entailment(
    summary: Sequence[Claim], document: Sequence[Claim], by_pair: Mapping[tuple[str, str], Entailment]
) -> list[list[float]]:
    """Per sentence of the summary its entailment by each sentence of the document; repeats share a row."""
    # Rounded, since the order of a batch changes the last digits of a model's floats.
    rows = {
        text: [round(by_pair[sentence.text, text].entailment, DIGITS) for sentence in document]
        for text in dict.fromkeys(sentence.text for sentence in summary)
    }
    return [rows[sentence.text] for sentence in summary]
