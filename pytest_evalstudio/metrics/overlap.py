"""Overlap of two texts: ROUGE, BLEU, and similarity of short strings."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.metrics import porter

MOST_PAIRS = 1_500_000_000
"""Most pairs of words for ROUGE-L, whose time is their number divided by the bits of a machine word: about a
second.
"""


class RougeTokenizer:
    """Tokenizer of the rouge-score package that processes each text once.

    An instance serves one batch.
    """

    stem = staticmethod(porter.stem)

    def __init__(self) -> None:
        self._tokens: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> tuple[str, ...]:
        """Return lower-case runs of Latin letters and digits, stemmed if longer than three characters.

        Args:
            text: any text.

        >>> RougeTokenizer()("The Banks' earnings")
        ('the', 'bank', 'earn')
        """
        tokens = self._tokens.get(text)
        if tokens is None:
            from rouge_score.tokenize import tokenize

            tokens = self._tokens[text] = tuple(tokenize(text, self))
        return tokens


def rouge_n(expected: Sequence[str], answer: Sequence[str], n: int) -> float:
    """Return the F1 of shared n-grams, counting repeats.

    Args:
        expected: tokens of the reference; the measure is symmetric.
        answer: tokens of the answer.
        n: length of the n-grams, at least 1.

    Returns:
        Fraction from 0.0 to 1.0; higher is better; 0.0 if either text has fewer than n tokens.

    Source: Lin, 2004; identical to the rouge-score package.

    >>> round(rouge_n("the cat sat".split(), "the cat ran".split(), 2), 2)
    0.5
    """
    return _f1(_shared_ngrams(answer, expected, n), len(expected) - n + 1, len(answer) - n + 1)


def rouge_l(expected: Sequence[str], answer: Sequence[str]) -> float:
    """Return the F1 of the longest common subsequence (not the summary-level variant).

    Args:
        expected: tokens of the reference; the measure is symmetric.
        answer: tokens of the answer.

    Returns:
        Fraction from 0.0 to 1.0; higher is better.

    Raises:
        EvaluationError: if the texts together have more than `MOST_PAIRS` pairs of words.

    Source: Lin, 2004; identical to the rouge-score package.

    >>> round(rouge_l("police killed the gunman".split(), "the gunman killed police".split()), 2)
    0.5
    """
    if len(expected) * len(answer) > MOST_PAIRS:
        raise EvaluationError(
            f"texts of {len(expected):,} and {len(answer):,} words are too long for ROUGE-L; shorten one"
        )
    return _f1(common_subsequence(expected, answer), len(expected), len(answer))


def common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    Args:
        first: tokens or characters.
        second: tokens or characters.

    Returns:
        A count from 0 to the length of the shorter sequence.

    Source: Hyyrö, 2004; a row of the table is one integer, so that a pair of long texts takes milliseconds.

    >>> common_subsequence("abcbdab", "bdcaba")
    4
    """
    start = next(
        (index for index, (left, right) in enumerate(zip(first, second, strict=False)) if left != right),
        min(len(first), len(second)),
    )
    if start:  # a common beginning is a part of a longest subsequence, and equal texts take linear time
        return start + common_subsequence(first[start:], second[start:])
    positions: dict[str, int] = {}
    for position, token in enumerate(first):
        positions[token] = positions.get(token, 0) | 1 << position
    full = (1 << len(first)) - 1
    row = full
    for token in second:
        bits = positions.get(token)
        if bits is not None:
            matched = row & bits
            row = ((row + matched) | (row - matched)) & full
    return len(first) - row.bit_count()


