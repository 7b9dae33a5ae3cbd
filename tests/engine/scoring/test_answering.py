"""A case has the answer of its model."""

from __future__ import annotations

import pytest

from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.engine.scoring.answering import answered
from pytest_evalstudio.engine.scoring.tasks import ModelInfo


@pytest.mark.parametrize(
    ("context", "retrieves", "is_rag"),
    [(("The fee is 5 USD.",), None, True), ((), None, False), ((), True, True), (("c",), False, False)],
)
def test_a_case_has_the_answer_and_its_model(
    context: tuple[str, ...], retrieves: bool | None, is_rag: bool
) -> None:
    answer = Answer(text="5 USD", context=context, retries=2)
    case = answered(Case(key="k", question="Fee?"), answer, ModelInfo("m", "model"), 3, retrieves=retrieves)
    assert case.answer is answer
    assert (case.key, case.run, case.model_key, case.model_name) == ("k", 3, "m", "model")
    assert case.is_rag is is_rag
