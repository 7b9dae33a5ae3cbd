"""Groundedness by signals: words, numbers, negations, alignment and entailment, by published weights."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import TokenMatch, Tools
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS, keywords, listed
from pytest_evalstudio.evaluators._similarity import (
    NO_CONTEXT_WORDS,
    TextEmbeddings,
    best_columns,
    has_words,
    worst_sentence,
)
from pytest_evalstudio.evaluators._support import DIGITS, judged, premise
from pytest_evalstudio.metrics.detectors import redact
from pytest_evalstudio.metrics.groundedness import (
    ENTAILMENT,
    SENTENCE_SIMILARITY,
    ContextIndex,
    FittedModels,
    aggregate_signals,
    alignment_signals,
    describe_signal,
    entailment_signal,
    index_context,
    lexical_signals,
    load_models,
    probability,
)
from pytest_evalstudio.metrics.groundedness.denials import (
    denied_clauses,
    read_clause,
    unknown_names,
    words_of,
)
from pytest_evalstudio.metrics.grounding import tokens_of
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.text.claims import Claim, claims_of, stated_figures, statements_of
from pytest_evalstudio.text.figures import figure
from pytest_evalstudio.text.numbers import Figure, FigureIndex

_KEY = "groundedness_signals"
_SHOWN_COST = 0.1
"""Log-odds from which a signal is named."""
_SHOWN_SIGNALS = 3
_SHOWN_DIGITS = 4


@dataclass(slots=True)
class _Read:
    """Sentences of an answer with content words, with their signals.

    Attributes:
        context: the whole context.
        lengths: number of words of each sentence.
        supported_numbers: share of the figures that the context has; None without figures.
        wrong_numbers: the others.
        names: names that neither context nor question have; `unknown` sentences have some.
        denied: clauses that the context denies; one for each sentence with any.
    """

    context: str = ""
    sentences: list[Claim] = field(default_factory=list)
    signals: list[dict[str, float]] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    supported_numbers: float | None = None
    wrong_numbers: tuple[Figure, ...] = ()
    names: list[str] = field(default_factory=list)
    unknown: int = 0
    denied: list[str] = field(default_factory=list)


@evaluator(
    _KEY,
    name="Groundedness (signals)",
    domain="generation",
    needs=("context", "actual_output"),
    uses=("embedder", "word_aligner", "nli"),
    method=("ngrams", "rules", "embeddings", "nli"),
    systems=("rag",),
    keywords=keywords(
        "S VR",
        "C O M",
        "evaluation-method-ngram",
        "evaluation-method-rule-based",
        "evaluation-method-embeddings",
        "capability-answer-highlight",
    ),
    avid="E0400",
)
@dataclass(frozen=True)
class GroundednessSignals:
    """Probability that the context supports the answer, by explainable signals and published weights.

    Words, phrases, numbers, names, negations, restrictions and opposites are compared with the context.
    Where `[embeddings]` names a model, token alignment and sentence similarity are added; where `[nli]`
    names one, entailment. Each sentence is explained by the signals that lower its score.

    Source: this project; `tests/benchmarks/fit_groundedness.py` fits the weights.
    """

    measures_support: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            _KEY,
            "Groundedness (signals)",
            threshold=0.5,
            primary=True,
            description="Probability that the context supports the whole answer.",
        ),
        Metric(
            f"min_{_KEY}",
            "Groundedness (signals) of the worst sentence",
            threshold=0.25,
            description="Lowest probability of any sentence.",
            decides=True,
        ),
        Metric(
            "supported_numbers",
            "Supported numbers",
            threshold=1.0,
            description="Share of the numbers with their units, dates and expressions that the context has.",
            decides=True,
        ),
        Metric(
            "supported_names",
            "Supported names",
            threshold=1.0,
            description="Share of the sentences whose names context or question have.",
            decides=True,
        ),
        Metric(
            "agreeing_sentences",
            "Agreeing sentences",
            threshold=1.0,
            description="Share of the sentences that the context does not deny by a negation or opposite.",
            decides=True,
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        indexes: dict[str, ContextIndex] = {}
        reads = [_read(case, tools, indexes) for case in cases]
        # The weights were fitted with both signals or with neither.
        has_embeddings = tools.embedder is not None and tools.word_aligner is not None
        if has_embeddings:
            _add_alignment(cases, reads, tools, indexes)
            _add_similarity(reads, tools)
        if tools.nli is not None:
            _add_entailment(reads, tools)
        models = load_models()
        return [
            self._outcome(case, read, models, has_embeddings) for case, read in zip(cases, reads, strict=True)
        ]

    def _outcome(self, case: Case, read: _Read, models: FittedModels, has_embeddings: bool) -> Outcome:
        # The model retrieved nothing with words: every claim of the answer lacks support.
        if not read.context:
            return Outcome.worst(self.metrics, NO_CONTEXT_WORDS)
        if not read.signals:
            return Outcome.not_applicable("the answer has only function words")
        combined = aggregate_signals(read.signals, read.lengths)
        # A sentence is scored as an answer of this one sentence: the weights are for aggregates.
        alone = [aggregate_signals([signals], [1]) for signals in read.signals]
        scores = [_probability(models.log_odds(signals, has_embeddings)) for signals in alone]
        shown = _worst_places(scores)
        costs = {index: models.costs(alone[index], has_embeddings) for index in shown}
        position = scores.index(min(scores))
        reason = worst_sentence(case.actual_output, read.sentences, scores, "least grounded sentence")
        explained = _explanation(costs[position])
        return Outcome.score(
            {
                _KEY: _probability(models.log_odds(combined, has_embeddings)),
                f"min_{_KEY}": scores[position],
                "supported_numbers": read.supported_numbers,
                "supported_names": 1 - read.unknown / len(read.sentences),
                "agreeing_sentences": 1 - len(read.denied) / len(read.sentences),
            },
            reason="; ".join(filter(None, (*_faults(case, read), reason, reason and explained))),
            fragments=_fragments(read.sentences, scores, costs),
            details={
                "model": "embedding" if has_embeddings else "lexical",
                "signals": _rounded(combined),
                "sentences": [
                    {
                        "start": read.sentences[index].start,
                        "end": read.sentences[index].end,
                        "score": scores[index],
                        "signals": _rounded(read.signals[index]),
                        "log_odds": _rounded(costs[index]),
                    }
                    for index in shown
                ],
            },
        )


def _read(case: Case, tools: Tools, indexes: dict[str, ContextIndex]) -> _Read:
    """Read an answer by words; contexts are indexed once."""
    context = premise(case)
    if not context:
        return _Read()
    if context not in indexes:
        indexes[context] = index_context(context, tools.split_sentences(context))
    read = _Read(context)
    _read_figures(read, case, indexes[context])
    # Answers repeat sentences; their words are compared with the context once.
    signals_of: dict[str, dict[str, float] | None] = {}
    content = statements_of(case.actual_output)
    for claim in claims_of(case.actual_output):
        # By positions, not the text of the claim: tokens of the aligner have positions in the answer.
        text = content[claim.start : claim.end]
        if text not in signals_of:
            signals_of[text] = lexical_signals(text, indexes[context])
        signals = signals_of[text]
        if signals is not None:
            read.sentences.append(claim._replace(text=text))
            read.signals.append(dict(signals))  # signals of alignment differ by position
            read.lengths.append(len(text.split()))
    _read_words(read, case, indexes[context], tools)
    return read


def _read_words(read: _Read, case: Case, index: ContextIndex, tools: Tools) -> None:
    """Look for names that the sources lack, and for clauses that a sentence of the context denies."""
    spans = tools.split_sentences(read.context)

    def is_known(word: str) -> bool:
        return index.has_name(word) or word in words_of(case.question)

    for sentence in read.sentences:
        # Masked with the whole answer: a name alone would not be recognised as a part of an address.
        masked = redact(case.actual_output)[sentence.start : sentence.end]
        names = [masked[start:end] for start, end in unknown_names(sentence.text, is_known)]
        read.names += names
        read.unknown += bool(names)
        keys = [token.keys for token in tokens_of(sentence.text)]
        # Only sentences that share words: an unrelated one cannot deny the claim.
        related = [spans[position] for position, _ in index.covered(keys, index.weights(keys))]
        clauses = [read_clause(read.context[start:end]) for start, end in related]
        read.denied += list(denied_clauses(sentence.text, clauses))[:1]


_NEGATION = re.compile(r"\b(?:no|not|never|nor|neither|without|cannot|instead|\w+n['’]t)\b", re.IGNORECASE)


def _read_figures(read: _Read, case: Case, index: ContextIndex) -> None:
    """Compare the figures of an answer with the context; a figure of the question may be denied."""
    figures = stated_figures(case.actual_output)
    if not figures:
        return
    question = FigureIndex()
    question.read(case.question)
    spans = claims_of(case.actual_output)

    def is_denied(figure: Figure) -> bool:
        claim = next((claim for claim in spans if claim.start <= figure.start < claim.end), None)
        return claim is not None and bool(_NEGATION.search(claim.text)) and question.has(figure)

    read.wrong_numbers = tuple(
        figure for figure in figures if not index.figures.has(figure) and not is_denied(figure)
    )
    read.supported_numbers = 1 - len(read.wrong_numbers) / len(figures)


def _add_alignment(
    cases: Sequence[Case], reads: Sequence[_Read], tools: Tools, indexes: Mapping[str, ContextIndex]
) -> None:
    scored = [(case, read) for case, read in zip(cases, reads, strict=True) if read.signals]
    assert tools.word_aligner is not None
    aligned = tools.word_aligner.align([(case.actual_output, read.context) for case, read in scored])
    for (_, read), matches in zip(scored, aligned, strict=True):
        parts = _by_sentence(read.sentences, matches)
        for sentence, signals, part in zip(read.sentences, read.signals, parts, strict=True):
            signals.update(alignment_signals(sentence.text, sentence.start, part, indexes[read.context]))


def _by_sentence(sentences: Sequence[Claim], matches: Sequence[TokenMatch]) -> list[list[TokenMatch]]:
    """Return the tokens inside each sentence; both are in order."""
    parts: list[list[TokenMatch]] = []
    position = 0
    for sentence in sentences:
        part = []
        while position < len(matches) and matches[position].start < sentence.end:
            # A token across two sentences belongs to neither.
            if matches[position].start >= sentence.start and matches[position].end <= sentence.end:
                part.append(matches[position])
            position += 1
        parts.append(part)
    return parts


def _add_similarity(reads: Sequence[_Read], tools: Tools) -> None:
    contexts: dict[str, list[str]] = {}
    for read in reads:
        if read.signals and read.context not in contexts:
            spans = tools.split_sentences(read.context)
            texts = (read.context[start:end] for start, end in spans)
            contexts[read.context] = [text for text in texts if has_words(text)]
    answers = [sentence.text for read in reads for sentence in read.sentences]
    vectors = TextEmbeddings(
        [*answers, *(text for texts in contexts.values() for text in texts)], tools.embedder
    )
    for read in reads:
        if not read.signals:
            continue
        cosines = best_columns(
            vectors, [sentence.text for sentence in read.sentences], contexts[read.context]
        )
        for signals, cosine in zip(read.signals, cosines.tolist(), strict=True):
            signals[SENTENCE_SIMILARITY] = float(cosine)


def _add_entailment(reads: Sequence[_Read], tools: Tools) -> None:
    pairs = [(read.context, sentence.text) for read in reads for sentence in read.sentences]
    entailments = judged(pairs, tools)
    for read in reads:
        for sentence, signals in zip(read.sentences, read.signals, strict=True):
            signals[ENTAILMENT] = entailment_signal(entailments[read.context, sentence.text].entailment)


def _faults(case: Case, read: _Read) -> Iterator[str]:
    """Yield what single words make wrong."""
    answer = redact(case.actual_output)
    if read.wrong_numbers:
        numbers = dict.fromkeys(one_line(answer[figure.start : figure.end]) for figure in read.wrong_numbers)
        yield f"unsupported numbers: {listed(list(numbers))}"
    if read.names:
        yield f"unsupported names: {listed([one_line(name) for name in dict.fromkeys(read.names)])}"
    if read.denied:
        yield f"denied by the context: {one_line(redact(read.denied[0].strip()))}"


def _probability(log_odds: float) -> float:
    return round(probability(log_odds), DIGITS)


def _rounded(values: Mapping[str, float]) -> dict[str, Any]:
    return {key: round(value, _SHOWN_DIGITS) for key, value in values.items()}


def _worst_places(scores: Sequence[float]) -> list[int]:
    """Return the places of the lowest scores, at most as many as are shown, in order."""
    return sorted(
        sorted(range(len(scores)), key=lambda position: (scores[position], position))[:MAX_FRAGMENTS]
    )


def _explanation(costs: Mapping[str, float]) -> str:
    """Return the signals that lower a score most, in words."""
    named = sorted((cost, key) for key, cost in costs.items() if cost <= -_SHOWN_COST)[:_SHOWN_SIGNALS]
    return "; ".join(f"{describe_signal(key)} ({figure(cost)})" for cost, key in named)


def _fragments(
    sentences: Sequence[Claim], scores: Sequence[float], costs: Mapping[int, Mapping[str, float]]
) -> tuple[Fragment, ...]:
    return tuple(
        Fragment(
            start=sentences[position].start,
            end=sentences[position].end,
            scores={_KEY: scores[position]},
            message=_explanation(cost),
        )
        for position, cost in costs.items()
    )
