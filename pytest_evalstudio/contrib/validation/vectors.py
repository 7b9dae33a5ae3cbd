"""Vectors of texts: by the embedding model if one is available, else by their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_evalstudio.contrib.questions.api import content_words
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError, ResourceMissing
from pytest_evalstudio.core.extras import import_extra

MAX_COMPONENTS = 100
"""Dimensions of the latent semantic analysis (Deerwester et al., 1990)."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """One row of length 1 per text.

    Attributes:
        method: name of the method, for people.
        note: the reason for the lack of embeddings, "" for embeddings or if none are wanted.
    """

    rows: Any
    method: str
    note: str = ""


def text_vectors(context: StepContext, texts: Sequence[str], choice: str) -> Vectors:
    """Return the vectors of texts.

    Args:
        context: of the step.
        texts: to embed.
        choice: "embeddings" of the configured model; "tf-idf" (latent semantic analysis); "auto": embeddings
            if they are available.

    Raises:
        ConfigurationError: if embeddings are wanted, by `choice` or a configured model, and not available.
        EvaluationError: if the model fails later.
    """
    if choice == "tf-idf":
        return _of_words(context, texts, "")
    embedder = context.provider.tools(context.config).embedder
    assert embedder is not None
    try:
        return Vectors(np.asarray(embedder.encode(texts), dtype=np.float64), f"embeddings of {embedder.name}")
    except (ConfigurationError, EvaluationError) as exc:
        if choice == "embeddings" or context.config.embeddings.is_chosen:
            raise
        return _of_words(context, texts, exc.brief if isinstance(exc, ResourceMissing) else str(exc))


def pair_cosines(
    context: StepContext, ones: Sequence[str], others: Sequence[str], choice: str
) -> tuple[list[float], str, str]:
    """Return the cosine of each text with its counterpart, of embeddings or else of TF-IDF.

    Args:
        context: of the step.
        ones: first texts.
        others: second texts.
        choice: as for `text_vectors`; errors are the same.

    Returns:
        Cosines, method and note as in `Vectors`.
    """
    note = ""
    if choice != "tf-idf":
        vectors = text_vectors(context, [*ones, *others], choice)
        if vectors.method.startswith("embeddings"):
            return (
                _rounded(np.einsum("ij,ij->i", vectors.rows[: len(ones)], vectors.rows[len(ones) :])),
                vectors.method,
                "",
            )
        note = vectors.note
    weights = word_weights([*ones, *others])
    return (
        _rounded(np.asarray(weights[: len(ones)].multiply(weights[len(ones) :]).sum(axis=1)).ravel()),
        "TF-IDF",
        note,
    )


def _rounded(scores: Any) -> list[float]:
    return [round(float(score), 6) for score in scores]


def _of_words(context: StepContext, texts: Sequence[str], note: str) -> Vectors:
    weights = word_weights(texts)
    components = min(MAX_COMPONENTS, weights.shape[1] - 1, weights.shape[0] - 1)
    if components < 2:
        return Vectors(weights.toarray(), "TF-IDF", note)
    decomposition = import_extra("sklearn.decomposition", "latent semantic analysis")
    rows = decomposition.TruncatedSVD(components, random_state=context.workflow.seed).fit_transform(weights)
    rows = import_extra("sklearn.preprocessing", "latent semantic analysis").normalize(rows)
    return Vectors(rows, f"TF-IDF and truncated SVD to {components} dimensions", note)


def word_weights(texts: Sequence[str]) -> Any:
    """Return TF-IDF of content words, logarithmic in the counts, as a sparse matrix of unit rows.

    Source: Salton and Buckley, 1988, as scikit-learn computes it (smoothed idf).
    """
    extraction = import_extra("sklearn.feature_extraction.text", "TF-IDF")
    analyzer = _words_or_text
    return extraction.TfidfVectorizer(analyzer=analyzer, sublinear_tf=True).fit_transform(texts)


def _words_or_text(text: str) -> list[str]:
    # A text without content words would have a row of zeros, and no cosine.
    return content_words(text) or [text]
