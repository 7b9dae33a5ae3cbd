"""Keys that test cases, turns of conversations and rows have in common: expectations, and answers."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, model_validator

from pytest_evalstudio.formats.fields import (
    ConditionOn,
    Cost,
    ExpectedOutput,
    Expects,
    FinishReason,
    FormatModel,
    Seconds,
    Text,
    Texts,
    Tokens,
    list_or_empty,
    mapping_or_empty,
    with_accepted_outputs,
)
from pytest_evalstudio.formats.tool_calls import (
    ExpectedStateField,
    ExpectedToolCalls,
    JsonState,
    Steps,
    ToolCalls,
)


class ExpectationKeys(FormatModel):
    """Expectations of an answer in files, but for the condition, whose name depends on the file.

    Attributes:
        expected_output: reference answer; a list where several answers are right.
        accepted_outputs: answers that are right in addition to `expected_output`, where this is no list.
        condition_on: where the condition is to hold: "answer", "context" or "both"; by default in the answer
            and, for RAG, in the context.
        expects: "refusal" where the model is to say that it does not know or cannot help; else "answer".
        expected_facts: statements that the answer must contain, for judges.
        guidelines: rules that the answer must follow, for judges.
        expected_documents: names or URIs of the documents that should be retrieved.
        expected_chunks: texts that should be retrieved.
        expected_tool_calls: calls of tools that the model should make, in order; [] for none at all.
            Arguments are values or matchers, see `formats.matchers`.
        expected_state: JSON pointers into the application's state to values or matchers.
    """

    expected_output: ExpectedOutput = ""
    accepted_outputs: Texts = Field(default_factory=list)
    condition_on: ConditionOn = ""
    expects: Expects = ""
    expected_facts: Texts = Field(default_factory=list)
    guidelines: Texts = Field(default_factory=list)
    expected_documents: Texts = Field(default_factory=list)
    expected_chunks: Texts = Field(default_factory=list)
    expected_tool_calls: ExpectedToolCalls = None
    expected_state: ExpectedStateField = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _with_accepted_outputs(cls, data: object) -> object:
        return with_accepted_outputs(data)


class AnswerKeys(FormatModel):
    """Answer of a model in files, with the data of its request.

    Attributes:
        context_sources: a URI per chunk.
        context_scores: relevance of each chunk as the host reports it.
        actual_duration: duration of the answer in seconds.
        cost: US dollars, None where it is not known.
        usage: tokens by kind.
        error: reason for a missing answer.
        first_token_s: seconds until the first part of the answer, None where it was not streamed.
        served_model: the model that answered, as the service names it.
        thoughts: reasoning of the model, which is no part of `actual_output` and is not scored.
        request_id: the service's id of the request.
        finish_reason: reason for the end of the answer, as in `core.cases.Answer`.
        traceparent: trace and span of the answer in the form of W3C Trace Context.
        session: the service's id of the conversation.
        tool_calls: calls of tools, in any form that `core.tool_calls.read_tool_call` reads; an answer with
            tool calls and without text is not empty.
        steps: all that the application did, in order, see `core.steps.Step`; a step of the kind "tool" names
            its call by its index in `tool_calls`, or has the keys of a call where there are no `tool_calls`.
        state: of the application after the answer, JSON or its text; `state_before` that before the question.
    """

    actual_output: Text = ""
    context: Texts = Field(default_factory=list)
    context_sources: Texts = Field(default_factory=list)
    context_scores: Annotated[
        list[Annotated[float, Field(allow_inf_nan=False)]], BeforeValidator(list_or_empty)
    ] = Field(default_factory=list)
    actual_duration: Seconds = 0.0
    cost: Cost = None
    usage: Annotated[dict[str, Tokens], BeforeValidator(mapping_or_empty)] = Field(default_factory=dict)
    error: Text = ""
    first_token_s: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    served_model: Text = ""
    thoughts: Text = ""
    request_id: Text = ""
    finish_reason: FinishReason = ""
    traceparent: Text = ""
    session: Text = ""
    tool_calls: ToolCalls = Field(default_factory=list)
    steps: Steps = Field(default_factory=list)
    state: JsonState = None
    state_before: JsonState = None
    # Files of the format have these four always; all others are left out where they say nothing.
    optional_keys: ClassVar[frozenset[str]] = frozenset(__annotations__) - {
        *("actual_output", "context", "actual_duration", "cost"),
    }
