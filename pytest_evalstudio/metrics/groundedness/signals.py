"""Signals of a sentence against a context; each is higher for a better supported sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from pytest_evalstudio.core.tools import TokenMatch
from pytest_evalstudio.metrics.groundedness.context import (
    ContextIndex,
    WordList,
    read_words,
    triples,
)
from pytest_evalstudio.metrics.groundedness.opposites import RESTRICTIONS, opposites
from pytest_evalstudio.metrics.grounding import TextPart, Token, text_parts, tokens_of
from pytest_evalstudio.text.numbers import Figure, figures_of

_FIRST_PERSON = frozenset(
    [
        "i",
        "i'm",
        "im",
        "i've",
        "ive",
        "i'd",
        "i'll",
        "me",
        "my",
        "mine",
        "we",
        "we're",
        "us",
        "our",
        "ours",
        "you",
        "your",
        "you're",
    ]
)
_MAX_STEP = 3
_CLIPPED = 1e-3  # keeps the logit of 0 and 1 finite, at ± 6.9
SENTENCE_SIMILARITY = "sentence_similarity"
ENTAILMENT = "entailment"


@dataclass(frozen=True, slots=True)
class Signal:
    """Named signal.

    Attributes:
        key: machine name.
        description: meaning of a low value, as a phrase for people.
    """

    key: str
    description: str


LEXICAL_SIGNALS = (
    Signal("word_support", "rare words are not in the context"),
    Signal("pair_support", "pairs of words are not in the context"),
    Signal("phrase_support", "phrases of three words are not in the context"),
    Signal("numbers", "numbers are not in the context"),
    Signal("names", "names are not in the context"),
    Signal("unsupported_span", "consecutive words are not in the context"),
    Signal("sentence_support", "no sentence of the context has its words together"),
    Signal("third_person", "it speaks in the first or second person"),
    Signal("statement", "it asks a question"),
    Signal("negation", "it has a negation that related sentences lack"),
    Signal("restriction", "it has a restriction that related sentences lack"),
    Signal("opposites", "it has the opposite of a word of a related sentence"),
)
"""Signals that need no model."""

EMBEDDING_SIGNALS = (
    Signal("alignment", "its words have no counterparts in the context"),
    Signal("min_alignment", "a word has no counterpart in the context"),
    Signal("unsupported_word_alignment", "an unsupported word has no counterpart in the context"),
    Signal("order", "its words do not follow each other in the context"),
    Signal("aligned_negation", "it has a negation that aligned sentences lack"),
    Signal("aligned_restriction", "it has a restriction that aligned sentences lack"),
    Signal("aligned_opposites", "it has the opposite of a word of an aligned sentence"),
    Signal(SENTENCE_SIMILARITY, "no sentence of the context is similar"),
)
"""Signals that need token and sentence embeddings."""


_DESCRIPTIONS = {signal.key: signal.description for signal in (*LEXICAL_SIGNALS, *EMBEDDING_SIGNALS)} | {
    ENTAILMENT: "it does not follow from the context"
}


def describe_signal(key: str) -> str:
    """Return the meaning of a low value of a signal.

    >>> describe_signal("numbers")
    'numbers are not in the context'
    """
    return _DESCRIPTIONS[key]


def lexical_signals(sentence: str, index: ContextIndex) -> dict[str, float] | None:
    """Compare a sentence with a context by words.

    Args:
        sentence: sentence of an answer; time is linear in its length.
        index: index of the context.

    Returns:
        Signal to value; fractions from 0.0 to 1.0, logarithms or negated counts up to 0.0; higher is better.
        None for a sentence of function words alone.

    >>> from pytest_evalstudio.metrics.groundedness.context import index_context
    >>> index = index_context("Rates rose to 5 percent.", [(0, 24)])
    >>> signals = lexical_signals("Rates fell to 6 percent.", index)
    >>> signals["opposites"], signals["numbers"] < 0, signals["statement"]
    (-1.0, True, 1.0)
    """
    parts = text_parts(sentence)
    tokens = [token for part in parts for token in part.tokens]
    if not tokens:
        return None
    # The notation of a number differs from text to text, so its support is that of its value and unit.
    figures = figures_of(sentence)
    wrong = {figure for figure in figures if not index.figures.has(figure)}
    in_figures = _in_figures(parts, figures)
    keys = [
        token.keys
        for token, figure in zip(tokens, in_figures, strict=True)
        if figure is None or figure in wrong
    ]
    weight_of = index.weights(keys)
    supported = [
        index.has(token.keys) if figure is None else figure not in wrong
        for token, figure in zip(tokens, in_figures, strict=True)
    ]
    weights = list(map(weight_of.__getitem__, keys))
    total = math.fsum(weights)
    hits = (weight_of[key] for key in keys if index.has(key))
    word_support = math.fsum(hits) / total if total else 1.0
    words = read_words(sentence)
    pairs = [
        (has and other) if first or second else pair in index.pairs
        for pair, (first, second), (has, other) in zip(
            pairwise(chain.from_iterable(part.keys for part in parts)),
            pairwise(in_figures),
            pairwise(supported),
            strict=True,
        )
    ]
    phrases = [
        phrase in index.phrases or (bool(figures) and not wrong and any(map(_has_digit, phrase)))
        for phrase in triples(words.words)
    ]
    related = index.covered(keys, weight_of)
    names = _unsupported_names(parts, tokens, supported)
    return {
        "word_support": word_support,
        "pair_support": _share(pairs, word_support),
        "phrase_support": _share(phrases, word_support),
        "numbers": -math.log1p(len(wrong)),
        "names": -math.log1p(names),
        "unsupported_span": -math.log1p(_longest_run(supported)),
        "sentence_support": related[0][1] / total if related else float(not keys),
        "third_person": 1.0 - sum(map(_FIRST_PERSON.__contains__, words.words)) / max(1, len(words.words)),
        "statement": float("?" not in sentence),
        **_polarity(words, index, [position for position, _ in related], ""),
    }


def alignment_signals(
    sentence: str, start: int, matches: Sequence[TokenMatch], index: ContextIndex
) -> dict[str, float]:
    """Compare a sentence with a context by its tokens' nearest tokens.

    Args:
        sentence: sentence with a content word or number.
        start: index of its first character in the answer.
        matches: tokens of the sentence, by characters of the answer.
        index: index of the context.

    Returns:
        Signal to value: cosines, a fraction from 0.0 to 1.0, negated counts; higher is better.
    """
    tokens = tokens_of(sentence)
    similarities = _similarities(tokens, start, matches)
    values = [value for value in similarities if value is not None] or [0.0]
    unsupported = [
        value
        for token, value in zip(tokens, similarities, strict=True)
        if value is not None and not index.has(token.keys)
    ]
    steps = [abs(second.place - first.place) <= _MAX_STEP for first, second in pairwise(matches)]
    aligned = index.sentences_at(match.position for match in matches)
    return {
        "alignment": math.fsum(values) / len(values),
        "min_alignment": min(values),
        "unsupported_word_alignment": min(unsupported, default=1.0),
        "order": _share(steps, 1.0),
        **_polarity(read_words(sentence), index, aligned, "aligned_"),
    }


def entailment_signal(entailment: float) -> float:
    """Return the logarithm of the odds that a sentence follows from the context.

    Args:
        entailment: probability from 0.0 to 1.0; values near the ends are limited.

    >>> entailment_signal(0.5), round(entailment_signal(1.0), 2)
    (0.0, 6.91)
    """
    return math.log((entailment + _CLIPPED) / (1.0 - entailment + _CLIPPED))


def aggregate_signals(sentences: Sequence[Mapping[str, float]], weights: Sequence[float]) -> dict[str, float]:
    """Return the weighted mean and the minimum of each signal over the sentences of an answer.

    Args:
        sentences: signals of each sentence; at least one.
        weights: weight of each sentence, e.g. its number of content words.

    >>> aggregate_signals([{"names": 0.0}, {"names": -1.0}], [3, 1])
    {'names.mean': -0.25, 'names.min': -1.0}
    """
    if len(sentences) == 1:  # its sums are its values; 0.0 makes -0.0 positive, as a sum does
        return {
            f"{key}.{name}": value + 0.0 if name == "mean" else value
            for key, value in sentences[0].items()
            for name in ("mean", "min")
        }
    total = math.fsum(weights)
    result: dict[str, float] = {}
    for key in sentences[0]:
        values = [sentence[key] for sentence in sentences]
        products = (value * weight for value, weight in zip(values, weights, strict=True))
        result[f"{key}.mean"] = math.fsum(products) / total
        result[f"{key}.min"] = min(values)
    return result


def _polarity(
    words: WordList, index: ContextIndex, positions: Sequence[int], prefix: str
) -> dict[str, float]:
    """Compare negations, restrictions and opposites of a sentence with some sentences of the context."""
    others = [index.sentences[position] for position in positions]
    negations = max((other.negations for other in others), default=0)
    other_words = frozenset().union(*(other.words for other in others))
    other_stems = frozenset().union(*(other.stems for other in others))
    restrictions = [word for word in words.words if word in RESTRICTIONS and word not in other_words]
    contrary = [
        key for key in words.stems if key not in other_stems and not other_stems.isdisjoint(opposites(key))
    ]
    return {
        f"{prefix}negation": -float(max(0, words.negations - negations)),
        f"{prefix}restriction": -float(len(restrictions)),
        f"{prefix}opposites": -float(len(contrary)),
    }


def _share(values: Sequence[bool], default: float) -> float:
    return sum(values) / len(values) if values else default


def _in_figures(parts: Sequence[TextPart], figures: Sequence[Figure]) -> list[Figure | None]:
    """Return the figure that each token is a part of, None for other tokens."""
    result: list[Figure | None] = []
    index = position = 0
    for part in parts:
        for token in part.tokens:
            start, end = position + token.start, position + token.end
            while index < len(figures) and figures[index].end <= start:
                index += 1
            is_inside = index < len(figures) and end > figures[index].start
            result.append(figures[index] if is_inside else None)
        position += part.size + 1
    return result


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _unsupported_names(parts: Sequence[TextPart], tokens: Sequence[Token], supported: Sequence[bool]) -> int:
    """Return the number of unsupported words with a capital, but the first of the sentence."""
    if all(supported):
        return 0
    capitals = chain.from_iterable(part.capitals for part in parts)
    unsupported = [
        (token.kind, is_capital)
        for token, is_capital, has in zip(tokens, capitals, supported, strict=True)
        if not has
    ]
    begins_with_name = parts[0].tokens[:1] == (tokens[0],) and not tokens[0].start and parts[0].capitals[0]
    return unsupported.count(("word", True)) - (
        begins_with_name and tokens[0].kind == "word" and not supported[0]
    )


def _longest_run(supported: Sequence[bool]) -> int:
    longest = run = 0
    for is_supported in supported:
        run = 0 if is_supported else run + 1
        longest = max(longest, run)
    return longest


def _similarities(tokens: Sequence[Token], start: int, matches: Sequence[TokenMatch]) -> list[float | None]:
    """Return the mean similarity of the model's tokens inside each word; None if the model has none there."""
    result: list[float | None] = []
    position = 0
    for token in tokens:
        values = []
        while position < len(matches) and matches[position].start < start + token.end:
            match = matches[position]
            if match.start >= start + token.start and match.end <= start + token.end:
                values.append(match.similarity)
            position += 1
        result.append(math.fsum(values) / len(values) if values else None)
    return result
