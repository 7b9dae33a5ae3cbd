"""Answers without the secrets of the model that gave them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import structs

from pytest_evalstudio.asking.secrets import SHORTEST_IN_ANSWERS, Secrets
from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.states import ApplicationState
from pytest_evalstudio.core.steps import Step
from pytest_evalstudio.core.tool_calls import ToolCall


def without_secrets(answer: Answer, secrets: Secrets) -> Answer:
    """Return an answer in which every text of the service is masked."""

    def clean(text: str) -> str:
        return secrets.mask(text, shortest=SHORTEST_IN_ANSWERS)

    return structs.replace(
        answer,
        text=clean(answer.text),
        thoughts=clean(answer.thoughts),
        context=tuple(map(clean, answer.context)),
        context_sources=tuple(map(clean, answer.context_sources)),
        served_model=clean(answer.served_model),
        request_id=clean(answer.request_id),
        finish_reason=clean(answer.finish_reason),
        traceparent=clean(answer.traceparent),
        session=clean(answer.session),
        state=_cleaned_state(answer.state, clean),
        tool_calls=tuple(ToolCall(**_cleaned(call.to_dict(), clean)) for call in answer.tool_calls),
        steps=tuple(_cleaned_step(step, clean) for step in answer.steps),
    )


def _cleaned_state(state: ApplicationState | None, clean: Callable[[str], str]) -> ApplicationState | None:
    if state is None:
        return None
    before = None if state.before is None else clean(state.before)
    return structs.replace(state, after=clean(state.after), before=before)


def _cleaned_step(step: Step, clean: Callable[[str], str]) -> Step:
    return Step(**{**_cleaned(step.to_dict(), clean), "kind": step.kind, "documents": step.documents})


def _cleaned(value: Any, clean: Callable[[str], str]) -> Any:
    """Return a JSON value with all its texts cleaned."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {key: _cleaned(item, clean) for key, item in value.items()}
    return [_cleaned(item, clean) for item in value] if isinstance(value, list | tuple) else value
