"""Ollama, by its own interface."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_evalstudio.core.attachments import IMAGE_TYPES
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.codes import LENGTH, finish_reason
from pytest_evalstudio.core.json_data import non_empty
from pytest_evalstudio.core.plugins.host import HostFault, host
from pytest_evalstudio.core.tool_calls import read_tool_calls
from pytest_evalstudio.hosts._attachments import image_bytes
from pytest_evalstudio.hosts._bodies import limit_body
from pytest_evalstudio.hosts._connected import (
    ChatClient,
    check_arguments,
    check_url,
    require_package,
    send_traceparent,
)
from pytest_evalstudio.hosts._faults import (
    host_fault_in,
    is_transport_error,
    is_unknown_argument,
    quoted,
    status_fault,
)
from pytest_evalstudio.hosts._malformed import broken_off, connection_fault, reply_fault
from pytest_evalstudio.hosts._messages import counts, messages, system_text
from pytest_evalstudio.hosts._tools import HostTools

REMEDIES: Mapping[int, str] = {
    400: "check options and arguments",
    401: "check api_key",
    403: "check that api_key may use this model",
    404: "check url, and pull the model: ollama pull MODEL",
}
_JSON = "json"
_REFUSING = frozenset({"http_400", "http_500", "http_501"})
"""Causes of faults by which a server may refuse the form of a reply; its message then names `format`."""
_SET_BY_HOST = ("model", "messages", "stream", "options", "keep_alive")


@host(
    "ollama",
    name="Ollama",
    kind="llm",
    extra="ollama",
    client="ollama",
    takes_system=True,
    media_types=IMAGE_TYPES,
)
@dataclass(kw_only=True)
class Ollama(ChatClient):
    """A model of an Ollama server.

    Attributes:
        url: address of the server.
        api_key: of a server behind a gateway; local ones need none.
        temperature, seed: None for the model's own default.
        options: the model's options (num_ctx, top_k, …), passed through as they are.
        keep_alive: how long the model stays in memory, e.g. "10m"; None for the server's default.
        arguments: further arguments of the client's `chat`, passed through as they are.
    """

    url: str = "http://localhost:11434"
    api_key: str = field(default="", repr=False)
    temperature: float | None = None
    seed: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    keep_alive: str | float | None = None
    _refused: set[str] = field(default_factory=set, init=False, repr=False)

    def open(self, tools: HostTools) -> None:
        """Check what can be checked without a request.

        Raises:
            ConfigurationError: if the client is not installed, or a parameter cannot be right.
        """
        require_package("ollama", "ollama", "ollama")
        check_url("url", self.url)
        self.check_connection(tools)
        check_arguments(self.arguments, _SET_BY_HOST)

    async def answer(self, prompt: Prompt) -> Answer:
        form = self._form(prompt)
        try:
            return await self._answered(prompt, form)
        except HostFault as fault:
            # Versions before 0.5 know no schema, and some models no grammar at all.
            if form is None or fault.cause not in _REFUSING or "format" not in str(fault):
                raise
            self._refused.add(_name(form))
            return await self.answer(prompt)

    def _form(self, prompt: Prompt) -> Any:
        """Return the value of `format` for a judge's reply, None for a reply without a form."""
        if prompt.reply_schema is None or "format" in self.arguments:
            return None
        return next((form for form in (prompt.reply_schema, _JSON) if _name(form) not in self._refused), None)

    async def _answered(self, prompt: Prompt, form: Any) -> Answer:
        try:
            request = self._request(prompt, form)
            if self.stream:
                return await self._streamed(await self._opened_client().chat(**request, stream=True))
            reply = await self._opened_client().chat(**request)
            return self._read(
                reply, reply.message.content or "", reply.message.tool_calls or (), _thinking(reply.message)
            )
        except HostFault:
            raise
        except Exception as exc:
            raise self._fault(exc) from exc

    async def models(self) -> list[str]:
        """Return the names of the models that the server has.

        Raises:
            HostFault: if the server does not list them.
        """
        try:
            return [str(model.model) for model in (await self._opened_client().list()).models]
        except Exception as exc:
            raise self._fault(exc) from exc

    def _opened_client(self) -> Any:
        if self._client is None:
            import httpx
            import ollama

            headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
            self._client = ollama.AsyncClient(
                host=self.url,
                headers=headers,
                follow_redirects=False,
                # By default twenty connections stay open, and all further requests open their own.
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
                event_hooks={"request": [send_traceparent], "response": [self._check_status]},
                **self.http_options(),
            )
            if not self.api_key:  # the client would send OLLAMA_API_KEY to any server
                self._client._client.headers.pop("authorization", None)
        return self._client

    def _request(self, prompt: Prompt, form: Any) -> dict[str, Any]:
        system = system_text(self.system_prompt, prompt)
        settings = {"temperature": self.temperature, "seed": self.seed}
        options = {**{name: value for name, value in settings.items() if value is not None}, **self.options}
        system_messages = [{"role": "system", "content": system}] if system else []
        return {
            "model": self.llm_model_name,
            "messages": [*system_messages, *_messages(prompt)],
            **non_empty(options=options, keep_alive=self.keep_alive, format=form),
            **self.arguments,
        }

    async def _streamed(self, parts: AsyncIterator[Any]) -> Answer:
        start, first_token_s = time.perf_counter(), None
        texts: list[str] = []
        thoughts: list[str] = []
        calls: list[Any] = []
        last = None
        try:
            async for last in parts:
                if first_token_s is None and (last.message.content or last.message.tool_calls):
                    first_token_s = time.perf_counter() - start
                texts.append(last.message.content or "")
                thoughts.append(_thinking(last.message))
                calls += last.message.tool_calls or ()
        except Exception as exc:
            if last is not None and is_transport_error(exc):  # the connection was there
                raise broken_off(self.url) from exc
            raise
        return self._read(last, "".join(texts), calls, "".join(thoughts), first_token_s)

    def _read(
        self, reply: Any, text: str, calls: Any, thoughts: str, first_token_s: float | None = None
    ) -> Answer:
        """Return the answer in a reply, or in the last part of a stream.

        Raises:
            HostFault: if the reply is not complete.
        """
        if reply is None or not reply.done:
            raise broken_off(self.url)
        usage = counts({"input_tokens": reply.prompt_eval_count, "output_tokens": reply.eval_count})
        reason = finish_reason(reply.done_reason)
        if reason == LENGTH and not text:
            raise HostFault(
                "the answer was cut before its first word (done_reason 'length'); raise options.num_predict"
            )
        return Answer(
            text=text,
            thoughts=thoughts,
            usage=usage,
            cost_usd=None,
            tool_calls=read_tool_calls(call.model_dump(mode="json") for call in calls),
            first_token_s=first_token_s,
            served_model=str(reply.model or ""),
            finish_reason=reason,
        )

    async def _check_status(self, response: Any) -> None:
        """Raise the fault of a status here, where the headers are known; the client drops them."""
        limit_body(response, self.url, self._max_text_chars)
        if response.status_code < 300:
            return
        await response.aread()
        text = quoted(response.text or response.reason_phrase, self._mask)
        body = response.text
        raise status_fault(response.status_code, text, REMEDIES, response.headers, url=self.url, body=body)

    def _fault(self, exc: Exception) -> HostFault:
        """Return the fault for an exception of the client."""
        import ollama

        if (fault := host_fault_in(exc)) is not None:
            return fault
        if isinstance(exc, ollama.ResponseError):  # an error within a stream
            text = quoted(exc.error, self._mask)
            return HostFault(f"{self.url} answered with an error: {text}; check the service", retry=True)
        if isinstance(exc, ConnectionError) or is_transport_error(exc):
            return connection_fault(self.url, exc, self._mask)
        if is_unknown_argument(exc):
            return HostFault(f"{quoted(str(exc), self._mask)}; check arguments")
        return reply_fault(self.url, exc, self._mask)


def _name(form: Any) -> str:
    return _JSON if form == _JSON else "schema"


def _thinking(message: Any) -> str:
    """Return the thoughts of a message; older clients do not know them."""
    return getattr(message, "thinking", None) or ""


def _messages(prompt: Prompt) -> list[dict[str, Any]]:
    """Return the turns with their images as bytes: the client takes a text for the path of a file."""
    attached = [*(turn.attachments for turn in prompt.conversation), prompt.attachments]
    return [
        {**message, "images": image_bytes(attachments)} if attachments else message
        for message, attachments in zip(messages(prompt), attached, strict=True)
    ]
