"""h2oGPT, by its interface that is compatible with OpenAI's."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.hosts._chat import ChatCompletions


@host("h2ogpt", name="h2oGPT", kind="llm", extra="openai", client="openai", takes_system=True)
@dataclass(kw_only=True)
class H2OGPT(ChatCompletions):
    """Chat completions of h2oGPT."""
