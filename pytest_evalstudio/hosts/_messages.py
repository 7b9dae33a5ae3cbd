"""Prompts as the messages of chat services."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_evalstudio.core.attachments import Attachment
from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.hosts._completions import sendable

Content = Callable[[str, Sequence[Attachment]], Any]
"""Returns the content of a message from its text and its images and files."""


def text_content(text: str, attachments: Sequence[Attachment]) -> str:
    """Return the text of a message, for services that take its images and files elsewhere or not at all."""
    return sendable(text)


def system_text(system_prompt: str, prompt: Prompt) -> str:
    """Return the text of the system role: the configured prompt, then the rules of the question."""
    return sendable("\n\n".join(filter(None, (system_prompt, prompt.system))))


def messages(prompt: Prompt, content: Content = text_content) -> list[dict[str, Any]]:
    """Return the earlier turns and the question, without a system role.

    Args:
        prompt: the question.
        content: returns the content of a message in the form of the service.
    """
    turns = [
        {"role": turn.role, "content": content(turn.content, turn.attachments)}
        for turn in prompt.conversation
    ]
    return [*turns, {"role": "user", "content": content(prompt.text, prompt.attachments)}]


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
