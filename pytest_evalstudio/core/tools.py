"""Interfaces of the models that an evaluator may use, and `Tools`, in which it receives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec import Struct

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.judging import Judge

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

T = TypeVar("T")


class Embedder(Protocol):
    """Turns texts into vectors whose dot products are cosines.

    Attributes:
        name: of the model, as people read it.
    """

    @property
    def name(self) -> str: ...

    def encode(self, texts: Sequence[str]) -> NDArray[float32]:
        """Return one row per text, in order, each of length 1."""
        ...


class CrossEncoder(Protocol):
    """Judges two texts read together."""

    @property
    def name(self) -> str: ...

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the similarity of the texts of each pair, 0.0 to 1.0.

        A consistency model returns how well the first text supports the second.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Entailment:
    """Probabilities of an inference model for a premise and a hypothesis.

    Attributes:
        entailment, neutral, contradiction: probabilities with the sum 1.
        distance: from the pair to the hyperplane at which the entailment logit is 0, positive on its side;
            None where the model ends in no linear layer.
        margin: the same to the nearest hyperplane at which another class is as likely; positive where
            entailment is the likeliest.
    """

    entailment: float
    neutral: float
    contradiction: float
    distance: float | None = None
    margin: float | None = None


class NliModel(Protocol):
    """Model that decides whether a text follows from another."""

    @property
    def name(self) -> str: ...

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """Score each (premise, hypothesis) pair; the best-supporting part of a long premise counts."""
        ...


class TextClassifier(Protocol):
    """Puts labels on texts."""

    @property
    def name(self) -> str: ...

    def classify(self, texts: Sequence[str]) -> list[Mapping[str, float]]:
        """Return the probability of each label for each text.

        For a long text, the part with the highest probability of a label counts.
        """
        ...


class Passage(Struct, frozen=True, kw_only=True):
    """Text whose likelihood is computed, and the text that precedes it.

    Attributes:
        instruction: the very beginning; kept whole.
        before: between the instruction and the text; its beginning is cut off where it does not fit.
    """

    text: str
    before: str = ""
    instruction: str = ""


class Likelihood(Struct, frozen=True, kw_only=True):
    """Likelihood of a passage under a language model.

    Attributes:
        tokens: natural logarithm of the probability of each token of the text, given all preceding tokens
            it.
        is_cut: whether some of them were given less than all.
    """

    tokens: tuple[float, ...]
    is_cut: bool = False


class LanguageModel(Protocol):
    """Model that scores the likelihood of a text."""

    @property
    def name(self) -> str: ...

    def read(self, passages: Sequence[Passage], *, stride: int | None = None) -> list[Likelihood]:
        """Score each passage, in order; a long text is read in windows that advance by `stride` tokens."""
        ...


class TokenMatcher(Protocol):
    """Compares two texts token by token, in their contexts."""

    @property
    def name(self) -> str: ...

    def match(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float, float]]:
        """Return precision, recall and F1 of each (text, reference)."""
        ...


class TokenMatch(Struct, frozen=True, kw_only=True):
    """Token of a text and its nearest token of a source.

    Attributes:
        start, end: characters of the token in the text.
        similarity: cosine of the two tokens, -1.0 to 1.0.
        place: index of the nearest token among all tokens of the source.
        position: index of its first character in the source.
    """

    start: int
    end: int
    similarity: float
    place: int
    position: int


class WordAligner(Protocol):
    """Finds the nearest tokens of a source, in their contexts."""

    @property
    def name(self) -> str: ...

    def align(self, pairs: Sequence[tuple[str, str]]) -> list[list[TokenMatch]]:
        """Return the tokens of each (text, source) in order, with their nearest tokens of the source."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """Models and helpers that the engine provides to an evaluator.

    Attributes:
        max_text_chars: longer texts are not to be scored.
        split_sentences: text to (start, end) spans of its sentences.
        embedder, cross_encoder, nli, hallucination_model, toxicity_model, bias_model: for evaluators that
            declare that they require them.
        sentiment_model: a classifier with the labels positive and negative; None where a list of words is to
            do.
        language_model: the model of that name, for evaluators that require "language_model:NAME".
        token_matcher: the same by name and layer (None: the one that is best known to work), for
            "token_matcher:NAME".
        word_aligner: aligns tokens by the embedder's model.
        judge: for evaluators that require one; the evaluator's own where it has its own.
        missing: why the evaluator cannot score any case, "" if it can; the engine then asks it nothing.
    """

    max_text_chars: int = 1_000_000
    split_sentences: Callable[[str], list[tuple[int, int]]]
    embedder: Embedder | None = None
    cross_encoder: CrossEncoder | None = None
    nli: NliModel | None = None
    hallucination_model: CrossEncoder | None = None
    toxicity_model: TextClassifier | None = None
    bias_model: TextClassifier | None = None
    sentiment_model: TextClassifier | None = None
    language_model: Callable[[str], LanguageModel] | None = None
    token_matcher: Callable[[str, int | None], TokenMatcher] | None = None
    word_aligner: WordAligner | None = None
    judge: Judge | None = None
    missing: str = ""


def provided(tool: T | None, name: str) -> T:
    """Return a tool that an evaluator requires; the engine asks none that lacks it.

    Raises:
        EvaluationError: where other code asks an evaluator, and provides none.
    """
    if tool is None:
        raise EvaluationError(f"no {name} is configured")
    return tool
