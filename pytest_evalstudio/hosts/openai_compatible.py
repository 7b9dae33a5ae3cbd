"""Any service that speaks OpenAI's chat completions: llama.cpp, Ollama, vLLM, LiteLLM, OpenAI itself."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.attachments import MEDIA_TYPES
from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.hosts._direct_chat import DirectChat


@host(
    "openai_compatible",
    name="OpenAI-compatible chat completions",
    kind="llm",
    extra="http",
    client="httpx",
    takes_system=True,
    media_types=MEDIA_TYPES,
)
@dataclass(kw_only=True)
class OpenAICompatible(DirectChat):
    """A chat-completions service at a URL of your choice."""
