"""OpenAI's models in Microsoft Azure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pytest_evalstudio.core.attachments import MEDIA_TYPES
from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.hosts._connected import require_key
from pytest_evalstudio.hosts._openai_chat import OpenAIChat
from pytest_evalstudio.hosts._tools import HostTools


@host(
    "azure_openai_llm",
    name="OpenAI chat (Azure)",
    kind="llm",
    extra="openai",
    client="openai",
    takes_system=True,
    media_types=MEDIA_TYPES,
)
@dataclass(kw_only=True)
class AzureOpenAILLM(OpenAIChat):
    """Chat completions of a deployment in Microsoft Azure.

    Attributes:
        url: endpoint of the resource, e.g. "https://mine.openai.azure.com".
        environment_id: name of the deployment.
        api_version: version of Azure's interface.
        llm_model_name: name of the model in reports; by default that of the deployment.
    """

    environment_id: str
    api_key: str = field(default="", repr=False)
    api_version: str = "2024-10-21"
    llm_model_name: str = ""

    def open(self, tools: HostTools) -> None:
        require_key("api_key", self.api_key, "AZURE_OPENAI_API_KEY")
        self.llm_model_name = self.llm_model_name or self.environment_id
        super().open(tools)

    def make_client(self, **common: Any) -> Any:
        import openai

        client = openai.AsyncAzureOpenAI(
            azure_endpoint=self.url,
            azure_deployment=self.environment_id,
            api_version=self.api_version,
            **common,
        )
        # Earlier versions than 3.1 send AZURE_OPENAI_AD_TOKEN of the environment in place of the key.
        client._azure_ad_token = None
        return client
