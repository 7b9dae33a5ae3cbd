"""BLEU: how much of the answer's wording is that of the expected one."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import is_empty, keywords, worst

MAX_N = 4


@evaluator(
    "bleu",
    name="BLEU",
    domain="summarization",
    needs=("expected_output", "actual_output"),
    method=("ngrams",),
    keywords=keywords("S", "C O", "evaluation-method-ngram"),
    problem_type="summarization",
)
@dataclass(frozen=True)
class Bleu:
    """Share of the answer's word n-grams that the expected output has too, for n = 1 to 4, with a brevity
    penalty.

    Each figure is of one n alone, not the geometric mean over all up to n. An answer shorter than n words has
    no BLEU-n.
    """

    metrics: ClassVar[tuple[Metric, ...]] = tuple(
        Metric(
            f"bleu_{n}",
            f"BLEU-{n}",
            primary=n == 1,
            description=f"Precision of the answer's {n}-word sequences, with brevity penalty.",
        )
        for n in range(1, MAX_N + 1)
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        words = functools.lru_cache(maxsize=1024)(
            functools.partial(word_tokens, split_sentences=tools.split_sentences)
        )
        return [self._score(case, words) for case in cases]

    def _score(self, case: Case, words: Callable[[str], tuple[str, ...]]) -> Outcome:
        if is_empty(case):
            return worst(self.metrics)
        answer, expected = words(case.actual_output), words(case.expected_output)
        return Outcome.score({f"bleu_{n}": bleu_n(answer, expected, n) for n in range(1, MAX_N + 1)})


def bleu_n(answer: Sequence[str], expected: Sequence[str], n: int) -> float | None:
    """Brevity penalty times modified n-gram precision, without smoothing.

    Args:
        answer: words of the answer.
        expected: words of the one reference.
        n: length of the n-grams, at least 1.

    Returns:
        A fraction, 0.0 (no n-gram in common) to 1.0; higher is better. None if the answer has fewer than n
        words.

    Source: Papineni et al., 2002; the same as NLTK's sentence_bleu with all weight on n.

    >>> bleu_n("the cat sat on the mat".split(), "the cat is on the mat".split(), 2)
    0.6
    """
    total = len(answer) - n + 1
    if total < 1:
        return None
    available = Counter(_ngrams(expected, n))
    matched = sum(
        min(count, available[gram])
        for gram, count in Counter(_ngrams(answer, n)).items()
        if gram in available
    )
    penalty = 1.0 if len(answer) >= len(expected) else math.exp(1 - len(expected) / len(answer))
    return penalty * matched / total


def _ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return list(zip(*(words[start:] for start in range(n)), strict=False))


def word_tokens(text: str, split_sentences: Callable[[str], list[tuple[int, int]]]) -> tuple[str, ...]:
    """Words and punctuation marks of a text, sentence by sentence, as the Penn Treebank writes them.

    Source: NLTK's tokenizer behind word_tokenize, which needs no downloaded data once sentences are split.
    """
    tokenize = _tokenizer().tokenize
    return tuple(word for start, end in split_sentences(text) for word in tokenize(text[start:end]))


@functools.lru_cache(maxsize=1)
def _tokenizer() -> Any:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer()
