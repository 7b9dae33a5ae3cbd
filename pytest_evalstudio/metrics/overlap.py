"""Overlap of two texts: ROUGE, BLEU, and similarity of short strings."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.metrics import porter
from pytest_evalstudio.text.folding import fold, same_characters
from pytest_evalstudio.text.words import signs_of, words_of

MAX_PAIRS = 1_500_000_000
"""Most pairs of words for ROUGE-L, whose time is their number divided by the bits of a machine word: about a
second.
"""


class RougeTokenizer:
    """Tokenizer of the rouge-score package, for ASCII, and of words of all scripts that reads each text once.

    An instance serves one batch.
    """

    stem = staticmethod(porter.stem)

    def __init__(self) -> None:
        self._tokens: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> tuple[str, ...]:
        """Return the words in lower case; those of ASCII letters are stemmed if longer than three characters.

        Args:
            text: any text.

        >>> RougeTokenizer()("The Banks' earnings"), RougeTokenizer()("银行 👍")
        (('the', 'bank', 'earn'), ('银', '行', '👍'))
        """
        tokens = self._tokens.get(text)
        if tokens is None:
            tokens = self._tokens[text] = tuple(self._read(text))
        return tokens

    def _read(self, text: str) -> list[str]:
        if not text.isascii():
            return [stem for word in words_of(text) for stem in _stems(word)]
        from rouge_score.tokenize import tokenize

        return list(tokenize(text, self))


_STRETCH = re.compile(r"([a-z0-9]+)([^a-z0-9]*)")


def _stems(word: str) -> list[str]:
    """Return the stems of a word, divided where the rouge-score package divides it.

    That package takes letters with accents for blanks. They stay with the letters before them, so that texts
    have as many words as there, and words with other accents differ.
    """
    if word.isascii():
        return [porter.stem(word) if len(word) > 3 else word]  # rouge-score stems no shorter word
    first = _STRETCH.search(word)
    if first is None:
        return [word]
    stems = [
        (porter.stem(match[1]) if len(match[1]) > 3 else match[1]) + match[2]
        for match in _STRETCH.finditer(word)
    ]
    stems[0] = word[: first.start()] + stems[0]
    return stems


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
        EvaluationError: if the texts together have more than `MAX_PAIRS` pairs of words.

    Source: Lin, 2004; identical to the rouge-score package.

    >>> round(rouge_l("police killed the gunman".split(), "the gunman killed police".split()), 2)
    0.5
    """
    if len(expected) * len(answer) > MAX_PAIRS:
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
        Two fractions from 0.0 to 1.0; higher is better. 0.0 if either answer is empty, 1.0 for equal answers.
        Two answers without words are compared by their signs.

    Source: Lin, 2004.

    >>> rouge_agreement("the cat", "the dog", RougeTokenizer())
    (0.5, 0.5)
    """
    if not first or not second:
        return 0.0, 0.0
    if same_characters(first, second):
        return 1.0, 1.0
    first_tokens, second_tokens = tokenize(first), tokenize(second)
    if not first_tokens and not second_tokens:
        first_tokens, second_tokens = tuple(signs_of(first)), tuple(signs_of(second))
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


def normalized_edit_similarity(first: str, second: str) -> float:
    """Return 1 minus the edit distance divided by the length of the longer text.

    Args:
        first: a short text; case, look-alikes and surrounding white space are ignored.
        second: another short text.

    Returns:
        Fraction from 0.0 (nothing in common, or one text is empty) to 1.0 (equal); higher is better.

    Source: Levenshtein, 1966.

    >>> normalized_edit_similarity("kitten", "Sitting")
    0.5714285714285714
    """
    shorter, longer = sorted((_plain(first), _plain(second)), key=len)
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
    """Compare two texts, ignoring case, look-alikes and surrounding white space.

    Args:
        first: a text.
        second: another text.

    Returns:
        1.0 if they are equal, else 0.0.

    >>> exact_match(" Paris", "paris"), exact_match("Paris", "Rome")
    (1.0, 0.0)
    """
    return float(_plain(first) == _plain(second))


def token_jaccard(first: str, second: str) -> float:
    """Return the share of distinct words that occur in both texts.

    Args:
        first: a text; case and look-alikes are ignored.
        second: another text.

    Returns:
        Fraction from 0.0 to 1.0; higher is better; 1.0 for two texts without words.

    Source: Jaccard, 1912.

    >>> token_jaccard("New York", "york")
    0.5
    """
    first_words, second_words = set(_plain(first).split()), set(_plain(second).split())
    union = first_words | second_words
    return len(first_words & second_words) / len(union) if union else 1.0


def _plain(text: str) -> str:
    return fold(text).strip().casefold()


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
    # By counts: 2PR / (P + R) of precision 1 and recall 3/5 is 0.7499999999999999, which misses 0.75.
    return 2 * shared / (expected + answer) if shared else 0.0
