"""Whole conversations as the messages of chat services: OpenAI, Anthropic and Amazon Bedrock."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_evalstudio.core.tool_calls import ToolCall, read_tool_call

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_CALL_KEYS = ("tool_use", "toolUse")
_RESULT_KEYS = ("tool_result", "toolResult")


@dataclass(slots=True)
class _Turn:
    """Message of the user, with all that the assistant says and calls until the next one.

    Attributes:
        has_reply: whether a message of the assistant follows it.
    """

    prompt: str
    has_reply: bool = False
    texts: list[str] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {"prompt": self.prompt, "actual_output": "\n".join(self.texts), "tool_calls": self.calls}


def with_messages(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row whose `messages` are read: as a question with its answer, or as turns.

    Messages before the first one of the user become the row's `conversation`. Results of tools are put to
    their calls by their ids. Messages of the user that follow each other are one. Where the last message is
    of the user or of a tool, the answer is the last text of the assistant: later calls are counted to it, and
    later messages of the user are `closing_messages`.

    Raises:
        ValueError: if a message is faulty, or the row has a question or an answer besides.
    """
    if "messages" not in data:
        return data
    if both := [name for name in ("input", "turns", "actual_output", "conversation") if data.get(name)]:
        raise ValueError(f"it has both `messages` and {both[0]!r}; keep one of them")
    if not isinstance(data["messages"], list):
        raise ValueError('messages: expected a list, e.g. [{"role": "user", "content": "Hi"}]')
    earlier, turns = _read(data["messages"])
    if not turns:
        raise ValueError("messages: no message has the role 'user'; add one")
    rest = {name: value for name, value in data.items() if name != "messages"}
    if data["messages"][-1]["role"] != "assistant" and (closing := _closing_messages(turns)):
        rest["closing_messages"] = closing
    if len(turns) > 1:
        return {**rest, "conversation": earlier, "turns": [turn.to_dict() for turn in turns]}
    fields = turns[0].to_dict()
    return {**rest, "conversation": earlier, "input": fields.pop("prompt"), **fields}


def _closing_messages(turns: list[_Turn]) -> list[str]:
    """Take the turns after the last text of the assistant away, and return their messages of the user."""
    answered = next((index for index, turn in reversed([*enumerate(turns)]) if turn.texts), None)
    if answered is None:  # calls alone are an answer, too
        answered = next((index for index, turn in reversed([*enumerate(turns)]) if turn.calls), len(turns))
    closing = turns[answered + 1 :]
    del turns[answered + 1 :]
    for turn in closing:
        # The application made these calls before it ended without another text.
        turns[-1].calls += turn.calls
    return [turn.prompt for turn in closing]


def _read(messages: Sequence[Any]) -> tuple[list[dict[str, str]], list[_Turn]]:
    earlier: list[dict[str, str]] = []
    turns: list[_Turn] = []
    calls_by_id: dict[str, dict[str, Any]] = {}
    for index, message in enumerate(messages):
        role = message.get("role") if isinstance(message, Mapping) else None
        if role not in _ROLES:
            raise ValueError(f"messages: message {index} has no role; there are: {', '.join(_ROLES)}")
        try:
            texts, calls, results = message_parts(message)
        except ValueError as exc:
            raise ValueError(f"messages: message {index}: {exc}") from None
        calls_by_id |= {call["id"]: call for call in calls if call.get("id")}
        for id, result in results.items():
            if id in calls_by_id:
                calls_by_id[id] |= result
            # Messages of the role "function" name the tool, and their calls have no ids.
            elif id and role != "function":
                raise ValueError(
                    f"messages: message {index} has the result of the call {id!r}, but no earlier message"
                    " makes this call; correct the id, or leave the result out"
                )
        text = "\n".join(texts)
        if role in ("system", "developer"):
            earlier.append({"role": "system", "content": text})
        # Some clients send a message in parts; the model answers all of them at once.
        elif role == "user" and turns and not turns[-1].has_reply and text:
            turns[-1].prompt += f"\n{text}"
        # Anthropic and Bedrock send results of tools as messages of the user, which begin no turn.
        elif role == "user" and (text or not results):
            turns.append(_Turn(prompt=text))
        # E.g. a greeting before the first question.
        elif role == "assistant" and not turns:
            earlier.append({"role": "assistant", "content": text})
        elif role == "assistant":
            turns[-1].has_reply = True
            turns[-1].texts += [text] if text else []
            turns[-1].calls += calls
    return earlier, turns


def message_parts(
    message: Mapping[str, Any],
) -> tuple[list[str], list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return the texts, calls and results (by the id of the call) of a message."""
    content = message.get("content")
    if message["role"] in ("tool", "function"):
        id = message.get("tool_call_id") or message.get("name") or ""
        return [], [], {str(id): {"result": "\n".join(_texts(content))}}
    calls = [_call(value) for value in message.get("tool_calls") or ()]
    results: dict[str, dict[str, Any]] = {}
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, Mapping):
            continue
        kind = str(part.get("type") or next(iter(part), ""))
        if kind in _CALL_KEYS:
            calls.append(_call(part))
        elif kind in _RESULT_KEYS:
            inner = part.get("toolResult", part)
            id = inner.get("tool_use_id") or inner.get("toolUseId") or ""
            result = "\n".join(_texts(inner.get("content")))
            failed = inner.get("is_error") or inner.get("status") == "error"
            results[str(id)] = {"error": result or "error"} if failed else {"result": result}
    texts = list(_texts(content))
    refusal = message.get("refusal")
    if not texts and isinstance(refusal, str) and refusal:  # OpenAI has it beside the content
        texts.append(refusal)
    return texts, calls, results


def _call(value: object) -> dict[str, Any]:
    call: ToolCall = read_tool_call(value)
    return call.to_dict()


def _texts(content: object) -> Iterator[str]:
    """Yield the texts of a message's content; JSON results as text."""
    if isinstance(content, str):
        if content:
            yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, str):
                yield part
            elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
                yield part["text"]
            elif isinstance(part, Mapping) and isinstance(part.get("refusal"), str):
                yield part["refusal"]
            elif isinstance(part, Mapping) and "json" in part:
                yield json.dumps(part["json"], ensure_ascii=False)
