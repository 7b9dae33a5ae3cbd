"""OpenAI's own service."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_evalstudio.core.attachments import MEDIA_TYPES
from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.hosts._connected import require_key
from pytest_evalstudio.hosts._openai_chat import OpenAIChat
from pytest_evalstudio.hosts._tools import HostTools


@host(
    "openai_llm",
    name="OpenAI chat",
    kind="llm",
    extra="openai",
    client="openai",
    takes_system=True,
    media_types=MEDIA_TYPES,
)
@dataclass(kw_only=True)
class OpenAILLM(OpenAIChat):
    """Chat completions of OpenAI.

    Attributes:
        url: base of the service; another one for a gateway or a region.
    """

    url: str = "https://api.openai.com/v1"
    api_key: str = field(default="", repr=False)

    def open(self, tools: HostTools) -> None:
        require_key("api_key", self.api_key, "OPENAI_API_KEY")
        super().open(tools)
