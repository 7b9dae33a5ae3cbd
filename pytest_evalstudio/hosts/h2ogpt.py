"""h2oGPT, by its interface that is compatible with OpenAI's."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.hosts._direct_chat import DirectChat


@host("h2ogpt", name="h2oGPT", kind="llm", extra="http", client="httpx", takes_system=True)
@dataclass(kw_only=True)
class H2OGPT(DirectChat):
    """Chat completions of h2oGPT."""
