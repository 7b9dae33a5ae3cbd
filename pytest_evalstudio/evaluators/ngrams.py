"""Word overlap: ROUGE, BLEU, and self-consistency by ROUGE."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

from pytest_evalstudio.core.cases import Case, Turn
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import keywords
from pytest_evalstudio.metrics.overlap import (
    RougeTokenizer,
    bleu_n,
    rouge_agreement,
    rouge_l,
    rouge_n,
)
from pytest_evalstudio.text.figures import figure
from pytest_evalstudio.text.folding import same_characters
from pytest_evalstudio.text.prose import prose_sentences
from pytest_evalstudio.text.words import split_unspaced

MAX_N = 4
_FULL = 0.9995  # prints as 1.000, so that nothing is missing


@evaluator(
    "rouge",
    name="ROUGE",
    difference="F1 of rouge-score with Porter stems; other tools print recall, or do not stem.",
    domain="summarization",
    needs=("expected_output", "actual_output"),
    method=("ngrams",),
    keywords=keywords("S", "C O", "evaluation-method-ngram"),
    problem_type="summarization",
)
@dataclass(frozen=True)
class Rouge:
    """F1 of words, word pairs and longest common word sequence with the expected output, Porter-stemmed.

    Words and figures of ASCII texts are those of the rouge-score package. In other texts, words are runs of
    letters, digits and marks; each letter of a script without spaces is a word.

    Source: Lin, 2004 (ROUGE: A Package for Automatic Evaluation of Summaries).
    """

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric("rouge_1", "ROUGE-1", description="F1 of the words."),
        Metric("rouge_2", "ROUGE-2", description="F1 of the word pairs."),
        Metric(
            "rouge_l", "ROUGE-L", primary=True, description="F1 of the longest common subsequence of words."
        ),
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        tokenize = RougeTokenizer()
        return [self._score(case, tokenize) for case in cases]

    def _score(self, case: Case, tokenize: RougeTokenizer) -> Outcome:
        expected, answer = tokenize(case.expected_output), tokenize(case.actual_output)
        if not expected:
            if same_characters(case.expected_output.strip(), case.actual_output.strip()):
                return Outcome.score({"rouge_1": 1.0, "rouge_2": 1.0, "rouge_l": 1.0})
            return Outcome.not_applicable(
                "the expected output has no word or emoji; ROUGE reads nothing else"
            )
        is_package = case.expected_output.isascii() and case.actual_output.isascii()
        # Texts without pairs have a score of 0 in the package, which holds for ASCII texts.
        has_pairs = is_package or max(len(expected), len(answer)) > 1
        try:
            scores = {
                "rouge_1": rouge_n(expected, answer, 1),
                "rouge_2": rouge_n(expected, answer, 2) if has_pairs else None,
                "rouge_l": rouge_l(expected, answer),
            }
        except EvaluationError as exc:
            return Outcome.error(str(exc), OutcomeCode.TEXT_TOO_LONG)
        return Outcome.score(scores, reason="" if answer else "the answer has no word or emoji")


@evaluator(
    "bleu",
    name="BLEU",
    extra="bleu",
    difference=(
        "Scores from 0 to 1 of a single answer, n = 1 to 4 apart; sacreBLEU prints a corpus score"
        " from 0 to 100 with its own tokens."
    ),
    domain="summarization",
    needs=("expected_output", "actual_output"),
    method=("ngrams",),
    keywords=keywords("S", "C O", "evaluation-method-ngram"),
    problem_type="summarization",
)
@dataclass(frozen=True)
class Bleu:
    """Share of the answer's word n-grams in the expected output, n = 1 to 4, with a brevity penalty.

    Each score is that of a single n, not the geometric mean over all up to n. An answer of fewer than n words
    has no BLEU-n. Words are those of NLTK (Penn Treebank), and single letters in scripts without spaces.

    Attributes:
        tokenize: "treebank", or a tokenizer of sacrebleu: "13a", "intl", "zh" (Chinese), "char".

    Source: Papineni et al., 2002 (BLEU: a Method for Automatic Evaluation of Machine Translation).
    """

    tokenize: Literal["treebank", "13a", "intl", "zh", "char"] = "treebank"
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
        # Repeats and perturbed cases share an expected output.
        tokenize = functools.lru_cache(maxsize=1024)(self._tokenizer())
        return [self._score(case, tokenize) for case in cases]

    @property
    def requires(self) -> tuple[str, ...]:
        """Return sacrebleu for its tokenizers."""
        return () if self.tokenize == "treebank" else ("module:sacrebleu",)

    def _tokenizer(self) -> Callable[[str], tuple[str, ...]]:
        if self.tokenize == "treebank":
            return _treebank_tokens
        from pytest_evalstudio.metrics.translation_tokens import translation_tokens

        return translation_tokens(self.tokenize)

    def _score(self, case: Case, tokenize: Callable[[str], tuple[str, ...]]) -> Outcome:
        answer, expected = tokenize(case.actual_output), tokenize(case.expected_output)
        return Outcome.score({f"bleu_{n}": bleu_n(answer, expected, n) for n in range(1, MAX_N + 1)})


def _treebank_tokens(text: str) -> tuple[str, ...]:
    from pytest_evalstudio.metrics.treebank import word_tokens

    tokens = word_tokens(text, split_sentences=prose_sentences)
    if text.isascii():
        return tokens
    return tuple(part for token in tokens for part in split_unspaced(token))


@evaluator(
    "self_consistency",
    name="Self-consistency",
    domain="generation",
    needs=("question", "actual_output"),
    method=("ngrams",),
    scope="group",
    keywords=keywords("S", "C O", "evaluation-method-ngram"),
)
@dataclass(frozen=True)
class SelfConsistency:
    """Mean ROUGE F1 over all pairs of answers of a model to the same question, asked several times.

    All answers of a group get the group's score. Empty answers are left out: they fail their cases. Only the
    first `max_group_size` answers of a larger group are compared.

    Source: Lin, 2004, over pairs of answers.
    """

    max_group_size: int = 100
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric("rouge_1", "ROUGE-1", description="Mean F1 of the words over pairs of answers."),
        Metric(
            "rouge_l",
            "ROUGE-L",
            primary=True,
            description="Mean F1 of the longest common subsequence of words over pairs of answers.",
        ),
    )

    def __post_init__(self) -> None:
        if self.max_group_size < 2:
            raise ConfigurationError(
                f"self_consistency: max_group_size is at least 2, not {self.max_group_size}"
            )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        groups: dict[tuple[str, str, tuple[Turn, ...]], list[Case]] = {}
        for case in cases:
            groups.setdefault((case.model_key, case.question, case.conversation), []).append(case)
        tokenize = RougeTokenizer()
        outcomes = {
            key: self._group_outcome(group[: self.max_group_size], tokenize) for key, group in groups.items()
        }
        return [outcomes[case.model_key, case.question, case.conversation] for case in cases]

    def _group_outcome(self, group: Sequence[Case], tokenize: RougeTokenizer) -> Outcome:
        if len(group) < 2:
            return Outcome.not_applicable("the question was asked once")
        texts = [case.actual_output.strip() for case in group]
        try:
            pairs = [
                (first, second, *rouge_agreement(texts[first], texts[second], tokenize))
                for first, second in combinations(range(len(texts)), 2)
            ]
        except EvaluationError as exc:
            return Outcome.error(str(exc), OutcomeCode.TEXT_TOO_LONG)
        means = {
            "rouge_1": sum(pair[2] for pair in pairs) / len(pairs),
            "rouge_l": sum(pair[3] for pair in pairs) / len(pairs),
        }
        first, second, _, lowest = min(pairs, key=lambda pair: pair[3])
        reason = (
            f"most different of {len(group)} answers: {_label(group[first])} and {_label(group[second])}"
            f" (ROUGE-L {figure(lowest)})"
        )
        return Outcome.score(means, reason="" if means["rouge_l"] > _FULL else reason)


def _label(case: Case) -> str:
    return f"{case.key!r} run {case.run}"