def rouge_agreement(first: str, second: str, tokenize: RougeTokenizer) -> tuple[float, float]:
    """Return ROUGE-1 and ROUGE-L of two answers.

    Args:
        first: an answer.
        second: another answer.
        tokenize: tokenizer of the batch.

    Raises:
        EvaluationError: see `rouge_l`.

    Returns:
        Two fractions from 0.0 to 1.0; higher is better. 0.0 if either answer is empty, 1.0 for equal answers,
        including those without Latin letters.

    Source: Lin, 2004.

    >>> rouge_agreement("the cat", "the dog", RougeTokenizer())
    (0.5, 0.5)
    """
    if not first or not second:
        return 0.0, 0.0
    if first == second:
        return 1.0, 1.0
    first_tokens, second_tokens = tokenize(first), tokenize(second)
    return rouge_n(first_tokens, second_tokens, 1), rouge_l(first_tokens, second_tokens)


def bleu_n(answer: Sequence[str], expected: Sequence[str], n: int) -> float | None:
    """Return brevity penalty times modified n-gram precision, without smoothing.

    Args:
        answer: tokens of the answer.
        expected: tokens of the only reference.
        n: length of the n-grams, at least 1.

    Returns:
        Fraction from 0.0 (no common n-gram) to 1.0; higher is better. None if the answer has fewer than n
        tokens.

    Source: Papineni et al., 2002; identical to NLTK's sentence_bleu with all weight on n.

    >>> bleu_n("the cat sat on the mat".split(), "the cat is on the mat".split(), 2)
    0.6
    """
    total = len(answer) - n + 1
    if total < 1:
        return None
    shared = _shared_ngrams(answer, expected, n)
    penalty = 1.0 if len(answer) >= len(expected) else math.exp(1 - len(expected) / len(answer))
    return penalty * shared / total


def word_tokens(text: str, split_sentences: Callable[[str], list[tuple[int, int]]]) -> tuple[str, ...]:
    """Split a text into words and punctuation marks in the style of the Penn Treebank.

    Args:
        text: any text.
        split_sentences: returns start and end of each sentence.

    Source: tokenizer behind NLTK's word_tokenize, which needs no downloaded data for single sentences.

    >>> word_tokens("He didn't pay.", lambda text: [(0, len(text))])
    ('He', 'did', "n't", 'pay', '.')
    """
    return tuple(
        chain.from_iterable(_sentence_words(text[start:end]) for start, end in split_sentences(text))
    )


_CLOSERS = "])}>\"'»”’"
_MAX_CACHED_CHARS = 40


def _sentence_words(sentence: str) -> Iterable[str]:
    """Return the tokens of a sentence, each part between spaces by itself.

    No rule of the tokenizer reads across a space, but those of the beginning and the end of a sentence.
    """
    parts = sentence.split(" ")
    end = len(parts) - 1
    while end and (not (rest := parts[end].strip(_CLOSERS)) or rest.isspace()):
        end -= 1  # closing signs may follow the last full stop
    if not end:
        return _words(sentence)
    return chain(
        _part_words(parts[0], is_first=True),
        chain.from_iterable(map(_part_words, parts[1:end])),
        _part_words(" ".join(parts[end:]), is_last=True),
    )


def _part_words(part: str, is_first: bool = False, is_last: bool = False) -> Sequence[str]:
    return (_cached_words if len(part) <= _MAX_CACHED_CHARS else _new_words)(part, is_first, is_last)


def _new_words(part: str, is_first: bool, is_last: bool) -> Sequence[str]:
    """Return the tokens of a part of a sentence between two words."""
    words = _words(("" if is_first else "x ") + part + ("" if is_last else " x"))
    return words[not is_first : len(words) - (not is_last)]


_cached_words = functools.lru_cache(maxsize=16_384)(_new_words)
"""Tokens of short parts, which are mostly the same words."""

_RARE = re.compile(
    r"""["`*\x1c-\x1f]|--|\.\.|[:,][:,]|''|(?<!\w)'|'(?!\w)"""
    r"""|(?i:\b(?:cannot|d'ye|gimme|gonna|gotta|lemme|more'n|wanna))"""
)
"""Parts of a sentence that need all rules of the tokenizer."""
_PADDED_SIGNS = ";@#$%&?![](){}<>"
_PADDED_MARK = re.compile(r"[:,](?!\d)")
_FINAL_STOP = re.compile(r"(?<=[^.])\.(?=[\])}> ]*+\s*+$)")
_CLITICS = (
    re.compile(r"([^' ])('[sS]|'[mM]|'[dD]) "),
    re.compile(r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) "),
)


