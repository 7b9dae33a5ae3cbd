"""H2O LLMOps, whose deployments are compatible with OpenAI's chat completions."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.hosts._chat import ChatCompletions


@host("h2ollmops", name="H2O LLMOps", kind="llm", extra="openai", client="openai", takes_system=True)
@dataclass(kw_only=True)
class H2OLLMOps(ChatCompletions):
    """Chat completions of a deployment of H2O LLMOps."""
