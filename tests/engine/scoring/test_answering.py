"""A case has all that its answer says."""

from __future__ import annotations

import dataclasses

from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.engine.scoring.answering import answered
from pytest_evalstudio.engine.scoring.tasks import ModelInfo

FULL = Answer(
    text="5 USD",
    context=("The fee is 5 USD.",),
    context_sources=("fees.md",),
    context_scores=(0.75,),
    duration_s=1.5,
    first_token_s=0.5,
    cost_usd=0.01,
    usage={"input_tokens": 3},
    served_model="served",
    request_id="r1",
    retries=2,
    artifacts=("chart.png",),
    tool_calls=({"name": "search"},),
    error="late",
    stored_at=7.0,
)


def test_no_field_of_an_answer_is_lost() -> None:
    case = answered(Case(key="k", question="Fee?"), FULL, ModelInfo("m", "model"), 3, retrieves=None)
    shared = {field.name for field in dataclasses.fields(Answer)} & {
        field.name for field in dataclasses.fields(Case)
    }
    unset = {field.name for field in dataclasses.fields(Answer) if getattr(FULL, field.name) == field.default}
    assert not unset & shared, "give these fields a value above"
    assert len(shared) >= 13
    assert {name: getattr(case, name) for name in shared} == {name: getattr(FULL, name) for name in shared}
    assert (case.actual_output, case.run, case.model_key) == ("5 USD", 3, "m")
