"""Lexical groundedness: words and numbers of the answer that nobody gave the model."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS, is_empty, keywords, listed, one_line, worst
from pytest_evalstudio.metrics.detectors import redact

FUNCTION_WORDS = frozenset(
    [
        "a",
        "about",
        "above",
        "across",
        "after",
        "again",
        "against",
        "all",
        "almost",
        "along",
        "also",
        "although",
        "always",
        "am",
        "among",
        "an",
        "and",
        "another",
        "any",
        "anybody",
        "anyone",
        "anything",
        "are",
        "around",
        "as",
        "at",
        "away",
        "back",
        "be",
        "became",
        "because",
        "become",
        "been",
        "before",
        "behind",
        "being",
        "below",
        "beneath",
        "beside",
        "besides",
        "between",
        "beyond",
        "both",
        "but",
        "by",
        "can",
        "cannot",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "done",
        "down",
        "during",
        "each",
        "either",
        "else",
        "enough",
        "etc",
        "even",
        "ever",
        "every",
        "everybody",
        "everyone",
        "everything",
        "except",
        "few",
        "for",
        "former",
        "from",
        "further",
        "get",
        "gets",
        "getting",
        "given",
        "go",
        "goes",
        "going",
        "gone",
        "got",
        "had",
        "has",
        "have",
        "having",
        "he",
        "hence",
        "her",
        "here",
        "hers",
        "herself",
        "him",
        "himself",
        "his",
        "how",
        "however",
        "i",
        "if",
        "in",
        "indeed",
        "instead",
        "into",
        "is",
        "it",
        "its",
        "itself",
        "just",
        "last",
        "least",
        "less",
        "let",
        "like",
        "likely",
        "many",
        "may",
        "maybe",
        "me",
        "might",
        "mine",
        "more",
        "moreover",
        "most",
        "much",
        "must",
        "my",
        "myself",
        "near",
        "neither",
        "never",
        "nevertheless",
        "next",
        "no",
        "nobody",
        "none",
        "nor",
        "not",
        "nothing",
        "now",
        "of",
        "off",
        "often",
        "oh",
        "ok",
        "okay",
        "on",
        "once",
        "one",
        "ones",
        "only",
        "onto",
        "or",
        "other",
        "others",
        "otherwise",
        "ought",
        "our",
        "ours",
        "ourselves",
        "out",
        "over",
        "own",
        "per",
        "perhaps",
        "please",
        "quite",
        "rather",
        "really",
        "same",
        "shall",
        "she",
        "should",
        "since",
        "so",
        "some",
        "somebody",
        "somehow",
        "someone",
        "something",
        "sometimes",
        "still",
        "such",
        "than",
        "that",
        "the",
        "their",
        "theirs",
        "them",
        "themselves",
        "then",
        "there",
        "therefore",
        "these",
        "they",
        "thing",
        "things",
        "this",
        "those",
        "though",
        "through",
        "throughout",
        "thus",
        "to",
        "together",
        "too",
        "toward",
        "towards",
        "under",
        "unless",
        "unlike",
        "until",
        "up",
        "upon",
        "us",
        "very",
        "via",
        "was",
        "way",
        "we",
        "well",
        "were",
        "what",
        "whatever",
        "when",
        "whenever",
        "where",
        "whereas",
        "wherever",
        "whether",
        "which",
        "while",
        "who",
        "whoever",
        "whole",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "within",
        "without",
        "would",
        "yes",
        "yet",
        "you",
        "your",
        "yours",
        "yourself",
        "yourselves",
        "im",
        "ive",
        "id",
        "ill",
        "youre",
        "youve",
        "youd",
        "youll",
        "hes",
        "shes",
        "weve",
        "theyre",
        "theyve",
        "thats",
        "whats",
        "dont",
        "doesnt",
        "didnt",
        "isnt",
        "arent",
        "wasnt",
        "werent",
        "wont",
        "wouldnt",
        "cant",
        "couldnt",
        "shouldnt",
        "hasnt",
        "havent",
        "hadnt",
        "aint",
        "theres",
        "heres",
        "lets",
    ]
)
"""English words that carry no claim. Answers in other languages keep theirs, which are found in a context of
the same language anyway.
"""

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SPELLED = {word: str(value) for value, word in enumerate(_UNITS.split())} | {
    word: str(10 * ten) for ten, word in enumerate(_TENS.split(), start=2)
}

_TOKEN = re.compile(
    r"(?P<number>(?<![^\W\d_])[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?|\.[0-9]+)(?P<suffix>st|nd|rd|th|s|k|mn?|bn?|tn)?(?![^\W_])"
    r"|(?P<ideograph>[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f])"
    r"|(?P<word>(?:(?![\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f])[^\W_])+(?:['’][^\W\d_]+)?)"
)
_SCALE = re.compile(
    r"\s?-?(?:(?P<bn>billion|bn|b)|(?P<mn>million|mn|m)|(?P<k>thousand|k)|(?P<tn>trillion|tn))\b",
    re.IGNORECASE,
)
_FACTORS = {"k": 3, "mn": 6, "bn": 9, "tn": 12}


@evaluator(
    "lexical_groundedness",
    name="Lexical groundedness",
    domain="generation",
    needs=("context", "actual_output"),
    method=("ngrams", "rules"),
    systems=("rag",),
    keywords=keywords(
        "S VR",
        "C O M",
        "evaluation-method-ngram",
        "evaluation-method-rule-based",
        "capability-answer-highlight",
    ),
    avid="E0400",
)
@dataclass(frozen=True)
class LexicalGroundedness:
    """Words, word pairs and numbers of the answer that stand in the retrieved context or the question; needs
    no model.

    Words are compared by their stems, function words left out; numbers by their value. A word that is nowhere
    may be a synonym, a number that is nowhere rarely is.
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "supported_words",
            "Supported words",
            threshold=0.8,
            primary=True,
            description="Share of the words that are in context or question.",
        ),
        Metric(
            "unsupported_words",
            "Unsupported words",
            better="lower",
            range=(0.0, float("inf")),
            threshold=float("inf"),
            description="Number of words that are in neither.",
        ),
        Metric(
            "supported_bigrams",
            "Supported bigrams",
            threshold=0.5,
            description="Share of the word pairs that are in context or question.",
        ),
        Metric(
            "worst_sentence_bigrams",
            "Supported bigrams of the worst sentence",
            threshold=0.2,
            description="Share of the word pairs of the sentence with the least.",
        ),
        Metric(
            "supported_numbers",
            "Supported numbers",
            threshold=1.0,
            description="Share of the numbers that are in context or question.",
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        sources: dict[tuple[str, ...], Source] = {}
        outcomes = []
        for case in cases:
            texts = (case.question, *case.context)
            if texts not in sources:
                sources[texts] = read_source(texts)
            outcomes.append(self._score(case, sources[texts], tools))
        return outcomes

    def _score(self, case: Case, source: Source, tools: Tools) -> Outcome:
        if is_empty(case):
            return worst(self.metrics)
        tokens = tokens_of(case.actual_output)
        words = [token for token in tokens if token.kind == "word"]
        numbers = [token for token in tokens if token.kind == "number"]
        if not words and not numbers:
            return Outcome.not_applicable("the answer has only function words")
        unknown = [token for token in words if not source.has_word(token)]
        wrong = [token for token in numbers if not source.has_number(token)]
        spans = tools.split_sentences(case.actual_output)
        bigrams = [_bigram_support(case.actual_output[start:end], source) for start, end in spans]
        counted = [(known, total, index) for index, (known, total) in enumerate(bigrams) if total]
        all_bigrams = sum(total for _, total, _ in counted)
        least = min(counted, key=lambda item: item[0] / item[1], default=None)
        scores: dict[str, float | None] = {
            "supported_words": 1 - len(unknown) / len(words) if words else 1 - len(wrong) / len(numbers),
            "unsupported_words": float(len(unknown)),
            "supported_bigrams": sum(known for known, _, _ in counted) / all_bigrams if all_bigrams else None,
            "worst_sentence_bigrams": least[0] / least[1] if least else None,
            "supported_numbers": 1 - len(wrong) / len(numbers) if numbers else None,
        }
        fragments = _fragments(unknown, wrong)
        if least and least[0] < least[1] and len(counted) > 1:
            worst_pairs = {"worst_sentence_bigrams": least[0] / least[1]}
            fragments.append(
                Fragment(
                    start=spans[least[2]][0],
                    end=spans[least[2]][1],
                    scores=worst_pairs,
                    message="least supported sentence",
                )
            )
        return Outcome.score(
            scores, reason=_reason(case.actual_output, unknown, wrong), fragments=tuple(fragments)
        )


@dataclass(frozen=True, slots=True)
class Token:
    """A content word or a number.

    Attributes:
        keys: stem of a word; values that a number may mean, the likeliest first.
    """

    kind: str
    keys: tuple[str, ...]
    start: int
    end: int


@dataclass(slots=True)
class Source:
    """What the model was given: stems, values and pairs of stems of context and question."""

    words: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    bigrams: set[tuple[str, str]] = field(default_factory=set)

    def has_word(self, token: Token) -> bool:
        return token.keys[0] in self.words or (len(token.keys) > 1 and token.keys[1] in self.numbers)

    def has_number(self, token: Token) -> bool:
        return any(key in self.numbers for key in token.keys)


def read_source(texts: Iterable[str]) -> Source:
    """Stems, numbers and pairs of what the model was given; pairs do not reach from one text into another."""
    source = Source()
    for text in texts:
        tokens = tokens_of(text)
        for token in tokens:
            if token.kind == "word":
                source.words.add(token.keys[0])
                source.numbers.update(token.keys[1:])
            else:
                source.numbers.update(token.keys)
        source.bigrams.update(_pairs(tokens))
    return source


def _pairs(tokens: Sequence[Token]) -> list[tuple[str, str]]:
    return [(first.keys[0], second.keys[0]) for first, second in pairwise(tokens)]


def _bigram_support(sentence: str, source: Source) -> tuple[int, int]:
    pairs = _pairs(tokens_of(sentence))
    return sum(pair in source.bigrams for pair in pairs), len(pairs)


def tokens_of(text: str) -> list[Token]:
    """Content words and numbers of a text, in order.

    >>> [token.keys[0] for token in tokens_of("The company's revenues grew by 12.50% to $1.5 million.")]
    ['compani', 'revenu', 'grew', '12.5', '1500000']
    """
    tokens: list[Token] = []
    for found in _TOKEN.finditer(text):
        if found["number"]:
            values, end = _values(found["number"], text, found.end("number"))
            tokens.append(Token("number", values, found.start(), max(end, found.end())))
            continue
        keys = _word_keys(found[0].casefold())
        if keys and not (tokens and found.start() < tokens[-1].end):
            tokens.append(Token("word", keys, *found.span()))
    return tokens


@functools.lru_cache(maxsize=65_536)
def _word_keys(word: str) -> tuple[str, ...]:
    """Stem of a word, and its value where it is a number word; () for a function word."""
    base = re.sub(r"['’]s?$", "", re.sub(r"['’]s$", "", word)).replace("'", "").replace("’", "")
    if base in FUNCTION_WORDS or not base or (len(base) == 1 and base.isascii()):
        return ()
    stem = _stem(base)
    return (stem, _SPELLED[base]) if base in _SPELLED else (stem,)


def _values(digits: str, text: str, end: int) -> tuple[tuple[str, ...], int]:
    """Canonical values of a number and where it ends; with a scale after it, 1.5 million, it may mean 1500000
    or 1.5.
    """
    from decimal import Decimal

    value = Decimal(digits.replace(",", ""))
    plain = _canonical(value)
    scale = _SCALE.match(text, end)
    if scale is None or scale.lastgroup is None:
        return (plain,), end
    return (_canonical(value.scaleb(_FACTORS[scale.lastgroup])), plain), scale.end()


def _canonical(value: Any) -> str:
    shown = format(value, "f")
    return (shown.rstrip("0").rstrip(".") if "." in shown else shown).lstrip("0") or "0"


def _stem(word: str) -> str:
    stemmed: str = _stemmer().stem(word)
    return stemmed


@functools.lru_cache(maxsize=1)
def _stemmer() -> Any:
    from nltk.stem.snowball import EnglishStemmer

    return EnglishStemmer()


def _fragments(unknown: Sequence[Token], wrong: Sequence[Token]) -> list[Fragment]:
    marks = [(token, "word that is neither in the context nor in the question") for token in unknown]
    marks += [(token, "number that is neither in the context nor in the question") for token in wrong]
    marks.sort(key=lambda mark: mark[0].start)
    return [
        Fragment(start=token.start, end=token.end, message=message)
        for token, message in marks[:MAX_FRAGMENTS]
    ]


def _reason(answer: str, unknown: Sequence[Token], wrong: Sequence[Token]) -> str:
    parts = []
    answer = redact(answer)
    for name, tokens in (("words", unknown), ("numbers", wrong)):
        if tokens:
            shown = list(dict.fromkeys(answer[token.start : token.end] for token in tokens))
            parts.append(f"{name} that nobody gave: {one_line(listed(shown))}")
    return "; ".join(parts)
