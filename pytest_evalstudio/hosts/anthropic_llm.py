"""Anthropic's own service."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_evalstudio.core.attachments import IMAGE_TYPES, PDF, TEXT_TYPES
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.codes import CONTENT_FILTER, LENGTH, finish_reason
from pytest_evalstudio.core.json_data import non_empty
from pytest_evalstudio.core.plugins.host import HostFault, host
from pytest_evalstudio.core.tool_calls import read_tool_calls
from pytest_evalstudio.core.usage import usage_of
from pytest_evalstudio.hosts._attachments import anthropic_content
from pytest_evalstudio.hosts._bodies import reply_limit
from pytest_evalstudio.hosts._connected import (
    ChatClient,
    check_arguments,
    check_url,
    require_key,
    require_package,
    send_traceparent,
)
from pytest_evalstudio.hosts._costs import note_cost
from pytest_evalstudio.hosts._faults import (
    host_fault_in,
    is_rate_limit,
    is_transport_error,
    is_unknown_argument,
    quoted,
    status_fault,
    withheld,
)
from pytest_evalstudio.hosts._malformed import CHECK_REPLY, broken_off, connection_fault, reply_fault
from pytest_evalstudio.hosts._messages import messages, system_text
from pytest_evalstudio.hosts._tools import HostTools

REMEDIES: Mapping[int, str] = {
    400: "check llm_model_name and arguments",
    401: "check api_key",
    403: "check that api_key may use this model",
    404: "check llm_model_name and url",
}
_SET_BY_HOST = ("model", "messages", "system", "max_tokens", "stream")


@host(
    "anthropic_llm",
    name="Anthropic messages",
    kind="llm",
    extra="anthropic",
    client="anthropic",
    takes_system=True,
    media_types=(*IMAGE_TYPES, PDF, *TEXT_TYPES),
)
@dataclass(kw_only=True)
class AnthropicLLM(ChatClient):
    """Messages of Anthropic.

    Attributes:
        url: base of the service; another one for a gateway.
        max_tokens: limit of an answer, which the service requires.
        arguments: further arguments of a message, passed through as they are.
    """

    api_key: str = field(default="", repr=False)
    url: str = "https://api.anthropic.com"
    max_tokens: int = 1024

    def open(self, tools: HostTools) -> None:
        """Check what can be checked without a request.

        Raises:
            ConfigurationError: if the client or the key is missing, or a parameter cannot be right.
        """
        require_package("anthropic_llm", "anthropic", "anthropic")
        require_key("api_key", self.api_key, "ANTHROPIC_API_KEY")
        check_url("url", self.url)
        self.check_connection(tools)
        check_arguments(self.arguments, _SET_BY_HOST)

    async def answer(self, prompt: Prompt) -> Answer:
        try:
            client = self._opened_client()
            request = self._request(prompt)
            if not self.stream:
                return self._read(await client.messages.create(**request))
            start, first_token_s = time.perf_counter(), None
            async with client.messages.stream(**request) as stream:
                try:
                    async for event in stream:
                        if first_token_s is None and event.type == "content_block_delta":
                            first_token_s = time.perf_counter() - start
                except Exception as exc:
                    if is_transport_error(exc):  # the reply had begun: the connection was there
                        raise broken_off(self.url) from exc
                    raise
                return self._read(await stream.get_final_message(), first_token_s, stream.request_id)
        except HostFault:
            raise
        except Exception as exc:
            raise self._fault(exc) from exc

    async def models(self) -> list[str]:
        """Return the names of the models that the key may use.

        Raises:
            HostFault: if the service does not list them.
        """
        try:
            page = await self._opened_client().models.list()
            return [str(model.id) for model in page.data]
        except Exception as exc:
            raise self._fault(exc) from exc

    def _opened_client(self) -> Any:
        if self._client is None:
            import anthropic

            http_client = anthropic.DefaultAsyncHttpxClient(
                follow_redirects=False,
                event_hooks={
                    "request": [send_traceparent],
                    "response": [reply_limit(self.url, self._max_text_chars), note_cost],
                },
                **self.http_options(),
            )
            self._client = anthropic.AsyncAnthropic(
                api_key=self.api_key, base_url=self.url, max_retries=0, http_client=http_client
            )
        return self._client

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        system = system_text(self.system_prompt, prompt)
        return {
            "model": self.llm_model_name,
            "max_tokens": self.max_tokens,
            "messages": messages(prompt, anthropic_content),
            **non_empty(system=system),
            **self.arguments,
        }

    def _read(self, reply: Any, first_token_s: float | None = None, request_id: str | None = None) -> Answer:
        """Return the answer in a message.

        Raises:
            HostFault: if the reply is no message, or has neither text nor tool calls.
        """
        blocks = getattr(reply, "content", None)
        if not isinstance(blocks, list):
            reason = quoted(str(reply), self._mask)
            raise HostFault(f"{self.url} sent a reply without an answer: {reason}; {CHECK_REPLY}")
        usage = usage_of(reply.usage)
        text = "".join(block.text for block in blocks if getattr(block, "type", "") == "text")
        thoughts = "\n\n".join(block.thinking for block in blocks if getattr(block, "type", "") == "thinking")
        calls = read_tool_calls(
            block.model_dump(mode="json") for block in blocks if getattr(block, "type", "") == "tool_use"
        )
        if reply.stop_reason is None:
            raise broken_off(self.url)
        reason = finish_reason(reply.stop_reason)
        if reason == CONTENT_FILTER and not text:
            raise withheld()
        if reason == LENGTH and not text:
            raise HostFault(
                f"the answer was cut before its first word (stop_reason {reply.stop_reason!r});"
                " raise max_tokens"
            )
        return Answer(
            text=text,
            thoughts=thoughts,
            usage=usage,
            cost_usd=self.reported_cost((str(reply.model), self.llm_model_name), reply.usage),
            tool_calls=calls,
            first_token_s=first_token_s,
            served_model=str(reply.model or ""),
            finish_reason=reason,
            request_id=str(request_id or getattr(reply, "_request_id", None) or reply.id or ""),
        )

    def _fault(self, exc: Exception) -> HostFault:
        """Return the fault for an exception of the client."""
        import anthropic

        if (fault := host_fault_in(exc)) is not None:
            return fault
        if isinstance(exc, anthropic.APIStatusError):
            return self._status_fault(exc)
        if isinstance(exc, anthropic.APITimeoutError):
            return HostFault(f"{self.url} did not answer in time", retry=True)
        if isinstance(exc, anthropic.APIConnectionError) or is_transport_error(exc):
            return connection_fault(self.url, exc, self._mask)
        if is_unknown_argument(exc):
            return HostFault(f"{quoted(str(exc), self._mask)}; check arguments")
        return reply_fault(self.url, exc, self._mask)

    def _status_fault(self, exc: Any) -> HostFault:
        body = exc.body if isinstance(exc.body, Mapping) else {}
        error = body.get("error")
        text = str(error.get("message") if isinstance(error, Mapping) else "") or exc.response.text
        reason = quoted(text or exc.response.reason_phrase, self._mask)
        # 529: the service is overloaded; an error within a stream has the status 200
        if isinstance(error, Mapping) and exc.status_code == 200:
            return HostFault(
                f"{self.url} ended the stream with an error: {reason}; check the service",
                retry=True,
                throttled=is_rate_limit(error),
            )
        return status_fault(
            exc.status_code,
            reason,
            REMEDIES,
            exc.response.headers,
            url=self.url,
            body=exc.response.text,
        )
