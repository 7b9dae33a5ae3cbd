"""Result of pydantic-ai."""

from __future__ import annotations

from typing import Any

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.codes import finish_reason
from pytest_evalstudio.core.usage import total_usage
from pytest_evalstudio.hosts._frameworks.parts import Calls, roots, text_of

_CALLS = ("tool-call", "builtin-tool-call")
_OUTPUTS = ("tool-return", "builtin-tool-return")
_SUCCESS = "success"
_FAILURE = "retry-prompt"


def recognises(value: object) -> bool:
    """Return True for the result of a run."""
    return "pydantic_ai" in roots(value) and hasattr(value, "output") and hasattr(value, "new_messages")


def read(result: Any) -> Answer:
    """Return the answer of a run; output that is no text becomes JSON."""
    calls = Calls()
    # Output with a type is a call of a tool that the application does not have; no public name tells it.
    output_tool = getattr(result, "_output_tool_name", None)
    messages = result.new_messages()
    responses = [message for message in messages if message.kind == "response"]
    for message in messages:
        for part in message.parts:
            if part.part_kind in _CALLS and part.tool_name != output_tool:
                calls.begin(part.tool_name, part.args, part.tool_call_id)
            elif part.part_kind in _OUTPUTS:
                failed = getattr(part, "outcome", _SUCCESS) != _SUCCESS
                calls.end(part.tool_call_id, part.content, failed=failed)
            elif part.part_kind == _FAILURE and part.tool_name:
                calls.end(part.tool_call_id, part.content, failed=True)
    return Answer(
        text=text_of(result.output),
        tool_calls=calls.all(),
        usage=total_usage([response.usage for response in responses]),
        finish_reason=finish_reason(getattr(responses[-1], "finish_reason", "")) if responses else "",
        served_model=str(responses[-1].model_name or "") if responses else "",
    )
