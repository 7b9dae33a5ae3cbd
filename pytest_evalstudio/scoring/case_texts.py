"""Texts of a case and its answer that people or models wrote, as records and reports show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_evalstudio.core.cases import Answer, Case


def texts_of(case: Case) -> Iterator[str]:
    """Yield the texts of a case; keys, names and paths are left out."""
    yield from (case.question, case.expected_output, case.condition)
    for texts in (case.accepted_outputs, case.expected_chunks, case.expected_facts, case.guidelines):
        yield from texts
    for message in case.conversation:
        yield message.content
    for call in case.expected_tool_calls or ():
        yield from _strings(call.arguments)
    yield from _strings(case.expected_state)
    if case.plan is not None:
        yield from case.plan.messages
        for turn in case.plan.turns:
            yield from (turn.expected_output, turn.condition, *turn.accepted_outputs)
            yield from (*turn.expected_chunks, *turn.expected_facts, *turn.guidelines)
    yield from _texts_of_answer(case.answer)


def _texts_of_answer(answer: Answer) -> Iterator[str]:
    yield from (answer.text, answer.thoughts, answer.error)
    yield from answer.context
    yield from answer.closing_messages
    for call in answer.tool_calls:
        yield from _strings(call.arguments)
        yield from (call.arguments_text, call.result or "", call.error)
    for step in answer.steps:
        yield from (step.text, step.output, step.error)
    for exchange in answer.turns:
        yield exchange.prompt
        yield from _texts_of_answer(exchange.answer)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
