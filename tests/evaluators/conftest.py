"""What the evaluators' tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.judging import Judge
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.text.sentences import split_sentences
from support.embedders import NearWordAligner, WordEmbedder
from support.judges_of_text import BIASED, TOXIC, WordLabels, WordNli, WordSupport
from support.language_models import WordLanguageModel, WordMatcher
from support.schema_judges import any_judge


@pytest.fixture(scope="session")
def judge() -> Iterator[Judge]:
    with any_judge() as instance:
        yield instance


@pytest.fixture(scope="session")
def tools(judge: Judge) -> Tools:
    return Tools(
        split_sentences=split_sentences,
        embedder=WordEmbedder(),
        nli=WordNli(),
        hallucination_model=WordSupport(),
        toxicity_model=WordLabels(TOXIC),
        bias_model=WordLabels(BIASED),
        language_model=lambda name: WordLanguageModel(),
        token_matcher=lambda name, layers: WordMatcher(),
        word_aligner=NearWordAligner(),
        judge=judge,
    )


@pytest.fixture(scope="session")
def case() -> Callable[..., Case]:
    """A case by its answer and whatever else matters."""

    def make(actual_output: str = "", **fields: Any) -> Case:
        values = {"key": "c", "question": "Why?", "model_key": "m", "is_rag": False, **fields}
        return make_case(actual_output=actual_output, **values)

    return make
