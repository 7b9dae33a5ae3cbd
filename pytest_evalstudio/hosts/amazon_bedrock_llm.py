"""Language models of Amazon Bedrock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_evalstudio.core.attachments import MEDIA_TYPES
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.codes import CONTENT_FILTER, finish_reason
from pytest_evalstudio.core.plugins.host import HostFault, host
from pytest_evalstudio.core.tool_calls import read_tool_calls
from pytest_evalstudio.core.usage import usage_of
from pytest_evalstudio.hosts._attachments import bedrock_content
from pytest_evalstudio.hosts._bedrock import Bedrock, request_id
from pytest_evalstudio.hosts._faults import withheld
from pytest_evalstudio.hosts._messages import messages, system_text
from pytest_evalstudio.hosts._tools import HostTools


@host(
    "amazon_bedrock_llm",
    name="Amazon Bedrock",
    kind="llm",
    extra="bedrock",
    client="boto3",
    takes_system=True,
    media_types=MEDIA_TYPES,
    finds_credentials=True,
)
@dataclass(kw_only=True)
class AmazonBedrockLLM(Bedrock):
    """A model of Amazon Bedrock, asked by `converse`.

    Attributes:
        llm_model_name: id or ARN of the model or inference profile.
        temperature, max_tokens: None for the model's own default.
        inferenceConfig, guardrailConfig, additionalModelRequestFields: passed through as they are.
    """

    system_prompt: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    inferenceConfig: Mapping[str, Any] = field(default_factory=dict)  # noqa: N815
    guardrailConfig: Mapping[str, Any] = field(default_factory=dict)  # noqa: N815
    additionalModelRequestFields: Mapping[str, Any] = field(default_factory=dict)  # noqa: N815

    def open(self, tools: HostTools) -> None:
        """Check what can be checked without a request; see `Bedrock.open_account`."""
        self.open_account("amazon_bedrock_llm", tools)

    async def answer(self, prompt: Prompt) -> Answer:
        request = self._request(prompt)
        return await self.call("bedrock-runtime", lambda client: self._read(client.converse(**request)))

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        turns = messages(prompt, bedrock_content)
        rules = [system_text(self.system_prompt, prompt)]
        rules += [block["text"] for turn in turns if turn["role"] == "system" for block in turn["content"]]
        settings = {"temperature": self.temperature, "maxTokens": self.max_tokens}
        parts = {
            "system": [{"text": text} for text in rules if text],
            "inferenceConfig": {
                **{name: value for name, value in settings.items() if value is not None},
                **self.inferenceConfig,
            },
            "guardrailConfig": dict(self.guardrailConfig),
            "additionalModelRequestFields": dict(self.additionalModelRequestFields),
        }
        return {
            "modelId": self.llm_model_name,
            "messages": [turn for turn in turns if turn["role"] != "system"],
            **{name: value for name, value in parts.items() if value},
        }

    def _read(self, reply: Mapping[str, Any]) -> Answer:
        """Return the answer in a reply.

        Raises:
            HostFault: if the reply has neither text nor tool calls.
        """
        message = reply.get("output", {}).get("message", {})
        blocks = message.get("content") or ()
        text = "".join(str(block.get("text", "")) for block in blocks)
        reasoning = [block.get("reasoningContent", {}).get("reasoningText", {}) for block in blocks]
        thoughts = "\n\n".join(str(part["text"]) for part in reasoning if part.get("text"))
        calls = read_tool_calls(block["toolUse"] for block in blocks if "toolUse" in block)
        tokens = usage_of(reply.get("usage"))
        reason = reply.get("stopReason", "")
        if not message:
            raise self.without_answer()
        if not text and finish_reason(reason) == CONTENT_FILTER:
            raise withheld()
        if not text and not calls and reason != "end_turn":
            fact = f"{self.place} sent a reply without a text (stopReason {reason!r})"
            raise HostFault(f"{fact}; check llm_model_name and the configurations")
        router = reply.get("trace", {}).get("promptRouter", {})
        return Answer(
            text=text,
            thoughts=thoughts,
            usage=tokens,
            tool_calls=calls,
            served_model=str(router.get("invokedModelId") or self.llm_model_name),
            request_id=request_id(reply),
            finish_reason=finish_reason(reason),
        )
