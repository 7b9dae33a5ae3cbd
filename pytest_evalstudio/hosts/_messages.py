"""Prompts as the messages of chat services."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.hosts._completions import sendable


def system_text(system_prompt: str, prompt: Prompt) -> str:
    """Return the text of the system role: the configured prompt, then the rules of the question."""
    return sendable("\n\n".join(filter(None, (system_prompt, prompt.system))))


def messages(prompt: Prompt) -> list[dict[str, Any]]:
    """Return the earlier turns and the question, without a system role."""
    turns = [{"role": turn.role, "content": sendable(turn.content)} for turn in prompt.conversation]
    return [*turns, {"role": "user", "content": sendable(prompt.text)}]


def counts(usage: Mapping[str, object]) -> dict[str, int]:
    """Return the counts of tokens that a service reports, without those that it leaves out.

    >>> counts({"input_tokens": 3, "output_tokens": None})
    {'input_tokens': 3}
    """
    return {
        name: count for name, count in usage.items() if isinstance(count, int) and not isinstance(count, bool)
    }


def conversation_text(prompt: Prompt) -> str:
    """Return the question as one text, with the earlier turns before it if there are any."""
    turns = [f"{turn.role}: {turn.content}" for turn in prompt.conversation]
    text = "\n".join([*turns, f"user: {prompt.text}"]) if turns else prompt.text
    return sendable(text)
