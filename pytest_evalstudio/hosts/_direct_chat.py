"""Chat completions over HTTP, without a client that takes half a second to import."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import orjson

from pytest_evalstudio.core.errors import ConfigurationError, nearest
from pytest_evalstudio.core.plugins.host import HostFault, HostSpec
from pytest_evalstudio.hosts._bodies import reply_limit
from pytest_evalstudio.hosts._chat import ChatCompletions
from pytest_evalstudio.hosts._completions import RefusedRequest, refused_fault
from pytest_evalstudio.hosts._connected import check_url, require_package, send_traceparent
from pytest_evalstudio.hosts._costs import note_cost
from pytest_evalstudio.hosts._faults import host_fault_in, is_transport_error
from pytest_evalstudio.hosts._malformed import connection_fault, reply_fault
from pytest_evalstudio.hosts._redirects import redirect_fault
from pytest_evalstudio.hosts._tools import HostTools

_IN_BODY = frozenset(
    {
        *("audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs"),
        *("max_completion_tokens", "max_tokens", "metadata", "modalities", "moderation", "n"),
        *(
            "parallel_tool_calls",
            "prediction",
            "presence_penalty",
            "prompt_cache_key",
            "prompt_cache_options",
        ),
        *("prompt_cache_retention", "reasoning_effort", "response_format", "safety_identifier", "seed"),
        *("service_tier", "stop", "store", "stream_options", "temperature", "tool_choice", "tools"),
        *("top_logprobs", "top_p", "user", "verbosity", "web_search_options"),
    }
)
"""Arguments of OpenAI's interface. A service ignores a misspelt one, so that others go into `extra_body`."""
_OF_REQUEST = frozenset({"extra_body", "extra_headers", "extra_query", "timeout"})


@dataclass(kw_only=True)
class DirectChat(ChatCompletions):
    """Chat completions of a service that is compatible with OpenAI's.

    Attributes:
        arguments: of OpenAI's interface; others as `extra_body`. `extra_headers`, `extra_query` and `timeout`
            (seconds per attempt) belong to the request.
    """

    __evalstudio__: ClassVar[HostSpec]

    def check_service(self, tools: HostTools) -> None:
        """Check what can be checked without a request.

        Raises:
            ConfigurationError: if httpx is not installed, or the connection or an argument cannot be right.
        """
        require_package(self.__evalstudio__.id, "httpx", "http")
        check_url("url", self.url)
        self.check_connection(tools)
        for name in self.arguments:
            if name not in _IN_BODY | _OF_REQUEST:
                hint = nearest(name, _IN_BODY | _OF_REQUEST)
                raise ConfigurationError(
                    f"arguments.{name}: is no argument of chat completions."
                    f" {hint or f'If the service knows it, write arguments.extra_body.{name}'}"
                )

    async def models(self) -> list[str]:
        """Return the names of the models that the key may use.

        Raises:
            HostFault: if the service does not list them.
        """
        try:
            response = await self._opened_client().get(self._address("models"), headers=self._headers())
            if response.status_code >= 300:
                raise refused_fault(_refused(response), self.url, self._mask)
            return [str(model["id"]) for model in response.json()["data"]]
        except Exception as exc:
            raise self.fault(exc) from exc

    @asynccontextmanager
    async def response(self, request: Mapping[str, Any]) -> AsyncIterator[Any]:
        body = {name: value for name, value in request.items() if name not in _OF_REQUEST}
        timeout = {"timeout": request["timeout"]} if "timeout" in request else {}
        client = self._opened_client()
        response = await client.send(
            client.build_request(
                "POST",
                self._address("chat/completions"),
                content=orjson.dumps({**body, **request.get("extra_body", {})}),
                headers={
                    **self._headers(),
                    "Content-Type": "application/json",
                    **request.get("extra_headers", {}),
                },
                params=request.get("extra_query"),
                **timeout,
            ),
            stream=True,
        )
        try:
            if response.status_code >= 300:
                await response.aread()
                raise _refused(response)
            yield response
        finally:
            await response.aclose()

    def fault(self, exc: Exception) -> HostFault:
        """Return the fault for an exception of httpx, or of the reading."""
        if (fault := host_fault_in(exc)) is not None:
            return fault
        if _is_timeout(exc):
            return HostFault(f"{self.url} did not answer in time", retry=True)
        if is_transport_error(exc):
            return connection_fault(self.url, exc, self._mask)
        return reply_fault(self.url, exc, self._mask)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _opened_client(self) -> Any:
        if self._client is None:
            import httpx

            self._client = httpx.AsyncClient(
                timeout=None,
                # By default twenty connections stay open, and all further requests open their own.
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
                follow_redirects=True,
                event_hooks={
                    "request": [self._refuse_other_origin, send_traceparent],
                    "response": [reply_limit(self.url, self._max_text_chars), note_cost],
                },
                **self.http_options(),
            )
        return self._client

    async def _refuse_other_origin(self, request: Any) -> None:
        """Refuse a redirect to another origin, which would get the prompt and the configured headers."""
        base = type(request.url)(self.url)
        if (request.url.scheme, request.url.host, request.url.port) != (base.scheme, base.host, base.port):
            raise redirect_fault(self.url, str(request.url))

    def _address(self, path: str) -> Any:
        import httpx

        url = httpx.URL(self.url)
        return url.copy_with(path=f"{url.path.rstrip('/')}/{path}")  # a query of the base stays

    def _headers(self) -> dict[str, str]:
        authorization = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        return {"Accept": "application/json", **authorization}


def _refused(response: Any) -> RefusedRequest:
    return RefusedRequest(response.status_code, response.text, response.reason_phrase, response.headers)


def _is_timeout(exc: Exception) -> bool:
    return is_transport_error(exc) and any(base.__name__ == "TimeoutException" for base in type(exc).__mro__)
