"""Chat completions of OpenAI and of services that are compatible with it; each host is a configuration."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal

from msgspec import structs

from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.codes import CONTENT_FILTER, LENGTH, finish_reason
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.core.tool_calls import ToolCall, read_tool_calls
from pytest_evalstudio.core.usage import TokenPrices, usage_of
from pytest_evalstudio.hosts._attachments import chat_content
from pytest_evalstudio.hosts._completions import (
    RefusedRequest,
    error_fault,
    first_choice,
    refused_fault,
    refused_parameters,
    sendable,
    thoughts_in,
)
from pytest_evalstudio.hosts._connected import ChatClient, check_arguments
from pytest_evalstudio.hosts._faults import is_transport_error, quoted, withheld
from pytest_evalstudio.hosts._grades import TOP_LOGPROBS, grade_probabilities, tokens_of
from pytest_evalstudio.hosts._http_streams import StreamReader, events_in
from pytest_evalstudio.hosts._malformed import CHECK_REPLY, broken_off
from pytest_evalstudio.hosts._messages import messages
from pytest_evalstudio.hosts._refusals import CONTENT_CAUSES
from pytest_evalstudio.hosts._streams import StreamedCompletion
from pytest_evalstudio.hosts._tools import HostTools

_BOUNDS = ("minItems", "maxItems", "minimum", "maximum")
_SET_BY_HOST = ("model", "messages", "stream")


@dataclass(kw_only=True)
class ChatCompletions(ChatClient):
    """A service that speaks OpenAI's chat completions, whichever client sends the requests.

    Attributes:
        url: base of the service, e.g. "http://localhost:11434/v1".
        api_key: use "${NAME}" to take it from the environment; local services need none.
        temperature, max_tokens, seed: None for the service's own default.
        input_usd_per_million, output_usd_per_million: prices of tokens; costs need both of them.
        cached_usd_per_million, cache_write_usd_per_million: prices of input tokens that the service reads
            from its prompt cache, and writes to it; without them, they cost as the others.
        arguments: further chat-completion arguments, passed through as they are.
        structured_output: how a judge's reply is held to its form: "json_schema", "json_object", "none", or
            "auto" for the first of these that the service takes.
        logprobs: ask for the log probabilities of a judge's grades, see `rubric_judge`.
    """

    url: str
    api_key: str = field(default="", repr=False)
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None
    cached_usd_per_million: float | None = None
    cache_write_usd_per_million: float | None = None
    structured_output: Literal["auto", "json_schema", "json_object", "none"] = "auto"
    logprobs: bool = False
    _refused: set[str] = field(default_factory=set, init=False, repr=False)
    _note: Callable[[str], None] = field(default=lambda message: None, init=False, repr=False)
    _optional: frozenset[str] = field(default=frozenset(), init=False, repr=False)

    def open(self, tools: HostTools) -> None:
        """Check what can be checked without a request.

        Raises:
            ConfigurationError: if the client is not installed, or a parameter cannot be right.
        """
        self._note, self._optional = tools.note, tools.optional
        check_arguments(self.arguments, _SET_BY_HOST)
        self.check_service(tools)
        if (self.input_usd_per_million is None) != (self.output_usd_per_million is None):
            raise ConfigurationError("input_usd_per_million and output_usd_per_million: give both or none")

    @abstractmethod
    def check_service(self, tools: HostTools) -> None:
        """Check client and connection without a request."""

    @abstractmethod
    def response(self, request: Mapping[str, Any]) -> AbstractAsyncContextManager[Any]:
        """Send a request and return its response, of httpx, whose body is not read yet.

        Args:
            request: arguments of the method of the openai package that asks for a chat completion.

        Raises:
            RefusedRequest: if the status is an error.
        """

    @abstractmethod
    def fault(self, exc: Exception) -> HostFault:
        """Return the fault for an exception of the client."""

    async def answer(self, prompt: Prompt) -> Answer:
        form, optional = self._form(prompt), self._optional
        try:
            async with self.response(self._request(prompt, form)) as response:
                if self.stream and not _is_whole(response):
                    return await self._streamed(response)
                await response.aread()
                return self._whole(response, prompt)
        except RefusedRequest as refused:
            fault = refused_fault(refused, self.url, self._mask)
            if fault.cause in CONTENT_CAUSES:  # whose message may quote any word of the request
                raise fault from refused
            # Asked again with the next form; the refused one is remembered, so the recursion ends.
            if form != "none" and self.structured_output == "auto" and _refuses_form(refused):
                self._refused.add(form)
                return await self.answer(prompt)
            if parameters := refused_parameters(refused, optional):
                self._leave_out(parameters)
                return await self.answer(prompt)
            raise fault from refused
        except Exception as exc:
            raise self.fault(exc) from exc

    def _form(self, prompt: Prompt) -> str:
        """Return the form of reply that the service is asked for."""
        if prompt.reply_schema is None or "response_format" in self.arguments:
            return "none"
        if self.structured_output != "auto":
            return self.structured_output
        return next((form for form in ("json_schema", "json_object") if form not in self._refused), "none")

    def _request(self, prompt: Prompt, form: str) -> dict[str, Any]:
        system = "\n\n".join(filter(None, (self.system_prompt, prompt.system)))
        rules = [{"role": "system", "content": sendable(system)}] if system else []
        settings = {"temperature": self.temperature, "max_tokens": self.max_tokens, "seed": self.seed}
        streaming = {"stream": True, "stream_options": {"include_usage": True}} if self.stream else {}
        return {
            "model": self.llm_model_name,
            "messages": [],
            **{name: value for name, value in settings.items() if value is not None},
            **streaming,
            **({"logprobs": True, "top_logprobs": TOP_LOGPROBS} if self._wants_grades(prompt) else {}),
            **self.arguments,
            # The client looks through messages and schema for files to upload, which takes it longer than all
            # the rest of a request; `extra_body` takes the place of the arguments as it is.
            "extra_body": {
                "messages": [*rules, *messages(prompt, chat_content)],
                **_response_format(form, prompt),
                **self.arguments.get("extra_body", {}),
            },
        }

    def _wants_grades(self, prompt: Prompt) -> bool:
        return self.logprobs and bool(prompt.graded) and not self.stream

    async def _streamed(self, response: Any) -> Answer:
        """Return an answer whose parts are joined.

        Raises:
            HostFault: if the stream ends before the answer is complete.
        """
        reader = StreamReader(self.url, self._mask)
        completion = StreamedCompletion()
        try:
            async for event in events_in(response.aiter_text()):
                chunk = reader.document(event)
                if isinstance(chunk, Mapping):
                    if error := chunk.get("error"):
                        raise error_fault(error, self.url, self._mask)
                    completion.add(chunk, reader.elapsed_s)
                reader.check(event)
        except Exception as exc:
            if is_transport_error(exc):  # the reply had begun: the connection was there
                raise broken_off(self.url) from exc
            raise
        # A stream that ends without it was cut by a proxy or the service, without an error.
        if completion.finish_reason is None:
            raise broken_off(self.url)
        return self._read(completion.document(), _request_id(response), completion.first_token_s)

    def _whole(self, response: Any, prompt: Prompt) -> Answer:
        reply = response.json()
        answer = self._read(reply, _request_id(response))
        if not self._wants_grades(prompt):
            return answer
        return structs.replace(
            answer, grades=grade_probabilities(tokens_of(reply["choices"][0]), prompt.graded)
        )

    def _read(self, reply: Any, request_id: str, first_token_s: float | None = None) -> Answer:
        """Return the answer in the JSON of a reply; replies of compatible services vary.

        A refusal is what the model said. An answer cut at its length limit is kept.
        """
        if not isinstance(reply, Mapping):
            raise HostFault(
                f"{self.url} sent a reply without an answer: {quoted(str(reply), self._mask)}; {CHECK_REPLY}"
            )
        if error := reply.get("error"):
            raise error_fault(error, self.url, self._mask)
        choice, text, finish = first_choice(reply, self.url)
        message = choice["message"]
        usage = usage_of(reply.get("usage"))
        reason = finish_reason(finish)
        # With a text the filter has cut the answer, which is kept and marked by `finish_reason`.
        if reason == CONTENT_FILTER and not text:
            raise withheld()
        if reason == LENGTH and not text:
            raise HostFault(
                "the answer was cut before its first word (finish_reason 'length'); raise max_tokens"
            )
        try:
            calls = _tool_calls(message)
        except ValueError as exc:
            fact = f"{self.url} sent tool calls that cannot be read: {quoted(str(exc), self._mask)}"
            raise HostFault(f"{fact}; {CHECK_REPLY}") from None
        thoughts = thoughts_in(message)
        if text is None and not calls and thoughts:
            raise HostFault(
                f"{self.url} sent only reasoning and no answer (finish_reason {finish!r}); turn reasoning"
                " off, or raise max_tokens"
            )
        if not isinstance(text, str) and not calls:
            raise HostFault(
                f"{self.url} sent a reply without a text: choices[0].message.content is null (finish_reason"
                f" {finish!r}); check llm_model_name and arguments"
            )
        # Prices of this configuration come before what the service reports.
        cost = self._cost(usage)
        if cost is None:
            models = (_text_of(reply, "model"), self.llm_model_name)
            cost = self.reported_cost(models, reply.get("usage"))
        return Answer(
            text=text if isinstance(text, str) else "",
            thoughts=thoughts,
            usage=usage,
            cost_usd=cost,
            tool_calls=calls,
            first_token_s=first_token_s,
            served_model=_text_of(reply, "model"),
            request_id=request_id or _text_of(reply, "id"),
            finish_reason=reason,
        )

    def _leave_out(self, names: frozenset[str]) -> None:
        """Send no more requests with these parameters, and say so once."""
        for name in sorted(names & self._optional):
            self._note(
                f"{self.llm_model_name} does not take {name} = {getattr(self, name):g}; it is asked without"
            )
        for name in names:
            setattr(self, name, None)
        self._optional -= names

    def _cost(self, usage: Mapping[str, int]) -> float | None:
        if self.input_usd_per_million is None or self.output_usd_per_million is None:
            return None
        prices = TokenPrices(
            input_usd=self.input_usd_per_million,
            output_usd=self.output_usd_per_million,
            cached_usd=self.cached_usd_per_million,
            cache_write_usd=self.cache_write_usd_per_million,
        )
        return prices.cost_usd(usage)


def _response_format(form: str, prompt: Prompt) -> dict[str, Any]:
    if form == "json_schema" and prompt.reply_schema is not None:
        return {
            "response_format": {
                "type": form,
                "json_schema": {"name": "reply", "strict": True, "schema": _strict(prompt.reply_schema)},
            }
        }
    return {"response_format": {"type": form}} if form == "json_object" else {}


def _strict(schema: Any) -> Any:
    """Return a schema without the keywords that strict structured output does not support.

    Replies are still validated against all of the schema.
    """
    if isinstance(schema, Mapping):
        return {key: _strict(value) for key, value in schema.items() if key not in _BOUNDS}
    return [_strict(item) for item in schema] if isinstance(schema, list) else schema


def _refuses_form(refused: RefusedRequest) -> bool:
    """Return True if a service reports that it does not support the form of reply.

    Some services do so with a status of their own (501).
    """
    text = refused.text.lower()
    return refused.status in (400, 404, 422, 501) and any(
        word in text for word in ("response_format", "json_schema", "json_object", "structured")
    )


def _is_whole(response: Any) -> bool:
    """Return True for a reply that comes at once although it was asked for in parts."""
    kind = str(response.headers.get("content-type", ""))
    return kind.partition(";")[0].strip().lower() == "application/json"


def _request_id(response: Any) -> str:
    return str(response.headers.get("x-request-id", ""))


def _tool_calls(message: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """Return the called tools of a message.

    Raises:
        ValueError: if one of them has no name of a tool.
    """
    calls = message.get("tool_calls")
    return read_tool_calls(calls) if isinstance(calls, list) else ()


def _text_of(reply: Mapping[str, Any], name: str) -> str:
    value = reply.get(name)
    return value if isinstance(value, str) else ""
