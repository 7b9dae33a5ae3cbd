"""Looping detection: repetition within an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS, keywords
from pytest_evalstudio.evaluators._similarity import has_words
from pytest_evalstudio.metrics.loops import (
    MIN_SUBSTRING_CHARS,
    compression_ratio,
    longest_repeat,
    repeat_share,
)
from pytest_evalstudio.metrics.quoting import one_line


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
    """Unique sentences, longest repeated substring and compression ratio of the answer.

    All sentences with a letter, digit or ideograph count; case and white space are ignored. Each metric
    decides. 2,489 answers, references and messages had 0.62 or more, 0.71 or less, and 0.22 or more.

    Attributes:
        min_repeat_chars: shortest repeated substring that counts; with 1, as in H2O Eval Studio, any
            character that occurs twice is a repeat.

    Source: Eval Studio user guide, looping detection.
    """

    min_repeat_chars: int = MIN_SUBSTRING_CHARS

    detector: ClassVar[bool] = True
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "unique_sentences",
            "Unique sentences",
            threshold=0.5,
            primary=True,
            description="Distinct sentences / all sentences.",
        ),
        Metric(
            "longest_repeated_substring",
            "Longest repeated substring",
            better="lower",
            threshold=0.8,
            decides=True,
            description="Length of the longest repeated substring x its occurrences / length of the answer.",
        ),
        Metric(
            "compression_ratio",
            "Compression ratio",
            threshold=0.15,
            decides=True,
            description="Compressed bytes / bytes, at most 1.",
        ),
    )

    def __post_init__(self) -> None:
        if self.min_repeat_chars < 1:
            raise ConfigurationError(f"min_repeat_chars: {self.min_repeat_chars} is not at least 1")

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [self._score(case, tools) for case in cases]

    def _score(self, case: Case, tools: Tools) -> Outcome:
        text = case.actual_output
        spans = [(start, end) for start, end in tools.split_sentences(text) if has_words(text[start:end])]
        keys = [" ".join(text[start:end].casefold().split()) for start, end in spans]
        repeated = longest_repeat(text.strip(), self.min_repeat_chars)
        scores = {
            "unique_sentences": len(set(keys)) / len(keys) if keys else 1.0,
            "longest_repeated_substring": repeat_share(text.strip(), repeated),
            "compression_ratio": compression_ratio(text),
        }
        reason, fragments = _repeats(text, spans, keys)
        # Repeated sentences explain more than the repeated substring that they contain.
        if repeated and not fragments:
            reason = f"{len(repeated)} characters occur {text.count(repeated)} times: {one_line(repeated)!r}"
            fragments = _occurrences(text, repeated)
        return Outcome.score(scores, reason=reason, fragments=tuple(fragments[:MAX_FRAGMENTS]))


def _repeats(text: str, spans: Sequence[tuple[int, int]], keys: Sequence[str]) -> tuple[str, list[Fragment]]:
    """Return a description of the most repeated sentence, and a fragment per repeated sentence."""
    counts = Counter(keys)
    most, times = counts.most_common(1)[0] if counts else ("", 1)
    if times < 2:
        return "", []
    start, end = spans[keys.index(most)]
    texts: set[str] = set()
    fragments = []
    for (first, last), key in zip(spans, keys, strict=True):
        if key in texts:
            fragments.append(Fragment(start=first, end=last, message="repeated sentence"))
        texts.add(key)
    return f"a sentence occurs {times} times: {one_line(text[start:end])!r}", fragments


def _occurrences(text: str, repeated: str) -> list[Fragment]:
    fragments: list[Fragment] = []
    position = text.find(repeated)
    while position >= 0 and len(fragments) < MAX_FRAGMENTS:
        fragments.append(Fragment(start=position, end=position + len(repeated), message="repeated text"))
        position = text.find(repeated, position + len(repeated))
    return fragments
