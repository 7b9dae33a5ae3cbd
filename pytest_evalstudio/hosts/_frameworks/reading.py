"""From the result of any known framework to an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.errors import exception_text
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.hosts._frameworks import (
    haystack,
    langchain,
    langgraph,
    llama_index,
    openai_agents,
    pydantic_ai,
)


class _Framework(NamedTuple):
    recognises: Callable[[object], bool]
    read: Callable[[Any], Answer]


FRAMEWORKS: Mapping[str, _Framework] = {
    "LangGraph": _Framework(langgraph.recognises, langgraph.read),
    "LangChain": _Framework(langchain.recognises, langchain.read),
    "OpenAI Agents SDK": _Framework(openai_agents.recognises, openai_agents.read),
    "pydantic-ai": _Framework(pydantic_ai.recognises, pydantic_ai.read),
    "LlamaIndex": _Framework(llama_index.recognises, llama_index.read),
    "Haystack": _Framework(haystack.recognises, haystack.read),
}


def framework_answer(result: object, label: str) -> Answer | None:
    """Return the answer in the result of a framework, None if it is of none of FRAMEWORKS.

    Args:
        label: of the user's code, for messages.

    Raises:
        HostFault: if the result lacks what the framework's results have.
    """
    for name, framework in FRAMEWORKS.items():
        try:
            if framework.recognises(result):
                return framework.read(result)
        except Exception as exc:  # properties of the framework's objects run its code
            raise HostFault(
                f"{label} returned a result of {name} that this version cannot read"
                f" ({exception_text(exc)}); return a mapping with 'answer'"
            ) from exc
    return None
