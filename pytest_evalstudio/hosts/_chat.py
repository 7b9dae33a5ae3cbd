"""Chat completions of OpenAI and of services that are compatible with it; each host is a configuration."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from msgspec import structs

from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.codes import CONTENT_FILTER, LENGTH, finish_reason
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.core.tool_calls import ToolCall, read_tool_calls
from pytest_evalstudio.core.usage import TokenPrices, usage_of
from pytest_evalstudio.hosts._attachments import chat_content
from pytest_evalstudio.hosts._completions import (
    error_in,
    first_choice,
    refused_parameters,
    sendable,
    thoughts_in,
)
from pytest_evalstudio.hosts._connected import ChatClient, check_arguments
from pytest_evalstudio.hosts._faults import is_transport_error, quoted, withheld
from pytest_evalstudio.hosts._grades import TOP_LOGPROBS, grade_probabilities, tokens_of
from pytest_evalstudio.hosts._malformed import CHECK_REPLY, broken_off
from pytest_evalstudio.hosts._messages import messages
from pytest_evalstudio.hosts._openai import OpenAIService
from pytest_evalstudio.hosts._refusals import CONTENT_CAUSES
from pytest_evalstudio.hosts._streams import StreamedCompletion
from pytest_evalstudio.hosts._tools import HostTools

if TYPE_CHECKING:
    from openai import APIStatusError

_BOUNDS = ("minItems", "maxItems", "minimum", "maximum")
_SET_BY_HOST = ("model", "messages", "stream")


@dataclass(kw_only=True)
class ChatCompletions(ChatClient, OpenAIService):
    """A service that speaks OpenAI's chat completions.

    Attributes:
        temperature, max_tokens, seed: None for the service's own default.
        input_usd_per_million, output_usd_per_million: prices of tokens; costs need both of them.
        cached_usd_per_million, cache_write_usd_per_million: prices of input tokens that the service reads
            from its prompt cache, and writes to it; without them, they cost as the others.
        arguments: further chat-completion arguments, passed through as they are.
        structured_output: how a judge's reply is held to its form: "json_schema", "json_object", "none", or
            "auto" for the first of these that the service takes.
        logprobs: ask for the log probabilities of a judge's grades, see `rubric_judge`.
    """

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
            ConfigurationError: if the openai package is not installed, or a parameter cannot be right.
        """
        self._note, self._optional = tools.note, tools.optional
        self.check_service(tools)
        check_arguments(self.arguments, _SET_BY_HOST)
        if (self.input_usd_per_million is None) != (self.output_usd_per_million is None):
            raise ConfigurationError("input_usd_per_million and output_usd_per_million: give both or none")

    async def answer(self, prompt: Prompt) -> Answer:
        import openai

        client = self.client()
        form, optional = self._form(prompt), self._optional
        try:
            request = self._request(prompt, form)
            if self.stream:
                return await self._streamed(client, request)
            reply = await client.chat.completions.create(**request)
        except openai.APIStatusError as exc:
            fault = self.status_fault(exc)
            if fault.cause in CONTENT_CAUSES:  # whose message may quote any word of the request
                raise fault from exc
            # Asked again with the next form; the refused one is remembered, so the recursion ends.
            if form != "none" and self.structured_output == "auto" and _refuses_form(exc):
                self._refused.add(form)
                return await self.answer(prompt)
            if refused := self._refused_parameters(exc, optional):
                self._leave_out(refused)
                return await self.answer(prompt)
            raise fault from exc
        except Exception as exc:
            raise self.fault(exc) from exc
        answer = self._read_safely(reply)
        if not self._wants_grades(prompt):
            return answer
        return structs.replace(answer, grades=grade_probabilities(tokens_of(reply.choices[0]), prompt.graded))

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

    async def _streamed(self, client: Any, request: Mapping[str, Any]) -> Answer:
        """Return an answer whose parts are joined.

        Raises:
            HostFault: if the stream ends before the answer is complete.
        """
        start = time.perf_counter()
        collected = StreamedCompletion()
        stream = await client.chat.completions.create(**request)
        async with stream:
            try:
                async for chunk in stream:
                    if error := error_in(chunk):
                        raise self.error_fault(error)
                    collected.add(chunk, time.perf_counter() - start)
            except Exception as exc:
                if is_transport_error(exc):  # the reply had begun: the connection was there
                    raise broken_off(self.url) from exc
                raise
            collected.request_id = stream.response.headers.get("x-request-id") or collected.id
        # A stream that ends without it was cut by a proxy or the service, without an error.
        if collected.finish_reason is None:
            raise broken_off(self.url)
        return self._read(collected, first_token_s=collected.first_token_s)

    def _read_safely(self, reply: Any) -> Answer:
        try:
            return self._read(reply)
        except Exception as exc:
            raise self.fault(exc) from exc

    def _read(self, reply: Any, first_token_s: float | None = None) -> Answer:
        """Return the answer in a reply; replies of compatible services vary.

        A refusal is what the model said. An answer cut at its length limit is kept.
        """
        if error := error_in(reply):
            raise self.error_fault(error)
        if isinstance(reply, str):
            raise HostFault(
                f"{self.url} sent a reply without an answer: {quoted(reply, self._mask)}; {CHECK_REPLY}"
            )
        text, finish = first_choice(reply, self.url)
        usage = usage_of(getattr(reply, "usage", None))
        reason = finish_reason(finish)
        # With a text the filter has cut the answer, which is kept and marked by `finish_reason`.
        if reason == CONTENT_FILTER and not text:
            raise withheld()
        if reason == LENGTH and not text:
            raise HostFault(
                "the answer was cut before its first word (finish_reason 'length'); raise max_tokens"
            )
        try:
            calls = _tool_calls(reply.choices[0].message)
        except ValueError as exc:
            fact = f"{self.url} sent tool calls that cannot be read: {quoted(str(exc), self._mask)}"
            raise HostFault(f"{fact}; {CHECK_REPLY}") from None
        thoughts = thoughts_in(reply.choices[0].message)
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
            cost = self.reported_cost(models, getattr(reply, "usage", None))
        return Answer(
            text=text if isinstance(text, str) else "",
            thoughts=thoughts,
            usage=usage,
            cost_usd=cost,
            tool_calls=calls,
            first_token_s=first_token_s,
            served_model=_text_of(reply, "model"),
            request_id=_text_of(reply, "_request_id") or _text_of(reply, "id"),
            finish_reason=reason,
        )

    def _refused_parameters(self, exc: APIStatusError, optional: frozenset[str]) -> frozenset[str]:
        body = exc.body if isinstance(exc.body, Mapping) else {}
        return refused_parameters(exc.status_code, body, exc.response.text, optional)

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


def _refuses_form(exc: APIStatusError) -> bool:
    """Return True if a service reports that it does not support the form of reply.

    Some services do so with a status of their own (501).
    """
    text = str(exc.body or exc.response.text).lower()
    return exc.status_code in (400, 404, 422, 501) and any(
        word in text for word in ("response_format", "json_schema", "json_object", "structured")
    )


def _tool_calls(message: Any) -> tuple[ToolCall, ...]:
    """Return the called tools of a message.

    Raises:
        ValueError: if one of them has no name of a tool.
    """
    calls = getattr(message, "tool_calls", None)
    if not isinstance(calls, list):
        return ()
    return read_tool_calls(
        call.model_dump(mode="json") if hasattr(call, "model_dump") else call for call in calls
    )


def _text_of(reply: Any, name: str) -> str:
    value = getattr(reply, name, None)
    return value if isinstance(value, str) else ""
