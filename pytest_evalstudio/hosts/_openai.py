"""The client of the openai package, as all hosts of its family use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_evalstudio.core.plugins.host import HostFault, HostSpec
from pytest_evalstudio.hosts._bodies import reply_limit
from pytest_evalstudio.hosts._completions import RefusedRequest, error_fault, refused_fault
from pytest_evalstudio.hosts._connected import ClientHost, check_url, require_package, send_traceparent
from pytest_evalstudio.hosts._costs import note_cost
from pytest_evalstudio.hosts._faults import host_fault_in, is_transport_error, is_unknown_argument, quoted
from pytest_evalstudio.hosts._malformed import connection_fault, reply_fault
from pytest_evalstudio.hosts._redirects import redirect_fault
from pytest_evalstudio.hosts._tools import HostTools

if TYPE_CHECKING:
    from openai import APIStatusError


@dataclass(kw_only=True)
class OpenAIService(ClientHost):
    """A service that the client of the openai package talks to.

    Attributes:
        url: the service's base, e.g. "http://localhost:11434/v1".
        api_key: use "${NAME}" to take it from the environment; local services need none.
    """

    __evalstudio__: ClassVar[HostSpec]

    url: str
    api_key: str = field(default="", repr=False)

    def check_service(self, tools: HostTools) -> None:
        """Check what can be checked without a request.

        Raises:
            ConfigurationError: if the openai package is not installed, or the connection cannot be right.
        """
        require_package(self.__evalstudio__.id, "openai", "openai")
        check_url("url", self.url)
        self.check_connection(tools)

    async def models(self) -> list[str]:
        """Return the names of the models that the key may use.

        Raises:
            HostFault: if the service does not list them.
        """
        try:
            page = await self.client().models.list()
            return [str(model.id) for model in page.data]
        except Exception as exc:
            raise self.fault(exc) from exc

    def make_client(self, **common: Any) -> Any:
        """Return the client of the service.

        Args:
            common: arguments of every client of the openai package.
        """
        import openai

        return openai.AsyncOpenAI(base_url=self.url, **common)

    def client(self) -> Any:
        """Return the client, made at the first call; it makes one attempt per request."""
        if self._client is None:
            import openai

            http_client = openai.DefaultAsyncHttpxClient(
                event_hooks={
                    "request": [self._refuse_other_origin, send_traceparent],
                    "response": [reply_limit(self.url, self._max_text_chars), note_cost],
                },
                **self.http_options(),
            )
            self._client = self.make_client(
                api_key=self.api_key or "none", max_retries=0, timeout=None, http_client=http_client
            )
        return self._client

    async def _refuse_other_origin(self, request: Any) -> None:
        """Refuse a redirect to another origin, which would get the prompt and the configured headers.

        Args:
            request: of the HTTP library of the openai package, which is not the same in all its versions.

        Raises:
            HostFault: names the origin; the client calls this for each request, redirected ones too.
        """
        base = self._client.base_url
        if (request.url.scheme, request.url.host, request.url.port) != (base.scheme, base.host, base.port):
            raise redirect_fault(self.url, str(request.url))

    def fault(self, exc: Exception) -> HostFault:
        """Return the fault for an exception of the client."""
        import openai

        if (fault := host_fault_in(exc)) is not None:
            return fault
        if isinstance(exc, openai.APIStatusError):
            return refused_fault(refused_request(exc), self.url, self._mask)
        if isinstance(exc, openai.APITimeoutError):
            return HostFault(f"{self.url} did not answer in time", retry=True)
        if isinstance(exc, openai.APIResponseValidationError):
            return reply_fault(self.url, exc, self._mask)
        if isinstance(exc, openai.APIConnectionError) or is_transport_error(exc):
            return connection_fault(self.url, exc, self._mask)
        if isinstance(exc, openai.APIError) and isinstance(exc.body, Mapping):  # an error within a stream
            return error_fault(exc.body, self.url, self._mask)
        if is_unknown_argument(exc):
            return HostFault(f"{quoted(str(exc), self._mask)}; check arguments")
        return reply_fault(self.url, exc, self._mask)


def refused_request(error: APIStatusError) -> RefusedRequest:
    """Return the reply of an error of the client."""
    response = error.response
    return RefusedRequest(error.status_code, response.text, response.reason_phrase, response.headers)