def _words(sentence: str) -> list[str]:
    """Return the tokens of a sentence.

    An ASCII sentence without quotes and other rare parts needs few of the tokenizer's rules, which
    are applied here in a tenth of its time; all other sentences go through the tokenizer.
    """
    if not sentence.isascii() or _RARE.search(sentence):
        words: list[str] = _treebank_tokenizer().tokenize(sentence)
        return words
    padded = sentence
    for sign in _PADDED_SIGNS:
        if sign in padded:
            padded = padded.replace(sign, f" {sign} ")
    if "," in padded or ":" in padded:
        padded = _PADDED_MARK.sub(r" \g<0> ", padded)
    padded = _FINAL_STOP.sub(" .", padded)
    if "'" in padded:
        padded = f"{' '.join(padded.split())} "
        for clitic in _CLITICS:
            padded = clitic.sub(r"\1 \2 ", padded)
    return padded.split()


def normalized_edit_similarity(first: str, second: str) -> float:
    """Return 1 minus the edit distance divided by the length of the longer text.

    Args:
        first: a short text; case and surrounding white space are ignored.
        second: another short text.

    Returns:
        Fraction from 0.0 (nothing in common, or one text is empty) to 1.0 (equal); higher is better.

    Source: Levenshtein, 1966.

    >>> normalized_edit_similarity("kitten", "Sitting")
    0.5714285714285714
    """
    shorter, longer = sorted((first.strip().casefold(), second.strip().casefold()), key=len)
    if not longer:
        return 1.0
    row = list(range(len(shorter) + 1))
    for position, char in enumerate(longer, start=1):
        diagonal, row[0] = row[0], position
        for column, other in enumerate(shorter, start=1):
            diagonal, row[column] = (
                row[column],
                min(row[column] + 1, row[column - 1] + 1, diagonal + (other != char)),
            )
    return 1 - row[-1] / len(longer)


def exact_match(first: str, second: str) -> float:
    """Compare two texts, ignoring case and surrounding white space.

    Args:
        first: a text.
        second: another text.

    Returns:
        1.0 if they are equal, else 0.0.

    >>> exact_match(" Paris", "paris"), exact_match("Paris", "Rome")
    (1.0, 0.0)
    """
    return float(first.strip().casefold() == second.strip().casefold())


def token_jaccard(first: str, second: str) -> float:
    """Return the share of distinct words that occur in both texts.

    Args:
        first: a text; case is ignored.
        second: another text.

    Returns:
        Fraction from 0.0 to 1.0; higher is better; 1.0 for two texts without words.

    Source: Jaccard, 1912.

    >>> token_jaccard("New York", "york")
    0.5
    """
    first_words, second_words = set(first.casefold().split()), set(second.casefold().split())
    union = first_words | second_words
    return len(first_words & second_words) / len(union) if union else 1.0


@functools.lru_cache(maxsize=1)
def _treebank_tokenizer() -> Any:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer()


def _ngrams(tokens: Sequence[str], n: int) -> Iterator[tuple[str, ...]]:
    return zip(*(tokens[start:] for start in range(n)), strict=False)


def _shared_ngrams(first: Sequence[str], second: Sequence[str], n: int) -> int:
    """Return how many n-grams two texts share; of a repeated one, as many as both have."""
    if first == second:
        return max(0, len(first) - n + 1)
    shorter, longer = sorted((first, second), key=len)
    counts = Counter(_ngrams(shorter, n))
    shared = 0
    for ngram in filter(counts.__contains__, _ngrams(longer, n)):
        if counts[ngram]:
            counts[ngram] -= 1
            shared += 1
    return shared


def _f1(shared: int, expected: int, answer: int) -> float:
    precision, recall = shared / max(answer, 1), shared / max(expected, 1)
    return 2 * precision * recall / (precision + recall) if shared else 0.0
