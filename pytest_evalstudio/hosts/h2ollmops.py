"""H2O LLMOps, whose deployments are compatible with OpenAI's chat completions."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.hosts._direct_chat import DirectChat


@host("h2ollmops", name="H2O LLMOps", kind="llm", extra="http", client="httpx", takes_system=True)
@dataclass(kw_only=True)
class H2OLLMOps(DirectChat):
    """Chat completions of a deployment of H2O LLMOps."""
