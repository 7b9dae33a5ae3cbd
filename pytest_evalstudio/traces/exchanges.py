"""Question and answer of a row, from the texts and messages of its spans."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.imported.records import ANSWER_KEYS, QUESTION_KEYS, mapping_of
from pytest_evalstudio.traces.facts import Facts, TraceMessage
from pytest_evalstudio.traces.messages import is_broken, parsed, read_messages

_OBJECT = re.compile(r"[A-Z]\w*\((?:\w+=|\))", re.ASCII)
"""Begin of an object of Python as a text, which LlamaIndex records instead of the texts in it."""
Earlier = tuple[dict[str, str], ...]
"""Turns before a question, each with role and content."""


@dataclass(frozen=True, slots=True)
class TraceExchange:
    """Question and answer; "" where the trace does not say them.

    Attributes:
        is_json: whether the question is the recorded input of a function, of which no text is the question.
    """

    question: str
    earlier: Earlier
    answer: str
    is_json: bool = False


def exchange_of(root: Facts, models: Sequence[Facts]) -> TraceExchange:
    """Return question and answer: of the root span, else of the first and last call of a model."""
    first_question, first_earlier = split(models[0].inputs) if models else ("", ())
    question, earlier = split(root.inputs)
    is_json = False
    if not question and root.question:
        question, earlier = _question_in(root.question)
        if _OBJECT.match(question) and first_question:
            question = ""
        if not question and not first_question:
            question = root.question
            is_json = not isinstance(parsed(question), str) or is_broken(question)
    # The call of the model has the turns before the question, which the root span often lacks.
    if not question or (question == first_question and not earlier):
        question, earlier = first_question, first_earlier
    answer = said(root.outputs) or _answer_in(root.answer)
    if (not answer or _OBJECT.match(answer)) and models:
        answer = said(models[-1].outputs) or answer
    return TraceExchange(question, earlier, answer or root.answer, is_json)


def last_question(messages: Sequence[TraceMessage]) -> int:
    """Return the index of the user's last message; -1 where there is none."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role == "user" and messages[index].text.strip():
            return index
    return -1


def split(messages: Sequence[TraceMessage]) -> tuple[str, Earlier]:
    """Return the user's last message, and the turns before it."""
    index = last_question(messages)
    if index < 0:
        return "", ()
    earlier = tuple(
        {"role": message.role, "content": message.text}
        for message in messages[:index]
        if message.role != "tool" and message.text
    )
    return messages[index].text, earlier


def said(messages: Sequence[TraceMessage]) -> str:
    """Return the text of the assistant's last message that has one."""
    return next(
        (message.text for message in reversed(messages) if message.role == "assistant" and message.text), ""
    )


def _question_in(text: str) -> tuple[str, Earlier]:
    """Return the question in the recorded input of a function, "" where it is not clear which text it is."""
    value = _content(parsed(text))
    if isinstance(value, str):
        return "" if is_broken(value) else value, ()
    messages = tuple(read_messages(_messages_in(value), ""))
    return split(messages) if messages else (text_in(value, QUESTION_KEYS), ())


def _answer_in(text: str) -> str:
    """Return the answer in the recorded output of a function, "" where it is not clear which text it is."""
    value = _content(parsed(text))
    if isinstance(value, str):
        return value
    return said(tuple(read_messages(_messages_in(value), ""))) or text_in(value, ANSWER_KEYS)


def _content(value: Json) -> Json:
    """Return what frameworks put into an object of inputs or outputs, beside tags and metadata."""
    for _ in range(_MAX_WRAPPERS):
        inner = [item for name, item in mapping_of(value).items() if name in _WRAPPERS]
        if len(inner) != 1 or not isinstance(inner[0], dict | list):
            break
        value = inner[0]
    return value


_WRAPPERS = ("inputs", "outputs", "input", "output")
_MAX_WRAPPERS = 3


def _messages_in(value: Json) -> Json:
    return value.get("messages") if isinstance(value, dict) else value


def text_in(value: Json, names: Sequence[str]) -> str:
    """Return the text with a usual name in the recorded arguments of a function, or the only one; else ""."""
    if not isinstance(value, dict):
        return ""
    texts = [key for key, item in value.items() if isinstance(item, str) and item]
    name = next((key for key in names if key in texts), texts[0] if len(texts) == 1 else None)
    return str(value[name]) if name is not None else ""
