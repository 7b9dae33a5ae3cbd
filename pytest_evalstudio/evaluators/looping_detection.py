"""Looping detection: an answer that says the same again and again."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS, is_empty, keywords, one_line, worst

MIN_SENTENCE_CHARS = 10
MIN_SUBSTRING_CHARS = 10
"""A shorter repeat is how language works ("of the ", a doubled letter); a short unit that loops makes long
repeats anyway.
"""
_SHORT_TEXT = 1500


@evaluator(
    "looping_detection",
    name="Looping detection",
    domain="generation",
    needs=("actual_output",),
    method=("rules",),
    keywords=keywords("S VR", "O M", "evaluation-method-rule-based", "capability-answer-highlight"),
)
@dataclass(frozen=True)
class LoopingDetection:
    """Unique sentences, the longest repeated stretch, and how far the answer compresses.

    Sentences of at least 10 characters count, compared without regard to case and white space; an answer with
    fewer than two of them does not loop by sentences. A repeated stretch has at least 10 characters.
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "unique_sentences",
            "Unique sentences",
            primary=True,
            description="Distinct sentences / all sentences.",
        ),
        Metric(
            "longest_repeated_substring",
            "Longest repeated substring",
            better="lower",
            description="Length of the longest repeated stretch x its occurrences / length of the answer.",
        ),
        Metric("compression_ratio", "Compression ratio", description="Compressed bytes / bytes, at most 1."),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [self._score(case, tools) for case in cases]

    def _score(self, case: Case, tools: Tools) -> Outcome:
        if is_empty(case):
            return worst(self.metrics)
        text = case.actual_output
        spans = [
            (start, end) for start, end in tools.split_sentences(text) if end - start >= MIN_SENTENCE_CHARS
        ]
        keys = [" ".join(text[start:end].casefold().split()) for start, end in spans]
        repeated = longest_repeat(text.strip())
        scores = {
            "unique_sentences": len(set(keys)) / len(keys) if keys else 1.0,
            "longest_repeated_substring": repeat_share(text.strip(), repeated),
            "compression_ratio": compression_ratio(text),
        }
        reason, fragments = _repeats(text, spans, keys)
        if repeated and not fragments:
            reason = (
                f"{len(repeated)} characters are said {text.count(repeated)} times: {one_line(repeated)!r}"
            )
            fragments = _occurrences(text, repeated)
        return Outcome.score(scores, reason=reason, fragments=tuple(fragments[:MAX_FRAGMENTS]))


def _repeats(text: str, spans: Sequence[tuple[int, int]], keys: Sequence[str]) -> tuple[str, list[Fragment]]:
    """The most repeated sentence in words, and every sentence that was said before."""
    counts = Counter(keys)
    most, times = counts.most_common(1)[0] if counts else ("", 1)
    if times < 2:
        return "", []
    start, end = spans[keys.index(most)]
    seen: set[str] = set()
    fragments = []
    for (first, last), key in zip(spans, keys, strict=True):
        if key in seen:
            fragments.append(Fragment(start=first, end=last, message="said before"))
        seen.add(key)
    return f"a sentence is said {times} times: {one_line(text[start:end])!r}", fragments


def _occurrences(text: str, repeated: str) -> list[Fragment]:
    fragments: list[Fragment] = []
    at = text.find(repeated)
    while at >= 0 and len(fragments) < MAX_FRAGMENTS:
        fragments.append(Fragment(start=at, end=at + len(repeated), message="repeated"))
        at = text.find(repeated, at + len(repeated))
    return fragments


def compression_ratio(text: str) -> float:
    """Bytes after zlib at level 9 / bytes before, of the UTF-8 form, at most 1.

    Raises:
        ValueError: if the text is empty.

    >>> compression_ratio("a" * 1000)
    0.017
    """
    raw = text.encode("utf-8", "surrogatepass")
    if not raw:
        raise ValueError("an empty text has no compression ratio")
    return min(1.0, len(zlib.compress(raw, 9)) / len(raw))


def repeat_share(text: str, repeated: str) -> float:
    """Share of a text that the occurrences of a part make up, without overlap.

    Returns:
        A fraction, 0.0 for no repeat; lower is better.

    >>> repeat_share("one two. one two. three", "one two. ")
    0.782608695652174
    """
    return len(repeated) * text.count(repeated) / len(text) if repeated and text else 0.0


def longest_repeat(text: str, minimum: int = MIN_SUBSTRING_CHARS) -> str:
    """The longest part that occurs twice without overlap, "" if none has the minimum length.

    Binary search over the length (a part that repeats has shorter ones that do), hashes of all windows of one
    length at a time: O(n log² n) time and O(n) memory, some seconds for a million characters.

    Args:
        text: at most a million characters, the limit of the engine.
        minimum: shortest part that counts.

    Returns:
        Of several of one length the one whose second occurrence comes first.

    >>> longest_repeat("to be or not; to be or not!")
    'to be or not'
    """
    low, high = minimum, len(text) // 2
    if high < minimum:
        return ""
    windows = None if len(text) <= _SHORT_TEXT else _Windows(text)
    best = ""
    while low <= high:
        length = (low + high) // 2
        start = _first_repeat(text, length) if windows is None else windows.first_repeat(length)
        if start >= 0:
            best = text[start : start + length]
            low = length + 1
        else:
            high = length - 1
    return best


def _first_repeat(text: str, length: int) -> int:
    """Start of the second occurrence, apart from the first, of any part of that length, -1 if there is
    none.
    """
    seen: dict[str, int] = {}
    for start in range(len(text) - length + 1):
        if start - seen.setdefault(text[start : start + length], start) >= length:
            return start
    return -1


class _Windows:
    """Polynomial hashes of the windows of a text, modulo 2**64; a hit is checked on the text itself."""

    _BASE = 0x9E3779B97F4A7C15

    def __init__(self, text: str) -> None:
        import numpy as np

        self._text = text
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
        codes = (codes + np.uint64(1)) * np.uint64(0xD1342543DE82EF95)
        codes ^= codes >> np.uint64(29)
        powers = np.full(len(text), self._BASE, dtype=np.uint64)
        powers[0] = 1
        powers = np.multiply.accumulate(powers)
        inverse = np.full(len(text), pow(self._BASE, -1, 1 << 64), dtype=np.uint64)
        inverse[0] = 1
        self._inverse: Any = np.multiply.accumulate(inverse)
        self._sums: Any = np.concatenate([np.zeros(1, dtype=np.uint64), np.add.accumulate(codes * powers)])

    def first_repeat(self, length: int) -> int:
        """As `_first_repeat`."""
        import numpy as np

        count = len(self._text) - length + 1
        hashes = (self._sums[length:] - self._sums[:count]) * self._inverse[:count]
        order = np.argsort(hashes, kind="stable")
        ranked = hashes[order]
        starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
        firsts = np.repeat(order[starts], np.diff(np.append(starts, count)))
        candidates = np.sort(order[order - firsts >= length])
        if not len(candidates):
            return -1
        second = int(candidates[0])
        part = self._text[second : second + length]
        return second if self._text.find(part) <= second - length else -1
